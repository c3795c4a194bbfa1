"""Everything that can be checked of a table's whole history, in one frame."""

from collections.abc import Callable

import polars as pl

from lance_explorer.arguments import check_choice, flag
from lance_explorer.checks.data_file_checks import data_file_findings
from lance_explorer.checks.deletion_checks import deletion_findings
from lance_explorer.checks.frame import CHECKS
from lance_explorer.checks.index_truth import index_truth
from lance_explorer.checks.known_bugs import indices_left_behind, known_bug
from lance_explorer.checks.openings import opening_findings
from lance_explorer.checks.storage_checks import storage_findings
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import SEVERITIES, Finding, Severity
from lance_explorer.frames.findings import FINDINGS, findings_frame
from lance_explorer.history.collector import collector_paused
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.findings import findings
from lance_explorer.inspect.health import health
from lance_explorer.inspect.row_id_checks import check_row_ids
from lance_explorer.inspect.row_id_counters import is_stable

__all__ = [
    "MOST_STATES",
    "Look",
    "Part",
    "check",
    "found_by",
    "of_files",
    "of_metadata",
    "of_storage",
]

Look = Callable[[HistoryView], Survey]
"""What lists the folder of a table, or remembers what was there."""

Part = tuple[str, Callable[[], pl.DataFrame]]
"""What is checked, and what gives a frame of findings."""

MOST_STATES = 200_000
"""The row IDs of more states of fragments are checked only if that is asked for."""


def check(view: HistoryView, level: Severity = "info", deep: bool = False) -> pl.DataFrame:
    """Return what is found of a level or worse, the worst first.

    What cannot be checked is a warning ``not_checked``; a table of which no version can be read is
    an error of the caller.

    Raises
    ------
    InvalidArgumentError
        If ``level`` is none of those there are.
    """
    check_choice("level", level, SEVERITIES)
    is_deep = flag("deep", deep)
    parts: list[Part] = [
        of_metadata(view),
        of_files(view),
        ("row_ids", lambda: _row_ids(view, is_deep)),
        ("files", lambda: deletion_findings(view, is_deep)),
        of_storage(view),
    ]
    if is_deep:
        parts.append(("metadata", lambda: opening_findings(view)))
        parts.append(("values", lambda: data_file_findings(view)))
        parts.append(("indices", lambda: index_truth(view)))
    found = found_by(view, parts)
    worst = SEVERITIES[: SEVERITIES.index(level) + 1]
    kept = found.filter(pl.col("severity").cast(pl.String).is_in(worst))
    return CHECKS.build(kept.to_dict())


def of_metadata(view: HistoryView) -> Part:
    """Check what manifests and their history say."""
    return "metadata", lambda: findings(view)


def of_files(view: HistoryView) -> Part:
    """Check what the latest version says of its fragments, indices and row IDs."""
    return "files", lambda: health(view, view.latest_version)


def of_storage(view: HistoryView, look: Look = survey) -> Part:
    """Check what lies in the folder of the table; ``look`` tells what does."""
    return "storage", lambda: _storage(view, look)


@collector_paused()
def found_by(view: HistoryView, parts: list[Part]) -> pl.DataFrame:
    """Return what some checks find, the worst first, and which known bug did it."""
    found = pl.concat([_checked(view, name, build) for name, build in parts])
    bugs = [
        known_bug(view, code, version)
        for code, version in found.select("code", "version").iter_rows()
    ]
    found = found.with_columns(pl.Series("known_bug", bugs, pl.String))
    if found["code"].is_in(["index_covers_nothing"]).any():
        found = _with_lost_indices(view, found)
    return CHECKS.build(found.sort("severity", maintain_order=True).to_dict())


def _checked(view: HistoryView, name: str, build: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """Return what a check found, or why it could not be made.

    Once it found an error, another process reads values: pylance may end its process on damage.
    """
    try:
        found = build()
    except LanceExplorerError as error:
        problem = Finding(
            code="not_checked",
            severity="warning",
            message=f"{name.replace('_', ' ')} could not be checked: {error}",
        )
        found = findings_frame([problem], [None])
    if (found["severity"].cast(pl.String) == "error").any():
        view.storage.io.values_apart = True
    topic = pl.col("topic").cast(pl.String) if "topic" in found.columns else pl.lit(name)
    named = found.with_columns(check=topic.cast(CHECKS.polars_schema["check"]))
    return named.select("check", *FINDINGS.names)


def _row_ids(view: HistoryView, is_deep: bool) -> pl.DataFrame:
    """Return what is wrong with row IDs; of very many fragments only if that is asked for."""
    history = view.history
    count = len(history.states) if any(map(is_stable, history.records)) else 0
    if is_deep or count <= MOST_STATES:
        return check_row_ids(view)
    problem = Finding(
        code="not_checked",
        severity="info",
        message=f"the row IDs of {count:,} states of fragments were not checked: that takes long",
        advice="Call table.check(deep=True), or table.check_row_ids().",
    )
    return findings_frame([problem], [view.branch])


def _storage(view: HistoryView, look: Look) -> pl.DataFrame:
    found = list(storage_findings(look(view)))
    return findings_frame(found, [view.branch] * len(found))


def _with_lost_indices(view: HistoryView, found: pl.DataFrame) -> pl.DataFrame:
    """Return findings of indices that cover nothing with the commit that left them behind."""
    lost = indices_left_behind(view)
    bug = pl.col("known_bug")
    for name, (_, words) in lost.items():
        is_it = (pl.col("code") == "index_covers_nothing") & pl.col("message").str.contains(
            name, literal=True
        )
        bug = pl.when(is_it).then(pl.lit(words)).otherwise(bug)
    return found.with_columns(known_bug=bug)
