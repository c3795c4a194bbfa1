"""A table that was emptied assigns fragment IDs again, under which an index still has its rows."""

from lance_explorer.checks.known_bugs.record import KnownBug, record_at, release_of
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    record = record_at(view, finding)
    release = release_of(record) if record else None
    if record is None or release is None or release >= (0, 17, 0):
        return None
    history = view.history
    before = history.position(record.version) - 1
    return record if before >= 0 and not history.states_at(before) else None


BUG = KnownBug(
    name="lance#2718",
    what="up to 0.16.1, a Delete of all rows keeps the indices and forgets which fragment IDs were "
    "given: new rows get those of the rows that the indices have",
    releases="up to 0.16.1; fixed in 0.17.0",
    codes=("index_of_other_values",),
    did=_did,
    readers="all, where a filter is answered by the index",
    remedy="Build the index anew.",
)
