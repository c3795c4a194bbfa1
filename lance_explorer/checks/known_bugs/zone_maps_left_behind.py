"""A compaction leaves zone maps and bloom filters with nothing of what it wrote."""

from lance_explorer.checks.known_bugs.record import KnownBug, Release, release_of
from lance_explorer.findings import Finding
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.index_details import index_type
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG", "zone_map_without"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    return zone_map_without(view, finding, OperationName.REWRITE, (4, 0, 1))


def zone_map_without(
    view: HistoryView, finding: Finding, operation: OperationName, first: Release
) -> VersionRecord | None:
    """Return the last such commit by releases from one to 10.0.0 since a zone map was built."""
    records, name = view.history.records, finding.subject.name
    uuids = {
        one.uuid
        for one in records[-1].indices
        if one.name == name and index_type(one) in ("ZONE_MAP", "BLOOM_FILTER")
    }
    for record in reversed(records):
        if uuids.isdisjoint([one.uuid for one in record.indices]):
            return None
        release = release_of(record)
        is_stable = bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)
        did_it = release is not None and first <= release <= (10, 0, 0)
        if record.operation == operation and is_stable and did_it:
            return record
    return None


BUG = KnownBug(
    name="lance#8076",
    what="with stable row IDs, a compaction by 4.0.1 to 10.0.0 leaves zone maps and bloom filters "
    "with nothing of what it wrote, and searches through them find none of these rows",
    releases="4.0.1 to 10.0.0",
    codes=("index_misses_rows",),
    did=_did,
    readers="all, where a filter is answered by the index",
    remedy="Build the index again with a newer release.",
)
