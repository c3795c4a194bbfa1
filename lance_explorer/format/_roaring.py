"""Portable Roaring bitmaps in files, with our own errors."""

from typing import TypeVar

from pyroaring import BitMap, BitMap64

from lance_explorer.errors import CorruptFileError

__all__ = ["read_bitmap", "read_bitmap64"]

_B = TypeVar("_B", BitMap, BitMap64)


def read_bitmap(data: bytes, what: str) -> BitMap:
    """Return a bitmap of 32-bit values; ``what`` names it in the CorruptFileError."""
    return _read(BitMap, data, what)


def read_bitmap64(data: bytes, what: str) -> BitMap64:
    """Return a bitmap of 64-bit values; ``what`` names it in the CorruptFileError."""
    return _read(BitMap64, data, what)


def _read(kind: type[_B], data: bytes, what: str) -> _B:
    try:
        return kind.deserialize(data)
    except (ValueError, IndexError) as error:  # IndexError: no bytes at all
        raise CorruptFileError(
            f"expected {what} as a Roaring bitmap, found {len(data)} other bytes"
        ) from error
