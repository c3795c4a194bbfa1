"""The number of live rows is stored as that of all rows."""

from lance_explorer.checks.known_bugs.record import KnownBug, record_at
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    return record_at(view, finding)


BUG = KnownBug(
    name="Counts by 0.8.0",
    what="0.8.0 stored the rows that are left as all rows of fragments of which 0.7.5 had deleted "
    "some, and named no writer",
    releases="0.8.0",
    codes=("rows_miscounted",),
    did=_did,
    readers="all: count_rows() gives fewer rows than a scan",
    remedy="Compact with materialize_deletions_threshold=0, which writes these fragments again.",
)
