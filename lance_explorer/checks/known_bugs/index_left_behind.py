"""A compaction leaves an index behind that still lists the fragments from before."""

from lance_explorer.checks.known_bugs.record import KnownBug
from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    """Return the first version without any fragment that the index covers, if it is a compaction.

    A compaction keeps all rows, and should have kept them in the index.
    """
    history, name = view.history, finding.subject.name
    lost_at = None
    for position in range(len(history) - 1, -1, -1):
        if name not in {segment.name for segment in history.records[position].indices}:
            break
        if _covers_any(view, position, name):
            break
        lost_at = position
    if not lost_at or history.records[lost_at].operation != OperationName.REWRITE:
        return None
    return history.records[lost_at] if _covers_any(view, lost_at - 1, name) else None


def _covers_any(view: HistoryView, position: int, name: str) -> bool:
    """Return whether an index covers any fragment of a version; unknown counts as yes."""
    history = view.history
    record = history.records[position]
    live = set(history.states.ids[history.intervals.at(position)].tolist())
    for segment in record.indices:
        if segment.name != name:
            continue
        try:
            covered = segment.fragment_ids()
            if covered is None:
                return True
            ids = carried_over(covered, fragment_reuse(view, record))
        except LanceExplorerError:
            return True
        if not live.isdisjoint(ids):
            return True
    return False


BUG = KnownBug(
    name="Indices left behind",
    what="a compaction that left this index behind: it still lists fragments that the compaction "
    "removed, and none that it wrote",
    releases="all so far, for zone maps and bloom filters without stable row IDs",
    codes=("index_covers_nothing",),
    did=_did,
    readers="none answers wrongly: searches read all rows",
    remedy="Update the index, or build it again, after each compaction.",
)
