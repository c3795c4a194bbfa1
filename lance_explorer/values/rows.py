"""Rows of one version, as pylance scans them.

In every function ``uri`` is the root of the table or branch, and ``storage_options`` are the
address and the credentials of an object store. Blobs come as descriptions unless a function says
that it reads them whole.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from lance_explorer.values.blobs import BlobCheck, check_blobs, described_blobs, refuse_blob
from lance_explorer.values.gate import reads_values
from lance_explorer.values.opening import (
    StorageOptions,
    batch_bytes,
    fragment_of,
    next_batch,
    to_polars,
    translating,
)
from lance_explorer.values.readable import open_readable

if TYPE_CHECKING:
    import lance

__all__ = [
    "ROW_VERSIONS",
    "SYSTEM_COLUMNS",
    "WHOLE_BLOBS",
    "arrow_schema",
    "check_whole_blobs",
    "content_batches",
    "read_rows",
    "row_batches",
    "row_schema",
    "row_types",
    "scan_rows",
    "take_rows",
]

_BATCHES_AHEAD = 2
"""The number of batches of one fragment that are read ahead."""

WHOLE_BLOBS: Literal["all_binary"] = "all_binary"
"""pylance's name for reading blobs instead of descriptions."""

SYSTEM_COLUMNS = {"_rowid": pl.UInt64(), "_rowaddr": pl.UInt64()}
"""Columns that every row has beside its values."""

ROW_VERSIONS = {
    "_row_created_at_version": pl.UInt64(),
    "_row_last_updated_at_version": pl.UInt64(),
}
"""Which versions created and last wrote a row; null in a table without stable row IDs."""


@reads_values()
def read_rows(
    uri: str,
    version: int,
    columns: Sequence[str] | None = None,
    filter: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
    storage_options: StorageOptions = None,
    *,
    whole_blobs: bool = False,
) -> pl.DataFrame:
    """Read rows of one version, in scan order.

    Parameters
    ----------
    columns : sequence of str, optional
        Columns to read, system columns too; all but those by default.
    filter : str, optional
        Which rows, as an SQL expression.
    limit : int, optional
        How many rows at most.
    offset : int, optional
        How many rows to leave out first.
    whole_blobs : bool
        Whether to read blobs, and not what describes them.

    Raises
    ------
    UnsupportedFeatureError
        If a blob that would be read whole is outside the table.
    """
    opened = open_readable(uri, version, storage_options, all_columns=columns is None)
    wanted = None if columns is None else opened.asked(columns)
    if whole_blobs:
        check_whole_blobs(
            opened.dataset,
            wanted,
            refuse_blob,
            storage_options,
            filter=filter,
            limit=limit,
            offset=offset,
        )
    with translating(version, storage_options):
        rows = opened.dataset.to_table(
            columns=wanted,
            filter=filter,
            limit=limit,
            offset=offset,
            blob_handling=WHOLE_BLOBS if whole_blobs else None,
        )
    return to_polars(rows.rename_columns(opened.own_names(rows.column_names)))


@reads_values()
def take_rows(
    uri: str,
    version: int,
    positions: pl.Series,
    columns: Sequence[str],
    storage_options: StorageOptions = None,
) -> pl.DataFrame:
    """Read some rows of one version, in the requested order.

    Parameters
    ----------
    positions : polars.Series of integers
        Numbers of the rows in the order of a scan, from 0.
    columns : sequence of str
        Columns to read, system columns too.

    Raises
    ------
    StorageError
        If there is no such row.
    """
    opened = open_readable(uri, version, storage_options)
    with translating(version, storage_options):
        rows = opened.dataset.take(positions.to_list(), columns=opened.asked(columns))
    return to_polars(rows.rename_columns(opened.own_names(rows.column_names)))


def row_schema(
    uri: str,
    version: int,
    storage_options: StorageOptions = None,
    *,
    whole_blobs: bool = False,
    only_known: bool = False,
) -> pl.Schema:
    """Return the columns of a version with Polars types; no data file is opened.

    With ``only_known``, columns of types that pylance does not know are left out, otherwise they
    are an UnsupportedFeatureError.
    """
    types = row_types(uri, version, storage_options, whole_blobs=whole_blobs, only_known=only_known)
    return to_polars(pa.Table.from_batches([], types)).schema


@reads_values(files=False)
def arrow_schema(uri: str, version: int, storage_options: StorageOptions = None) -> pa.Schema:
    """Return the columns of a version in Arrow; no data file is opened."""
    return open_readable(uri, version, storage_options, all_columns=True).schema()


@reads_values(files=False)
def row_types(
    uri: str,
    version: int,
    storage_options: StorageOptions = None,
    *,
    whole_blobs: bool = False,
    only_known: bool = False,
) -> pa.Schema:
    """Return the columns of a version with the Arrow types of a scan; no data file is opened."""
    opened = open_readable(uri, version, storage_options, all_columns=not only_known)
    handling = WHOLE_BLOBS if whole_blobs else None
    with translating(version, storage_options):
        types = opened.dataset.scanner(blob_handling=handling).projected_schema
    names = zip(opened.own_names(types.names), types, strict=True)
    return pa.schema([field.with_name(name) for name, field in names], types.metadata)


@reads_values()
def row_batches(
    uri: str,
    version: int,
    fragment_ids: Sequence[int] | None,
    columns: Sequence[str],
    filter: str | None = None,
    offset: int | None = None,
    limit: int | None = None,
    batch_size: int | None = None,
    storage_options: StorageOptions = None,
) -> Iterator[pa.RecordBatch]:
    """Yield rows of some fragments of a version in Arrow, one fragment after the other.

    Parameters
    ----------
    fragment_ids : sequence of int, optional
        The fragments; None for all, as a scan orders them.
    columns, filter, offset, limit
        As for :func:`read_rows`, but that ``offset`` and ``limit`` are those of each fragment.
    batch_size : int, optional
        How many rows a batch has at most.
    """
    opened = open_readable(uri, version, storage_options)
    if fragment_ids is None:
        fragments = opened.dataset.get_fragments()
    else:
        fragments = [fragment_of(opened.dataset, fragment_id) for fragment_id in fragment_ids]
    is_cut = offset is not None or limit is not None
    for some in [[one] for one in fragments] if is_cut else [fragments]:
        with translating(version, storage_options):
            batches = opened.dataset.scanner(
                columns=opened.asked(columns),
                filter=filter,
                offset=offset,
                limit=limit,
                batch_size=batch_size,
                batch_readahead=_BATCHES_AHEAD,
                fragment_readahead=_BATCHES_AHEAD,
                fragments=some,
                scan_in_order=True,
            ).to_batches()
        while (batch := next_batch(batches, version, storage_options)) is not None:
            yield batch.rename_columns(opened.own_names(batch.schema.names))


@reads_values()
def content_batches(
    uri: str,
    version: int,
    fragment_ids: Sequence[int],
    columns: Sequence[str],
    storage_options: StorageOptions = None,
    check_blob: BlobCheck = refuse_blob,
) -> Iterator[pl.DataFrame]:
    """Yield the values of all rows of some fragments, with whole blobs, a batch at a time.

    Parameters
    ----------
    fragment_ids : sequence of int
        The fragments.
    columns : sequence of str
        Columns to read, ``_rowid`` too.
    check_blob : callable
        Refuses blobs outside of the table; by default all.

    Raises
    ------
    UnsupportedFeatureError
        If a blob must not be read.
    """
    if not fragment_ids:
        return
    opened = open_readable(uri, version, storage_options)
    dataset, wanted = opened.dataset, opened.asked(columns)
    fragments = [fragment_of(dataset, fragment_id) for fragment_id in fragment_ids]
    check_whole_blobs(dataset, wanted, check_blob, storage_options, fragments=fragments)
    with translating(version, storage_options):
        batches = dataset.scanner(
            columns=wanted,
            fragments=fragments,
            batch_readahead=_BATCHES_AHEAD,
            fragment_readahead=1,
            scan_in_order=True,
            batch_size_bytes=batch_bytes(dataset),
            blob_handling=WHOLE_BLOBS,
        ).to_batches()
    while (batch := next_batch(batches, version, storage_options)) is not None:
        rows = batch.rename_columns(opened.own_names(batch.schema.names))
        yield to_polars(pa.Table.from_batches([rows]))


def check_whole_blobs(
    dataset: "lance.LanceDataset",
    columns: Sequence[str] | None,
    check: BlobCheck,
    storage_options: StorageOptions,
    **which: Any,
) -> None:
    """Check the blobs of the rows that a scan will read whole.

    Parameters
    ----------
    dataset : lance.LanceDataset
        The version.
    columns : sequence of str or None
        The columns to read, as they are called there; all by default.
    check : callable
        Refuses blobs outside of the table.
    **which
        The rows, as arguments of the scan.

    Raises
    ------
    UnsupportedFeatureError
        If a blob may not be read.
    """
    version = dataset.version
    with translating(version, storage_options):
        wanted = None if columns is None else list(columns)
        names = described_blobs(dataset.scanner(columns=wanted).projected_schema)
        batches = dataset.scanner(columns=names, **which).to_batches() if names else iter(())
    check_blobs(iter(partial(next_batch, batches, version, storage_options), None), check)


def scan_rows(uri: str, version: int, storage_options: StorageOptions = None) -> pl.LazyFrame:
    """Return all rows of a version with their system columns; nothing is read before ``collect``.

    Raises
    ------
    StorageError
        If the version cannot be opened; on ``collect``, if a file cannot be read.
    """
    columns = row_schema(uri, version, storage_options)
    return register_io_source(
        partial(_served, uri, version, storage_options),
        schema=pl.Schema({**columns, **SYSTEM_COLUMNS, **ROW_VERSIONS}),
    )


def _served(
    uri: str,
    version: int,
    storage_options: StorageOptions,
    columns: list[str] | None,
    predicate: pl.Expr | None,
    n_rows: int | None,
    batch_size: int | None,
) -> Iterator[pl.DataFrame]:
    """Serve one scan of Polars, which may want only some of the first rows."""
    left = n_rows
    for rows in _frames(uri, version, columns, batch_size, storage_options):
        frame = rows if left is None else rows.head(left)
        yield frame if predicate is None else frame.filter(predicate)
        if left is not None:
            left -= len(frame)
            if left == 0:
                return


@reads_values()
def _frames(
    uri: str,
    version: int,
    columns: list[str] | None,
    batch_size: int | None,
    storage_options: StorageOptions,
) -> Iterator[pl.DataFrame]:
    """Yield all rows of a version, with system columns."""
    opened = open_readable(uri, version, storage_options, all_columns=columns is None)
    dataset = opened.dataset
    if columns is None:
        columns = [*opened.own_names(dataset.schema.names), *SYSTEM_COLUMNS, *ROW_VERSIONS]
    missing = set() if dataset.has_stable_row_ids else ROW_VERSIONS.keys() & columns
    with translating(version, storage_options):
        batches = dataset.to_batches(columns=opened.asked(columns), batch_size=batch_size)
    while (batch := next_batch(batches, version, storage_options)) is not None:
        rows = batch.rename_columns(opened.own_names(batch.schema.names))
        frame = to_polars(pa.Table.from_batches([rows])).select(columns)
        yield frame.with_columns([pl.lit(None, ROW_VERSIONS[name]).alias(name) for name in missing])
