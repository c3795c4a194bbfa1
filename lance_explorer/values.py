"""Everything that is read from data files, through pylance."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import lance
import numpy as np
import polars as pl
import pyarrow as pa
from lance.file import LanceFileReader
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.storage.secrets import without_secrets

__all__ = [
    "ROW_VERSIONS",
    "SYSTEM_COLUMNS",
    "content_batches",
    "read_hidden_column",
    "read_row_map",
    "read_rows",
    "read_rows_at",
    "row_batches",
    "row_schema",
    "row_types",
    "scan_rows",
    "take_rows",
]

_SOURCE_PLACES = re.compile(r",? ?\S*/\S+\.rs:\d+:\d+")
"""Where in its own sources an error of pylance was raised and handed on."""

_FAILURES = (ValueError, OSError, RuntimeError, pa.ArrowException)
"""What pylance raises."""

_LABEL = "label"
"""The one column of a row map."""

_FRAGMENT_BITS = np.uint64(32)

_BATCHES_AHEAD = 2
"""How many batches of one fragment are read before they are asked for."""

_ROWS_SCANNED_PER_ROW_TAKEN = 8
"""How many rows are scanned in the time that one is taken."""

StorageOptions = Mapping[str, str] | None
"""Where an object store is and how to be let in; None for local files."""

SYSTEM_COLUMNS = {"_rowid": pl.UInt64(), "_rowaddr": pl.UInt64()}
"""Columns that every row has beside its values."""

ROW_VERSIONS = {
    "_row_created_at_version": pl.UInt64(),
    "_row_last_updated_at_version": pl.UInt64(),
}
"""Which versions created and last wrote a row; null in a table without stable row IDs."""


def read_rows(
    uri: str,
    version: int,
    columns: Sequence[str] | None = None,
    filter: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
    storage_options: StorageOptions = None,
) -> pl.DataFrame:
    """Read rows of one version, in the order of a scan.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    columns : sequence of str, optional
        Columns to read, system columns too; all but those by default.
    filter : str, optional
        Which rows, as an SQL expression.
    limit : int, optional
        How many rows at most.
    offset : int, optional
        How many rows to leave out first.
    storage_options : mapping of str to str, optional
        For object stores: where they are and how to be let in.

    Raises
    ------
    InvalidArgumentError
        If a column or the filter does not fit the table.
    StorageError
        If a file cannot be read.
    """
    wanted = None if columns is None else list(columns)
    dataset = _open(uri, version, storage_options)
    with _translating(version, storage_options):
        rows = dataset.to_table(columns=wanted, filter=filter, limit=limit, offset=offset)
    return _to_polars(rows)


def take_rows(
    uri: str,
    version: int,
    positions: pl.Series,
    columns: Sequence[str],
    storage_options: StorageOptions = None,
) -> pl.DataFrame:
    """Read some rows of one version, in the order asked for.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    positions : polars.Series of integers
        Numbers of the rows in the order of a scan, from 0.
    columns : sequence of str
        Columns to read, system columns too.
    storage_options : mapping of str to str, optional
        For object stores: where they are and how to be let in.

    Raises
    ------
    InvalidArgumentError
        If a column does not fit the table.
    StorageError
        If a file cannot be read, or there is no such row.
    """
    dataset = _open(uri, version, storage_options)
    with _translating(version, storage_options):
        rows = dataset.take(positions.to_list(), columns=list(columns))
    return _to_polars(rows)


def row_schema(uri: str, version: int, storage_options: StorageOptions = None) -> pl.Schema:
    """Return the columns of a version as Polars has them; no data file is opened.

    Raises
    ------
    StorageError
        If the version cannot be opened.
    """
    return _to_polars(_open(uri, version, storage_options).schema.empty_table()).schema


def row_types(uri: str, version: int, storage_options: StorageOptions = None) -> pa.Schema:
    """Return the columns of a version as a scan gives them in Arrow; no data file is opened.

    Raises
    ------
    StorageError
        If the version cannot be opened.
    """
    return _open(uri, version, storage_options).scanner().projected_schema


def row_batches(
    uri: str,
    version: int,
    fragment_id: int,
    columns: Sequence[str],
    filter: str | None = None,
    offset: int | None = None,
    limit: int | None = None,
    batch_size: int | None = None,
    storage_options: StorageOptions = None,
) -> Iterator[pa.RecordBatch]:
    """Yield rows of one fragment of a version in Arrow, in the order of a scan.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    fragment_id : int
        The fragment.
    columns : sequence of str
        Columns to read, system columns too.
    filter : str, optional
        Which rows, as an SQL expression.
    offset : int, optional
        How many rows to leave out first.
    limit : int, optional
        How many rows at most.
    batch_size : int, optional
        How many rows a batch has at most.
    storage_options : mapping of str to str, optional
        For object stores: where they are and how to be let in.

    Raises
    ------
    InvalidArgumentError
        If a column or the filter does not fit the table.
    StorageError
        If a file cannot be read.
    """
    dataset = _open(uri, version, storage_options)
    with _translating(version, storage_options):
        batches = dataset.scanner(
            columns=list(columns),
            filter=filter,
            offset=offset,
            limit=limit,
            batch_size=batch_size,
            batch_readahead=_BATCHES_AHEAD,
            fragments=[_fragment(dataset, fragment_id)],
            scan_in_order=True,
        ).to_batches()
    while (batch := _next(batches, version, storage_options)) is not None:
        yield batch


def content_batches(
    uri: str,
    version: int,
    fragment_ids: Sequence[int],
    columns: Sequence[str],
    storage_options: StorageOptions = None,
) -> Iterator[pl.DataFrame]:
    """Yield the values of all rows of some fragments, whole blobs too, a batch at a time.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    fragment_ids : sequence of int
        The fragments.
    columns : sequence of str
        Columns to read, ``_rowid`` too.
    storage_options : mapping of str to str, optional
        For object stores: where they are and how to be let in.

    Raises
    ------
    InvalidArgumentError
        If a column does not fit the table.
    StorageError
        If a file cannot be read.
    """
    if not fragment_ids:
        return
    dataset = _open(uri, version, storage_options)
    with _translating(version, storage_options):
        batches = dataset.scanner(
            columns=list(columns),
            fragments=[_fragment(dataset, fragment_id) for fragment_id in fragment_ids],
            batch_readahead=_BATCHES_AHEAD,
            fragment_readahead=1,
            scan_in_order=True,
            blob_handling="all_binary",
        ).to_batches()
    while (batch := _next(batches, version, storage_options)) is not None:
        yield _to_polars(pa.Table.from_batches([batch]))


def read_rows_at(
    uri: str,
    version: int,
    addresses: NDArray[np.uint64],
    row_ids: NDArray[np.uint64],
    columns: Sequence[str],
    storage_options: StorageOptions = None,
) -> pl.DataFrame:
    """Read rows of one version that are known by their places, in the order asked for.

    Fragments of which many rows are wanted are scanned; of others the rows are taken one by one.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    addresses : ndarray of uint64
        Row addresses of live rows, each once.
    row_ids : ndarray of uint64
        Their row IDs; the addresses again in a table without stable row IDs.
    columns : sequence of str
        Columns to read.
    storage_options : mapping of str to str, optional
        For object stores: where they are and how to be let in.

    Raises
    ------
    InvalidArgumentError
        If a column does not fit the table.
    StorageError
        If a file cannot be read, or a row is not there.
    """
    dataset = _open(uri, version, storage_options)
    with _translating(version, storage_options):
        scanned = np.isin(addresses >> _FRAGMENT_BITS, _dense_fragments(dataset, addresses))
        parts = [_scanned(dataset, addresses[scanned], columns)] if scanned.any() else []
        if not scanned.all() or not parts:
            taken = dataset._take_rows(row_ids[~scanned], columns=list(columns))
            parts.append(_to_polars(taken).select(columns))
    rows = pl.concat(parts) if len(parts) > 1 else parts[0]
    if len(rows) != len(addresses):
        raise StorageError(
            f"version {version}: {len(addresses)} rows were asked for, {len(rows)} are there"
        )
    if len(parts) == 1 and not scanned.any():
        return rows
    order = np.concatenate(
        [np.flatnonzero(scanned)[np.argsort(addresses[scanned])], np.flatnonzero(~scanned)]
    )
    return rows if (np.diff(order) > 0).all() else rows[np.argsort(order)]


def _dense_fragments(dataset: lance.LanceDataset, addresses: NDArray[np.uint64]) -> list[int]:
    """Return the fragments of which so many rows are wanted that scanning them is faster."""
    fragments, counts = np.unique(addresses >> _FRAGMENT_BITS, return_counts=True)
    return [
        fragment
        for fragment, count in zip(fragments.tolist(), counts.tolist(), strict=True)
        if count * _ROWS_SCANNED_PER_ROW_TAKEN >= _fragment(dataset, fragment).physical_rows
    ]


def _fragment(dataset: lance.LanceDataset, fragment_id: int) -> lance.LanceFragment:
    fragment = dataset.get_fragment(fragment_id)
    if fragment is None:
        raise StorageError(f"version {dataset.version} has no fragment {fragment_id}")
    return fragment


def _scanned(
    dataset: lance.LanceDataset, addresses: NDArray[np.uint64], columns: Sequence[str]
) -> pl.DataFrame:
    """Return rows at some addresses, ascending by address, by scanning their fragments."""
    wanted = np.sort(addresses)
    fragments = np.unique(wanted >> _FRAGMENT_BITS).tolist()
    scanner = dataset.scanner(
        columns=list(columns),
        with_row_address=True,
        fragments=[_fragment(dataset, fragment) for fragment in fragments],
        scan_in_order=True,
    )
    parts = []
    for batch in scanner.to_batches():
        found = batch.column("_rowaddr").to_numpy()
        place = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
        chosen = np.flatnonzero(wanted[place] == found)
        if len(chosen) == len(found):
            parts.append(batch)
        elif len(chosen):
            parts.append(batch.take(pa.array(chosen)))
    schema = scanner.projected_schema
    return _to_polars(pa.Table.from_batches(parts, schema)).select(columns)


def read_hidden_column(
    path: str, column: str, storage_options: StorageOptions = None
) -> NDArray[np.uint64]:
    """Read a spilled sequence: one value for each physical row of a fragment.

    Parameters
    ----------
    path : str
        The data file.
    column : str
        Name of the column, such as ``_rowid``.
    storage_options : mapping of str to str, optional
        For object stores: where they are and how to be let in.

    Raises
    ------
    StorageError
        If the file cannot be read, or has no such column.
    """
    with _failing(f"{path}: the column {column} cannot be read", storage_options):
        table = LanceFileReader(path, _dict(storage_options), [column]).read_all().to_table()
    values: NDArray[np.uint64] = table.column(0).to_numpy()
    return values


def read_row_map(path: str, storage_options: StorageOptions = None) -> NDArray[np.int64]:
    """Read the map file of a stable partition: into which new fragment each old row went.

    Parameters
    ----------
    path : str
        The map file.
    storage_options : mapping of str to str, optional
        For object stores: where they are and how to be let in.

    Returns
    -------
    ndarray of int64
        For each physical row of the old fragments, in their order, the position of its new
        fragment; -1 for a row that was dropped.

    Raises
    ------
    StorageError
        If the file cannot be read, or is no map file.
    """
    with _failing(f"{path}: the row map cannot be read", storage_options):
        reader = LanceFileReader(path, _dict(storage_options), [_LABEL])
        labels = reader.read_all().to_table().column(0)
        positions: NDArray[np.int64] = labels.cast(pa.int64()).fill_null(-1).to_numpy()
    return positions


def scan_rows(uri: str, version: int, storage_options: StorageOptions = None) -> pl.LazyFrame:
    """Return all rows of a version with their system columns; nothing is read before ``collect``.

    Raises
    ------
    StorageError
        If the version cannot be opened; on ``collect``, if a file cannot be read.
    """
    columns = row_schema(uri, version, storage_options)
    return register_io_source(
        partial(_batches, uri, version, storage_options),
        schema=pl.Schema({**columns, **SYSTEM_COLUMNS, **ROW_VERSIONS}),
    )


def _batches(
    uri: str,
    version: int,
    storage_options: StorageOptions,
    columns: list[str] | None,
    predicate: pl.Expr | None,
    n_rows: int | None,
    batch_size: int | None,
) -> Iterator[pl.DataFrame]:
    """Serve one scan of Polars: it means the first rows, of which it then wants some."""
    dataset = _open(uri, version, storage_options)
    if columns is None:
        columns = [*dataset.schema.names, *SYSTEM_COLUMNS, *ROW_VERSIONS]
    untold = set() if dataset.has_stable_row_ids else ROW_VERSIONS.keys() & columns
    left = n_rows
    batches = dataset.to_batches(columns=columns, batch_size=batch_size)
    while (batch := _next(batches, version, storage_options)) is not None:
        frame = _to_polars(pa.Table.from_batches([batch])).select(columns)
        frame = frame.with_columns(
            [pl.lit(None, ROW_VERSIONS[name]).alias(name) for name in untold]
        )
        if left is not None:
            frame = frame.head(left)
            left -= len(frame)
        yield frame if predicate is None else frame.filter(predicate)
        if left == 0:
            return


def _open(uri: str, version: int, storage_options: StorageOptions) -> lance.LanceDataset:
    with _failing(f"version {version} cannot be opened", storage_options):
        return lance.dataset(uri, version=version, storage_options=_dict(storage_options))


def _next(
    batches: Iterator[pa.RecordBatch], version: int, storage_options: StorageOptions
) -> pa.RecordBatch | None:
    with _translating(version, storage_options):
        return next(batches, None)


def _dict(storage_options: StorageOptions) -> dict[str, str] | None:
    return dict(storage_options) if storage_options else None


def _to_polars(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table without copying it, where Polars has the types."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


@contextmanager
def _failing(what: str, storage_options: StorageOptions) -> Iterator[None]:
    """Raise StorageError for a failure of pylance."""
    try:
        yield
    except _FAILURES as error:
        message = _message(error, storage_options)
        raise StorageError(f"{what}: {message}") from _cause(error, storage_options)


@contextmanager
def _translating(version: int, storage_options: StorageOptions) -> Iterator[None]:
    """Raise for a failure of pylance what it means.

    It tells bad arguments by ValueError. What fails later, a file or a filter, is an Arrow error.
    """
    try:
        yield
    except _FAILURES as error:
        message, cause = _message(error, storage_options), _cause(error, storage_options)
        is_late = isinstance(error, pa.ArrowException)
        if "applying filter" in message if is_late else isinstance(error, ValueError):
            text = f"version {version} cannot be read like this: {message}"
            raise InvalidArgumentError(text) from cause
        raise StorageError(f"version {version} cannot be read: {message}") from cause


def _message(error: Exception, storage_options: StorageOptions) -> str:
    text = _SOURCE_PLACES.sub("", str(error)).strip()
    return without_secrets(text, storage_options) if storage_options else text


def _cause(error: Exception, storage_options: StorageOptions) -> Exception | None:
    """Return an error as the cause of another, unless it may show what lets somebody in."""
    return None if storage_options else error
