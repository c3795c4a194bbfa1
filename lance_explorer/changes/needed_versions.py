"""Which versions must be read to compare two of them.

Stable row IDs tell which row is which by themselves. So two versions that are near each other can
be compared without the history of the table, unless something between refers to what was before.
"""

from collections.abc import Collection
from datetime import datetime

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragment_columns import SequenceStorage
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import History
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.readable import rows_history
from lance_explorer.history.source import TableSource

__all__ = ["commit_times", "needed_versions", "tells_itself"]

_TOLD_BY_NEIGHBOURS = frozenset(
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
"""Operations of which the version before and the version itself tell everything."""


def needed_versions(source: TableSource, begin_version: int, end_version: int) -> TableSource:
    """Return the branch with as few of its versions as tell what changed between two.

    Parameters
    ----------
    source : TableSource
        The branch.
    begin_version, end_version : int
        The versions; 0 is the empty table.

    Returns
    -------
    TableSource
        The branch itself, where more than these versions can matter or little would be saved.
    """
    between = range(begin_version, end_version + 1)
    if not begin_version or len(source.listing.only(between).versions) < len(between):
        return source
    part = source.part(between)
    return part if part is not None and tells_itself(part.history, source) else source


def commit_times(rows: StateRows, versions: Collection[int]) -> dict[int, datetime | None]:
    """Return when versions were committed, of some of the branch that may not be loaded yet."""
    histories, whole = [rows.history], rows.source.whole
    others = {version for version in versions if version not in rows.history}
    if others and whole is not rows.source:
        histories.append(rows_history((whole.part(others) or whole).history))
    return {
        version: history.records[history.position(version)].manifest.timestamp
        for history in histories
        for version in versions
        if version in history
    }


def _began_with_row_ids(source: TableSource) -> bool:
    """Whether the first kept version has stable row IDs and row versions, as all since.

    Where row IDs were turned on later, row versions of older rows tell the commit that did it; a
    compaction makes up row versions for fragments of old writers, which stored none.
    """
    try:
        history = source.version(source.listing.versions[0].version)
    except (FormatError, NotFoundError):
        return False
    [record] = history.records
    has_row_ids = bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)
    stored = history.states.row_version_storage != SequenceStorage.ABSENT
    return has_row_ids and bool(stored.all())


def tells_itself(history: History, source: TableSource) -> bool:
    """Whether nothing in a part of a branch, without holes, refers to versions before it.

    What a detached version was built on may be any of them.
    """
    return bool(
        not source.listing.detached
        and all(record.manifest.reader_feature_flags & STABLE_ROW_IDS for record in history.records)
        and all(record.operation in _TOLD_BY_NEIGHBOURS for record in history.records[1:])
        and (history.states.row_version_storage != SequenceStorage.ABSENT).all()
        and not history.duplicated
        and not history.findings
        and _began_with_row_ids(source)
    )
