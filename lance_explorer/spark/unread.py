"""How many bytes of manifests the driver has to read: beyond a limit, tasks should read them."""

import warnings

from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.recorded_table import RecordedTable

__all__ = ["MOST_BYTES", "unread_bytes", "warn_of_many_bytes"]

MOST_BYTES = 256 << 20
"""The driver reads this many bytes in two or three seconds."""


def unread_bytes(view: HistoryView) -> int:
    """Return the size of the manifests of a branch that are not in its ledger."""
    recorded = view.recorded
    # Decided when the versions were listed. A part of the branch cannot decide: it may have only
    # recorded versions, for which there is nothing to compare.
    life = recorded.chosen(view.branch) if isinstance(recorded, RecordedTable) else None
    known = {} if life is None else life.digests
    files = (*view.listing.versions, *view.listing.detached)
    return sum([file.size_bytes for file in files if file.version not in known])


def warn_of_many_bytes(view: HistoryView) -> None:
    """Tell people who wait for the driver how tasks can read the manifests instead."""
    num_bytes = unread_bytes(view)
    if num_bytes > MOST_BYTES:
        warnings.warn(
            f"the driver alone reads {num_bytes / 1e6:,.0f} MB of manifests of {view.uri}; tasks "
            "share the work with lx.spark.load instead of spark.read, or, once for all questions, "
            "with lx.spark.record and then the option ledger",
            stacklevel=2,
        )
