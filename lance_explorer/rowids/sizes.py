"""The size of segments as protobuf messages, without making the messages.

All functions take and return arrays, so many segments cost little more than one.
"""

from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import EncodedU64Array, Uint64Array
from lance_explorer.rowids.segments import (
    Array,
    Range,
    RangeWithBitmap,
    RangeWithHoles,
    SortedArray,
    U64Segment,
)
from lance_explorer.rowids.sequence import Ranges, RowIdSequence

__all__ = [
    "array_sizes",
    "best_range_sizes",
    "bitmap_sizes",
    "holes_sizes",
    "nested",
    "range_sizes",
    "segment_size",
    "sequence_size",
]

_VARINT_LIMITS = np.array([1 << 7 * count for count in range(1, 10)], dtype=np.uint64)

_MANY = np.uint64(1 << 60)
"""Larger numbers of values count as this one, so that sizes fit into 64 bits."""

_TAG = np.uint64(1)  # every field number here is below 16


def segment_size(segment: U64Segment) -> int:
    """Return the size of a segment as a message of its own.

    Examples
    --------
    >>> from lance_explorer.rowids.segments import Range
    >>> from lance_explorer.rowids.sizes import segment_size
    >>> segment_size(Range(0, 1_000_000))
    6
    """
    match segment:
        case Range(start, stop):
            size = range_sizes(_number(start), _number(stop))
        case RangeWithHoles(start, stop, holes):
            size = nested(_numbers_of(start, stop) + nested(_array_size(holes)))
        case RangeWithBitmap(start, stop, bitmap):
            size = nested(_numbers_of(start, stop) + _bytes(_number(len(bitmap))))
        case SortedArray(array) | Array(array):
            size = nested(_array_size(array))
        case _:
            assert_never(segment)
    return int(size[0])


def sequence_size(sequence: RowIdSequence) -> int:
    """Return the bytes of a whole sequence."""
    size = 0
    for part in sequence.parts:
        if isinstance(part, Ranges):
            size += int(nested(range_sizes(part.starts, part.stops)).sum())
        else:
            size += int(nested(_number(segment_size(part)))[0])
    return size


def range_sizes(starts: Uint64Array, stops: Uint64Array) -> Uint64Array:
    """Return the bytes of ``Range`` segments."""
    return nested(_varint_field(starts) + _varint_field(stops))


def best_range_sizes(starts: Uint64Array, stops: Uint64Array) -> Uint64Array:
    """Return the size of ranges in their smallest form: an array if they are short and high."""
    counts = stops - starts
    arrays = array_sizes(counts, starts, stops - np.uint64(1))
    smallest = np.minimum(range_sizes(starts, stops), arrays)
    return _unless(counts == 0, smallest)


def holes_sizes(
    starts: Uint64Array,
    stops: Uint64Array,
    num_holes: Uint64Array,
    first_holes: Uint64Array,
    last_holes: Uint64Array,
) -> Uint64Array:
    """Return the size of ``RangeWithHoles`` segments with at least one hole each."""
    holes = _encoded_sizes(num_holes, first_holes, last_holes)
    return nested(_varint_field(starts) + _varint_field(stops) + nested(holes))


def bitmap_sizes(starts: Uint64Array, stops: Uint64Array) -> Uint64Array:
    """Return the bytes of ``RangeWithBitmap`` segments."""
    full_bytes, more_bits = np.divmod(stops - starts, np.uint64(8))
    num_bytes = full_bytes + (more_bits > 0)
    return nested(_varint_field(starts) + _varint_field(stops) + _bytes(num_bytes))


def array_sizes(counts: Uint64Array, lowest: Uint64Array, highest: Uint64Array) -> Uint64Array:
    """Return the size of ``SortedArray`` and ``Array`` segments with at least one value each."""
    return nested(_encoded_sizes(counts, lowest, highest))


def nested(sizes: Uint64Array) -> Uint64Array:
    """Return the size of messages when nested in other messages."""
    return _TAG + _varint(sizes) + sizes


def _encoded_sizes(counts: Uint64Array, lowest: Uint64Array, highest: Uint64Array) -> Uint64Array:
    """Return the bytes of the EncodedU64Array messages."""
    spread = highest - lowest
    whole = spread > 0xFFFF_FFFF
    width = np.where(whole, np.uint64(8), np.where(spread > 0xFFFF, np.uint64(4), np.uint64(2)))
    base = np.where(whole, np.uint64(0), lowest)
    return nested(_varint_field(base) + _bytes(np.minimum(counts, _MANY) * width))


def _array_size(array: EncodedU64Array) -> Uint64Array:
    return nested(_varint_field(_number(array.base)) + _bytes(_number(len(array.data))))


def _numbers_of(start: int, stop: int) -> Uint64Array:
    return _varint_field(_number(start)) + _varint_field(_number(stop))


def _number(value: int) -> Uint64Array:
    return np.array([value], dtype=np.uint64)


def _varint(values: Uint64Array) -> Uint64Array:
    return np.searchsorted(_VARINT_LIMITS, values, side="right").astype(np.uint64) + np.uint64(1)


def _varint_field(values: Uint64Array) -> Uint64Array:
    """Return the size of number fields; zeros are not written."""
    return _unless(values == 0, _TAG + _varint(values))


def _bytes(counts: Uint64Array) -> Uint64Array:
    """Return the size of bytes fields; empty ones are not written."""
    return _unless(counts == 0, nested(counts))


def _unless(absent: NDArray[np.bool_], sizes: Uint64Array) -> Uint64Array:
    return np.where(absent, np.uint64(0), sizes)
