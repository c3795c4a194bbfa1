"""Row IDs and addresses of live rows: runs or, where smaller, blocks, behind one interface."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.addresses import FRAGMENT_BITS, fragments_of
from lance_explorer.rowids.arrays import MAX_U64, Uint64Array
from lance_explorer.rowids.bitmaps import rows_within
from lance_explorer.rowids.blocks import BLOCK_IDS, Blocks, RunsAndBlocks, first_ids
from lance_explorer.rowids.condensing import condensed
from lance_explorer.rowids.runs import (
    RunColumns,
    RunPairs,
    Runs,
    merged_ids,
    outside,
    overlaps,
    paired,
)

__all__ = ["FRAGMENT_BITS", "IdMap", "ids_at"]

_BLOCKS_AT_ONCE = 256
_IDS_AT_ONCE = 1 << 15


@dataclass(frozen=True, slots=True)
class IdMap:
    """Row IDs and the addresses of their rows.

    Set operations are on row IDs; results keep the addresses of the map whose method is called.
    No operation expands a run.

    Parameters
    ----------
    runs : Runs
        What is kept as runs.
    blocks : tuple of Blocks
        What is kept as bitmaps; at most one table of each of the three kinds.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.id_map import IdMap
    >>> from lance_explorer.rowids.runs import RunColumns
    >>> def runs(*columns): return IdMap.of(RunColumns(*np.array(columns, dtype=np.uint64)))
    >>> before = runs([0], [1_000_000], [0])
    >>> after = runs([0, 10, 15], [10, 15, 900_000], [0, 1 << 32, 15])
    >>> before.difference(after).num_rows, before.intersection(after).num_rows
    (100000, 900000)
    >>> [(pairs.start.tolist(), pairs.other_address.tolist()) for pairs in before.pairs(after)]
    [([0, 10, 15], [0, 4294967296, 15])]
    """

    runs: Runs
    blocks: tuple[Blocks, ...] = ()

    @classmethod
    def of(cls, columns: RunColumns) -> "IdMap":
        """Return the map of runs in any order; no row ID may be in two of them."""
        return cls.of_parts([condensed(columns.by_address())])[0]

    @classmethod
    def of_parts(cls, parts: Iterable[RunsAndBlocks]) -> tuple["IdMap", RunColumns]:
        """Return the map of some runs and blocks, and separately the runs of duplicate IDs."""
        columns, blocks = [], list[Blocks]()
        for some_columns, some_blocks in parts:
            columns.append(some_columns)
            blocks += some_blocks
        runs, repeated = Runs.split(RunColumns.concatenated(columns))
        return cls(runs, _by_kind(blocks)), repeated

    @property
    def num_rows(self) -> int:
        """How many rows live."""
        return self.runs.num_rows + sum([blocks.num_rows for blocks in self.blocks])

    @property
    def num_runs(self) -> int:
        """How many runs the rows form; rows in blocks are counted in each block by itself."""
        return len(self.runs) + sum([blocks.num_runs for blocks in self.blocks])

    @property
    def nbytes(self) -> int:
        """The bytes in memory."""
        return self.runs.nbytes + sum([blocks.nbytes for blocks in self.blocks])

    def lookup(self, ids: Uint64Array) -> tuple[Uint64Array, NDArray[np.bool_]]:
        """Return the addresses of row IDs, 0 where there is none, and whether there is one."""
        addresses, found = np.empty(len(ids), dtype=np.uint64), np.empty(len(ids), dtype=np.bool_)
        order = np.argsort(ids)  # neighbours are close together in memory
        for begin in range(0, len(ids), _IDS_AT_ONCE):
            some = order[begin : begin + _IDS_AT_ONCE]
            addresses[some], found[some] = self._lookup(ids[some])
        return addresses, found

    def every_address(self, row_id: int) -> list[int]:
        """Return the addresses of all rows with a row ID; an undamaged table has at most one."""
        number = np.array([row_id], dtype=np.uint64)
        places: list[Blocks | Runs] = [self.runs]
        for blocks in self.blocks:
            places += blocks.about(row_id)
        answers = [place.lookup(number) for place in places]
        return [int(addresses[0]) for addresses, is_found in answers if is_found[0]]

    def reverse_lookup(self, addresses: Uint64Array) -> tuple[Uint64Array, NDArray[np.bool_]]:
        """Return the row IDs at addresses, 0 where no row lives, and whether one does."""
        order = np.argsort(addresses)
        wanted = addresses[order]
        ids, found = ids_at(self.runs.columns, wanted)
        for blocks in self.blocks:
            for some, columns in blocks.runs_around(wanted):
                more_ids, more = ids_at(columns, wanted[some])
                ids[some] |= more_ids
                found[some] |= more
        result, there = np.empty_like(ids), np.empty_like(found)
        result[order], there[order] = ids, found
        return result, there

    def union(self, other: "IdMap") -> "IdMap":
        """Return the rows of both maps; for shared row IDs, those of this map."""
        new = other.difference(self)
        runs = Runs.of(RunColumns.concatenated([self.runs.columns, new.runs.columns]))
        return IdMap(runs, _by_kind([*self.blocks, *new.blocks]))

    def intersection(self, other: "IdMap") -> "IdMap":
        """Return the rows whose row IDs are in the other map."""
        return self._compared(other, inside=True)

    def difference(self, other: "IdMap") -> "IdMap":
        """Return the rows whose row IDs are not in the other map."""
        return self._compared(other, inside=False)

    def pairs(self, other: "IdMap") -> Iterator[RunPairs]:
        """Yield runs of the shared row IDs with both addresses, one stretch after another."""
        for own, others in self._beside(other):
            pairs = paired(own.in_order(), Runs.split(others)[0].columns)
            if len(pairs.start):
                yield pairs

    def stretches(self) -> Iterator[RunColumns]:
        """Yield all rows as runs, one stretch of row IDs after another."""
        for low, high in _stretches(self.blocks):
            yield self.between(low, high).in_order()

    def between(self, low: int, high: int) -> RunColumns:
        """Return the rows between two row IDs, both borders of blocks, as runs in any order."""
        pieces = [self.runs.between(low, high)]
        for blocks in self.blocks:
            numbers = [low // BLOCK_IDS, -(-high // BLOCK_IDS)]
            begin, end = np.searchsorted(blocks.number, np.array(numbers, dtype=np.uint64))
            pieces.append(blocks.runs(slice(begin, end)))
        return RunColumns.concatenated(pieces)

    def without_fragments(self, fragment_ids: Iterable[int]) -> RunsAndBlocks:
        """Return the rows that are not in some fragments."""
        removed = np.array(sorted(fragment_ids), dtype=np.uint64)
        runs = self.runs.columns.where(~np.isin(fragments_of(self.runs.address), removed))
        blocks = [
            some.where(~np.isin(fragments_of(some.first_addresses()), removed))
            for some in self.blocks
        ]
        return RunsAndBlocks(runs, blocks)

    def repeated(self) -> RunColumns:
        """Return runs of row IDs that other runs have too."""
        numbers, counts = np.unique(_numbers(self.blocks), return_counts=True)
        shared = numbers[counts > 1]
        suspects = [
            blocks.where(np.isin(blocks.number, shared) | self.runs.meets(*blocks.id_bounds()))
            for blocks in self.blocks
        ]
        stretches = IdMap(self.runs, tuple(suspects)).stretches()
        return RunColumns.concatenated([Runs.split(some)[1] for some in stretches])

    def _compared(self, other: "IdMap", *, inside: bool) -> "IdMap":
        parts, mixed = list[RunsAndBlocks](), list[Blocks]()
        for blocks in self.blocks:
            meets_runs = other.runs.meets(*blocks.id_bounds())
            parts += rows_within(blocks.where(~meets_runs), other.blocks, inside=inside)
            mixed.append(blocks.where(meets_runs))
        compare = overlaps if inside else outside
        for own, others in IdMap(self.runs, tuple(mixed))._beside(other):
            rows = compare(own, *merged_ids(others))
            parts.append(condensed(rows.by_address()))
        return IdMap.of_parts(parts)[0]

    def _beside(self, other: "IdMap") -> Iterator[tuple[RunColumns, RunColumns]]:
        """Yield the rows of both maps, one stretch of row IDs after another."""
        for low, high in _stretches([*self.blocks, *other.blocks]):
            own = self.between(low, high)
            if len(own.start):
                yield own, other.between(low, high)

    def _lookup(self, ids: Uint64Array) -> tuple[Uint64Array, NDArray[np.bool_]]:
        addresses, found = np.zeros(len(ids), dtype=np.uint64), np.zeros(len(ids), dtype=np.bool_)
        places: list[Blocks | Runs] = [*self.blocks, self.runs]
        for place in places:
            todo = np.flatnonzero(~found)
            addresses[todo], found[todo] = place.lookup(ids[todo])
        return addresses, found


def _stretches(blocks: Iterable[Blocks]) -> Iterator[tuple[int, int]]:
    """Cut all row IDs into stretches with few blocks each: yield their starts and stops."""
    numbers = np.unique(_numbers(blocks))
    borders = first_ids(numbers[_BLOCKS_AT_ONCE::_BLOCKS_AT_ONCE]).tolist()
    yield from pairwise([0, *borders, MAX_U64])


def _numbers(blocks: Iterable[Blocks]) -> Uint64Array:
    return np.concatenate([np.empty(0, dtype=np.uint64), *[some.number for some in blocks]])


def _by_kind(blocks: Iterable[Blocks]) -> tuple[Blocks, ...]:
    kinds: dict[tuple[bool, bool], list[Blocks]] = {}
    for some in blocks:
        if len(some):
            kinds.setdefault((some.present is None, some.is_masked), []).append(some)
    return tuple([Blocks.concatenated(kind) for kind in kinds.values()])


def ids_at(columns: RunColumns, addresses: Uint64Array) -> tuple[Uint64Array, NDArray[np.bool_]]:
    """Return the row IDs at addresses, 0 where there is none, and whether there is one."""
    start, stop, address = columns.by_address()
    reverse = Runs(RunColumns(address, address + (stop - start), start))
    return reverse.lookup(addresses)
