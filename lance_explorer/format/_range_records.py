"""Many small records at once: the ranges that updates write, one for each few rows.

Both kinds of sequences repeat one field. Records that are plain ranges are found by their shape,
checked to be contiguous, and read as columns; any other record is returned as bytes. The result is
that of a protobuf parser.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._cursors import read_varints
from lance_explorer.format._wire import read_record
from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = ["RangeRecords", "read_records"]

_RECORD = 0x0A  # field 1 of a sequence, of a run and of a segment alike: length-delimited
_NESTED = bytes([_RECORD, _RECORD])
_START = 0x08
_STOP = 0x10
_VERSION = 0x10

_FIRST_WINDOW = 1 << 10
_LARGEST_WINDOW = 1 << 20
_FEW = 8  # the fewest records that are worth it
_FEW_BYTES = 4 * _FEW
_PADDING = 32  # more than fields can extend beyond the end of a record

_ONE_BYTE_LENGTH = 0x80
_LONGEST_NUMBER = 8

_NO_VERSIONS = np.empty(0, dtype=np.uint64)


class RangeRecords(NamedTuple):
    """Ranges, and the version of each in a version sequence."""

    starts: Uint64Array
    stops: Uint64Array
    versions: Uint64Array


def read_records(data: bytes, *, with_versions: bool) -> Iterator[tuple[int, RangeRecords | bytes]]:
    """Yield the records of field 1 with their positions: ranges as columns, others as bytes.

    Parameters
    ----------
    data : bytes
        A RowIdSequence, or with versions a RowVersionSequence.
    with_versions : bool
        Whether ranges are spans of runs that tell a version.
    """
    view = np.frombuffer(data + bytes(_PADDING), dtype=np.uint8)
    position, window, size, singly = 0, _FIRST_WINDOW, len(data), 0
    while position < size:
        ranges = None
        is_nested = data[position : position + 3 : 2] == _NESTED
        if is_nested and not singly and size - position > _FEW_BYTES:
            ranges = _ranges(view[position:], min(window, size - position), with_versions)
        if ranges is not None:
            yield position, ranges[0]
            position += ranges[1]
            window = min(8 * window, _LARGEST_WINDOW)
            continue
        window = _FIRST_WINDOW
        singly = (singly or _FEW) - 1  # to look again costs more than to read some one by one
        begin = position
        tag, start, position = read_record(data, begin)
        if tag == _RECORD:
            yield start, data[start:position]
        elif tag >> 3 == _RECORD >> 3:
            raise CorruptFileError(f"a record of the wire type {tag & 7}", offset=begin)


def _ranges(
    view: NDArray[np.uint8], size: int, with_versions: bool
) -> tuple[RangeRecords, int] | None:
    """Return the ranges at the front of the data and the bytes that they take, if any."""
    begins, ends = _tiles(view, size, with_versions)
    if len(begins) < _FEW:
        return None
    nesting = 6 if with_versions else 4
    segment_ends = begins + 4 + view[begins + 3] if with_versions else ends
    starts, cursor = _number(view, begins + nesting, segment_ends, _START)
    stops, cursor = _number(view, cursor, segment_ends, _STOP)
    good = (cursor == segment_ends) & (begins + nesting + view[begins + nesting - 1] == cursor)
    versions = _NO_VERSIONS
    if with_versions:
        versions, cursor = _number(view, cursor, ends, _VERSION)
        good &= cursor == ends
    count = _leading(good)
    if not count:
        return None
    return RangeRecords(starts[:count], stops[:count], versions[:count]), int(ends[count - 1])


def _tiles(view: NDArray[np.uint8], size: int, with_versions: bool) -> tuple[Positions, Positions]:
    """Return where records that look like ranges begin and end, as long as they are contiguous."""
    shape = (view[:size] == _RECORD) & (view[2 : size + 2] == _RECORD)
    if with_versions:
        shape &= view[4 : size + 4] == _RECORD
        shape &= view[5 : size + 5] + 2 == view[3 : size + 3]
    else:
        shape &= view[3 : size + 3] + 2 == view[1 : size + 1]
    begins = np.flatnonzero(shape & (view[1 : size + 1] < _ONE_BYTE_LENGTH))
    ends = begins + 2 + view[begins + 1]
    borders = np.concatenate([[0], ends])
    count = _leading((begins == borders[:-1]) & (ends <= size))
    return begins[:count], ends[:count]


def _leading(good: NDArray[np.bool_]) -> int:
    """Return how many are good before the first bad one."""
    return len(good) if good.all() else int(good.argmin())


def _number(
    view: NDArray[np.uint8], cursor: Positions, ends: Positions, tag: int
) -> tuple[Uint64Array, Positions]:
    """Return the numbers of a field, 0 where it is not written, and the positions after it.

    The position after a number of more than 8 bytes is -1, where only padding is.
    """
    written = (cursor < ends) & (view[cursor] == tag)
    numbers, lengths = read_varints(view, cursor + 1)
    behind = np.where(lengths > _LONGEST_NUMBER, -1, cursor + 1 + lengths)
    return np.where(written, numbers, np.uint64(0)), np.where(written, behind, cursor)
