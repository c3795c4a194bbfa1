"""An update of an index keeps the values that rows had before they were updated."""

from lance_explorer.checks.known_bugs.record import KnownBug, updated_index
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    return updated_index(view, finding, ("BTREE", "BITMAP"), (1, 0, 4), (9, 0, 0))


BUG = KnownBug(
    name="lance#7359",
    what="with stable row IDs, optimize_indices up to 8.0.1 keeps the entries that rows had before "
    "they were updated",
    releases="1.0.4 to 8.0.1; fixed in 9.0.0",
    codes=("index_has_other_values",),
    did=_did,
    readers="all: rows are found by values that they had; through a BTREE, 4.0.1 to 12.0.0 end in "
    "an error",
    remedy="Build the index anew.",
)
