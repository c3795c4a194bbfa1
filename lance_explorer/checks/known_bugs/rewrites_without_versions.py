"""Values are written in place, and the versions of their rows stay."""

from lance_explorer.checks.known_bugs.record import KnownBug, record_at
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    return record_at(view, finding)


BUG = KnownBug(
    name="lance#6519, lance#6734",
    what="column rewrites that do not say which rows they wrote leave "
    "_row_last_updated_at_version as it was",
    releases="all so far, for update_columns without offsets; 8.0.1 also for data replacement, "
    "1.0.4 and 4.0.2 for casts and joined columns",
    codes=("rewrites_untold",),
    did=_did,
    readers="all: Lance's own change feed, dataset.delta(), leaves these rows out",
    remedy="Ask table.changes(), blame() or row() instead; pass with_offsets=True when writing.",
)
