"""Offsets of rows in a fragment as sorted ranges, and the row IDs at these offsets."""

from typing import NamedTuple

import numpy as np
from pyroaring import BitMap

from lance_explorer.rowids.arrays import Positions, Uint64Array, begins_of
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.rowids.runs import RunColumns, overlaps
from lance_explorer.rowids.sequence import RowIdSequence

__all__ = ["OffsetRanges", "cut_at", "few_rows_at", "rows_at"]


class OffsetRanges(NamedTuple):
    """Disjoint ascending ranges of offsets, half open.

    Examples
    --------
    >>> from pyroaring import BitMap
    >>> from lance_explorer.rowids.offsets import OffsetRanges
    >>> [column.tolist() for column in OffsetRanges.of(BitMap([0, 1, 5]))]
    [[0, 5], [2, 6]]
    >>> [column.tolist() for column in OffsetRanges.outside(BitMap([0, 1, 5]), 9)]
    [[2, 6], [5, 9]]
    """

    start: Uint64Array
    stop: Uint64Array

    @classmethod
    def of(cls, offsets: BitMap) -> "OffsetRanges":
        """Return the offsets in a bitmap."""
        if not offsets:
            return cls(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64))
        values = deleted_offsets(offsets)
        ends = np.flatnonzero(np.diff(values) != 1)
        start = values[np.append(0, ends + 1)].astype(np.uint64)
        stop = values[np.append(ends, len(values) - 1)].astype(np.uint64) + np.uint64(1)
        return cls(start, stop)

    @classmethod
    def outside(cls, offsets: BitMap, num_rows: int) -> "OffsetRanges":
        """Return the offsets below ``num_rows`` that are not in a bitmap."""
        masked = cls.of(offsets)
        start = np.append(np.uint64(0), masked.stop)
        stop = np.append(masked.start, np.uint64(num_rows))
        some = start < stop
        return cls(start[some], stop[some])

    def within(self, others: "OffsetRanges") -> "OffsetRanges":
        """Return the intersection; it is cut where either one is."""
        own = RunColumns(self.start, self.stop, self.start)
        common = overlaps(own, others.start, others.stop)
        return OffsetRanges(common.start, common.stop)


def rows_at(sequence: RowIdSequence, first_address: int, ranges: OffsetRanges) -> RunColumns:
    """Return the rows at some offsets of a fragment as runs, in address order."""
    starts, stops = sequence.ranges()
    base = np.uint64(first_address)
    if len(starts) == 1:
        some = OffsetRanges(ranges.start, np.minimum(ranges.stop, stops - starts))
        return RunColumns(some.start + starts, some.stop + starts, some.start + base)
    counts = stops - starts
    begins = np.cumsum(counts) - counts
    there = overlaps(RunColumns(begins, begins + counts, starts), ranges.start, ranges.stop)
    ids = there.address
    return RunColumns(ids, ids + (there.stop - there.start), there.start + base)


def few_rows_at(sequence: RowIdSequence, first_address: int, offsets: BitMap) -> RunColumns:
    """Return the rows at single offsets of a fragment as runs, in address order.

    Only the segments that have them are looked at.

    Examples
    --------
    >>> from lance_explorer.rowids.segments import Range
    >>> from lance_explorer.rowids.offsets import few_rows_at
    >>> sequence = RowIdSequence.of([Range(40, 43), Range(7, 9)])
    >>> [column.tolist() for column in few_rows_at(sequence, 0, BitMap([1, 2, 3, 9]))]
    [[41, 7], [43, 8], [1, 3]]
    """
    places = deleted_offsets(offsets).astype(np.int64)
    places = places[places < len(sequence)]
    ids = sequence.at(places)
    is_next = (np.diff(places) == 1) & (np.diff(ids) == 1)
    begins = np.append(0, np.flatnonzero(~is_next) + 1)[: len(ids)]
    lengths = np.diff(np.append(begins, len(ids))).astype(np.uint64)
    start = ids[begins]
    return RunColumns(
        start, start + lengths, places[begins].astype(np.uint64) + np.uint64(first_address)
    )


def cut_at(
    start: Uint64Array, length: Uint64Array, borders: Uint64Array
) -> tuple[Positions, Uint64Array, Uint64Array]:
    """Cut ranges at the sorted borders inside them.

    Returns
    -------
    owner : ndarray of int64
        Of which range each piece is.
    shift : ndarray of uint64
        How far behind the start of its range each piece begins.
    length : ndarray of uint64
        The length of each piece.
    """
    first = np.searchsorted(borders, start, side="right")
    counts = np.maximum(np.searchsorted(borders, start + length, side="left") - first, 0)
    if not counts.any():
        return np.arange(len(start)), np.zeros(len(start), dtype=np.uint64), length
    owner = np.repeat(np.arange(len(start)), counts + 1)
    place = np.arange(len(owner)) - np.repeat(begins_of(counts + 1), counts + 1)
    inner = np.flatnonzero(place)
    begin = start[owner]
    begin[inner] = borders[first[owner[inner]] + place[inner] - 1]
    end = (start + length)[owner]
    end[inner - 1] = begin[inner]
    return owner, begin - start[owner], end - begin
