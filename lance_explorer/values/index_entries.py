"""The entries of index files, and of rows: pairs of row and value."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from lance_explorer.format.row_sets import decode_row_set
from lance_explorer.values.gate import reads_values
from lance_explorer.values.opening import (
    StorageOptions,
    failing,
    file_reader,
    open_version,
    to_polars,
    translating,
)
from lance_explorer.values.rows import arrow_schema, row_batches

__all__ = [
    "covered_pairs",
    "covered_rows",
    "read_bitmap_entries",
    "read_btree_entries",
    "read_row_entries",
    "remapped",
    "rows_with_vectors",
]

_ROWS = ("ids", "row_ids")
"""The column with the rows of a BTREE, and its name up to 0.39."""


@reads_values()
def read_btree_entries(paths: Sequence[str], storage_options: StorageOptions) -> pl.DataFrame:
    """Read the pages of a BTREE: ``row`` and ``value``, one row for each entry.

    Parameters
    ----------
    paths : sequence of str
        The files with pages.

    Raises
    ------
    StorageError
        If a file cannot be read as pages.
    """
    parts = []
    for path in paths:
        with failing(f"{path}: the entries cannot be read", storage_options):
            table = _read(path, storage_options)
            [rows] = [name for name in _ROWS if name in table.column_names] or ["ids"]
            parts.append(pa.table({"row": table[rows].cast(pa.uint64()), "value": table["values"]}))
    return to_polars(pa.concat_tables(parts))


@reads_values()
def read_bitmap_entries(paths: Sequence[str], storage_options: StorageOptions) -> pl.DataFrame:
    """Read the bitmaps of a BITMAP or LABEL_LIST: ``row`` and ``value``, one row for each entry.

    Raises
    ------
    StorageError
        If a file cannot be read as bitmaps.
    """
    parts = []
    for path in paths:
        with failing(f"{path}: the entries cannot be read", storage_options):
            table = _read(path, storage_options)
            values, bitmaps = to_polars(table.select(["keys"])), table["bitmaps"].to_pylist()
        rows = [decode_row_set(data or bytes(4)) for data in bitmaps]
        counts = np.array([len(some) for some in rows], dtype=np.int64)
        owners = np.repeat(np.arange(len(rows), dtype=np.uint32), counts)
        every = np.concatenate(rows) if rows else np.empty(0, np.uint64)
        row = pl.Series("row", every, pl.UInt64)
        parts.append(pl.DataFrame([row, values["keys"].gather(owners).alias("value")]))
    return pl.concat(parts)


@reads_values()
def read_row_entries(paths: Sequence[str], storage_options: StorageOptions) -> pl.Series:
    """Read for which rows files of an index have entries; each row once for each entry.

    Raises
    ------
    StorageError
        If a file cannot be read, or has no rows.
    """
    parts = [pl.Series("row", [], pl.UInt64)]
    for path in paths:
        with failing(f"{path}: the entries cannot be read", storage_options):
            rows = _read(path, storage_options, ["_rowid"])["_rowid"].cast(pa.uint64())
            parts.append(pl.Series("row", rows.to_numpy(), pl.UInt64))
    return pl.concat(parts)


@reads_values()
def remapped(uri: str, version: int, rows: pl.Series, storage_options: StorageOptions) -> pl.Series:
    """Return row addresses mapped by the fragment reuse history of a version; null if removed."""
    dataset = open_version(uri, version, storage_options)
    with translating(version, storage_options):
        after = dataset.remap_row_addrs(pa.array(rows.to_numpy(), pa.uint64()))
    return rows if after is None else pl.Series("row", pl.from_arrow(after), pl.UInt64)


def covered_pairs(
    uri: str,
    version: int,
    fragment_ids: Sequence[int],
    column: str,
    storage_options: StorageOptions,
    *,
    by_address: bool,
) -> pl.DataFrame:
    """Read what rows of some fragments have in a column: ``row`` and ``value``.

    Parameters
    ----------
    fragment_ids : sequence of int
        The fragments.
    column : str
        A column of the top level.
    by_address : bool
        Whether ``row`` is the row address, and not the row ID.
    """
    row = "_rowaddr" if by_address else "_rowid"
    batches = row_batches(
        uri, version, fragment_ids, [column, row], storage_options=storage_options
    )
    frames = [to_polars(pa.Table.from_batches([batch])) for batch in batches]
    if not frames:
        types = arrow_schema(uri, version, storage_options)
        empty = pa.table(
            {"row": pa.array([], pa.uint64()), "value": pa.array([], types.field(column).type)}
        )
        return to_polars(empty)
    return pl.concat(frames).select(row=pl.col(row), value=pl.col(column))


def covered_rows(
    uri: str,
    version: int,
    fragment_ids: Sequence[int],
    storage_options: StorageOptions,
    *,
    by_address: bool,
) -> pl.Series:
    """Return the live rows of some fragments, by address or by row ID."""
    row = "_rowaddr" if by_address else "_rowid"
    batches = row_batches(uri, version, fragment_ids, [row], storage_options=storage_options)
    parts = [pl.Series("row", batch[row].to_numpy(), pl.UInt64) for batch in batches]
    return pl.concat([pl.Series("row", [], pl.UInt64), *parts])


def rows_with_vectors(
    uri: str,
    version: int,
    fragment_ids: Sequence[int],
    column: str,
    rows: pl.Series,
    storage_options: StorageOptions,
    *,
    by_address: bool,
) -> tuple[pl.Series, pl.Series]:
    """Return the rows with a numeric vector, and those with a zero vector.

    An index must find the former. Vectors are read batch by batch.
    """
    row = "_rowaddr" if by_address else "_rowid"
    others, zeros = [pl.Series("row", [], pl.UInt64)], [pl.Series("row", [], pl.UInt64)]
    for batch in row_batches(
        uri, version, fragment_ids, [column, row], storage_options=storage_options
    ):
        here = to_polars(pa.Table.from_batches([batch])).filter(pl.col(row).is_in(rows.implode()))
        numbers = here[column].cast(pl.List(pl.Float64))
        is_whole = numbers.list.eval(pl.element().is_finite()).list.all()
        is_whole &= numbers.list.drop_nulls().list.len().gt(0)
        is_zero = numbers.list.eval(pl.element() == 0).list.all()
        others.append(here.filter(is_whole & ~is_zero)[row])
        zeros.append(here.filter(is_whole & is_zero)[row])
    rows, without_direction = [
        pl.concat([one.rename("row") for one in some]) for some in (others, zeros)
    ]
    return rows, without_direction


def _read(path: str, storage_options: StorageOptions, columns: list[str] | None = None) -> pa.Table:
    return file_reader(path, storage_options, columns).read_all().to_table()
