"""The versions that must be read to compare two of them.

Stable row IDs identify rows by themselves. So two near versions can be compared without the history
of the table, unless a commit in between refers to earlier versions.
"""

from collections.abc import Collection
from datetime import datetime

from lance_explorer.changes.column_only_updates import LOOKED_THROUGH
from lance_explorer.changes.replaced_columns import ReplacedColumns
from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragment_columns import SequenceStorage
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import History
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.identity.versions_of_moved import MADE_UP
from lance_explorer.history.readable import rows_history
from lance_explorer.history.steps import same_life, states_between
from lance_explorer.history.view import HistoryView

__all__ = ["commit_times", "is_self_contained", "needed_versions"]

_KNOWN_BY_NEIGHBOURS = frozenset(
    {
        OperationName.APPEND,
        OperationName.CREATE_INDEX,
        OperationName.DELETE,
        OperationName.OVERWRITE,
        OperationName.PROJECT,
        OperationName.RESERVE_FRAGMENTS,
        OperationName.REWRITE,
        OperationName.UPDATE,
        OperationName.UPDATE_BASES,
        OperationName.UPDATE_CONFIG,
        OperationName.UPDATE_MEM_WAL_STATE,
        OperationName.MERGE,
        OperationName.DATA_REPLACEMENT,
    }
)
"""Operations that the version and its parent describe completely."""


def needed_versions(
    view: HistoryView, begin_version: int, end_version: int, *, is_backward: bool = False
) -> HistoryView:
    """Return the branch with as few versions as are needed to compare two.

    Parameters
    ----------
    view : HistoryView
        The branch.
    begin_version, end_version : int
        The versions; 0 is the empty table.
    is_backward : bool
        Whether it is asked what would lead from the second to the first.

    Returns
    -------
    HistoryView
        The branch itself, where more than these versions can matter or little would be saved.
    """
    between = range(begin_version, end_version + 1)
    if not begin_version or len(view.listing.only(between).versions) < len(between):
        return view
    part = view.part(between)
    if part is None or not is_self_contained(part, view, is_backward=is_backward):
        return view
    return part


def commit_times(rows: StateRows, versions: Collection[int]) -> dict[int, datetime | None]:
    """Return the commit times of versions, some of which may not be loaded yet."""
    histories, whole = [rows.history], rows.view.whole
    others = {version for version in versions if version not in rows.history}
    if others and whole is not rows.view:
        histories.append(rows_history((whole.part(others) or whole).history))
    return {
        version: history.records[history.position(version)].manifest.timestamp
        for history in histories
        for version in versions
        if version in history
    }


def is_self_contained(part: HistoryView, view: HistoryView, *, is_backward: bool = False) -> bool:
    """Whether no version of a complete part of a branch refers to earlier versions.

    If row IDs were turned on later, row versions of older rows are the version that did it.

    Parameters
    ----------
    part : HistoryView
        The versions that are compared and those between.
    view : HistoryView
        The branch.
    is_backward : bool
        Whether it is asked what would lead from the last version to the first.
    """
    history = part.history
    is_told = bool(
        all(record.manifest.reader_feature_flags & STABLE_ROW_IDS for record in history.records)
        and all(record.operation in _KNOWN_BY_NEIGHBOURS for record in history.records[1:])
        and (history.states.row_version_storage != SequenceStorage.ABSENT).all()
        and not history.duplicated
        and not history.findings
    )
    if not is_told:
        return False
    try:
        first = view.version(view.listing.versions[0].version)
    except (FormatError, NotFoundError):
        return False
    return (
        bool(first.records[0].manifest.reader_feature_flags & STABLE_ROW_IDS)
        and bool((first.states.row_version_storage != SequenceStorage.ABSENT).all())
        and not _has_made_up(part, first, is_backward=is_backward)
    )


def _has_made_up(part: HistoryView, first: History, *, is_backward: bool) -> bool:
    """Whether made-up row versions would be shown.

    A compaction stores version 1 for rows of fragments without row versions, which hand-made
    commits may leave; then only older versions show which version wrote the rows. So version 1 is
    trusted only in fragments that the first kept version has. Forward, no version before the first
    of both is shown, unless columns were added: then their commit is skipped over.

    Parameters
    ----------
    part : HistoryView
        The versions that are compared and those between.
    first : History
        The first kept version of the branch.
    is_backward : bool
        Whether it is asked what would lead from the last version to the first.
    """
    history, last = part.history, len(part.history) - 1
    if not is_backward and LOOKED_THROUGH.isdisjoint(
        [record.operation for record in history.records[1:]]
    ):
        return False
    rows = state_rows(part)
    states, _ = states_between(history, 0, last)
    if ReplacedColumns.between(rows.history, 0, last):
        states = history.intervals.at(0)
    rows.load(states.tolist())
    may_be = [state for state in states.tolist() if _has_version(rows, state, MADE_UP)]
    old = first.by_id(first.intervals.at(0)) if may_be else {}
    for state in may_be:
        fragment = history.states[state]
        if fragment.id not in old or not same_life(first.states[old[fragment.id]], fragment):
            return True
    return False


def _has_version(rows: StateRows, state: int, version: int) -> bool:
    updated = rows.origins(state).updated
    return updated is not None and version in updated.versions
