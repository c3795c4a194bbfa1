"""The version that created a row is 1 for all rows of an update."""

from lance_explorer.checks.known_bugs.record import KnownBug, record_at, release_of
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    record = record_at(view, finding)
    release = release_of(record) if record else None
    return record if release is not None and release < (8, 0, 1) else None


BUG = KnownBug(
    name="Updates by 1.0.4 and 4.0.2",
    what="1.0.4 and 4.0.2 do not set the version that created the rows of an update or upsert: it "
    "is 1 for all of them, inserted ones too; fixed in 8.0.1",
    releases="1.0.4 to 4.0.2; fixed in 8.0.1",
    codes=("created_at_wrong",),
    did=_did,
    readers="all, if they read _row_created_at_version",
    remedy="Update the rows again with a newer release, or do not use _row_created_at_version.",
)
