"""An update of an index drops the rows that a compaction moved."""

from lance_explorer.checks.known_bugs.record import KnownBug, updated_index
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    return updated_index(view, finding, ("BTREE",), (3, 0, 0), (4, 0, 0))


BUG = KnownBug(
    name="lance#6116",
    what="with stable row IDs, optimize_indices of 3.0.0 and 3.0.1 drops the rows of compacted "
    "fragments from a BTREE",
    releases="3.0.0 and 3.0.1; fixed in 4.0.1",
    codes=("index_misses_rows",),
    did=_did,
    readers="all, where a filter is answered by the index",
    remedy="Build the index anew.",
)
