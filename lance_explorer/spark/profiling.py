"""Profiles of a large table: tasks read data files, and the driver merges their summaries."""

import json
import pickle
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import BinaryType, StructField, StructType

from lance_explorer.arguments import names, text, whole_number
from lance_explorer.errors import StorageError
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.version_refs import VersionRef
from lance_explorer.profiles.kept import profile_key
from lance_explorer.profiles.profile import Profile, asked_positions, profile_of
from lance_explorer.profiles.reading import ProfileRows
from lance_explorer.spark.given import option_texts, session_of
from lance_explorer.spark.options import Options, hidden
from lance_explorer.spark.pinning import TableRef
from lance_explorer.spark.source import says_what_is_wrong

__all__ = ["ProfileSource", "profile"]

_BYTES_PER_TASK = 64 << 20
_PART = "part"
_ROWS_KEPT = 2


def profile(
    spark: SparkSession,
    path: str,
    columns: str | Sequence[str] | None = None,
    versions: Sequence[VersionRef] | None = None,
    *,
    bytes_per_task: int = _BYTES_PER_TASK,
    **options: str | int,
) -> Profile:
    """Return the values of columns in each version, as ``table.profile()``; read in tasks.

    One task reads each value once, and the driver merges the summaries of all tasks.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Any session; its workers must have this package installed.
    path : str
        The table.
    columns : str or sequence of str, optional
        Which columns; all by default.
    versions : sequence of int, str, date, datetime, tuple or Snapshot, optional
        Which versions; all kept ones by default.
    bytes_per_task : int, default 64 MiB
        About how many bytes of values a task reads.
    **options
        ``branch``, ``allow_bases``, ``ledger`` and options of object stores, as those of
        ``lance_explorer.rows``.

    Raises
    ------
    InvalidArgumentError
        If no version has one of the columns.

    Examples
    --------
    >>> found = lx.spark.profile(spark, table.uri, "id")
    >>> found.to_polars().select("version", "num_rows", "mean").rows()[:2]
    [(1, 4, 2.5), (2, 6, 3.5)]
    """
    session_of(spark)
    given = {**option_texts(options), "path": text("path", path)}
    size = whole_number("bytes_per_task", bytes_per_task, least=1)
    chosen = None if columns is None else names("columns", columns)
    view = TableRef.of(Options.parse(ProfileSource.name(), hidden(given), ())).open()
    rows = state_rows(view)
    positions = asked_positions(rows, versions)
    profiled = ProfileRows(rows, positions, chosen)
    asked = [rows.history.records[position].version for position in positions]
    spark.dataSource.register(ProfileSource)
    reader = spark.read.format(ProfileSource.name()).options(
        versions=json.dumps(asked),
        columns=json.dumps(chosen),
        tasks=json.dumps(_shares(profiled, size)),
        signature=profiled.signature,
    )
    for name, value in given.items():
        if name != "path":
            reader = reader.option(name, value)
    if profiled.waiting:
        parts = reader.load(given["path"]).collect()
        packed = [zlib.decompress(row[_PART]) for row in parts]
        profiled.take([pickle.loads(one) for one in packed])
    return profile_of(profiled, profile_key(view, rows.history, positions, chosen))


def _shares(profiled: ProfileRows, size: int) -> list[tuple[int, int]]:
    """Return what each task reads: a range of the pending reads."""
    shares, begin, so_far = list[tuple[int, int]](), 0, 0
    for number, task in enumerate(profiled.waiting, 1):
        so_far += task.num_bytes
        if so_far >= size or number == len(profiled.waiting):
            shares.append((begin, number))
            begin, so_far = number, 0
    return shares


class ProfileSource(DataSource):
    """Reads values, and gives summaries. It is read once, by :func:`profile`."""

    def __init__(self, options: dict[str, str]) -> None:
        known = ("versions", "columns", "tasks", "signature")
        self._options = Options.parse(self.name(), hidden(options), known)

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer.profile"

    def schema(self) -> StructType:
        """Return the columns."""
        return StructType([StructField(_PART, BinaryType())])

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads."""
        return _Reader(self._options)


class _Reader(DataSourceReader):
    def __init__(self, options: Options) -> None:
        self._ref = TableRef.of(options)
        self._versions = options.required("versions", "a list of versions")
        self._columns = options.required("columns", "a list of columns")
        self._signature = options.required("signature", "what is read")
        self._shares: list[list[int]] = json.loads(options.required("tasks", "a list"))

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work."""
        return [InputPartition(share) for share in self._shares]

    @says_what_is_wrong
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read some values, and yield a summary of them."""
        profiled = _rows(self._ref, self._versions, self._columns)
        if profiled.signature != self._signature:
            raise StorageError("versions were removed in the meantime: try again")
        part = zlib.compress(pickle.dumps(profiled.read_some(range(*partition.value))), 1)
        yield pa.RecordBatch.from_arrays([pa.array([part], pa.binary())], [_PART])


@lru_cache(_ROWS_KEPT)
def _rows(ref: TableRef, versions: str, columns: str) -> ProfileRows:
    """Return the pending reads; a worker keeps them between tasks."""
    rows = state_rows(ref.open())
    return ProfileRows(rows, asked_positions(rows, json.loads(versions)), json.loads(columns))
