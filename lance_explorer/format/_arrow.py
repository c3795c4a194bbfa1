"""The messages of Arrow's streams, as far as they are parsed here (docs/FORMAT.md 2.8, 6.2).

Arrow allocates the size that a buffer claims, so sizes and counts are checked first.
"""

import struct
from typing import TYPE_CHECKING

from lance_explorer.errors import CorruptFileError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["batch_rows", "field_place", "header_place", "target"]

_U16 = struct.Struct("<H")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")
_I64 = struct.Struct("<q")

# Field numbers in the tables of a message.
_MESSAGE_HEADER = 2
_BATCH_LENGTH = 0
_VTABLE_HEADER = 4  # bytes before the positions


def header_place(message: "pa.Message", metadata: bytes, kind: str) -> int:
    """Return where the header of a message is; Arrow reads one of another kind unchecked."""
    header = field_place(metadata, target(metadata, 0), _MESSAGE_HEADER)
    if message.type != kind or header is None:
        raise CorruptFileError(f"expected a {kind} in the Arrow file, found a {message.type}")
    return target(metadata, header)


def batch_rows(metadata: bytes, table: int) -> int:
    """Return how many rows a batch claims to have, given the position of its header."""
    length = field_place(metadata, table, _BATCH_LENGTH)
    rows: int = _I64.unpack_from(metadata, length)[0] if length is not None else 0
    return rows


def field_place(metadata: bytes, table: int, number: int) -> int | None:
    """Return where a field of a table is in the metadata of an Arrow message; None if nowhere."""
    vtable = table - _I32.unpack_from(metadata, table)[0]
    entry = _VTABLE_HEADER + number * _U16.size
    if entry >= _U16.unpack_from(metadata, vtable)[0]:
        return None
    distance: int = _U16.unpack_from(metadata, vtable + entry)[0]
    return table + distance if distance else None


def target(metadata: bytes, position: int) -> int:
    """Return the target of the reference at a position."""
    distance: int = _U32.unpack_from(metadata, position)[0]
    return position + distance
