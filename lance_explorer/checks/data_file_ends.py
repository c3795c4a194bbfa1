"""The end of a data file: how many rows and which columns it has."""

from typing import NamedTuple

from lance_explorer.format.data_footer import (
    DATA_FOOTER_BYTES,
    DataFooter,
    decode_buffer_place,
    decode_data_footer,
    decode_file_schema,
    decode_legacy_rows,
    decode_num_rows,
)
from lance_explorer.format.schema import NO_PARENT, column_fields, is_blob
from lance_explorer.storage import Storage

__all__ = ["FileEnd", "read_end"]


class FileEnd(NamedTuple):
    """The content of the end of a data file.

    Attributes
    ----------
    footer : DataFooter
        The last bytes.
    num_rows : int or None
        How many rows the file has, deleted ones included; None if unknown.
    columns : tuple of pairs of str
        Names and types of its columns; none in the legacy format, which does not say.
    described : frozenset of str
        Those columns of which the file has nothing but what describes blobs.
    """

    footer: DataFooter
    num_rows: int | None
    columns: tuple[tuple[str, str], ...]
    described: frozenset[str]


def read_end(root: Storage, path: str, size: int) -> FileEnd:
    """Read the end of a data file: two or three requests.

    Raises
    ------
    CorruptFileError
        If it is not the end of a data file.
    FileNotFoundError
        If there is no such file.
    """
    begin = max(size - DATA_FOOTER_BYTES, 0)
    footer = decode_data_footer(root.get_range(path, begin, DATA_FOOTER_BYTES))
    if footer.num_columns is None:
        start = footer.metadata_start
        rows = decode_legacy_rows(root.get_range(path, start, max(size - start, 0)))
        return FileEnd(footer, rows, (), frozenset())
    if footer.buffers_start is None:
        return FileEnd(footer, None, (), frozenset())
    place, length = decode_buffer_place(root.get_range(path, footer.buffers_start, 16))
    description = root.get_range(path, place, length)
    fields = decode_file_schema(description)
    if any(field.id >= 0 for field in fields):  # the fields that describe blobs have no IDs
        fields = tuple([field for field in fields if field.id >= 0])
    columns = [(one.name, one.logical_type) for one in fields if one.parent_id == NO_PARENT]
    described = [
        name
        for name, parts in column_fields(fields).items()
        if any(is_blob(part) and part.logical_type == "struct" for part in parts)
    ]
    return FileEnd(footer, decode_num_rows(description), tuple(columns), frozenset(described))
