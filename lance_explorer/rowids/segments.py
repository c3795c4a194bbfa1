"""The five ways in which a row-ID sequence stores a segment (docs/FORMAT.md 3.1).

They have one interface, and none of them expands a range. Positions count the values of a segment
from 0, in its order.
"""

# ruff: noqa: D102 (Values documents what every form does)

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import MAX_U64, EncodedU64Array, Positions, Uint64Array

__all__ = [
    "Array",
    "Encoding",
    "Range",
    "RangeWithBitmap",
    "RangeWithHoles",
    "SortedArray",
    "U64Segment",
    "consecutive_ranges",
    "encoding_of",
]

Encoding = Literal["range", "range_with_holes", "range_with_bitmap", "sorted_array", "array"]

ABSENT = -1
"""The position of a missing value."""


class Values(ABC):
    """Unsigned numbers in an order, in any of the stored forms."""

    __slots__ = ()

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def values(self) -> Uint64Array:
        """Return all values in order."""

    @abstractmethod
    def ranges(self) -> tuple[Uint64Array, Uint64Array]:
        """Return the values as ranges of consecutive ones, in order: starts and stops.

        The largest 64-bit number has no successor, so a range that holds it stops at 0.
        """

    @abstractmethod
    def at(self, positions: Positions) -> Uint64Array:
        """Return the values at some positions, each of which must be below the length."""

    @abstractmethod
    def positions(self, values: Uint64Array) -> Positions:
        """Return the positions of some values; -1 for missing ones."""

    @abstractmethod
    def slice(self, start: int, stop: int) -> "Values":
        """Return the values at the positions from ``start`` to ``stop``."""

    @property
    def first(self) -> int:
        """The first value; there must be one."""
        return int(self.at(np.array([0], dtype=np.int64))[0])

    @property
    def last(self) -> int:
        """The last value; there must be one."""
        return int(self.at(np.array([len(self) - 1], dtype=np.int64))[0])

    def position(self, value: int) -> int | None:
        """Return the position of a value; None if it is missing."""
        if not 0 <= value <= MAX_U64:
            return None
        position = int(self.positions(np.array([value], dtype=np.uint64))[0])
        return None if position == ABSENT else position

    def __contains__(self, value: int) -> bool:
        return self.position(value) is not None


@dataclass(frozen=True, slots=True)
class Range(Values):
    """All numbers from ``start`` up to but not including ``stop``.

    Examples
    --------
    >>> from lance_explorer.rowids.segments import Range
    >>> rows = Range(10, 1_000_000_010)
    >>> len(rows), rows.position(12), 9 in rows, rows.slice(5, 8)
    (1000000000, 2, False, Range(start=15, stop=18))
    """

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def values(self) -> Uint64Array:
        return np.arange(self.start, self.stop, dtype=np.uint64)

    def ranges(self) -> tuple[Uint64Array, Uint64Array]:
        if self.start == self.stop:
            return _numbers(), _numbers()
        return _numbers(self.start), _numbers(self.stop)

    def at(self, positions: Positions) -> Uint64Array:
        return positions.astype(np.uint64) + np.uint64(self.start)

    def positions(self, values: Uint64Array) -> Positions:
        there = (values >= self.start) & (values < self.stop)
        return _where(there, values - np.uint64(self.start))

    def slice(self, start: int, stop: int) -> "Range":
        return Range(self.start + start, self.start + stop) if start < stop else NOTHING


@dataclass(frozen=True, slots=True)
class RangeWithHoles(Values):
    """The numbers from ``start`` to ``stop`` except ``holes``, which ascend.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.arrays import EncodedU64Array
    >>> from lance_explorer.rowids.segments import RangeWithHoles
    >>> holes = EncodedU64Array.of(np.array([2, 5], dtype=np.uint64))
    >>> segment = RangeWithHoles(0, 8, holes)
    >>> segment.values().tolist(), segment.position(4), segment.position(5)
    ([0, 1, 3, 4, 6, 7], 3, None)
    """

    start: int
    stop: int
    holes: EncodedU64Array

    def __len__(self) -> int:
        return self.stop - self.start - len(self.holes)

    def values(self) -> Uint64Array:
        there = np.ones(self.stop - self.start, dtype=np.bool_)
        there[self.holes.values() - np.uint64(self.start)] = False
        return np.flatnonzero(there).astype(np.uint64) + np.uint64(self.start)

    def ranges(self) -> tuple[Uint64Array, Uint64Array]:
        holes = self.holes.values()
        starts = np.concatenate([_numbers(self.start), holes + np.uint64(1)])
        stops = np.concatenate([holes, _numbers(self.stop)])
        filled = starts != stops
        return starts[filled], stops[filled]

    def at(self, positions: Positions) -> Uint64Array:
        holes = self.holes.values() - np.uint64(self.start)
        values_before = holes - np.arange(len(holes), dtype=np.uint64)
        wanted = positions.astype(np.uint64)
        skipped = np.searchsorted(values_before, wanted, side="right").astype(np.uint64)
        return wanted + skipped + np.uint64(self.start)

    def positions(self, values: Uint64Array) -> Positions:
        holes = self.holes.values()
        skipped = np.searchsorted(holes, values)
        is_hole = np.zeros(len(values), dtype=np.bool_)
        if len(holes):
            is_hole = holes[np.minimum(skipped, len(holes) - 1)] == values
        there = (values >= self.start) & (values < self.stop) & ~is_hole
        return _where(there, values - np.uint64(self.start) - skipped.astype(np.uint64))

    def slice(self, start: int, stop: int) -> "Range | RangeWithHoles":
        if start >= stop:
            return NOTHING
        first, last = _ends(self, start, stop)
        below, above = np.searchsorted(self.holes.values(), _numbers(first, last)).tolist()
        if below == above:
            return Range(first, last + 1)
        return RangeWithHoles(first, last + 1, self.holes.slice(below, above))


@dataclass(frozen=True, slots=True)
class RangeWithBitmap(Values):
    """The numbers from ``start`` to ``stop`` whose bit is set, least significant bit first.

    Examples
    --------
    >>> from lance_explorer.rowids.segments import RangeWithBitmap
    >>> segment = RangeWithBitmap(100, 110, bytes([0b00010011, 0b10]))
    >>> len(segment), segment.values().tolist(), segment.position(104)
    (4, [100, 101, 104, 109], 2)
    """

    start: int
    stop: int
    bitmap: bytes

    def __len__(self) -> int:
        return int(np.bitwise_count(self._bytes()).sum(dtype=np.int64))

    def values(self) -> Uint64Array:
        return np.flatnonzero(self.bits()).astype(np.uint64) + np.uint64(self.start)

    def bits(self) -> NDArray[np.bool_]:
        """Return for each number of the range whether it is a value."""
        bits = np.unpackbits(self._bytes(), count=self.stop - self.start, bitorder="little")
        return bits.view(np.bool_)

    def ranges(self) -> tuple[Uint64Array, Uint64Array]:
        padded = np.zeros(self.stop - self.start + 2, dtype=np.bool_)
        padded[1:-1] = self.bits()
        edges = np.flatnonzero(padded[1:] != padded[:-1]).astype(np.uint64)
        edges += np.uint64(self.start)
        return edges[::2], edges[1::2]

    def at(self, positions: Positions) -> Uint64Array:
        counts = self._counts()
        byte = np.searchsorted(counts, positions, side="right") - 1
        bit: Positions = _NTH_BIT[self._bytes()[byte], positions - counts[byte]]
        return (byte * 8 + bit).astype(np.uint64) + np.uint64(self.start)

    def positions(self, values: Uint64Array) -> Positions:
        inside = (values >= self.start) & (values < self.stop)
        bit = np.where(inside, values - np.uint64(self.start), np.uint64(0)).astype(np.int64)
        if not self.bitmap:
            return _where(inside, bit)
        byte = self._bytes()[bit >> 3]
        below = byte & ((1 << (bit & 7)) - 1).astype(np.uint8)
        there = inside & (byte >> (bit & 7).astype(np.uint8) & 1).astype(np.bool_)
        return _where(there, self._counts()[bit >> 3] + np.bitwise_count(below))

    def slice(self, start: int, stop: int) -> "Range | RangeWithBitmap":
        if start >= stop:
            return NOTHING
        first, last = _ends(self, start, stop)
        bits = self.bits()[first - self.start : last + 1 - self.start]
        return RangeWithBitmap(first, last + 1, np.packbits(bits, bitorder="little").tobytes())

    def _bytes(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.bitmap, dtype=np.uint8)

    def _counts(self) -> Positions:
        """Return how many values come before each byte."""
        counts = np.zeros(len(self.bitmap) + 1, dtype=np.int64)
        np.cumsum(np.bitwise_count(self._bytes()), out=counts[1:])
        return counts


@dataclass(frozen=True, slots=True)
class SortedArray(Values):
    """Numbers one by one, ascending."""

    array: EncodedU64Array

    def __len__(self) -> int:
        return len(self.array)

    def values(self) -> Uint64Array:
        return self.array.values()

    def ranges(self) -> tuple[Uint64Array, Uint64Array]:
        return consecutive_ranges(self.values())

    def at(self, positions: Positions) -> Uint64Array:
        return self.array.at(positions)

    def positions(self, values: Uint64Array) -> Positions:
        own = self.values()
        return _found(own, np.searchsorted(own, values), values)

    def slice(self, start: int, stop: int) -> "Range | SortedArray":
        return SortedArray(self.array.slice(start, stop)) if start < stop else NOTHING


@dataclass(frozen=True, slots=True)
class Array(Values):
    """Numbers one by one, in any order."""

    array: EncodedU64Array

    def __len__(self) -> int:
        return len(self.array)

    def values(self) -> Uint64Array:
        return self.array.values()

    def ranges(self) -> tuple[Uint64Array, Uint64Array]:
        return consecutive_ranges(self.values())

    def at(self, positions: Positions) -> Uint64Array:
        return self.array.at(positions)

    def positions(self, values: Uint64Array) -> Positions:
        own = self.values()
        order = np.argsort(own, kind="stable")
        in_order = own[order]
        places = _found(in_order, np.searchsorted(in_order, values), values)
        return np.where(places == ABSENT, ABSENT, order[places]) if len(own) else places

    def slice(self, start: int, stop: int) -> "Range | Array":
        return Array(self.array.slice(start, stop)) if start < stop else NOTHING


U64Segment = Range | RangeWithHoles | RangeWithBitmap | SortedArray | Array

NOTHING = Range(0, 0)

_ENCODINGS: dict[type[U64Segment], Encoding] = {
    Range: "range",
    RangeWithHoles: "range_with_holes",
    RangeWithBitmap: "range_with_bitmap",
    SortedArray: "sorted_array",
    Array: "array",
}

_BYTES = np.arange(256, dtype=np.uint8)
_NTH_BIT = np.argsort(
    np.unpackbits(_BYTES[:, None], axis=1, bitorder="little") == 0, axis=1, kind="stable"
)
"""Which bit of a byte is the n-th set bit."""


def encoding_of(segment: U64Segment) -> Encoding:
    """Return Lance's name for the form of a segment."""
    return _ENCODINGS[type(segment)]


def consecutive_ranges(values: Uint64Array) -> tuple[Uint64Array, Uint64Array]:
    """Cut numbers into ranges of consecutive ones: return starts and stops.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.segments import consecutive_ranges
    >>> starts, stops = consecutive_ranges(np.array([7, 8, 3, 4, 5], dtype=np.uint64))
    >>> starts.tolist(), stops.tolist()
    ([7, 3], [9, 6])
    """
    successors = values + np.uint64(1)
    begins = np.ones(len(values) + 1, dtype=np.bool_)
    # The largest number has no successor: adding 1 gives 0.
    begins[1:-1] = (values[1:] != successors[:-1]) | (successors[:-1] == 0)
    return values[begins[:-1]], successors[begins[1:]]


def _numbers(*values: int) -> Uint64Array:
    return np.array(values, dtype=np.uint64)


def _ends(segment: Values, start: int, stop: int) -> tuple[int, int]:
    first, last = segment.at(np.array([start, stop - 1], dtype=np.int64)).tolist()
    return first, last


def _where(there: NDArray[np.bool_], positions: NDArray[np.integer]) -> Positions:
    return np.where(there, positions.astype(np.int64), ABSENT)


def _found(own: Uint64Array, place: Positions, values: Uint64Array) -> Positions:
    """Return the positions at which the searched values really are."""
    if not len(own):
        return np.full(len(values), ABSENT, dtype=np.int64)
    return np.where(own[np.minimum(place, len(own) - 1)] == values, place, ABSENT)
