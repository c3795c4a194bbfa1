"""An update leaves zone maps and bloom filters with nothing of the rows that it wrote."""

from lance_explorer.checks.known_bugs.record import KnownBug
from lance_explorer.checks.known_bugs.zone_maps_left_behind import zone_map_without
from lance_explorer.findings import Finding
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    return zone_map_without(view, finding, OperationName.UPDATE, (1, 0, 4))


BUG = KnownBug(
    name="lance#8278",
    what="with stable row IDs, an Update by 1.0.4 to 10.0.0 leaves zone maps and bloom filters "
    "with nothing of the rows that it wrote",
    releases="1.0.4 to 10.0.0; fixed in 11.0.0",
    codes=("index_misses_rows",),
    did=_did,
    readers="10.0.0 and later, where a filter is answered by the index; those before read the rows",
    remedy="Build the index again with a newer release.",
)
