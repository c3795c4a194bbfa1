"""Row-version sequences: which version created, or last updated, each row of a fragment."""

from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from lance_explorer.rowids.arrays import Positions, Uint64Array, begins_of
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.shown import described

__all__ = ["RowVersionRuns"]


@dataclass(frozen=True, slots=True, eq=False)
class RowVersionRuns:
    """Versions, and how many consecutive rows have each (docs/FORMAT.md 3.2).

    Parameters
    ----------
    counts : ndarray of int64
        The length of each run, in the order of the rows; deleted rows count.
    versions : ndarray of uint64
        The version of each run.

    Examples
    --------
    >>> import numpy as np
    >>> from pyroaring import BitMap
    >>> from lance_explorer.rowids.version_runs import RowVersionRuns
    >>> runs = RowVersionRuns.of(np.array([1, 1, 1, 4, 4, 1], dtype=np.uint64))
    >>> runs, runs.counts.tolist(), runs.versions.tolist()
    (RowVersionRuns(6 rows in 3 runs), [3, 2, 1], [1, 4, 1])
    >>> runs.at(np.array([4, 0])).tolist(), runs.slice(2, 4).expand().tolist()
    ([4, 1], [1, 4])
    >>> runs.without(BitMap([3, 4])).expand().tolist()
    [1, 1, 1, 1]
    """

    counts: Positions
    versions: Uint64Array

    @classmethod
    def of(cls, versions: Uint64Array) -> "RowVersionRuns":
        """Return the runs of versions, given row by row."""
        begins = np.flatnonzero(np.diff(versions, prepend=~versions[:1]))
        return cls(np.diff(begins, append=len(versions)), versions[begins])

    def __len__(self) -> int:
        return int(self.counts.sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowVersionRuns):
            return NotImplemented
        same = np.array_equal(self.counts, other.counts)
        return same and np.array_equal(self.versions, other.versions)

    __hash__ = None  # type: ignore[assignment]

    @described
    def __repr__(self) -> str:
        return f"RowVersionRuns({len(self):,} rows in {len(self.counts):,} runs)"

    def expand(self) -> Uint64Array:
        """Return the version of every row."""
        return np.repeat(self.versions, self.counts)

    def at(self, offsets: Positions) -> Uint64Array:
        """Return the versions of some rows, which must all exist."""
        begins = begins_of(self.counts)
        return self.versions[np.searchsorted(begins, offsets, side="right") - 1]

    def slice(self, start: int, stop: int) -> "RowVersionRuns":
        """Return the versions of the rows from ``start`` to ``stop``."""
        begins = begins_of(self.counts)
        counts = np.minimum(begins + self.counts, stop) - np.maximum(begins, start)
        some = counts > 0
        return RowVersionRuns(counts[some], self.versions[some])

    def without(self, deleted: BitMap | None) -> "RowVersionRuns":
        """Return the versions of the rows that are not deleted."""
        if not deleted:
            return self
        ends = np.cumsum(self.counts)
        dropped = np.diff(np.searchsorted(deleted_offsets(deleted), ends), prepend=0)
        counts = self.counts - dropped
        some = counts > 0
        return RowVersionRuns(counts[some], self.versions[some])
