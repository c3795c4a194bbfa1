"""An update of an index of labels keeps those that rows had before they were updated."""

from lance_explorer.checks.known_bugs.record import KnownBug, updated_index
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    return updated_index(view, finding, ("LABEL_LIST",), (1, 0, 4), (13, 0, 0))


BUG = KnownBug(
    name="lance#9352",
    what="with stable row IDs, optimize_indices up to 12.0.0 keeps the labels that rows had before "
    "they were updated",
    releases="1.0.4 to 12.0.0; fixed in 13.0.0",
    codes=("index_has_other_values",),
    did=_did,
    readers="all: rows are found by labels that they had",
    remedy="Build the index anew.",
)
