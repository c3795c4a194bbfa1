"""Everything that can be checked in a table's whole history, as one list of findings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import polars as pl

from lance_explorer.arguments import check_choice
from lance_explorer.checks.damage import damage_of
from lance_explorer.checks.data_file_checks import data_file_findings, dropped_columns
from lance_explorer.checks.deletion_checks import deletion_findings
from lance_explorer.checks.depths import DEPTHS, Depth, left_out
from lance_explorer.checks.frame import CHECKS
from lance_explorer.checks.index_trials import index_trials
from lance_explorer.checks.index_truth import index_truth
from lance_explorer.checks.key_checks import key_findings
from lance_explorer.checks.known_bugs import with_known_bug
from lance_explorer.checks.openings import opening_findings
from lance_explorer.checks.storage_checks import storage_findings
from lance_explorer.checks.value_checks import value_findings
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import SEVERITIES, Finding, Remedy, Severity, Subject, Topic, of_branch
from lance_explorer.frames.findings import findings_frame
from lance_explorer.history.collector import collector_paused
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.findings import metadata_findings, newest_missing
from lance_explorer.inspect.health import health_findings
from lance_explorer.inspect.row_id_checks import row_id_findings
from lance_explorer.inspect.row_id_counters import is_stable
from lance_explorer.lineage.duplicates import key_columns
from lance_explorer.storage import LocalStorage

__all__ = [
    "MOST_STATES",
    "Look",
    "Part",
    "check",
    "check_findings",
    "found_by",
    "of_files",
    "of_metadata",
    "of_storage",
]

Look = Callable[[HistoryView], Survey]
"""The survey of the folder of a table, made on first use."""

Part = tuple[Topic, Callable[[], Iterable[Finding]]]
"""A subject of checks, and the check itself."""

MOST_STATES = 200_000
"""The row IDs of more states of fragments are checked only on request."""


def check(
    view: HistoryView,
    depth: Depth = "quick",
    severity: Severity = "info",
    key: str | Sequence[str] | None = None,
) -> pl.DataFrame:
    """Return one row for each finding of a severity or worse, the most serious first."""
    return CHECKS.build(findings_frame(check_findings(view, depth, severity, key)).to_dict())


def check_findings(
    view: HistoryView,
    depth: Depth = "quick",
    severity: Severity = "info",
    key: str | Sequence[str] | None = None,
    look: Look = survey,
) -> list[Finding]:
    """Return the findings of a severity or worse, the most serious first.

    ``look`` tells what lies in the folder of the table. What cannot be checked is a warning
    ``not_checked``; if no version can be read, that is an error of the caller.

    Raises
    ------
    InvalidArgumentError
        If ``depth`` or ``severity`` is unknown, or ``key`` names no columns.
    """
    check_choice("depth", depth, DEPTHS)
    check_choice("severity", severity, SEVERITIES)
    is_deep = depth != "quick"
    parts: list[Part] = [
        of_metadata(view),
        of_files(view),
        ("row_ids", lambda: _row_ids(view, is_deep)),
        ("files", lambda: of_branch(view.branch, deletion_findings(view, is_deep))),
        of_storage(view, look),
    ]
    if is_deep:
        if not isinstance(view.storage.live, LocalStorage):
            parts.append(("metadata", lambda: of_branch(view.branch, newest_missing(view))))
        parts.append(("metadata", lambda: opening_findings(view)))
        parts.append(("values", lambda: of_branch(view.branch, data_file_findings(view))))
        parts.append(("files", lambda: of_branch(view.branch, dropped_columns(view))))
        parts.append(("indices", lambda: of_branch(view.branch, _indices(view))))
    if key is not None:
        columns = key_columns(view, key, view.latest_version)
        parts.append(("values", lambda: of_branch(view.branch, key_findings(view, columns))))
    if depth == "values":
        parts.append(("values", lambda: of_branch(view.branch, value_findings(view))))
    worst = SEVERITIES[: SEVERITIES.index(severity) + 1]
    findings = [*found_by(view, parts), *left_out(depth), *_not_read_whole(view)]
    return [finding for finding in findings if finding.severity in worst]


def _not_read_whole(view: HistoryView) -> Iterator[Finding]:
    """Yield a finding if fragments of versions were taken from the versions before."""
    if derived := view.derived_versions:
        yield Finding(
            "not_checked",
            f"Manifests that were not read whole: {len(derived):,}. Each appended to the version "
            "before, whose fragments it still has.",
            subject=Subject("check", "metadata"),
            versions=(derived[0], derived[-1]),
            remedy=Remedy("To read them", "lx.open_table(..., whole_manifests=True).check()"),
            is_mild=True,
        )


def of_metadata(view: HistoryView) -> Part:
    """Check what manifests and their history say."""
    return "metadata", lambda: [_judged(view, finding) for finding in metadata_findings(view)]


def _judged(view: HistoryView, finding: Finding) -> Finding:
    """Return a finding; one on the latest manifest includes its consequence for the table."""
    if finding.code != "unreadable_manifest" or finding.last_version != view.latest_version:
        return finding
    whole = damage_of(survey(view))
    return (
        replace(finding, consequence=whole.consequence, remedy=whole.remedy) if whole else finding
    )


def of_files(view: HistoryView) -> Part:
    """Check what the latest version records about its fragments, indices and row IDs."""
    return "files", lambda: health_findings(view, view.latest_version)


def of_storage(view: HistoryView, look: Look = survey) -> Part:
    """Check the folder of the table, which ``look`` surveys."""
    return "storage", lambda: of_branch(view.branch, storage_findings(look(view)))


@collector_paused()
def found_by(view: HistoryView, parts: list[Part]) -> list[Finding]:
    """Return the findings of some checks, the most serious first, with the known bug of each."""
    findings = [finding for part in parts for finding in _checked(view, *part)]
    findings = [with_known_bug(view, finding) for finding in findings]
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _checked(
    view: HistoryView, topic: Topic, build: Callable[[], Iterable[Finding]]
) -> list[Finding]:
    """Return the findings of a check, and why it did not finish.

    Once it finds an error, another process reads values: damage may end pylance's process.
    """
    findings = list[Finding]()
    try:
        for finding in build():
            findings.append(finding)
    except LanceExplorerError as error:
        why = (
            f"{topic.replace('_', ' ')} could not be checked{' further' * bool(findings)}: {error}"
        )
        findings.append(Finding("not_checked", why, subject=Subject("check", topic)))
    if any(finding.severity == "error" for finding in findings):
        view.storage.io.values_apart = True
    return findings


def _indices(view: HistoryView) -> Iterator[Finding]:
    """Yield wrong entries of indices, and failing searches through the other indices."""
    wrong = set[str]()
    for finding in index_truth(view):
        if finding.code != "not_checked":
            wrong.add(finding.subject.name)
        yield finding
    yield from index_trials(view, without=wrong)


def _row_ids(view: HistoryView, is_deep: bool) -> list[Finding]:
    """Return errors in row IDs; for very many fragments only on request."""
    history = view.history
    count = len(history.states) if any(map(is_stable, history.records)) else 0
    if is_deep or count <= MOST_STATES:
        return row_id_findings(view)
    return [
        Finding(
            "not_checked",
            f"the row IDs of {count:,} states of fragments were not checked: that takes long",
            subject=Subject("check", "row_ids"),
            branch=view.branch,
            remedy=Remedy('Call table.check(depth="deep"), or table.check_row_ids().'),
            is_mild=True,
        )
    ]
