"""The form of a segment: the one that the writer chooses, and the smallest one.

The writer compares estimates (docs/FORMAT.md 3.3), so the two can differ.
"""

from collections.abc import Callable

import numpy as np

from lance_explorer.rowids.arrays import MAX_U64, EncodedU64Array, Uint64Array
from lance_explorer.rowids.segments import (
    NOTHING,
    Array,
    Range,
    RangeWithBitmap,
    RangeWithHoles,
    SortedArray,
    U64Segment,
)
from lance_explorer.rowids.sizes import array_sizes, bitmap_sizes, holes_sizes, range_sizes

__all__ = ["best_encoding", "encode_segment"]

_MAX_SMALL_RANGE = 8
"""Two numbers take at most 22 bytes; an array with more values takes more."""


def encode_segment(values: Uint64Array) -> U64Segment:
    r"""Encode numbers as one segment, in the form that the writer chooses.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.encoding import encode_segment
    >>> encode_segment(np.array([5, 6, 7], dtype=np.uint64))
    Range(start=5, stop=8)
    >>> encode_segment(np.array([0, 2, 4, 5, 9], dtype=np.uint64))
    RangeWithBitmap(start=0, stop=10, bitmap=b'5\x02')
    >>> encode_segment(np.array([7, 5, 6], dtype=np.uint64)).values().tolist()
    [7, 5, 6]
    """
    if not len(values):
        return NOTHING
    if (values[1:] < values[:-1]).any():
        return Array(EncodedU64Array.of(values))
    if not _fits_range(values):
        return _sorted_array(values)
    width = int(values[-1]) - int(values[0]) + 1
    holes = width - len(values)
    if holes == 0:
        return _range(values)
    as_holes, as_bitmap, as_array = 4 * holes, -(-width // 8), 2 * len(values)
    if as_holes <= as_bitmap and as_holes <= as_array:
        return _with_holes(values)
    return _with_bitmap(values) if as_bitmap <= as_array else _sorted_array(values)


def best_encoding(segment: U64Segment) -> U64Segment:
    """Return the values of a segment in the form that takes the fewest bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.arrays import EncodedU64Array
    >>> from lance_explorer.rowids.encoding import best_encoding
    >>> from lance_explorer.rowids.segments import SortedArray
    >>> best_encoding(SortedArray(EncodedU64Array.of(np.arange(5, 8, dtype=np.uint64))))
    Range(start=5, stop=8)
    """
    if isinstance(segment, Range) and len(segment) > _MAX_SMALL_RANGE:
        return segment
    values = segment.values()
    if not _fits_range(values):
        return encode_segment(values)
    first, stop, count = (
        values[:1],
        values[-1:] + np.uint64(1),
        np.array([len(values)], dtype=np.uint64),
    )
    sizes = dict[Callable[[Uint64Array], U64Segment], Uint64Array]()
    if stop - first == count:
        sizes[_range] = range_sizes(first, stop)
    else:
        steps = np.flatnonzero(np.diff(values) != 1)
        gap, last_gap = values[steps[:1]] + np.uint64(1), values[steps[-1:] + 1] - np.uint64(1)
        sizes[_with_holes] = holes_sizes(first, stop, stop - first - count, gap, last_gap)
        sizes[_with_bitmap] = bitmap_sizes(first, stop)
    sizes[_sorted_array] = array_sizes(count, first, values[-1:])
    smallest = min(sizes, key=lambda form: int(sizes[form][0]))
    return smallest(values)


def _fits_range(values: Uint64Array) -> bool:
    """Return whether there are values, all ascend, and none is the largest 64-bit number."""
    return bool(len(values) and (values[1:] > values[:-1]).all() and values[-1] < MAX_U64)


def _range(values: Uint64Array) -> Range:
    return Range(int(values[0]), int(values[-1]) + 1)


def _with_holes(values: Uint64Array) -> RangeWithHoles:
    steps = np.flatnonzero(values[1:] != values[:-1] + np.uint64(1))
    before, widths = values[steps] + np.uint64(1), np.diff(values)[steps].astype(np.int64) - 1
    within = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
    holes = np.repeat(before, widths) + within.astype(np.uint64)
    return RangeWithHoles(int(values[0]), int(values[-1]) + 1, EncodedU64Array.of(holes))


def _with_bitmap(values: Uint64Array) -> RangeWithBitmap:
    bits = np.zeros(int(values[-1]) - int(values[0]) + 1, dtype=np.bool_)
    bits[values - values[0]] = True
    bitmap = np.packbits(bits, bitorder="little").tobytes()
    return RangeWithBitmap(int(values[0]), int(values[-1]) + 1, bitmap)


def _sorted_array(values: Uint64Array) -> SortedArray:
    return SortedArray(EncodedU64Array.of(values))
