"""A version of a table as opened by pylance: its failures become our errors, its rows frames."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
from polars.datatypes import DataTypeClass

from lance_explorer.errors import InvalidArgumentError, StorageError, UnreachableError
from lance_explorer.panics import is_panic
from lance_explorer.storage import check_not_forked, names_of_no_files
from lance_explorer.storage.limits import is_unreachable, limit_hint, with_limits
from lance_explorer.storage.opening import is_remote
from lance_explorer.storage.secrets import without_secrets
from lance_explorer.storage.value_uris import ValueUri

if TYPE_CHECKING:
    import lance
    from lance.file import LanceFileReader

__all__ = [
    "PANICKED",
    "StorageOptions",
    "batch_bytes",
    "failing",
    "file_reader",
    "fragment_of",
    "next_batch",
    "open_version",
    "options_of",
    "to_polars",
    "translating",
]

_SOURCE_PLACES = re.compile(r",? ?(?<!\S)\S+\.rs:\d+:\d+")
"""The place in pylance's sources where an error was raised and passed on."""

# A KeyError names a column that a damaged file does not have.
_FAILURES = (ValueError, OSError, RuntimeError, KeyError, pa.ArrowException)
"""What pylance raises."""

_MOST_BATCH_BYTES = 8 << 20

_LARGEST = (1 << 64) - 1
"""The number from which newer names of manifests count down."""

_FORMATS_WITHOUT_LIMIT = ("0.1", "2.0")
"""Data formats for which pylance ignores a limit in bytes, with a warning."""

_MOST_PANIC = 300

PANICKED = (
    'a damaged file can make it do that, or one of a newer writer: table.check(depth="values") '
    "looks for the damage; metadata and other versions can still be read"
)
"""What to do after pylance panicked or died."""

StorageOptions = Mapping[str, str] | None
"""Address and credentials of an object store; None for local files."""


def open_version(uri: str, version: int, storage_options: StorageOptions) -> "lance.LanceDataset":
    """Return a version of the table, or of the branch, whose root is at ``uri``.

    Functions that call this are marked with :func:`~lance_explorer.values.gate.reads_values`, which
    first decodes what pylance will decode.
    """
    import lance  # slow to import, and not needed for metadata

    check_not_forked()
    no_files = _no_files(uri)
    if no_files:
        _check_manifest(version, no_files)
    options = options_of(uri, storage_options)
    with failing(f"version {version} cannot be opened", storage_options):
        manifest = uri.manifest if isinstance(uri, ValueUri) else None
        if manifest is not None:
            dataset = lance.LanceDataset(
                str(uri), version, storage_options=options, serialized_manifest=manifest
            )
        else:
            dataset = lance.dataset(str(uri), version=version, storage_options=options)
    if no_files:
        _check_fragments(dataset, no_files)
    return dataset


def _no_files(uri: str) -> frozenset[str]:
    """Return the paths of non-files below a local root, or the main one: pylance would wait."""
    if "://" in uri:
        return frozenset()
    roots = dict.fromkeys([uri, uri.partition("/tree/")[0]])
    return frozenset(
        f"{folder}/{name}"
        for root in roots
        for folder in ("_versions", "data", "_deletions")
        for name in names_of_no_files(f"{root}/{folder}")
    )


def _check_manifest(version: int, no_files: frozenset[str]) -> None:
    for name in (f"{version}", f"{_LARGEST - version:020}", f"d{version}"):
        _check_is_file(version, f"_versions/{name}.manifest", no_files)


def _check_fragments(dataset: "lance.LanceDataset", no_files: frozenset[str]) -> None:
    for fragment in dataset.get_fragments():
        for file in fragment.data_files():
            _check_is_file(dataset.version, f"data/{file.path}", no_files)
        _check_is_file(dataset.version, fragment.deletion_file() or "", no_files)


def _check_is_file(version: int, path: str, no_files: frozenset[str]) -> None:
    if path in no_files:
        raise StorageError(
            f"version {version} cannot be read: {path} is not a file but a pipe, socket or device"
        )


def options_of(uri: str, storage_options: StorageOptions) -> dict[str, str] | None:
    """Return the options for pylance: it must not wait for an object store longer than we do."""
    if is_remote(uri):
        return dict(with_limits(storage_options or {}))
    return dict(storage_options) if storage_options else None


def file_reader(
    path: str, storage_options: StorageOptions, columns: list[str] | None = None
) -> "LanceFileReader":
    """Open a single file in the format of data files: some of its columns, or all.

    Raises
    ------
    OSError
        If it is not a file.
    """
    folder, _, file = path.rpartition("/")
    if file in names_of_no_files(folder):
        raise OSError(f"{file} is not a file, but a pipe, socket or device")
    from lance.file import LanceFileReader

    return LanceFileReader(path, options_of(path, storage_options), columns)


def batch_bytes(dataset: "lance.LanceDataset") -> int | None:
    """Return the maximum size of a batch, unless one row is larger; old formats have no limit."""
    return None if dataset.data_storage_version in _FORMATS_WITHOUT_LIMIT else _MOST_BATCH_BYTES


def fragment_of(dataset: "lance.LanceDataset", fragment_id: int) -> "lance.LanceFragment":
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
    """Return what pylance reads next; None after the last item."""
    with translating(version, storage_options):
        return next(batches, None)


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table without copying it, where Polars has the types.

    Decimals of more than 128 bits, which Polars does not have, become text; extension types such as
    JSON or geometries become their storage types; times in a zone that Polars does not know, such
    as an offset, are in UTC.

    Raises
    ------
    StorageError
        If a column has times in seconds that Polars cannot hold in milliseconds.
    """
    schema = pa.schema([_in_polars(field) for field in table.schema])
    if not schema.equals(table.schema, check_metadata=True):
        try:
            table = table.cast(schema)
        except pa.ArrowInvalid as error:
            raise StorageError(
                f"there is a time too far from 1970 to be read ({error}): leave its column out"
            ) from None
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    if frame.columns != table.column_names:  # Polars invents a name for a column without one
        frame.columns = table.column_names
    for name, field in zip(frame.columns, table.schema, strict=True):
        if "date64" in str(field.type):  # which Polars takes for times
            days = _with_days(frame.schema[name], field.type)
            frame = frame.with_columns(frame[name].cast(days))
    return frame


def _with_days(
    dtype: pl.DataType | DataTypeClass, kind: pa.DataType
) -> pl.DataType | DataTypeClass:
    """Return the Polars type for an Arrow type, with days for date64."""
    if pa.types.is_date64(kind):
        return pl.Date()
    if isinstance(dtype, pl.Struct) and pa.types.is_struct(kind):
        parts = zip(dtype.to_schema().items(), kind, strict=True)
        return pl.Struct({name: _with_days(own, field.type) for (name, own), field in parts})
    if isinstance(dtype, pl.Array) and dtype.size == getattr(kind, "list_size", None):
        return pl.Array(_with_days(dtype.inner, kind.value_type), dtype.size)
    if isinstance(dtype, pl.List) and (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return pl.List(_with_days(dtype.inner, kind.value_type))
    return dtype


def _type_in_polars(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return _type_in_polars(kind.storage_type)
    if pa.types.is_decimal256(kind):
        return pa.string()
    if pa.types.is_timestamp(kind):
        zone = kind.tz if kind.tz is None or _has_zone(kind.tz) else "UTC"
        return pa.timestamp(_unit_in_polars(kind.unit), zone)
    if pa.types.is_duration(kind):
        return pa.duration(_unit_in_polars(kind.unit))
    if pa.types.is_struct(kind):
        return pa.struct([_in_polars(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_in_polars(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_in_polars(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_in_polars(kind.value_field), kind.list_size)
    if pa.types.is_map(kind):
        key = _in_polars(kind.key_field).with_nullable(False)
        return pa.map_(key, _in_polars(kind.item_field), kind.keys_sorted)
    return kind


def _in_polars(field: pa.Field) -> pa.Field:
    # Polars takes a type for an extension type if the field's metadata says so. A null struct has
    # nulls in non-nullable fields, which Arrow does not cast.
    return pa.field(field.name, _type_in_polars(field.type))


def _unit_in_polars(unit: str) -> str:
    # Polars would count seconds as milliseconds without checking that they fit.
    return "ms" if unit == "s" else unit


@cache
def _has_zone(zone: str) -> bool:
    try:
        pl.from_arrow(pa.array([], pa.timestamp("ms", zone)))
    except pl.exceptions.PolarsError:
        return False
    return True


class failing:  # noqa: N801 - used like a function
    """A context manager that raises a failure of pylance as StorageError or UnreachableError.

    With storage options, the original error is neither the cause nor a local variable of any frame,
    because it may contain credentials.
    """

    def __init__(self, what: str, storage_options: StorageOptions) -> None:
        self._what = what
        self._options = storage_options

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if is_panic(error):
            failure: Exception = StorageError(f"{self._what}: {self._message(error)}; {PANICKED}")
        elif isinstance(error, _FAILURES):
            failure = self._as_own_error(error)
        else:
            return
        cause = None if self._options else error
        del error, trace
        raise failure from cause

    def _as_own_error(self, error: Exception) -> Exception:
        kind = UnreachableError if is_unreachable(str(error)) else StorageError
        return kind(f"{self._what}: {self._message(error)}")

    def _message(self, error: BaseException) -> str:
        text = _SOURCE_PLACES.sub("", str(error)).strip()
        if is_panic(error):
            text = f"pylance panicked: {text[:_MOST_PANIC]}"
        hint = limit_hint(text, with_limits(self._options or {}))
        text = without_secrets(text, self._options) if self._options else text
        return f"{text}; {hint}" if hint else text


class translating(failing):  # noqa: N801
    """A context manager that raises a failure of pylance as the error that it means.

    pylance raises ValueError for bad arguments. Later failures, of a file or a filter, are Arrow
    errors.
    """

    def __init__(self, what: int | str, storage_options: StorageOptions) -> None:
        named = what if isinstance(what, str) else f"version {what}"
        super().__init__(f"{named} cannot be read", storage_options)

    def _as_own_error(self, error: Exception) -> Exception:
        message = self._message(error)
        is_late = isinstance(error, pa.ArrowException)
        if "applying filter" in message if is_late else isinstance(error, ValueError):
            return InvalidArgumentError(f"{self._what} like this: {message}")
        return super()._as_own_error(error)
