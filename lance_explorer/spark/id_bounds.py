"""Which row IDs the fragments of a version can have; tells which fragments a task needs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.history.identity.row_origins import identity_bounds
from lance_explorer.history.identity.stored_rows import StoredRows
from lance_explorer.history.readable import check_readable, rows_history
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["IdBounds", "has_row_ids", "id_bounds"]

_OFFSET_MASK = np.uint64(2**32 - 1)


class IdBounds(NamedTuple):
    """Fragments, and the lowest and the highest possible row ID of each.

    The lowest is larger than the highest if it has none.
    """

    fragments: Uint64Array
    low: Uint64Array
    high: Uint64Array

    def with_any(self, row_ids: Uint64Array) -> NDArray[np.uint64]:
        """Return the fragments that can have any of some ascending row IDs."""
        first = np.searchsorted(row_ids, self.low)
        end = np.searchsorted(row_ids, self.high, side="right")
        result: NDArray[np.uint64] = self.fragments[first < end]
        return result


def id_bounds(view: HistoryView, version: int) -> IdBounds:
    """Return the bounds for a version; without stable row IDs, a row ID is an address."""
    history = view.version(version)
    check_readable(history.records[0])
    rows = StoredRows(view, rows_history(history))
    states = rows.history.states
    ids = states.ids.astype(np.uint64)
    if not has_row_ids(view, version):
        low = ids << np.uint64(32)
        return IdBounds(ids, low, low | _OFFSET_MASK)
    ranges = states.row_id_ranges
    low, high = ranges.start.astype(np.uint64), ranges.stop.astype(np.uint64) - np.uint64(1)
    others = np.flatnonzero(~ranges.found).tolist()
    rows.load(others, ("row_ids",))
    for state in others:
        low[state], high[state] = identity_bounds(rows.row_ids(state))
    return IdBounds(ids, low, high)


def has_row_ids(view: HistoryView, version: int) -> bool:
    """Return whether a version has stable row IDs."""
    record = view.version(version).records[0]
    return bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)
