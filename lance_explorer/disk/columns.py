"""How many bytes each column takes, and the layout of its pages: from the ends of data files."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from lance_explorer.errors import FormatError
from lance_explorer.format.data_columns import ColumnPages, column_metadata, decode_column_pages
from lance_explorer.format.data_footer import DATA_FOOTER_BYTES, decode_data_footer
from lance_explorer.format.fragments import DataFile
from lance_explorer.format.manifest import LEGACY_FORMAT
from lance_explorer.format.schema import NO_PARENT, Field, is_blob
from lance_explorer.format.value_widths import value_bits
from lance_explorer.frames.columns import BYTES, COUNT, FIELD_ID, TEXT, Column, FrameSchema
from lance_explorer.history.file_roots import data_file
from lance_explorer.history.progress import with_progress
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import Storage

__all__ = ["COLUMNS", "columns"]

_TAIL_BYTES = 1 << 16
"""The bytes at the end of a file that are read first; the metadata of most files fit in."""

COLUMNS = FrameSchema(
    "columns",
    (
        Column("field_id", FIELD_ID, "ID of the field whose values these are"),
        Column("path", TEXT, "name of the column; null: the version has it no more", nullable=True),
        Column("logical_type", TEXT, "type as Lance names it", nullable=True),
        Column("format_version", TEXT, "version of the data format of the files, as 2.1"),
        Column("num_files", COUNT, "data files that have the column"),
        Column("num_unread", COUNT, "of these, missing, damaged, or not allowed to be read"),
        Column(
            "num_pages", COUNT, "pages in them; null: some are not read, or legacy", nullable=True
        ),
        Column("num_values", COUNT, "values in them, deleted rows and nested ones too", True),
        Column("size_bytes", BYTES, "size of these pages, encoded and compressed", True, "bytes"),
        Column(
            "uncompressed_bytes",
            BYTES,
            "what these values take in memory, as many times the width of their type; null: the "
            "type has no fixed width, or the files do not tell how many values there are",
            True,
            "bytes",
        ),
        Column("layouts", TEXT, "how the pages are laid out, with the bytes of each", True),
    ),
)
"""The columns of ``inspect.columns()``."""


@dataclass
class _Sum:
    num_files: int = 0
    num_unread: int = 0
    is_known: bool = True
    num_pages: int = 0
    num_values: int = 0
    num_items: int | None = 0
    size_bytes: int = 0
    layouts: dict[str, int] = field(default_factory=dict)

    def add(self, pages: ColumnPages | None, num_items: int | None, *, is_read: bool) -> None:
        self.num_files += 1
        self.num_unread += not is_read
        if self.num_items is None or num_items is None:
            self.num_items = None
        else:
            self.num_items += num_items
        if pages is None:
            self.is_known = False
            return
        self.num_pages += pages.num_pages
        self.num_values += pages.num_values
        self.size_bytes += pages.size_bytes
        for layout, size in pages.layouts:
            self.layouts[layout] = self.layouts.get(layout, 0) + size


def columns(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each field with values in data files, and format of these files.

    The end of each data file of the version is read: one request a file, two if its metadata are
    large.
    """
    history = view.version(version)
    bases = history.records[0].manifest.base_paths
    names = {each.id: each for each in history.records[0].schema}
    single = _one_a_row(history.records[0].schema)
    sums: dict[tuple[int, str], _Sum] = {}
    for fragment in with_progress(history.states, "Reading the ends of data files"):
        for file in fragment.all_files:
            try:
                root, path = data_file(file, bases, view.storage)
                by_field, is_read = list(_pages(root, path, file)), True
            except (FileNotFoundError, FormatError):
                by_field, is_read = [(each, None) for each in file.fields if each >= 0], False
            for field_id, pages in by_field:
                items = pages.num_items if pages else None
                if pages is None and is_read and file in fragment.files and field_id in single:
                    items = fragment.physical_rows  # in the legacy format
                sums.setdefault((field_id, _version(file)), _Sum()).add(
                    pages, items, is_read=is_read
                )
    paths = _paths(history.records[0].schema)
    rows = sorted(sums.items(), key=lambda item: (-item[1].size_bytes, item[0]))
    known = [(each if each.is_known else None) for _, each in rows]
    return COLUMNS.build(
        {
            "field_id": [field_id for (field_id, _), _ in rows],
            "path": [paths.get(field_id) for (field_id, _), _ in rows],
            "logical_type": [
                names[field_id].logical_type if field_id in names else None
                for (field_id, _), _ in rows
            ],
            "format_version": [format_version for (_, format_version), _ in rows],
            "num_files": [each.num_files for _, each in rows],
            "num_unread": [each.num_unread for _, each in rows],
            "num_pages": [each and each.num_pages for each in known],
            "num_values": [each and each.num_values for each in known],
            "size_bytes": [each and each.size_bytes for each in known],
            "uncompressed_bytes": [
                _uncompressed(names.get(field_id), each.num_items) for (field_id, _), each in rows
            ],
            "layouts": [
                each
                and ", ".join(f"{name} {size:,}" for name, size in sorted(each.layouts.items()))
                for each in known
            ],
        }
    )


def _pages(root: Storage, path: str, file: DataFile) -> Iterator[tuple[int, ColumnPages | None]]:
    """Yield the fields of a file with the pages of their columns; None in the legacy format."""
    size = file.size_bytes
    if size is None:
        info = root.find(path)
        if info is None:
            raise FileNotFoundError(path)
        size = info.size_bytes
    begin = max(size - _TAIL_BYTES, 0)
    data = root.get_range(path, begin, size - begin)
    footer = decode_data_footer(data[-DATA_FOOTER_BYTES:])
    if footer.num_columns is None:
        yield from [(field_id, None) for field_id in file.fields if field_id >= 0]
        return
    if footer.metadata_start < begin:
        begin = footer.metadata_start
        data = root.get_range(path, begin, size - begin)
    every = column_metadata(data, begin, footer)
    for field_id, number in zip(file.fields, file.column_indices, strict=True):
        if field_id >= 0 and 0 <= number < len(every):
            yield field_id, decode_column_pages(every[number])


def _one_a_row(schema: tuple[Field, ...]) -> set[int]:
    """Return the fields that have one value a row: those outside of lists."""
    ids = set[int]()
    parents = {NO_PARENT}
    for each in schema:  # parents come before their children
        if each.parent_id in parents:
            ids.add(each.id)
            if each.logical_type == "struct":
                parents.add(each.id)
    return ids


def _uncompressed(field: Field | None, num_items: int | None) -> int | None:
    if field is None or num_items is None or is_blob(field) or _is_packed(field):
        return None
    bits = value_bits(field.logical_type)
    return None if bits is None else -(-bits * num_items // 8)


def _is_packed(field: Field) -> bool:
    """Return whether a struct is stored as one column."""
    return not {"packed", "lance-encoding:packed"}.isdisjoint(dict(field.metadata))


def _version(file: DataFile) -> str:
    versions = {(0, 3): "2.0", **dict.fromkeys([(0, 2), (0, 1), (0, 0)], LEGACY_FORMAT)}
    key = file.major_version, file.minor_version
    return versions.get(key, f"{file.major_version}.{file.minor_version}")


def _paths(schema: tuple[Field, ...]) -> dict[int, str]:
    """Return the whole name of each field."""
    paths: dict[int, str] = {}
    for each in schema:  # parents come before their children
        parent = paths.get(each.parent_id)
        paths[each.id] = each.name if parent is None else f"{parent}.{each.name}"
    return paths
