"""The end of a data file: where the metadata of its columns lie (docs/FORMAT.md 2.6)."""

import struct
from dataclasses import dataclass

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._wire import decoder

__all__ = ["DATA_FOOTER_BYTES", "DataFooter", "decode_data_footer"]

_CURRENT = struct.Struct("<QQQIIHH4s")
_LEGACY = struct.Struct("<QHH4s")
_MAGIC = b"LANC"

DATA_FOOTER_BYTES = _CURRENT.size
"""So many bytes at the end of a file are its footer."""

_LEGACY_VERSIONS = {(0, 1), (0, 2)}


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
    """

    major_version: int
    minor_version: int
    num_columns: int | None
    metadata_start: int
    offsets_start: int | None


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
    if (major, minor) in _LEGACY_VERSIONS:
        return DataFooter(major, minor, None, start, None)
    if len(data) < _CURRENT.size:
        raise CorruptFileError(f"{len(data)} bytes are too few for a data file")
    start, offsets, _, _, columns, major, minor, _ = _CURRENT.unpack(data[-_CURRENT.size :])
    if start > offsets:
        raise CorruptFileError(f"the metadata of columns begin at {start}, behind {offsets}")
    return DataFooter(major, minor, columns, start, offsets)
