"""The engines behind the same questions, so that one test body asks all of them."""

import pickle
from typing import Any, Protocol

import polars as pl
import pyarrow as pa
from pyspark.sql.datasource import DataSource

import lance_explorer as lx
from lance_explorer.frames.columns import TEXT
from lance_explorer.frames.followed import FOLLOWED
from lance_explorer.lineage.following import follow
from lance_explorer.spark.any_source import SOURCES
from lance_explorer.spark.types import target_schema

__all__ = ["Engine", "InTasks", "Local", "OnSpark", "as_local", "read_by_tasks"]


class Engine(Protocol):
    """Answers questions about a table with frames of the same columns."""

    def rows(self, uri: str, version: int, branch: str | None = None) -> pl.DataFrame:
        """Return the rows of a version with all values."""

    def changes(
        self, uri: str, begin: int, end: int, branch: str | None = None, **options: Any
    ) -> pl.DataFrame:
        """Return what changed."""

    def history(self, uri: str, row_ids: list[int], branch: str | None = None) -> pl.DataFrame:
        """Return what happened to some rows."""

    def frame(self, uri: str, name: str, branch: str | None = None) -> pl.DataFrame:
        """Return a frame of metadata."""


class Local:
    """The engine on one machine; it may know a ledger."""

    def __init__(self, ledger: str | None = None) -> None:
        self._ledger = ledger

    def _table(self, uri, branch):
        return lx.open_table(uri, branch, ledger=self._ledger)

    def rows(self, uri, version, branch=None):
        snapshot = self._table(uri, branch).at(version)
        return snapshot.row_ids(columns=[f.name for f in snapshot.fields if f.parent_id < 0])

    def changes(self, uri, begin, end, branch=None, **options):
        return self._table(uri, branch).changes(begin, end, **options).to_polars()

    def history(self, uri, row_ids, branch=None):
        return follow(self._table(uri, branch)._view, row_ids)

    def frame(self, uri, name, branch=None):
        return self._table(uri, branch).sql(f"SELECT * FROM {name}")


class InTasks:
    """The data sources of Spark without a session, asked for many small partitions.

    This process plans as the driver does, and reads what it planned as the tasks do.
    """

    def __init__(self, ledger: str | None = None) -> None:
        self._ledger = ledger
        self._local = Local(ledger)

    def rows(self, uri, version, branch=None):
        found = self._read("rows", uri, branch, version=version, rows_per_partition=3)
        return as_local(found, self._local.rows(uri, version, branch).schema)

    def changes(self, uri, begin, end, branch=None, **options):
        """Return what changed, read by one task, in the order of the local engine."""
        return self._changes(uri, begin, end, branch, options)

    def changes_in_parts(self, uri, begin, end, branch=None, **options):
        """Return the same of many tasks, whose lines are in no order."""
        return self._changes(uri, begin, end, branch, {**options, "rows_per_partition": 2})

    def history(self, uri, row_ids, branch=None):
        ids = ",".join(map(str, row_ids)) or "[]"
        found = self._read("history", uri, branch, row_ids=ids, rows_per_partition=3)
        return as_local(found, FOLLOWED.polars_schema)

    def frame(self, uri, name, branch=None):
        found = self._read("metadata", uri, branch, frame=name)
        schema = self._local.frame(uri, name, branch).schema
        return as_local(found, pl.Schema({"table": TEXT, **schema})).drop("table")

    def _changes(self, uri, begin, end, branch, options):
        given = {name: ",".join(v) if isinstance(v, tuple) else v for name, v in options.items()}
        given = {name: value for name, value in given.items() if value is not None}
        found = self._read("changes", uri, branch, begin_version=begin, end_version=end, **given)
        options.pop("rows_per_partition", None)
        return as_local(found, self._local.changes(uri, begin, end, branch, **options).schema)

    def _read(self, source: str, uri: str, branch: str | None, **options: Any) -> pa.Table:
        given = {"branch": branch, "ledger": self._ledger, **options}
        given = {name: str(value) for name, value in given.items() if value is not None}
        return self._load(f"lance_explorer.{source}", {**given, "path": uri})

    def _load(self, name: str, options: dict[str, str]) -> pa.Table:
        [source] = [source for source in SOURCES if source.name() == name]
        return read_by_tasks(source(options))


class OnSpark(InTasks):
    """The engine on Spark, asked for many small partitions."""

    def __init__(self, spark: Any, ledger: str | None = None) -> None:
        super().__init__(ledger)
        self._spark = spark

    def changes(self, uri, begin, end, branch=None, **options):
        changes = lx.open_table(uri, branch, ledger=self._ledger).changes(begin, end, **options)
        return as_local(changes.to_spark(self._spark), changes.schema)

    def _load(self, name: str, options: dict[str, str]) -> pa.Table:
        return self._spark.read.format(name).options(**options).load().toArrow()


def read_by_tasks(source: DataSource) -> pa.Table:
    """Return what the tasks of a data source read, which get what the driver pickled."""
    schema: Any = source.schema()
    reader = pickle.loads(pickle.dumps(source.reader(schema)))
    pieces = pickle.loads(pickle.dumps(reader.partitions()))
    batches = [batch for piece in pieces for batch in reader.read(piece)]
    return pa.Table.from_batches(batches, target_schema(schema))


def as_local(found: Any, schema: pl.Schema) -> pl.DataFrame:
    """Return a Spark DataFrame with the types that the local engine has for its columns."""
    frame = pl.DataFrame(found if isinstance(found, pa.Table) else found.toArrow())
    assert frame.columns == schema.names()
    return frame.cast(schema)
