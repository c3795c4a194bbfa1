"""A version of a table as pylance opens it, its failures as errors of ours, its rows as frames."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import lance
import polars as pl
import pyarrow as pa

from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.storage.limits import limit_hint, with_limits
from lance_explorer.storage.opening import is_remote
from lance_explorer.storage.secrets import without_secrets

__all__ = [
    "StorageOptions",
    "batch_bytes",
    "failing",
    "fragment_of",
    "next_batch",
    "open_version",
    "options_of",
    "to_polars",
    "translating",
]

_SOURCE_PLACES = re.compile(r",? ?\S*/\S+\.rs:\d+:\d+")
"""Where in its own sources an error of pylance was raised and handed on."""

_FAILURES = (ValueError, OSError, RuntimeError, pa.ArrowException)
"""What pylance raises."""

_MOST_BATCH_BYTES = 8 << 20

_FORMATS_WITHOUT_LIMIT = ("0.1", "2.0")
"""Data formats in which pylance ignores a limit in bytes, and warns of it."""

StorageOptions = Mapping[str, str] | None
"""Where an object store is and how to be let in; None for local files."""


def open_version(uri: str, version: int, storage_options: StorageOptions) -> lance.LanceDataset:
    """Return a version of the table, or of the branch, whose root is at ``uri``.

    Raises
    ------
    StorageError
        If it cannot be opened.
    """
    options = options_of(uri, storage_options)
    with failing(f"version {version} cannot be opened", storage_options):
        return lance.dataset(uri, version=version, storage_options=options)


def options_of(uri: str, storage_options: StorageOptions) -> dict[str, str] | None:
    """Return what pylance gets: in an object store it waits no longer than we do ourselves."""
    if is_remote(uri):
        return dict(with_limits(storage_options or {}))
    return dict(storage_options) if storage_options else None


def batch_bytes(dataset: lance.LanceDataset) -> int | None:
    """Return how large a batch is at most, unless one row is larger; old formats have no limit."""
    return None if dataset.data_storage_version in _FORMATS_WITHOUT_LIMIT else _MOST_BATCH_BYTES


def fragment_of(dataset: lance.LanceDataset, fragment_id: int) -> lance.LanceFragment:
    """Return one fragment.

    Raises
    ------
    StorageError
        If the version has no such fragment.
    """
    fragment = dataset.get_fragment(fragment_id)
    if fragment is None:
        raise StorageError(f"version {dataset.version} has no fragment {fragment_id}")
    return fragment


def next_batch(
    batches: Iterator[pa.RecordBatch], version: int, storage_options: StorageOptions
) -> pa.RecordBatch | None:
    """Return the next of what pylance reads; None after the last one.

    Raises
    ------
    InvalidArgumentError
        If a filter does not fit the table.
    StorageError
        If a file cannot be read.
    """
    with translating(version, storage_options):
        return next(batches, None)


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table without copying it, where Polars has the types.

    Decimals of more than 128 bits, which it has not, become text.
    """
    schema = pa.schema([_in_polars(field) for field in table.schema])
    if schema.types != table.schema.types:
        table = table.cast(schema)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _type_in_polars(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal256(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([_in_polars(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_in_polars(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_in_polars(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_in_polars(kind.value_field), kind.list_size)
    return kind


def _in_polars(field: pa.Field) -> pa.Field:
    return field.with_type(_type_in_polars(field.type))


@contextmanager
def failing(what: str, storage_options: StorageOptions) -> Iterator[None]:
    """Raise StorageError for a failure of pylance."""
    try:
        yield
    except _FAILURES as error:
        message = _message(error, storage_options)
        raise StorageError(f"{what}: {message}") from _cause(error, storage_options)


@contextmanager
def translating(version: int, storage_options: StorageOptions) -> Iterator[None]:
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
    hint = limit_hint(text, with_limits(storage_options or {}))
    text = without_secrets(text, storage_options) if storage_options else text
    return f"{text}; {hint}" if hint else text


def _cause(error: Exception, storage_options: StorageOptions) -> Exception | None:
    """Return an error as the cause of another, unless it may show what lets somebody in."""
    return None if storage_options else error
