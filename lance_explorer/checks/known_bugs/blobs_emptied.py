"""A compaction empties payloads of blob columns."""

from lance_explorer.checks.known_bugs.record import KnownBug, record_at, release_of
from lance_explorer.findings import Finding
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.columns.value_columns import blob_columns
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    record = record_at(view, finding)
    release = release_of(record) if record else None
    if record is None or release is None or release >= (10, 0, 0):
        return None
    is_blob = not blob_columns(record.schema).isdisjoint(finding.columns)
    return record if is_blob and record.operation == OperationName.REWRITE else None


BUG = KnownBug(
    name="lance#7955",
    what="up to 9.0.1, a compaction of a blob column empties the payloads after a null or an empty "
    "payload in the same fragment",
    releases="4.0.1 to 9.0.1; fixed in 10.0.0",
    codes=("compaction_changed_values",),
    did=_did,
    readers="all: the payloads are gone from the new files",
    remedy="Write the values again from the version before the compaction, while it is kept.",
)
