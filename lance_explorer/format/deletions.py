"""Deletion files: bytes to the offsets of deleted rows (docs/FORMAT.md 2.8).

There are two kinds: a portable Roaring bitmap, and an Arrow file of one column. Arrow allocates the
size that a compressed buffer claims, so the sizes are checked first.
"""

import struct
from array import array
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError, FormatError, UnsupportedFeatureError
from lance_explorer.format._arrow import batch_rows, field_place, header_place, target
from lance_explorer.format._roaring import read_bitmap
from lance_explorer.format._wire import decoder
from lance_explorer.format.fragments import DeletionFileType

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["decode_deletion_file"]

_MOST_ROWS_OF_A_BYTE = 8  # different numbers were never seen in less than a fifth of their bytes
_OFFSET_BYTES = 4
_MAX_PADDING = 64  # of an Arrow buffer, in bytes

_MAGIC = b"ARROW1"
_MESSAGE_START = b"\xff\xff\xff\xff"

_PREFIX_BYTES = 8  # before each message: its start, and the length of its metadata

_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")
_I64 = struct.Struct("<q")
_SPAN = struct.Struct("<qq")
_BLOCK = struct.Struct("<qi4xq")  # where a batch begins, and the sizes of its metadata and body

_FOOTER_BATCHES = 3  # number of a field in the table of the footer

# Numbers of fields in the table of a batch.
_BATCH_BUFFERS = 2
_BATCH_COMPRESSION = 3
_NOT_COMPRESSED = -1  # instead of a size, before a buffer that compression would not shrink


@decoder
def decode_deletion_file(data: bytes, file_type: int, physical_rows: int | None = None) -> BitMap:
    """Decode a deletion file into the offsets of all rows that are deleted from the fragment.

    Parameters
    ----------
    data : bytes
        The whole file.
    file_type : int
        How it is written: see :class:`~lance_explorer.format.fragments.DeletionFileType`.
    physical_rows : int, optional
        The rows of the fragment, deleted ones included: no offset can be as high as that.

    Raises
    ------
    CorruptFileError
        If it names more rows or higher offsets than the fragment has.

    Examples
    --------
    >>> from pyroaring import BitMap
    >>> from lance_explorer.format.deletions import decode_deletion_file
    >>> decode_deletion_file(BitMap([7, 2]).serialize(), file_type=1, physical_rows=10)
    BitMap([2, 7])
    """
    if file_type == DeletionFileType.BITMAP:
        deleted = read_bitmap(data, "deleted offsets")
    elif file_type == DeletionFileType.ARROW_ARRAY:
        most = len(data) * _MOST_ROWS_OF_A_BYTE
        deleted = _read_arrow(data, most if physical_rows is None else min(most, physical_rows))
    else:
        raise UnsupportedFeatureError(
            f"deletion files of type {file_type} are not known; a newer lance_explorer may be"
            " able to read them"
        )
    if physical_rows is not None and deleted and deleted.max() >= physical_rows:
        raise CorruptFileError(
            f"the offset {deleted.max()} is deleted from a fragment of {physical_rows} rows"
        )
    return deleted


def _read_arrow(data: bytes, max_rows: int) -> BitMap:
    import pyarrow as pa  # takes long, and many tables have no such file

    try:
        return _read_batches(data, max_rows)
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        raise CorruptFileError(f"not a valid Arrow file of deleted offsets: {error}") from error


def _read_batches(data: bytes, max_rows: int) -> BitMap:
    """Read an Arrow file from the front: after the magic and its padding it is a stream."""
    import pyarrow as pa

    column = pa.field("row_id", pa.uint32())
    in_this_thread = pa.ipc.IpcReadOptions(use_threads=False)  # waking another one takes longer
    stream = data[len(_MAGIC) :].lstrip(b"\0")
    whole = data.startswith(_MAGIC) and data.endswith(_MAGIC)
    if not whole or not stream.startswith(_MESSAGE_START):
        raise CorruptFileError(f"expected a whole Arrow file, found {len(data)} other bytes")
    first, *messages = pa.ipc.MessageReader.open_stream(stream)
    header_place(first, first.metadata.to_pybytes(), "schema")
    schema = pa.ipc.read_schema(first)
    if len(schema) != 1 or not schema.field(0).with_nullable(True).equals(column):
        raise CorruptFileError(f"expected the one column {column}, found {str(schema)[:200]!r}")
    left = max_rows
    for message in messages:
        try:
            left -= _checked_rows(message, left)
        except FormatError as error:
            raise error.within(message.metadata.to_pybytes(), data) from error
    _check_footer(data, len(data) - len(stream), [first, *messages])
    if not pa.ipc.open_file(data).schema.equals(schema):
        raise CorruptFileError("the footer of the Arrow file names other columns than its start")
    offsets = array("I")
    for batch in pa.ipc.open_stream(stream, options=in_this_thread):
        batch.validate()  # only here Arrow compares the rows with the size of their buffer
        values = np.sort(_numbers(batch.column(0)))  # a bitmap grows faster in order
        offsets.frombytes(values.tobytes())
    return BitMap(offsets)


def _check_footer(data: bytes, start: int, messages: list["pa.Message"]) -> None:
    """Raise CorruptFileError unless the footer, which Lance uses, names these batches."""
    blocks = list[tuple[int, int, int]]()
    position = start
    for message in messages:
        size = _PREFIX_BYTES + message.metadata.size
        blocks.append((position, size, message.body.size))
        position += size + message.body.size
    end = len(data) - len(_MAGIC) - _I32.size
    footer = data[end - _I32.unpack_from(data, end)[0] : end]
    batches = field_place(footer, target(footer, 0), _FOOTER_BATCHES)
    if batches is None:
        raise CorruptFileError("the footer of the Arrow file names no batches", offset=end)
    vector = target(footer, batches)
    stop = vector + _U32.size + _U32.unpack_from(footer, vector)[0] * _BLOCK.size
    if [*_BLOCK.iter_unpack(footer[vector + _U32.size : stop])] != blocks[1:]:
        raise CorruptFileError("the footer of the Arrow file names other batches", offset=end)


def _numbers(column: "pa.Array") -> NDArray[np.uint32]:
    """Return the numbers of a column; Arrow's own conversion to NumPy would load pandas first."""
    if column.null_count:
        raise CorruptFileError(f"{column.null_count} deleted offsets are missing")
    data = column.buffers()[1] if len(column) else b""
    return np.frombuffer(data, dtype=np.uint32, count=len(column))


def _checked_rows(message: "pa.Message", max_rows: int) -> int:
    """Return how many rows a batch claims to have.

    Raises CorruptFileError if it claims more rows, or larger buffers, than it can have.
    """
    metadata = message.metadata.to_pybytes()
    table = header_place(message, metadata, "record batch")
    rows = batch_rows(metadata, table)
    if not 0 <= rows <= max_rows:
        raise CorruptFileError(f"found {rows} deleted offsets where {max_rows} are possible")
    buffers = field_place(metadata, table, _BATCH_BUFFERS)
    if buffers is None or field_place(metadata, table, _BATCH_COMPRESSION) is None:
        return rows
    limit = rows * _OFFSET_BYTES + _MAX_PADDING
    vector = target(metadata, buffers)
    start = vector + _U32.size
    stop = start + _U32.unpack_from(metadata, vector)[0] * _SPAN.size
    for offset, size in _SPAN.iter_unpack(metadata[start:stop]):
        claimed = _I64.unpack_from(message.body, offset)[0] if size else 0
        if claimed != _NOT_COMPRESSED and not 0 <= claimed <= limit:
            raise CorruptFileError(f"{rows} deleted offsets claim to need {claimed} bytes")
    return rows
