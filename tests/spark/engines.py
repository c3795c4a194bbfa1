"""Both engines behind the same questions, so that one test body asks both."""

from typing import Any, Protocol

import polars as pl

import lance_explorer as lx
from lance_explorer.frames.columns import TEXT
from lance_explorer.frames.followed import FOLLOWED
from lance_explorer.lineage.following import follow

__all__ = ["Engine", "Local", "OnSpark", "as_local"]


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


class OnSpark:
    """The engine on Spark, asked to make many small partitions; it may know a ledger."""

    def __init__(self, spark: Any, ledger: str | None = None) -> None:
        self._spark = spark
        self._ledger = ledger
        self._local = Local(ledger)

    def rows(self, uri, version, branch=None):
        found = self._read("rows", uri, branch, version=version, rows_per_partition=3)
        return as_local(found, self._local.rows(uri, version, branch).schema)

    def changes(self, uri, begin, end, branch=None, **options):
        changes = lx.open_table(uri, branch, ledger=self._ledger).changes(begin, end, **options)
        return as_local(changes.to_spark(self._spark), changes.schema)

    def changes_in_parts(self, uri, begin, end, branch=None, **options):
        """Return the same of many tasks, whose lines are in no order."""
        given = {name: ",".join(v) if isinstance(v, tuple) else v for name, v in options.items()}
        given = {name: value for name, value in given.items() if value is not None}
        ends = {"begin_version": begin, "end_version": end}
        found = self._read("changes", uri, branch, **ends, **given, rows_per_partition=2)
        return as_local(found, self._local.changes(uri, begin, end, branch, **options).schema)

    def history(self, uri, row_ids, branch=None):
        ids = ",".join(map(str, row_ids)) or "[]"
        found = self._read("history", uri, branch, row_ids=ids, rows_per_partition=3)
        return as_local(found, FOLLOWED.polars_schema)

    def frame(self, uri, name, branch=None):
        found = self._read("metadata", uri, branch, frame=name)
        schema = self._local.frame(uri, name, branch).schema
        return as_local(found, pl.Schema({"table": TEXT, **schema})).drop("table")

    def _read(self, source: str, uri: str, branch: str | None, **options: Any) -> Any:
        if branch is not None:
            options["branch"] = branch
        if self._ledger is not None:
            options["ledger"] = self._ledger
        return self._spark.read.format(f"lance_explorer.{source}").options(**options).load(uri)


def as_local(found: Any, schema: pl.Schema) -> pl.DataFrame:
    """Return a Spark DataFrame with the types that the local engine has for its columns."""
    frame = pl.DataFrame(found.toArrow())
    assert frame.columns == schema.names()
    return frame.cast(schema)
