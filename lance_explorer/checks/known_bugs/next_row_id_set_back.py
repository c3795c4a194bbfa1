"""A restore sets the next row ID back."""

from lance_explorer.checks.known_bugs.record import KnownBug, record_at, release_of
from lance_explorer.findings import Finding
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    record = record_at(view, finding)
    release = release_of(record) if record else None
    if record is None or release is None or release >= (12, 0, 0):
        return None
    # A later commit, such as a compaction, copies IDs that are there twice.
    is_restore = record.operation == OperationName.RESTORE
    return record if is_restore or finding.code == "row_ids_reused" else None


BUG = KnownBug(
    name="Restores up to 8.0.1",
    what="up to 8.0.1, a restore sets the next row ID back: rows inserted after it get IDs of rows "
    "that versions between had; fixed in 12.0.0",
    releases="up to 8.0.1; fixed in 12.0.0",
    codes=("next_row_id_fell", "row_ids_reused"),
    did=_did,
    readers="all, where they follow a row ID over these versions",
    remedy="It cannot be repaired in place: distinguish rows by a key, or with this package.",
)
