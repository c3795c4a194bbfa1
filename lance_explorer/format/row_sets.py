"""Sets of rows as bitmap indices store them (docs/FORMAT.md 4.2)."""

import struct

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._roaring import read_bitmap
from lance_explorer.format._wire import decoder

__all__ = ["decode_row_set"]

_U32 = struct.Struct("<I")
_HIGH = 32
_MOST_ROWS_OF_A_BYTE = 1 << 16  # a run over a whole container takes a few bytes


@decoder
def decode_row_set(data: bytes) -> NDArray[np.uint64]:
    """Decode a set of row addresses, or of row IDs, in ascending order.

    It has a bitmap for each fragment with rows in it: for row IDs, for each value of their upper
    half. A fragment without bitmap is included whole, which gives no row offsets.

    Raises
    ------
    CorruptFileError
        If it includes whole fragments.

    Examples
    --------
    >>> from pyroaring import BitMap
    >>> rows = BitMap([4, 7]).serialize()
    >>> head = (1).to_bytes(4, "little") + (2).to_bytes(4, "little")
    >>> decode_row_set(head + len(rows).to_bytes(4, "little") + rows).tolist()
    [8589934596, 8589934599]
    """
    count, place = _number(data, 0), _U32.size
    parts: list[NDArray[np.uint64]] = []
    for _ in range(count):
        high, length = _number(data, place), _number(data, place + _U32.size)
        start = place + 2 * _U32.size
        place = start + length
        if not length:
            raise CorruptFileError(f"all rows of fragment {high}, of unknown number", offset=start)
        if place > len(data):
            raise CorruptFileError(f"a bitmap of {length} bytes is cut off", offset=start)
        low = read_bitmap(data[start:place], "rows of an index")
        if len(low) > length * _MOST_ROWS_OF_A_BYTE:
            raise CorruptFileError(f"{length} bytes claim {len(low)} rows", offset=start)
        parts.append(np.array(low.to_array(), dtype=np.uint64) | np.uint64(high << _HIGH))
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def _number(data: bytes, place: int) -> int:
    if place + _U32.size > len(data):
        raise CorruptFileError("a set of rows is cut off", offset=min(place, len(data)))
    number: int = _U32.unpack_from(data, place)[0]
    return number
