"""When the versions from one to another tell by themselves what changed between them.

Net changes that include rows that only moved are told by no range: each such row comes with the
time of the commit that wrote it last, whenever that was.
"""

from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.source import TableSource

__all__ = ["has_whole_range", "is_told_by_range"]

_TOLD = {
    OperationName.APPEND,
    OperationName.DELETE,
    OperationName.OVERWRITE,
    OperationName.UPDATE,
    OperationName.REWRITE,
    OperationName.CREATE_INDEX,
    OperationName.UPDATE_CONFIG,
    OperationName.RESERVE_FRAGMENTS,
}
"""After others, what was before the range tells who a row is, or when it was written."""


def has_whole_range(source: TableSource, begin_version: int, end_version: int) -> bool:
    """Tell whether all versions from one to another are kept, and there are no detached ones."""
    versions = [file.version for file in source.listing.versions]
    asked = [version for version in versions if begin_version <= version <= end_version]
    is_whole = bool(asked) and len(asked) == end_version - begin_version + 1
    return is_whole and begin_version > 0 and not source.listing.detached


def is_told_by_range(source: TableSource) -> bool:
    """Tell whether the first version of a source need not be compared with what was before it.

    Parameters
    ----------
    source : TableSource
        A branch, with the versions of a range alone; all of them, without a hole.
    """
    history = source.history
    records = history.records
    return (
        len(records) == len(source.listing.versions)
        and not history.duplicated
        and all(record.manifest.reader_feature_flags & STABLE_ROW_IDS for record in records)
        and all(record.operation in _TOLD for record in records[1:])
    )
