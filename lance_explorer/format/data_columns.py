"""The metadata of a column in a data file: the size of its pages, and their layout.

Values are not decoded here. The meanings of layout numbers were found by writing columns of many
kinds; an unseen one is shown by its number.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import data_file_pb2 as pb
from lance_explorer.format._pb import index_pb2
from lance_explorer.format._wire import decoder, parse, read_varint
from lance_explorer.format.data_footer import DATA_FOOTER_BYTES, DataFooter

__all__ = [
    "ColumnPages",
    "column_buffers",
    "column_metadata",
    "decode_column_pages",
    "global_buffers",
]

_PLACE = struct.Struct("<QQ")
_LAYOUTS = {
    "PageLayout": {1: "mini-block", 2: "constant", 3: "full-zip", 4: "blob"},
    "ArrayEncoding": {
        1: "flat",
        2: "nullable",
        3: "fixed-size list",
        4: "list",
        5: "struct",
        6: "binary",
        7: "dictionary",
    },
}

_LISTS = {2, 4, 5, 6}
"""The layers of a page that are lists."""


@dataclass(frozen=True, slots=True)
class ColumnPages:
    """The pages of one column of a data file.

    Attributes
    ----------
    num_pages, num_values, size_bytes : int
        How many there are, the values in them, and the bytes that they take.
    layouts : tuple of tuple of str and int
        How the pages are laid out, each with the bytes of its pages, by name.
    num_items : int or None
        How many values of the column's own type there are: items of lists, not lists. None if pages
        do not show it.
    """

    num_pages: int
    num_values: int
    size_bytes: int
    layouts: tuple[tuple[str, int], ...]
    num_items: int | None = None


def column_metadata(data: bytes, begin: int, footer: DataFooter) -> list[bytes]:
    """Return the metadata of each column, given the bytes of a file from ``begin`` to its end.

    Raises
    ------
    CorruptFileError
        If it lies elsewhere.
    """
    count, table = footer.num_columns or 0, (footer.offsets_start or 0) - begin
    if table < 0 or table + count * _PLACE.size > len(data):
        raise CorruptFileError(f"the places of {count} columns do not fit into the file")
    messages = list[bytes]()
    for offset, length in _PLACE.iter_unpack(data[table : table + count * _PLACE.size]):
        if offset < begin or offset + length > begin + len(data):
            raise CorruptFileError(f"the metadata of column {len(messages)} lie outside the file")
        messages.append(data[offset - begin : offset - begin + length])
    return messages


def global_buffers(data: bytes, begin: int, footer: DataFooter) -> Iterator[tuple[int, int]]:
    """Yield where buffers without a column are, given a file's bytes from ``begin`` to its end.

    The table of their positions is the last before the footer.
    """
    if footer.buffers_start is not None:
        table = data[max(footer.buffers_start - begin, 0) : -DATA_FOOTER_BYTES]
        yield from _PLACE.iter_unpack(table[: len(table) // _PLACE.size * _PLACE.size])


@decoder
def column_buffers(data: bytes) -> list[tuple[int, int]]:
    """Return where the bytes of a column are in the file, and how many: those of pages come first.

    Examples
    --------
    >>> from lance_explorer.format.data_columns import column_buffers
    >>> column_buffers(bytes.fromhex("12060a0140120108"))
    [(64, 8)]
    """
    message = parse(pb.ColumnPages, data, "column metadata")
    buffers = list[tuple[int, int]]()
    parts: list[pb.ColumnPage | pb.ColumnPages] = [*message.pages, message]
    for part in parts:
        if len(part.buffer_offsets) != len(part.buffer_sizes):
            raise CorruptFileError("a column has more or fewer places of buffers than sizes")
        buffers += zip(part.buffer_offsets, part.buffer_sizes, strict=True)
    return buffers


@decoder
def decode_column_pages(data: bytes) -> ColumnPages:
    """Decode the metadata of a column."""
    message = parse(pb.ColumnPages, data, "column metadata")
    sizes: dict[str, int] = {}
    items = [_num_items(page) for page in message.pages]
    for page in message.pages:
        layout = _layout(page.encoding.direct.encoding)
        sizes[layout] = sizes.get(layout, 0) + sum(page.buffer_sizes)
    return ColumnPages(
        num_pages=len(message.pages),
        num_values=sum([page.num_values for page in message.pages]),
        size_bytes=sum(sizes.values()) + sum(message.buffer_sizes),
        layouts=tuple(sorted(sizes.items())),
        num_items=sum([each or 0 for each in items]) if None not in items else None,
    )


def _num_items(page: pb.ColumnPage) -> int | None:
    """Return how many values of a page are not lists."""
    details = parse(index_pb2.AnyDetails, page.encoding.direct.encoding, "page encoding")
    match details.type_url.rpartition(".")[2]:
        case "ArrayEncoding":
            return page.num_values
        case "PageLayout":
            layout = parse(pb.PageLayout, details.value, "page layout")
        case _:
            return None
    match layout.WhichOneof("layout"):
        case "mini_block":
            return layout.mini_block.num_items
        case "full_zip":
            return layout.full_zip.num_visible_items
        case "constant" if _LISTS.isdisjoint(layout.constant.layers):
            return page.num_values
    return None


def _layout(data: bytes) -> str:
    """Return the name of a page whose encoding is in ``data``."""
    if not data:
        return "unknown"
    details = parse(index_pb2.AnyDetails, data, "page encoding")
    kind = details.type_url.rpartition(".")[2]
    if not details.value:
        return "unknown"
    number = read_varint(details.value, 0, len(details.value))[0] >> 3
    return _LAYOUTS.get(kind, {}).get(number, f"{kind or 'unknown'} {number}")
