"""A column that is replaced in place stays in an index with the values from before."""

from lance_explorer.checks.known_bugs.record import KnownBug, record_at, release_of
from lance_explorer.findings import Finding
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    record = record_at(view, finding)
    release = release_of(record) if record else None
    if record is None or record.operation != OperationName.DATA_REPLACEMENT:
        return None
    return record if release is not None and release < (3, 0, 0) else None


BUG = KnownBug(
    name="lance#5321",
    what="up to 2.0.1, a DataReplacement of an indexed column leaves the fragments in the index, "
    "which has the values from before",
    releases="up to 2.0.1; fixed in 3.0.0",
    codes=("index_of_other_values", "index_misses_rows", "index_has_other_values"),
    did=_did,
    readers="all, where a filter is answered by the index",
    remedy="Build the index anew.",
)
