"""How small the row IDs of a fragment could be, however they are cut into segments.

What is stored is compared with all IDs in one segment, and with the best cuts that dynamic
programming finds (docs/FORMAT.md 3.3). Only ascending IDs can share a segment that is no array, so
cuts are worth most where IDs fall, leap, or go on for long.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array
from lance_explorer.rowids.encoding import best_encoding
from lance_explorer.rowids.sequence import Ranges, RowIdSequence
from lance_explorer.rowids.sizes import (
    array_sizes,
    bitmap_sizes,
    holes_sizes,
    nested,
    range_sizes,
    segment_size,
    sequence_size,
)

__all__ = ["OptimalSizes", "optimal_sizes"]

_MAX_PIECES = 512
"""Pieces that are not cut any further: the time grows with their square."""

_WINDOW_BITS = np.uint64(16)


@dataclass(frozen=True, slots=True)
class OptimalSizes:
    """Sizes of one sequence in bytes: as it is stored, and in three better ways.

    Parameters
    ----------
    stored : int
        As it is.
    by_segment : int
        Every segment for itself in its smallest form.
    as_one : int
        All row IDs in one segment.
    cut : int
        The row IDs cut into segments where it saves most.
    """

    stored: int
    by_segment: int
    as_one: int
    cut: int

    @property
    def best(self) -> int:
        """The smallest of all."""
        return min(self.stored, self.by_segment, self.as_one, self.cut)


def optimal_sizes(sequence: RowIdSequence) -> OptimalSizes:
    """Compute how many bytes a sequence takes, and how few it could take.

    Of very many ranges only the 512 most promising pieces are joined in all ways; beside that, a
    segment for each range is tried, and one for each 2^16 row IDs, whose offsets take two bytes.

    Examples
    --------
    >>> from lance_explorer.rowids.optimum import optimal_sizes
    >>> from lance_explorer.rowids.segments import Range
    >>> from lance_explorer.rowids.sequence import RowIdSequence
    >>> optimal_sizes(RowIdSequence.of([Range(2 * id, 2 * id + 1) for id in range(1000)]))
    OptimalSizes(stored=9870, by_segment=9870, as_one=262, cut=262)
    """
    pieces = _Pieces.of(*sequence.ranges())
    ways = [pieces.joined(_promising(pieces)), pieces, pieces.joined(_windows(pieces))]
    return OptimalSizes(
        stored=sequence_size(sequence),
        by_segment=_by_segment(sequence),
        as_one=pieces.joined(np.array([0])).total(),
        cut=min(_cut(ways[0]), *[way.total() for way in ways]),
    )


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Pieces of a sequence that are not cut, as columns.

    ``ascends`` tells whether the values of a piece do; those of a ``single`` one are consecutive.
    ``gap`` is the value behind the first range of a piece, ``last_gap`` the one before the last.
    """

    first: Uint64Array
    last: Uint64Array
    lowest: Uint64Array
    highest: Uint64Array
    count: Uint64Array
    ascends: NDArray[np.bool_]
    single: NDArray[np.bool_]
    gap: Uint64Array
    last_gap: Uint64Array

    @classmethod
    def of(cls, starts: Uint64Array, stops: Uint64Array) -> "_Pieces":
        """Return a piece for each range; ranges that touch become one."""
        begins = np.ones(len(starts) + 1, dtype=np.bool_)
        begins[1:-1] = (starts[1:] != stops[:-1]) | (stops[:-1] == 0)
        starts, stops = starts[begins[:-1]], stops[begins[1:]]
        last = stops - np.uint64(1)
        yes = np.ones(len(starts), dtype=np.bool_)
        return cls(
            starts, last, starts, last, stops - starts, yes, yes, stops, starts - np.uint64(1)
        )

    def __len__(self) -> int:
        return len(self.first)

    def joined(self, begins: Positions) -> "_Pieces":
        """Return larger pieces, which begin at the given ones."""
        if not len(self):
            return self
        ends = np.append(begins[1:], len(self)) - 1
        falls = np.zeros(len(self), dtype=np.bool_)
        falls[1:] = self.first[1:] <= self.last[:-1]
        falls[begins] = False
        return _Pieces(
            self.first[begins],
            self.last[ends],
            np.minimum.reduceat(self.lowest, begins),
            np.maximum.reduceat(self.highest, begins),
            np.add.reduceat(self.count, begins),
            ~np.logical_or.reduceat(falls | ~self.ascends, begins),
            self.single[begins] & (begins == ends),
            self.gap[begins],
            self.last_gap[ends],
        )

    def total(self) -> int:
        """Return the bytes of a sequence with one segment for each piece."""
        return int(nested(self.sizes()).sum())

    def sizes(self) -> Uint64Array:
        """Return the bytes of each piece as one segment in its smallest form."""
        stop = self.highest + np.uint64(1)
        holes = stop - self.lowest - self.count
        ranged = np.where(
            self.single,
            range_sizes(self.lowest, stop),
            np.minimum(
                holes_sizes(self.lowest, stop, holes, self.gap, self.last_gap),
                bitmap_sizes(self.lowest, stop),
            ),
        )
        impossible = ~self.ascends | (self.highest == MAX_U64)
        as_array = array_sizes(self.count, self.lowest, self.highest)
        return np.where(impossible, as_array, np.minimum(as_array, ranged))


def _by_segment(sequence: RowIdSequence) -> int:
    size = 0
    for part in sequence.parts:
        if isinstance(part, Ranges):
            counts = part.counts().astype(np.uint64)
            as_arrays = array_sizes(counts, part.starts, part.stops - np.uint64(1))
            ranges = range_sizes(part.starts, part.stops)
            some = np.where(counts > 0, np.minimum(ranges, as_arrays), ranges)
            size += int(nested(some).sum())
        else:
            smallest = segment_size(best_encoding(part))
            size += int(nested(np.array([smallest], dtype=np.uint64))[0])
    return size


def _promising(pieces: _Pieces) -> Positions:
    """Return where a segment may begin: half are leaps and falls, half borders of long ranges."""
    if len(pieces) <= _MAX_PIECES:
        return np.arange(len(pieces))
    half = _MAX_PIECES // 2
    leaps = pieces.first[1:] - pieces.last[:-1]  # a fall wraps around and is the largest leap
    beside = np.maximum(pieces.count[1:], pieces.count[:-1])
    chosen = [np.argpartition(worth, -half)[-half:] + 1 for worth in (leaps, beside)]
    return np.unique(np.concatenate([[0], *chosen]))[:_MAX_PIECES]


def _windows(pieces: _Pieces) -> Positions:
    """Return at which pieces row IDs fall, or come into the next 2^16."""
    leaves = pieces.first[1:] >> _WINDOW_BITS != pieces.first[:-1] >> _WINDOW_BITS
    return np.append(0, np.flatnonzero(leaves | (pieces.first[1:] <= pieces.last[:-1])) + 1)


def _cut(pieces: _Pieces) -> int:
    """Return the bytes of the best segments that begin where some piece begins."""
    best = np.zeros(len(pieces) + 1, dtype=np.uint64)
    for end in range(len(pieces)):
        candidates = _suffixes(pieces, end)
        best[end + 1] = (best[: end + 1] + nested(candidates.sizes())).min()
    return int(best[-1])


def _suffixes(pieces: _Pieces, end: int) -> _Pieces:
    """Return the pieces from each one up to ``end``, joined."""
    upto = slice(0, end + 1)
    falls = np.zeros(end + 1, dtype=np.bool_)
    falls[:-1] = pieces.first[1 : end + 1] <= pieces.last[:end]
    broken = falls | ~pieces.ascends[upto]
    single = np.zeros(end + 1, dtype=np.bool_)
    single[end] = pieces.single[end]
    return _Pieces(
        pieces.first[upto],
        np.full(end + 1, pieces.last[end]),
        np.minimum.accumulate(pieces.lowest[end::-1])[::-1],
        np.maximum.accumulate(pieces.highest[end::-1])[::-1],
        np.cumsum(pieces.count[end::-1])[::-1],
        ~np.logical_or.accumulate(broken[::-1])[::-1],
        single,
        pieces.gap[upto],
        np.full(end + 1, pieces.last_gap[end]),
    )
