"""Everything that is read from data files, through pylance."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

import lance
import numpy as np
import polars as pl
import pyarrow as pa
from lance.file import LanceFileReader
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from lance_explorer.errors import InvalidArgumentError, LanceExplorerError, StorageError

__all__ = [
    "SYSTEM_COLUMNS",
    "read_hidden_column",
    "read_row_map",
    "read_rows",
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

_ROWS_SCANNED_PER_ROW_TAKEN = 8
"""How many rows are scanned in the time that one is taken."""

SYSTEM_COLUMNS = {"_rowid": pl.UInt64(), "_rowaddr": pl.UInt64()}
"""Columns that every row has beside its values."""


def read_rows(
    uri: str,
    version: int,
    columns: Sequence[str] | None = None,
    filter: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
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

    Raises
    ------
    InvalidArgumentError
        If a column or the filter does not fit the table.
    StorageError
        If a file cannot be read.
    """
    wanted = None if columns is None else list(columns)
    dataset = _open(uri, version)
    try:
        rows = dataset.to_table(columns=wanted, filter=filter, limit=limit, offset=offset)
    except _FAILURES as error:
        raise _translated(error, version) from error
    return _to_polars(rows)


def take_rows(uri: str, version: int, positions: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
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

    Raises
    ------
    InvalidArgumentError
        If a column does not fit the table.
    StorageError
        If a file cannot be read, or there is no such row.
    """
    try:
        rows = _open(uri, version).take(positions.to_list(), columns=list(columns))
    except _FAILURES as error:
        raise _translated(error, version) from error
    return _to_polars(rows)


def row_schema(uri: str, version: int) -> pl.Schema:
    """Return the columns of a version as Polars has them; no data file is opened.

    Raises
    ------
    StorageError
        If the version cannot be opened.
    """
    return _to_polars(_open(uri, version).schema.empty_table()).schema


def read_rows_at(
    uri: str,
    version: int,
    addresses: NDArray[np.uint64],
    row_ids: NDArray[np.uint64],
    columns: Sequence[str],
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

    Raises
    ------
    InvalidArgumentError
        If a column does not fit the table.
    StorageError
        If a file cannot be read, or a row is not there.
    """
    dataset = _open(uri, version)
    try:
        scanned = np.isin(addresses >> _FRAGMENT_BITS, _dense_fragments(dataset, addresses))
        parts = [_scanned(dataset, addresses[scanned], columns)] if scanned.any() else []
        if not scanned.all() or not parts:
            taken = dataset._take_rows(row_ids[~scanned], columns=list(columns))
            parts.append(_to_polars(taken).select(columns))
    except _FAILURES as error:
        raise _translated(error, version) from error
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
        if count * _ROWS_SCANNED_PER_ROW_TAKEN >= dataset.get_fragment(fragment).physical_rows
    ]


def _scanned(
    dataset: lance.LanceDataset, addresses: NDArray[np.uint64], columns: Sequence[str]
) -> pl.DataFrame:
    """Return rows at some addresses, ascending by address, by scanning their fragments."""
    wanted = np.sort(addresses)
    fragments = np.unique(wanted >> _FRAGMENT_BITS).tolist()
    scanner = dataset.scanner(
        columns=list(columns),
        with_row_address=True,
        fragments=[dataset.get_fragment(fragment) for fragment in fragments],
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


def read_hidden_column(path: str, column: str) -> NDArray[np.uint64]:
    """Read a spilled sequence: one value for each physical row of a fragment.

    Parameters
    ----------
    path : str
        The data file.
    column : str
        Name of the column, such as ``_rowid``.

    Raises
    ------
    StorageError
        If the file cannot be read, or has no such column.
    """
    try:
        table = LanceFileReader(path, columns=[column]).read_all().to_table()
    except _FAILURES as error:
        raise StorageError(
            f"{path}: the column {column} cannot be read: {_message(error)}"
        ) from error
    values: NDArray[np.uint64] = table.column(0).to_numpy()
    return values


def read_row_map(path: str) -> NDArray[np.int64]:
    """Read the map file of a stable partition: into which new fragment each old row went.

    Parameters
    ----------
    path : str
        The map file.

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
    try:
        labels = LanceFileReader(path, columns=[_LABEL]).read_all().to_table().column(0)
        positions: NDArray[np.int64] = labels.cast(pa.int64()).fill_null(-1).to_numpy()
    except _FAILURES as error:
        raise StorageError(f"{path}: the row map cannot be read: {_message(error)}") from error
    return positions


def scan_rows(uri: str, version: int) -> pl.LazyFrame:
    """Return all rows of a version with their system columns; nothing is read before ``collect``.

    Raises
    ------
    StorageError
        If the version cannot be opened; on ``collect``, if a file cannot be read.
    """
    columns = _to_polars(_open(uri, version).schema.empty_table()).schema
    return register_io_source(
        partial(_batches, uri, version), schema=pl.Schema({**columns, **SYSTEM_COLUMNS})
    )


def _batches(
    uri: str,
    version: int,
    columns: list[str] | None,
    predicate: pl.Expr | None,
    n_rows: int | None,
    batch_size: int | None,
) -> Iterator[pl.DataFrame]:
    """Serve one scan of Polars: it means the first rows, of which it then wants some."""
    dataset = _open(uri, version)
    if columns is None:
        columns = [*dataset.schema.names, *SYSTEM_COLUMNS]
    left = n_rows
    for batch in _translating(dataset.to_batches(columns=columns, batch_size=batch_size), version):
        frame = _to_polars(pa.Table.from_batches([batch])).select(columns)
        if left is not None:
            frame = frame.head(left)
            left -= len(frame)
        yield frame if predicate is None else frame.filter(predicate)
        if left == 0:
            return


def _open(uri: str, version: int) -> lance.LanceDataset:
    try:
        return lance.dataset(uri, version=version)
    except _FAILURES as error:
        raise StorageError(f"version {version} cannot be opened: {_message(error)}") from error


def _translating(batches: Iterator[pa.RecordBatch], version: int) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except _FAILURES as error:
        raise _translated(error, version) from error


def _to_polars(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table without copying it, where Polars has the types."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _translated(error: Exception, version: int) -> LanceExplorerError:
    """Return an error of pylance as one of ours.

    It tells bad arguments by ValueError. What fails later, a file or a filter, is an Arrow error.
    """
    message = _message(error)
    is_late = isinstance(error, pa.ArrowException)
    if "applying filter" in message if is_late else isinstance(error, ValueError):
        return InvalidArgumentError(f"version {version} cannot be read like this: {message}")
    return StorageError(f"version {version} cannot be read: {message}")


def _message(error: Exception) -> str:
    return _SOURCE_PLACES.sub("", str(error)).strip()
