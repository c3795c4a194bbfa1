"""What views and the report advise: what ``check`` finds, but for what takes long to find.

A view shows all of :func:`advice`, or what it has on the topic of the view; so no two of them can
say different things, nor another thing than ``table.check()``.
"""

from collections.abc import Mapping

import polars as pl

from lance_explorer.checks.all_checks import (
    Look,
    Part,
    found_by,
    of_files,
    of_metadata,
    of_storage,
)
from lance_explorer.disk.survey import survey
from lance_explorer.findings import Severity
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.health import health

__all__ = ["NOTHING_TO_DO", "SEVERITY_WORDS", "advice", "advice_counts", "disk_advice"]

SEVERITY_WORDS: Mapping[Severity, str] = {
    "error": "wrong",
    "warning": "should be done",
    "info": "worth knowing",
}
"""What a severity means, the worst first."""

NOTHING_TO_DO = "Nothing needs to be done"
"""What is said where there is no advice."""


def advice(view: HistoryView, look: Look = survey) -> pl.DataFrame:
    """Return what ``table.check()`` does, but for row IDs, which may take long; the worst first.

    ``look`` tells what lies in the folder of the table.

    Examples
    --------
    >>> advice(table._view).is_empty()
    True
    """
    return found_by(view, [of_metadata(view), of_files(view), of_storage(view, look)])


def disk_advice(view: HistoryView, version: int, look: Look = survey) -> pl.DataFrame:
    """Return what of it concerns files of a version; with the latest one, all files there are."""
    parts: list[Part] = [("files", lambda: health(view, version, "files"))]
    if version == view.latest_version:
        parts.append(of_storage(view, look))
    return found_by(view, parts)


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
