"""The smallest possible size of the row IDs of a fragment, over all ways to cut them into segments.

The stored size is compared with all IDs in one segment, and with the best cuts, found by dynamic
programming (docs/FORMAT.md 3.3). Only ascending IDs can share a segment that is not an array, so
cuts help most where IDs fall, leap, or run on for long.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array
from lance_explorer.rowids.encoding import best_encoding
from lance_explorer.rowids.segments import Range
from lance_explorer.rowids.sequence import Ranges, RowIdSequence, all_ranges, num_segments
from lance_explorer.rowids.sizes import (
    array_sizes,
    best_range_sizes,
    bitmap_sizes,
    holes_sizes,
    nested,
    range_sizes,
    segment_size,
)

__all__ = ["OptimalSizes", "each_optimal_sizes", "optimal_sizes", "optimal_sizes_of"]

_MAX_PIECES = 128
"""The most pieces that are cut: the time grows with their square."""

_MAX_RANGES = 1 << 20
"""The number of ranges that are handled together; each takes some hundred bytes."""

_MAX_SEQUENCES = 1 << 14
"""The number of sequences that are handled together."""

_MAX_CELLS = 1 << 14
"""Pieces that are joined together."""

_WINDOW_BITS = np.uint64(16)


@dataclass(frozen=True, slots=True)
class OptimalSizes:
    """Sizes of one sequence in bytes: as stored, and in three better ways.

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
    """Compute the size of a sequence, and its smallest possible size.

    With very many ranges, only the 128 most promising pieces are joined in all ways; a segment for
    each range is also tried, and one for each 2^16 row IDs, whose offsets take two bytes.

    Examples
    --------
    >>> from lance_explorer.rowids.optimum import optimal_sizes
    >>> from lance_explorer.rowids.segments import Range
    >>> from lance_explorer.rowids.sequence import RowIdSequence
    >>> optimal_sizes(RowIdSequence.of([Range(2 * id, 2 * id + 1) for id in range(1000)]))
    OptimalSizes(stored=9870, by_segment=9870, as_one=262, cut=262)
    """
    return optimal_sizes_of([sequence])[0]


def optimal_sizes_of(sequences: Iterable[RowIdSequence]) -> list[OptimalSizes]:
    """Compute the same for many sequences, at little more cost than for one."""
    return list(each_optimal_sizes(sequences))


def each_optimal_sizes(sequences: Iterable[RowIdSequence]) -> Iterator[OptimalSizes]:
    """Yield the same for each of many sequences; some thousand are handled together.

    Examples
    --------
    >>> from lance_explorer.rowids.optimum import each_optimal_sizes
    >>> from lance_explorer.rowids.segments import Range
    >>> from lance_explorer.rowids.sequence import RowIdSequence
    >>> sequences = [RowIdSequence.of([Range(0, stop)]) for stop in (5, 1_000)]
    >>> [sizes.best for sizes in each_optimal_sizes(sequences)]
    [6, 7]
    """
    for batch in _batches(sequences):
        sizes = np.zeros((4, len(batch)), dtype=np.uint64)
        alone = [(place, one) for place, one in enumerate(batch) if isinstance(one, Range)]
        if alone:
            sizes[:, [place for place, _ in alone]] = _sizes_of_ranges([one for _, one in alone])
        others = [(place, one) for place, one in enumerate(batch) if isinstance(one, tuple)]
        if others:
            sizes[:, [place for place, _ in others]] = _sizes_of_any([one for _, one in others])
        for row in sizes.T.tolist():
            yield OptimalSizes(*row)


_Columns = tuple[Uint64Array, Uint64Array]
_WithRanges = tuple[RowIdSequence, _Columns]


def _batches(sequences: Iterable[RowIdSequence]) -> Iterator[list[Range | _WithRanges]]:
    """Yield sequences in groups with limited size and number of ranges.

    A group of one sequence with a single range segment is that segment.
    """
    batch = list[Range | _WithRanges]()
    room = _MAX_RANGES
    for sequence in sequences:
        alone = sequence.parts[0] if len(sequence.parts) == 1 else None
        if isinstance(alone, Range) and alone.start < alone.stop:
            one: Range | _WithRanges = alone
            room -= 1
        else:
            ranges = sequence.ranges()
            one = sequence, ranges
            room -= len(ranges[0])
        if batch and (room < 0 or len(batch) == _MAX_SEQUENCES):
            yield batch
            batch, room = [], _MAX_RANGES - (1 if isinstance(one, Range) else len(one[1][0]))
        batch.append(one)
    if batch:
        yield batch


def _sizes_of_ranges(ranges: list[Range]) -> list[Uint64Array]:
    """Return the sizes of sequences that are one range each: there is nothing to cut or join."""
    starts = np.array([one.start for one in ranges], dtype=np.uint64)
    stops = np.array([one.stop for one in ranges], dtype=np.uint64)
    best = nested(best_range_sizes(starts, stops))
    return [nested(range_sizes(starts, stops)), best, best, best]


def _sizes_of_any(sequences: list[_WithRanges]) -> list[Uint64Array]:
    count = len(sequences)
    pieces = _Pieces.of([ranges for _, ranges in sequences])
    ways = [pieces.joined(_promising(pieces)), pieces, pieces.joined(_windows(pieces))]
    stored, by_segment = _segment_totals([sequence for sequence, _ in sequences])
    as_one = pieces.joined(pieces.begins()).totals(count)
    cut = np.minimum.reduce([_cut(ways[0], count), *[way.totals(count) for way in ways]])
    return [stored, by_segment, as_one, cut]


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Pieces of sequences that are not cut, as columns; ``owner`` is the number of the sequence.

    ``ascends`` tells whether the values of a piece do; those of a ``single`` one are consecutive.
    ``gap`` is the value behind the first range of a piece, ``last_gap`` the one before the last.
    """

    owner: Positions
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
    def of(cls, sequences: list[_Columns]) -> "_Pieces":
        """Return a piece for each range of each sequence; adjacent ranges are joined."""
        starts, stops = [np.concatenate(column) for column in zip(*sequences, strict=True)]
        counts = [len(ranges[0]) for ranges in sequences]
        owner = np.repeat(np.arange(len(sequences)), counts)
        begins = np.ones(len(starts) + 1, dtype=np.bool_)
        begins[1:-1] = (starts[1:] != stops[:-1]) | (stops[:-1] == 0) | (owner[1:] != owner[:-1])
        owner, starts, stops = owner[begins[:-1]], starts[begins[:-1]], stops[begins[1:]]
        last = stops - np.uint64(1)
        yes = np.ones(len(starts), dtype=np.bool_)
        return cls(
            owner,
            first=starts,
            last=last,
            lowest=starts,
            highest=last,
            count=stops - starts,
            ascends=yes,
            single=yes,
            gap=stops,
            last_gap=starts - np.uint64(1),
        )

    def __len__(self) -> int:
        return len(self.owner)

    def begins(self) -> Positions:
        """Return where a sequence begins."""
        return np.flatnonzero(np.diff(self.owner, prepend=-1))

    def falls(self) -> NDArray[np.bool_]:
        """Return which pieces begin below the end of the piece before."""
        falls = np.zeros(self.first.shape, dtype=np.bool_)
        falls[..., 1:] = self.first[..., 1:] <= self.last[..., :-1]
        return falls

    def joined(self, begins: Positions) -> "_Pieces":
        """Return larger pieces, which begin at the given ones."""
        if not len(self):
            return self
        ends = np.append(begins[1:], len(self)) - 1
        falls = self.falls()
        falls[begins] = False
        return _Pieces(
            self.owner[begins],
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

    def at(self, places: Positions | slice | tuple[slice, slice]) -> "_Pieces":
        """Return the pieces at given places, in the shape of the places."""
        return _Pieces(*[getattr(self, column.name)[places] for column in fields(self)])

    def totals(self, num_sequences: int) -> Uint64Array:
        """Return the size of each sequence with one segment for each piece."""
        totals = np.zeros(num_sequences, dtype=np.uint64)
        np.add.at(totals, self.owner, nested(self.sizes()))
        return totals

    def sizes(self) -> Uint64Array:
        """Return the size of each piece as one segment in its smallest form."""
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


def _segment_totals(sequences: list[RowIdSequence]) -> tuple[Uint64Array, Uint64Array]:
    """Return the sizes of sequences as stored, and with every segment in its smallest form."""
    parts = [(number, part) for number, sequence in enumerate(sequences) for part in sequence.parts]
    ranges = [(number, part) for number, part in parts if isinstance(part, Range | Ranges)]
    others = [(number, part) for number, part in parts if not isinstance(part, Range | Ranges)]
    columns = all_ranges([part for _, part in ranges])
    counts = [num_segments(part) for _, part in ranges]
    owner = np.repeat([number for number, _ in ranges], counts).astype(np.int64)
    stored, best = np.zeros((2, len(sequences)), dtype=np.uint64)
    np.add.at(stored, owner, nested(range_sizes(columns.starts, columns.stops)))
    np.add.at(best, owner, nested(best_range_sizes(columns.starts, columns.stops)))
    if others:
        numbers = [number for number, _ in others]
        sizes = [[segment_size(s), segment_size(best_encoding(s))] for _, s in others]
        each = nested(np.array(sizes, dtype=np.uint64))
        np.add.at(stored, numbers, each[:, 0])
        np.add.at(best, numbers, each[:, 1])
    return stored, best


def _promising(pieces: _Pieces) -> Positions:
    """Return where segments may begin: half at leaps and falls, half at borders of long ranges."""
    chosen = np.ones(len(pieces), dtype=np.bool_)
    begins = pieces.begins()
    ends = np.append(begins[1:], len(pieces))
    many = ends - begins > _MAX_PIECES
    for begin, end in zip(begins[many].tolist(), ends[many].tolist(), strict=True):
        chosen[begin:end] = False
        chosen[begin + _most_promising(pieces.at(slice(begin, end)))] = True
    return np.flatnonzero(chosen)


def _most_promising(pieces: _Pieces) -> Positions:
    half = _MAX_PIECES // 2
    leaps = pieces.first[1:] - pieces.last[:-1]  # a fall wraps around, so it is the largest leap
    beside = np.maximum(pieces.count[1:], pieces.count[:-1])
    chosen = [np.argpartition(worth, -half)[-half:] + 1 for worth in (leaps, beside)]
    return np.unique(np.concatenate([[0], *chosen]))[:_MAX_PIECES]


def _windows(pieces: _Pieces) -> Positions:
    """Return at which pieces row IDs fall, or enter the next 2^16."""
    begins = pieces.falls()
    begins[1:] |= pieces.first[1:] >> _WINDOW_BITS != pieces.first[:-1] >> _WINDOW_BITS
    begins[pieces.begins()] = True
    return np.flatnonzero(begins)


def _cut(pieces: _Pieces, num_sequences: int) -> Uint64Array:
    """Return the size of each sequence in the best segments that begin at the pieces."""
    sizes = np.zeros(num_sequences, dtype=np.uint64)
    begins = pieces.begins()
    counts = np.diff(begins, append=len(pieces))
    order = np.argsort(counts, kind="stable")
    while len(order):  # so many sequences at once as fill a table, longest first
        longest = int(counts[order[-1]])
        order, some = np.split(order, [max(len(order) - max(_MAX_CELLS // longest, 1), 0)])
        within = np.minimum(np.arange(longest), counts[some, None] - 1)
        table = pieces.at(begins[some, None] + within)
        sizes[pieces.owner[begins[some]]] = _best_cut(table)[np.arange(len(some)), counts[some]]
    return sizes


def _best_cut(table: _Pieces) -> Uint64Array:
    """Return the least size of the first pieces of each row, by their number."""
    num_rows, most = table.first.shape
    best = np.zeros((num_rows, most + 1), dtype=np.uint64)
    for end in range(most):
        candidates = nested(_suffixes(table, end).sizes())
        best[:, end + 1] = (best[:, : end + 1] + candidates).min(axis=1)
    return best


def _suffixes(table: _Pieces, end: int) -> _Pieces:
    """Return in each row the pieces from each one up to ``end``, joined."""
    upto = table.at((slice(None), slice(end + 1)))
    broken = ~upto.ascends
    broken[:, :-1] |= upto.falls()[:, 1:]
    single = np.zeros_like(upto.single)
    single[:, -1] = upto.single[:, -1]
    return _Pieces(
        upto.owner,
        upto.first,
        upto.last[:, -1:],
        _from_behind(np.minimum, upto.lowest),
        _from_behind(np.maximum, upto.highest),
        _from_behind(np.add, upto.count),
        ~_from_behind(np.logical_or, broken),
        single,
        upto.gap,
        upto.last_gap[:, -1:],
    )


def _from_behind(operation: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
    """Return for each column the result over it and all later columns."""
    accumulated: NDArray[Any] = operation.accumulate(values[:, ::-1], axis=1)[:, ::-1]
    return accumulated
