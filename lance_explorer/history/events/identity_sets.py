"""Sets of rows, by their identities or row IDs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.events.row_runs import RowRuns
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.runs import RunColumns, merged_ids

__all__ = ["IdentitySet"]


@dataclass(frozen=True, slots=True)
class IdentitySet:
    """Identities as ascending half-open ranges that do not touch."""

    start: Uint64Array
    stop: Uint64Array

    @classmethod
    def of(cls, start: Uint64Array, stop: Uint64Array) -> "IdentitySet":
        """Return the identities of ranges, which may overlap."""
        if not len(start):
            return cls(start, stop)
        return cls(*merged_ids(RunColumns(start, stop, start)))

    def joined(self, other: "IdentitySet") -> "IdentitySet":
        """Return the identities that are in either."""
        ranges = [np.concatenate([getattr(self, n), getattr(other, n)]) for n in ("start", "stop")]
        return IdentitySet.of(*ranges)

    def cut(self, runs: RowRuns) -> RowRuns:
        """Return runs split so that each is entirely inside or outside the set."""
        return runs.cut(runs.identity, np.column_stack([self.start, self.stop]).ravel())

    def has(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Return which identities are in the set."""
        place = np.searchsorted(self.start, identities, side="right")
        inside: NDArray[np.bool_] = identities < np.append(np.uint64(0), self.stop)[place]
        return inside
