"""Runs of rows: consecutive row IDs at consecutive addresses, and their algebra.

Runs are half open, disjoint, sorted by row ID, and as long as possible: the constructors ensure
that, and nothing else has to. The work grows with the number of runs, never with their lengths.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array, aranges

__all__ = ["RunColumns", "RunPairs", "Runs", "merged"]


class RunColumns(NamedTuple):
    """Runs in any order, which may overlap.

    The row IDs from ``start[i]`` up to but not including ``stop[i]`` live at the addresses from
    ``address[i]`` on.
    """

    start: Uint64Array
    stop: Uint64Array
    address: Uint64Array

    @classmethod
    def empty(cls) -> "RunColumns":
        """Return no runs."""
        nothing = np.empty(0, dtype=np.uint64)
        return cls(nothing, nothing, nothing)

    @classmethod
    def concatenated(cls, several: Iterable["RunColumns"]) -> "RunColumns":
        """Return the runs of several tables, one after the other."""
        some = [columns for columns in several if len(columns.start)]
        if len(some) < 2:
            return some[0] if some else cls.empty()
        return cls(*[np.concatenate(arrays) for arrays in zip(*some, strict=True)])

    @property
    def num_rows(self) -> int:
        """How many rows there are in all runs."""
        return int((self.stop - self.start).sum(dtype=np.uint64))

    def where(self, chosen: NDArray[np.bool_] | Positions | slice) -> "RunColumns":
        """Return some of the runs."""
        return RunColumns(self.start[chosen], self.stop[chosen], self.address[chosen])

    def clipped(self, low: int, high: int) -> "RunColumns":
        """Return the part between two row IDs."""
        start: Uint64Array = np.maximum(self.start, np.uint64(low))
        stop: Uint64Array = np.minimum(self.stop, np.uint64(high))
        columns = RunColumns(start, stop, self.address + (start - self.start))
        return columns.where(start < stop)

    def in_order(self) -> "RunColumns":
        """Return the runs sorted by their first row ID."""
        if (self.start[1:] >= self.start[:-1]).all():
            return self
        return self.where(np.argsort(self.start))

    def by_address(self) -> "RunColumns":
        """Return the runs sorted by address."""
        return self.where(np.argsort(self.address))


class RunPairs(NamedTuple):
    """Runs of the row IDs that two tables of runs share, with both addresses."""

    start: Uint64Array
    stop: Uint64Array
    address: Uint64Array
    other_address: Uint64Array


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs that are disjoint, sorted, and merged where they touch.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.runs import RunColumns, Runs
    >>> start, stop, address = np.array([[7, 0, 5], [9, 4, 7], [102, 50, 100]], dtype=np.uint64)
    >>> runs = Runs.of(RunColumns(start, stop, address))
    >>> len(runs), runs.num_rows, runs.start.tolist(), runs.stop.tolist(), runs.address.tolist()
    (2, 8, [0, 5], [4, 9], [50, 100])
    >>> addresses, found = runs.lookup(np.array([6, 4], dtype=np.uint64))
    >>> addresses.tolist(), found.tolist()
    ([101, 0], [True, False])
    """

    columns: RunColumns

    @classmethod
    def of(cls, columns: RunColumns) -> "Runs":
        """Return runs given in any order; no row ID may be in two of them."""
        return cls(merged(columns.in_order()))

    @classmethod
    def split(cls, columns: RunColumns) -> tuple["Runs", RunColumns]:
        """Return unsorted runs and, separately, those whose row IDs are in earlier ones."""
        columns = columns.in_order()
        start, stop, address = columns
        if (start[1:] >= stop[:-1]).all():
            return cls(merged(columns)), RunColumns.empty()
        reach = np.zeros(len(start), dtype=np.uint64)
        reach[1:] = np.maximum.accumulate(stop)[:-1]
        begin: Uint64Array = np.minimum(np.maximum(start, reach), stop)
        own = RunColumns(begin, stop, address + (begin - start)).where(begin < stop)
        return cls(merged(own)), RunColumns(start, begin, address).where(start < begin)

    @property
    def start(self) -> Uint64Array:
        """The first row ID of each run."""
        return self.columns.start

    @property
    def stop(self) -> Uint64Array:
        """The row ID after the last one of each run."""
        return self.columns.stop

    @property
    def address(self) -> Uint64Array:
        """The address of the first row of each run."""
        return self.columns.address

    @property
    def num_rows(self) -> int:
        """How many rows there are in all runs."""
        return self.columns.num_rows

    @property
    def nbytes(self) -> int:
        """The bytes in memory."""
        return sum([column.nbytes for column in self.columns])

    def __len__(self) -> int:
        return len(self.start)

    def between(self, low: int, high: int) -> RunColumns:
        """Return what lies between two row IDs."""
        first = int(np.searchsorted(self.stop, np.uint64(low), side="right"))
        end = int(np.searchsorted(self.start, np.uint64(high)))
        return self.columns.where(slice(first, end)).clipped(low, high)

    def meets(self, low: Uint64Array, high: Uint64Array) -> NDArray[np.bool_]:
        """Return for pairs of row IDs whether any run has a row ID between them, both included."""
        first = np.searchsorted(self.stop, low, side="right")
        return first < np.searchsorted(self.start, high, side="right")

    def lookup(self, ids: Uint64Array) -> tuple[Uint64Array, NDArray[np.bool_]]:
        """Return the addresses of row IDs, 0 where there is none, and whether there is one."""
        if not len(self):
            return np.zeros(len(ids), dtype=np.uint64), np.zeros(len(ids), dtype=np.bool_)
        run = np.maximum(np.searchsorted(self.start, ids, side="right") - 1, 0)
        start = self.start[run]
        within = ids - start
        found = within < self.stop[run] - start
        return np.where(found, self.address[run] + within, np.uint64(0)), found

    def union(self, other: "Runs") -> "Runs":
        """Return the rows of both; for shared row IDs, those of this one."""
        return Runs.of(RunColumns.concatenated([self.columns, other.difference(self).columns]))

    def intersection(self, other: "Runs") -> "Runs":
        """Return the rows whose row IDs the other has too, at the addresses of this one."""
        return Runs(merged(overlaps(self.columns, *_ids(other.columns))))

    def difference(self, other: "Runs") -> "Runs":
        """Return the rows whose row IDs the other does not have."""
        return Runs(merged(outside(self.columns, *_ids(other.columns))))

    def pairs(self, other: "Runs") -> RunPairs:
        """Return the runs of shared row IDs, with both addresses."""
        return paired(self.columns, other.columns)


def overlaps(columns: RunColumns, start: Uint64Array, stop: Uint64Array) -> RunColumns:
    """Return the parts of unsorted runs inside disjoint sorted ranges of row IDs."""
    owner, place = _meetings(columns, start, stop)
    return _cut(columns.where(owner), start[place], stop[place])


def outside(columns: RunColumns, start: Uint64Array, stop: Uint64Array) -> RunColumns:
    """Return the parts of unsorted runs outside disjoint sorted ranges."""
    everything = np.array([0, MAX_U64], dtype=np.uint64)
    return overlaps(columns, np.append(everything[:1], stop), np.append(start, everything[1:]))


def paired(columns: RunColumns, others: RunColumns) -> RunPairs:
    """Return the row IDs shared by unsorted and by disjoint sorted runs, with both addresses."""
    owner, place = _meetings(columns, others.start, others.stop)
    other = others.where(place)
    common = _cut(columns.where(owner), other.start, other.stop)
    return RunPairs(*common, other.address + (common.start - other.start))


def separated(columns: RunColumns, others: RunColumns) -> tuple[RunColumns, RunColumns, RunPairs]:
    """Return of disjoint sorted runs what only the first have, what only the second have, and both.

    The first two are in no particular order.
    """
    owner, place = _meetings(columns, others.start, others.stop)
    other = others.where(place)
    common = _cut(columns.where(owner), other.start, other.stop)
    pairs = RunPairs(*common, other.address + (common.start - other.start))
    return _beyond(columns, owner, common), _beyond(others, place, common), pairs


def _beyond(columns: RunColumns, met: Positions, common: RunColumns) -> RunColumns:
    """Return the parts of disjoint runs that are not shared; some runs meet shared ones."""
    is_met = np.zeros(len(columns.start), dtype=np.bool_)
    is_met[met] = True
    alone, shared = [columns.where(np.flatnonzero(chosen)) for chosen in (~is_met, is_met)]
    if shared.num_rows == common.num_rows:
        return alone
    rest = outside(shared, common.start, common.stop)
    rest = rest.where(rest.start < rest.stop)
    return RunColumns.concatenated([alone, rest])


def merged_ids(columns: RunColumns) -> tuple[Uint64Array, Uint64Array]:
    """Return the row IDs of runs, which may overlap, as disjoint sorted ranges."""
    return _ids(columns.in_order())


def _ids(columns: RunColumns) -> tuple[Uint64Array, Uint64Array]:
    """Return the row IDs of runs sorted by start as disjoint ranges."""
    reach = np.maximum.accumulate(columns.stop)
    begins = np.ones(len(reach) + 1, dtype=np.bool_)
    begins[1:-1] = columns.start[1:] > reach[:-1]
    return columns.start[begins[:-1]], reach[begins[1:]]


def merged(columns: RunColumns) -> RunColumns:
    """Merge adjacent runs, whose row IDs and addresses both continue; drop empty ones."""
    filled = columns.start < columns.stop
    if not filled.all():
        columns = columns.where(filled)
    start, stop, address = columns
    begins = np.ones(len(start) + 1, dtype=np.bool_)
    begins[1:-1] = (start[1:] != stop[:-1]) | (address[1:] - start[1:] != (address - start)[:-1])
    if begins.all():
        return columns
    return RunColumns(start[begins[:-1]], stop[begins[1:]], address[begins[:-1]])


def _meetings(
    columns: RunColumns, start: Uint64Array, stop: Uint64Array
) -> tuple[Positions, Positions]:
    """Return which runs meet which disjoint sorted ranges: one line for each meeting."""
    first = np.searchsorted(stop, columns.start, side="right")
    counts = np.maximum(np.searchsorted(start, columns.stop) - first, 0)
    return np.repeat(np.arange(len(first)), counts), aranges(first, counts)


def _cut(columns: RunColumns, start: Uint64Array, stop: Uint64Array) -> RunColumns:
    """Return what each run shares with the range beside it, which must meet it."""
    begin: Uint64Array = np.maximum(columns.start, start)
    end: Uint64Array = np.minimum(columns.stop, stop)
    return RunColumns(begin, end, columns.address + (begin - columns.start))
