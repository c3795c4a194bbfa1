"""All that is wrong with a table or should be done: the one source of what any view advises.

A view shows all of :func:`advice`, or what ``health`` gives for its topic; so no two of them can
say different things.
"""

from collections.abc import Mapping

import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Severity
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.findings import findings
from lance_explorer.inspect.health import HEALTH, health

__all__ = ["NOTHING_TO_DO", "SEVERITY_WORDS", "advice", "advice_counts"]

SEVERITY_WORDS: Mapping[Severity, str] = {
    "error": "wrong",
    "warning": "should be done",
    "info": "worth knowing",
}
"""What a severity means, the worst first."""

NOTHING_TO_DO = "Nothing needs to be done"
"""What is said where there is no advice."""


def advice(source: TableSource) -> tuple[pl.DataFrame, str | None]:
    """Return findings, and what to do about the latest version, in one frame, the worst first.

    Its columns are those of ``inspect.health()``; findings have no topic. Beside it stands why the
    latest version could not be checked, None if it could.

    Examples
    --------
    >>> found, problem = advice(table.source)
    >>> len(found), problem
    (0, None)
    """
    wrong = findings(source).with_columns(topic=pl.lit(None, HEALTH.polars_schema["topic"]))
    frames, problem = [wrong.select(HEALTH.names)], None
    try:
        frames.append(health(source, source.latest_version))
    except LanceExplorerError as error:
        problem = str(error)
    return pl.concat(frames).sort("severity", maintain_order=True), problem


def advice_counts(found: pl.DataFrame) -> str:
    """Return how much of it is wrong, should be done, or is worth knowing; nothing if none is.

    Examples
    --------
    >>> advice_counts(pl.DataFrame({"severity": ["info", "error", "info"]}))
    '1 wrong, 2 worth knowing'
    """
    counts = {name: int((found["severity"] == name).sum()) for name in SEVERITY_WORDS}
    told = [f"{count:,} {SEVERITY_WORDS[name]}" for name, count in counts.items() if count]
    return ", ".join(told)
