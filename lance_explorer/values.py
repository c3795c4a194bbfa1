"""Everything that is read from data files, through pylance."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

import lance
import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from lance_explorer.errors import InvalidArgumentError, LanceExplorerError, StorageError

__all__ = ["SYSTEM_COLUMNS", "read_rows", "scan_rows"]

_SOURCE_PLACE = re.compile(r",? \S*/?rust/\S+:\d+:\d+\s*$")
"""Where in its own sources an error of pylance was raised, at the end of the message."""

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
    try:
        dataset = lance.dataset(uri, version=version)
        rows = dataset.to_table(columns=wanted, filter=filter, limit=limit)
    except (ValueError, OSError, RuntimeError) as error:
        raise _translated(error, version) from error
    return _to_polars(rows)


def scan_rows(uri: str, version: int) -> pl.LazyFrame:
    """Return all rows of a version with their system columns; nothing is read before ``collect``.

    Raises
    ------
    StorageError
        If the version cannot be opened.
    """
    try:
        schema = lance.dataset(uri, version=version).schema
    except (ValueError, OSError, RuntimeError) as error:
        raise _translated(error, version) from error
    columns = _to_polars(schema.empty_table()).schema
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
    """Serve one scan of Polars: filter, then cut, then select."""
    dataset = lance.dataset(uri, version=version)
    if columns is None:
        columns = [*dataset.schema.names, *SYSTEM_COLUMNS]
    left = n_rows
    for batch in dataset.to_batches(columns=columns, batch_size=batch_size):
        frame = _to_polars(pa.Table.from_batches([batch])).select(columns)
        if predicate is not None:
            frame = frame.filter(predicate)
        if left is not None:
            frame = frame.head(left)
            left -= len(frame)
        yield frame
        if left == 0:
            return


def _to_polars(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table without copying it, where Polars has the types."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _translated(error: Exception, version: int) -> LanceExplorerError:
    """Return an error of pylance as one of ours; it tells bad arguments by ValueError."""
    message = _SOURCE_PLACE.sub("", str(error)).strip()
    if isinstance(error, ValueError):
        return InvalidArgumentError(f"version {version} cannot be read like this: {message}")
    return StorageError(f"version {version} cannot be read: {message}")
