"""Where rows are in another version, and rows a few at a time."""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.history.events.row_runs import NO_ADDRESS, PlacedRuns, shifted
from lance_explorer.history.progress import with_progress
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["ROWS_AT_ONCE", "Places", "chunks", "row_chunks"]

ROWS_AT_ONCE = 65_536
"""The number of rows whose values are in memory at once."""

_Runs = TypeVar("_Runs", bound=PlacedRuns)


def chunks(num_rows: int) -> Iterator[slice]:
    """Yield spans of rows whose values are in memory at once."""
    starts = range(0, num_rows, ROWS_AT_ONCE)
    for start in with_progress(starts, "Reading values", f"x {ROWS_AT_ONCE:,} rows", few=2):
        yield slice(start, start + ROWS_AT_ONCE)


def row_chunks(runs: _Runs) -> Iterator[_Runs]:
    """Yield the rows of runs, one run each, so many rows at a time."""
    rows = runs.rows()
    for span in chunks(len(rows)):
        yield rows.where(span)


class Places:
    """Where the rows of one version are in another version.

    Parameters
    ----------
    runs : ChangeRuns
        How the rows of the first version changed, moves included. A row that is not among them has
        the same address in both versions.
    """

    def __init__(self, runs: ChangeRuns) -> None:
        runs = runs.where(runs.was_live)
        self._runs = runs.where(np.argsort(runs.before))

    def after(self, addresses: Uint64Array) -> Uint64Array:
        """Return the addresses of rows in the second version; NO_ADDRESS for a missing row."""
        runs = self._runs
        if not len(runs):
            return addresses
        place = np.searchsorted(runs.before, addresses, side="right") - 1
        place = np.maximum(place, 0)
        shift = addresses - runs.before[place]
        is_inside = (runs.before[place] <= addresses) & (shift < runs.length[place])
        is_inside &= addresses != NO_ADDRESS
        return np.where(is_inside, shifted(runs.after[place], shift), addresses)
