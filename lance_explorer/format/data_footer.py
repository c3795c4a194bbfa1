"""The end of a data file: where the metadata of its columns are (docs/FORMAT.md 2.6)."""

import struct
from dataclasses import dataclass

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import data_file_pb2 as pb
from lance_explorer.format._wire import decoder, parse
from lance_explorer.format.schema import Field, field_from_pb

__all__ = [
    "DATA_FOOTER_BYTES",
    "LEGACY_VERSIONS",
    "DataFooter",
    "decode_buffer_place",
    "decode_data_footer",
    "decode_file_schema",
    "decode_legacy_rows",
    "decode_num_rows",
]

_CURRENT = struct.Struct("<QQQIIHH4s")
_LEGACY = struct.Struct("<QHH4s")
_MAGIC = b"LANC"

_PLACE = struct.Struct("<QQ")
_MOST_DESCRIPTOR_BYTES = 1 << 28

DATA_FOOTER_BYTES = _CURRENT.size
"""The number of bytes of the footer at the end of a file."""

LEGACY_VERSIONS = {(0, 1), (0, 2)}
"""Versions of the format whose metadata are those of the legacy one."""


@dataclass(frozen=True, slots=True)
class DataFooter:
    """The footer of a data file.

    Attributes
    ----------
    major_version, minor_version : int
        Version of the format as the file has it: 0.3 stands for 2.0.
    num_columns : int or None
        How many columns the file has; None in the legacy format, whose footer does not say.
    metadata_start : int
        Where the metadata of the columns begin.
    offsets_start : int or None
        Where the table begins that tells place and length of each column's metadata.
    buffers_start : int or None
        Where the table of global buffers begins, of which the first describes the file; None if
        there is none.
    """

    major_version: int
    minor_version: int
    num_columns: int | None
    metadata_start: int
    offsets_start: int | None
    buffers_start: int | None = None


@decoder
def decode_data_footer(data: bytes) -> DataFooter:
    """Decode the last bytes of a data file.

    Raises
    ------
    CorruptFileError
        If the file does not end as data files do.
    """
    if len(data) < _LEGACY.size or data[-len(_MAGIC) :] != _MAGIC:
        raise CorruptFileError(f"expected the file to end in {_MAGIC!r}, found {data[-4:]!r}")
    start, major, minor, _ = _LEGACY.unpack(data[-_LEGACY.size :])
    if (major, minor) in LEGACY_VERSIONS:
        return DataFooter(major, minor, None, start, None)
    if len(data) < _CURRENT.size:
        raise CorruptFileError(f"{len(data)} bytes are too few for a data file")
    start, offsets, buffers, num_buffers, columns, major, minor, _ = _CURRENT.unpack(
        data[-_CURRENT.size :]
    )
    if start > offsets:
        raise CorruptFileError(f"the metadata of columns begin at {start}, behind {offsets}")
    return DataFooter(major, minor, columns, start, offsets, buffers if num_buffers else None)


@decoder
def decode_buffer_place(data: bytes) -> tuple[int, int]:
    """Decode where the first global buffer lies, and how many bytes it has.

    Examples
    --------
    >>> decode_buffer_place(bytes([8] + [0] * 7 + [2] + [0] * 7))
    (8, 2)
    """
    if len(data) < _PLACE.size:
        raise CorruptFileError("the table of global buffers is cut off")
    position, size = _PLACE.unpack(data[: _PLACE.size])
    if size > _MOST_DESCRIPTOR_BYTES:
        raise CorruptFileError(f"{size:,} bytes are too many for the description of a file")
    return position, size


@decoder
def decode_num_rows(data: bytes) -> int:
    """Decode the number of rows from the description of a file (a FileDescriptor).

    Examples
    --------
    >>> decode_num_rows(bytes.fromhex("0a00105a"))
    90
    """
    return parse(pb.FileDescriptor, data, "file descriptor").num_rows


@decoder
def decode_file_schema(data: bytes) -> tuple[Field, ...]:
    """Decode the fields of a file from its description.

    Examples
    --------
    >>> [field.name for field in decode_file_schema(bytes.fromhex("0a060a0412026964105a"))]
    ['id']
    """
    descriptor = parse(pb.FileDescriptor, data, "file descriptor")
    return tuple([field_from_pb(field) for field in descriptor.schema.fields])


@decoder
def decode_legacy_rows(data: bytes) -> int:
    """Decode the number of rows from the metadata of a legacy file: where its last batch ends.

    Before the message, 4 bytes hold its length; after it comes the footer.

    Examples
    --------
    >>> decode_legacy_rows(bytes.fromhex("050000001203005a64"))
    100
    """
    size = int.from_bytes(data[:4], "little")
    offsets = parse(pb.LegacyMetadata, data[4 : 4 + size], "file metadata").batch_offsets
    return offsets[-1] if offsets else 0
