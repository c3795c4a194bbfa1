"""What views and the report advise: what ``check`` finds, except slow checks.

A view shows all of :func:`advice`, or the part on its topic; so views and ``table.check()`` never
contradict each other.
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
"""The sentence if there is no advice."""


def advice(view: HistoryView, look: Look = survey) -> list[Finding]:
    """Return the findings of ``table.check()`` except on row IDs, the most serious first.

    ``look`` tells what lies in the folder of the table.

    Examples
    --------
    >>> advice(table._view)
    []
    """
    return found_by(view, [of_metadata(view), of_files(view), of_storage(view, look)])


def disk_advice(view: HistoryView, version: int, look: Look = survey) -> list[Finding]:
    """Return the advice on files of a version; for the latest one, on all files."""
    parts: list[Part] = [("files", lambda: health_findings(view, version, "files"))]
    if version == view.latest_version:
        parts.append(of_storage(view, look))
    return found_by(view, parts)


def advice_counts(findings: Sequence[Finding]) -> str:
    """Return how much of it is wrong, should be done, or is worth knowing; "" if there is none.

    Examples
    --------
    >>> from lance_explorer.findings import Finding
    >>> advice_counts([Finding("not_opened", "it is damaged"), Finding("not_compared", "")])
    '1 wrong, 1 worth knowing'
    """
    counts = Counter([finding.severity for finding in findings])
    return ", ".join(
        [f"{counts[name]:,} {words}" for name, words in SEVERITY_WORDS.items() if counts[name]]
    )
