"""An update of an index that has nothing new to add writes it again."""

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
    name="lance#6659",
    what="4.0.1 writes an index again in each optimize_indices, though it covers all rows already",
    releases="4.0.1; not 8.0.1, but for one more time of a vector index",
    codes=("index_rebuilt_for_nothing",),
    did=_did,
    readers="none answers wrongly",
    remedy="Call optimize_indices only after rows were added, and name the indices.",
)
