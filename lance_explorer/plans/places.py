"""Where rows are in another version."""

import numpy as np

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.history.events.row_runs import NO_ADDRESS, shifted
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["Places"]


class Places:
    """Where rows of one version are in another one.

    Parameters
    ----------
    runs : ChangeRuns
        What became of the rows of the first version, also of those that only moved. Rows that are
        not among them are where they were.
    """

    def __init__(self, runs: ChangeRuns) -> None:
        runs = runs.where(runs.was_live)
        self._runs = runs.where(np.argsort(runs.before))

    def after(self, addresses: Uint64Array) -> Uint64Array:
        """Return the addresses of rows in the second version; NO_ADDRESS where a row is not."""
        runs = self._runs
        if not len(runs):
            return addresses
        place = np.searchsorted(runs.before, addresses, side="right") - 1
        place = np.maximum(place, 0)
        shift = addresses - runs.before[place]
        is_inside = (runs.before[place] <= addresses) & (shift < runs.length[place])
        is_inside &= addresses != NO_ADDRESS
        return np.where(is_inside, shifted(runs.after[place], shift), addresses)
