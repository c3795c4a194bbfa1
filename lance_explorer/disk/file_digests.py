"""Whether the bytes of a data file are unchanged, column by column.

Data files have no checksums, and never change. So digests that were taken once show later changes
of a disk.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.data_columns import column_buffers, column_metadata, global_buffers
from lance_explorer.format.data_footer import DATA_FOOTER_BYTES, decode_data_footer
from lance_explorer.storage import Storage

__all__ = ["REST", "differing", "file_digests"]

REST = -1
"""Stands for bytes that belong to no column: their metadata, and a whole legacy file."""

_PIECE_BYTES = 8 << 20


def file_digests(root: Storage, path: str, size: int) -> Mapping[int, str]:
    """Return a digest for each column of a data file, by its number in the file, and of the rest.

    Each byte that a reader uses is read once.

    Raises
    ------
    CorruptFileError
        If the file does not end like a data file.
    FileNotFoundError
        If there is no such file.
    """
    footer = decode_data_footer(
        root.get_range(path, max(size - DATA_FOOTER_BYTES, 0), DATA_FOOTER_BYTES)
    )
    if footer.num_columns is None:
        return {REST: _digest(root, path, size, [(0, size)])}
    begin = footer.metadata_start
    end = root.get_range(path, begin, size - begin)
    columns = [column_buffers(one) for one in column_metadata(end, begin, footer)]
    digests = {number: _digest(root, path, size, places) for number, places in enumerate(columns)}
    shared = [*global_buffers(end, begin, footer)]
    return {**digests, REST: _digest(root, path, size, [*shared, (begin, size - begin)])}


def _digest(root: Storage, path: str, size: int, places: list[tuple[int, int]]) -> str:
    digest = sha256()
    for offset, length in places:
        if offset + length > size:
            raise CorruptFileError(f"{length:,} bytes at {offset:,} lie behind its end", path)
        for begin in range(offset, offset + length, _PIECE_BYTES):
            digest.update(root.get_range(path, begin, min(_PIECE_BYTES, offset + length - begin)))
    return digest.hexdigest()


def differing(recorded: Mapping[int, str], actual: Mapping[int, str]) -> Iterator[int]:
    """Yield the numbers of the columns whose digests differ."""
    for number in sorted(recorded.keys() | actual.keys()):
        if recorded.get(number) != actual.get(number):
            yield number
