"""Row-ID sequences: the row ID of every physical row of a fragment (docs/FORMAT.md 3.1).

An update may write a segment for each row, so consecutive ``Range`` segments are kept as columns.
"""

# ruff: noqa: D102 (what every form answers is documented in Values)

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from lance_explorer.rowids.arrays import (
    EncodedU64Array,
    Positions,
    Uint64Array,
    begins_of,
    concatenated,
)
from lance_explorer.rowids.segments import (
    ABSENT,
    NOTHING,
    Array,
    Range,
    SortedArray,
    U64Segment,
    Values,
    consecutive_ranges,
)

__all__ = ["Part", "Ranges", "RowIdSequence", "all_ranges", "num_segments"]


@dataclass(frozen=True, slots=True, eq=False)
class Ranges(Values):
    """``Range`` segments, one after the other, as columns.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.sequence import Ranges
    >>> starts, stops = np.array([[20, 5], [22, 8]], dtype=np.uint64)
    >>> ranges = Ranges(starts, stops)
    >>> ranges.values().tolist(), ranges.position(6)
    ([20, 21, 5, 6, 7], 3)
    """

    starts: Uint64Array
    stops: Uint64Array

    def __len__(self) -> int:
        return int(self.counts().sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranges):
            return NotImplemented
        same = np.array_equal(self.starts, other.starts)
        return same and np.array_equal(self.stops, other.stops)

    __hash__ = None  # type: ignore[assignment]

    def counts(self) -> Positions:
        """Return how many values each range has."""
        return (self.stops - self.starts).astype(np.int64)

    def segments(self) -> list[Range]:
        """Return each as a record."""
        pairs = zip(self.starts.tolist(), self.stops.tolist(), strict=True)
        return [Range(start, stop) for start, stop in pairs]

    def values(self) -> Uint64Array:
        counts = self.counts()
        shifts = self.starts - begins_of(counts).astype(np.uint64)
        return np.arange(counts.sum(), dtype=np.uint64) + np.repeat(shifts, counts)

    def ranges(self) -> tuple[Uint64Array, Uint64Array]:
        filled = self.starts != self.stops
        return self.starts[filled], self.stops[filled]

    def at(self, positions: Positions) -> Uint64Array:
        begins = begins_of(self.counts())
        place = np.searchsorted(begins, positions, side="right") - 1
        return self.starts[place] + (positions - begins[place]).astype(np.uint64)

    def positions(self, values: Uint64Array) -> Positions:
        filled = np.flatnonzero(self.starts != self.stops)
        if not len(filled):
            return np.full(len(values), ABSENT, dtype=np.int64)
        order = filled[np.argsort(self.starts[filled], kind="stable")]
        place = np.searchsorted(self.starts[order], values, side="right") - 1
        ranges = order[np.maximum(place, 0)]
        there = (place >= 0) & (values < self.stops[ranges])
        within = (values - self.starts[ranges]).astype(np.int64)
        return np.where(there, begins_of(self.counts())[ranges] + within, ABSENT)

    def slice(self, start: int, stop: int) -> "Range | Ranges":
        if start >= stop:
            return NOTHING
        counts = self.counts()
        begins = begins_of(counts)
        some = (begins < stop) & (begins + counts > start)
        begins, counts, first = begins[some], counts[some], self.starts[some]
        starts = first + np.maximum(start - begins, 0).astype(np.uint64)
        stops = first + np.minimum(stop - begins, counts).astype(np.uint64)
        return Ranges(starts, stops)


Part = Ranges | U64Segment

_Arrays = SortedArray | Array


@dataclass(frozen=True, slots=True)
class RowIdSequence(Values):
    r"""The row IDs of a fragment in the order of its rows, deleted ones included.

    Parameters
    ----------
    parts : tuple
        The segments; two or more ``Range`` segments in a row as one :class:`Ranges`.

    Examples
    --------
    >>> from lance_explorer.rowids.segments import Range, RangeWithBitmap
    >>> from lance_explorer.rowids.sequence import RowIdSequence
    >>> sequence = RowIdSequence.of([Range(40, 43), Range(7, 8), RangeWithBitmap(0, 3, b"\x05")])
    >>> len(sequence), sequence.num_segments, sequence.values().tolist()
    (6, 3, [40, 41, 42, 7, 0, 2])
    >>> sequence.position(7), sequence.slice(2, 5).values().tolist()
    (3, [42, 7, 0])
    """

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, parts: Iterable[Part]) -> "RowIdSequence":
        """Return the sequence of some parts, among them single segments, in order."""
        joined, ranges = list[Part](), list[Range | Ranges]()
        for part in parts:
            if isinstance(part, Range | Ranges):
                ranges.append(part)
                continue
            joined += [*_as_one(ranges), part]
            ranges = []
        return cls((*joined, *_as_one(ranges)))

    @property
    def segments(self) -> tuple[U64Segment, ...]:
        """The segments as they are stored, one record each."""
        segments: list[U64Segment] = []
        for part in self.parts:
            segments += part.segments() if isinstance(part, Ranges) else [part]
        return tuple(segments)

    @property
    def num_segments(self) -> int:
        """How many segments are stored."""
        return sum([num_segments(part) for part in self.parts])

    def counts(self) -> Positions:
        """Return how many values each segment has."""
        counts = [
            part.counts() if isinstance(part, Ranges) else np.array([len(part)], dtype=np.int64)
            for part in self.parts
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *counts])

    def __len__(self) -> int:
        return sum([len(part) for part in self.parts])

    def values(self) -> Uint64Array:
        return concatenated([part.values() for part in self.parts])

    def ranges(self) -> tuple[Uint64Array, Uint64Array]:
        pairs = []
        for are_arrays, group in groupby(self.parts, key=lambda part: isinstance(part, _Arrays)):
            if are_arrays:
                arrays = [part.array for part in group if isinstance(part, _Arrays)]
                pairs.append(consecutive_ranges(EncodedU64Array.joined_values(arrays)))
            else:
                pairs += [part.ranges() for part in group]
        starts, stops = [start for start, _ in pairs], [stop for _, stop in pairs]
        return concatenated(starts), concatenated(stops)

    def at(self, positions: Positions) -> Uint64Array:
        begins = self._begins()
        place = np.searchsorted(begins, positions, side="right") - 1
        values = np.empty(len(positions), dtype=np.uint64)
        order = np.argsort(place, kind="stable")
        numbers, first = np.unique(place[order], return_index=True)
        stops = np.append(first, len(order))[1:]
        for number, start, stop in zip(numbers.tolist(), first, stops, strict=True):
            here = order[start:stop]
            values[here] = self.parts[number].at(positions[here] - begins[number])
        return values

    def positions(self, values: Uint64Array) -> Positions:
        result = np.full(len(values), ABSENT, dtype=np.int64)
        for part, begin in zip(self.parts, self._begins().tolist(), strict=True):
            places = part.positions(values)
            result = np.where((result == ABSENT) & (places != ABSENT), places + begin, result)
        return result

    def slice(self, start: int, stop: int) -> "RowIdSequence":
        parts: list[Part] = []
        for part, begin in zip(self.parts, self._begins().tolist(), strict=True):
            below, above = max(start - begin, 0), min(stop - begin, len(part))
            if below < above:
                parts.append(part.slice(below, above))
        return RowIdSequence(tuple(parts))

    def _begins(self) -> Positions:
        return begins_of(np.array([len(part) for part in self.parts], dtype=np.int64))


def num_segments(part: Part) -> int:
    """Return how many segments a part of a sequence has."""
    return len(part.starts) if isinstance(part, Ranges) else 1


def all_ranges(parts: Iterable[Range | Ranges]) -> Ranges:
    """Return range segments as columns."""
    joined = list[Ranges]()
    for _, group in groupby(parts, key=type):
        some = [*group]
        single = [part for part in some if isinstance(part, Range)]
        joined += [part for part in some if isinstance(part, Ranges)]
        if single:
            borders = [one.start for one in single], [one.stop for one in single]
            joined.append(Ranges(*np.array(borders, dtype=np.uint64)))
    if len(joined) == 1:
        return joined[0]
    starts, stops = [one.starts for one in joined], [one.stops for one in joined]
    return Ranges(concatenated(starts), concatenated(stops))


def _as_one(ranges: list[Range | Ranges]) -> list[Range | Ranges]:
    """Return range segments as columns, unless there is only one."""
    return ranges if len(ranges) < 2 else [all_ranges(ranges)]
