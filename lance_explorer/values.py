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

__all__ = ["SYSTEM_COLUMNS", "read_hidden_column", "read_rows", "scan_rows"]

_SOURCE_PLACES = re.compile(r",? ?\S*/\S+\.rs:\d+:\d+")
"""Where in its own sources an error of pylance was raised and handed on."""

_FAILURES = (ValueError, OSError, RuntimeError, pa.ArrowException)
"""What pylance raises."""

SYSTEM_COLUMNS = {"_rowid": pl.UInt64(), "_rowaddr": pl.UInt64()}
"""Columns that every row has beside its values."""


def read_rows(
    uri: str,
    version: int,
    columns: Sequence[str] | None = None,
    filter: str | None = None,
    limit: int | None = None,
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
        rows = dataset.to_table(columns=wanted, filter=filter, limit=limit)
    except _FAILURES as error:
        raise _translated(error, version) from error
    return _to_polars(rows)


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
