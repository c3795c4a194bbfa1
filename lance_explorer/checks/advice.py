"""What views and the report advise: what ``check`` finds, but for what takes long to find.

A view shows all of :func:`advice`, or what it has on the topic of the view; so no two of them can
say different things, nor another thing than ``table.check()``.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from lance_explorer.checks.all_checks import (
    Look,
    Part,
    found_by,
    of_files,
    of_metadata,
    of_storage,
)
from lance_explorer.disk.survey import survey
from lance_explorer.findings import Finding, Severity
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.health import health_findings

__all__ = ["NOTHING_TO_DO", "SEVERITY_WORDS", "advice", "advice_counts", "disk_advice"]

SEVERITY_WORDS: Mapping[Severity, str] = {
    "error": "wrong",
    "warning": "should be done",
    "info": "worth knowing",
}
"""What a severity means, the worst first."""

NOTHING_TO_DO = "Nothing needs to be done"
"""What is said where there is no advice."""


def advice(view: HistoryView, look: Look = survey) -> list[Finding]:
    """Return what ``table.check()`` does, but for row IDs, which may take long; the worst first.

    ``look`` tells what lies in the folder of the table.

    Examples
    --------
    >>> advice(table._view)
    []
    """
    return found_by(view, [of_metadata(view), of_files(view), of_storage(view, look)])


def disk_advice(view: HistoryView, version: int, look: Look = survey) -> list[Finding]:
    """Return what of it concerns files of a version; with the latest one, all files there are."""
    parts: list[Part] = [("files", lambda: health_findings(view, version, "files"))]
    if version == view.latest_version:
        parts.append(of_storage(view, look))
    return found_by(view, parts)


def advice_counts(found: Sequence[Finding]) -> str:
    """Return how much of it is wrong, should be done, or is worth knowing; nothing if none is.

    Examples
    --------
    >>> from lance_explorer.findings import Finding
    >>> advice_counts([Finding("not_opened", "it is damaged"), Finding("not_compared", "")])
    '1 wrong, 1 worth knowing'
    """
    counts = Counter([finding.severity for finding in found])
    return ", ".join(
        [f"{counts[name]:,} {words}" for name, words in SEVERITY_WORDS.items() if counts[name]]
    )
