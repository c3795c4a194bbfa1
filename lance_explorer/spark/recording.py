"""Records many tables, or a large one, into a ledger, with all workers.

The first job takes tables: it lists their versions and records those of tables with few new ones.
The second job records ranges of versions of the tables that are too much for one task. The third
job records what is left: detached versions, tags, and ranges that cleanups interrupted. If values
are to be kept, a fourth job keeps them, one table in each task.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lance_explorer.arguments import flag, names, path, paths, whole_number
from lance_explorer.errors import LanceExplorerError, NotFoundError
from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.history.discovery import tables_below
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.ledger import (
    ADDED,
    RECORDED,
    Ledger,
    ledger_of,
    place_of,
    record_and_merge,
    recorded_row,
    recorded_table,
)
from lance_explorer.ledger.merging import merge_branch
from lance_explorer.ledger.recording import new_files
from lance_explorer.ledger.version_ranges import VersionsToRecord, ranges_to_record, record_range
from lance_explorer.spark.given import session_of
from lance_explorer.spark.options import LEDGER_PREFIX, STORAGE_PREFIX, Options, hidden
from lance_explorer.spark.pinning import TableRef
from lance_explorer.spark.types import arrow_table, batches_of, spark_schema, target_schema
from lance_explorer.storage import Options as StorageOptions
from lance_explorer.storage import open_storage
from lance_explorer.storage.secrets import hiding_arguments

__all__ = ["RECORDED_TABLES", "RecordingSource", "record"]

_BYTES_PER_TASK = 64 << 20
_MOST_TABLES_PER_TASK = 32
_FEW_TASKS = 64

RECORDED_TABLES = FrameSchema(
    "recorded_tables",
    (
        *RECORDED.columns,
        Column("error", TEXT, "why the table was not recorded; null if it was", nullable=True),
    ),
)

_FOUND = FrameSchema(
    "recording",
    (
        *RECORDED_TABLES.columns,
        Column("rest", TEXT, "what of the branch is left to other tasks, in JSON", nullable=True),
    ),
)


_KEPT = RECORDED.names[len(ADDED.names) :]
_NOTHING_KEPT = (0,) * len(_KEPT)


class _Rest(NamedTuple):
    """A branch with more new versions than one task should read, and a version known to be its.

    ``uri`` is what opens the table.
    """

    uri: str
    branch: str | None
    known: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class _Range:
    """Versions of a branch that one task records."""

    of: _Rest
    versions: VersionsToRecord


class _Failed(NamedTuple):
    """A table that could not be read, and why."""

    uri: str
    branch: str | None
    error: str


@documented(RECORDED_TABLES)
@hiding_arguments
def record(
    spark: SparkSession,
    uris: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    ledger: Ledger | str | os.PathLike[str],
    *,
    storage_options: Mapping[str, str] | None = None,
    allow_bases: Sequence[str] = (),
    words: bool = True,
    values: bool | Sequence[str] = False,
    max_bytes: int = 1 << 30,
    bytes_per_task: int = _BYTES_PER_TASK,
) -> pl.DataFrame:
    """Record what is new in many tables, or in a large one, as :meth:`Ledger.record` does for one.

    Tasks list and read the tables, each manifest once; recorded versions are not read again. If a
    branch has more than ``bytes_per_task`` of new manifests, tasks take ranges of its versions. The
    frame has one row for each branch of each table, and for each table that could not be read.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Any session; its workers must have this package installed.
    uris : str, os.PathLike or sequence of them
        Tables, and folders or buckets, of which all tables are recorded that are anywhere below.
    ledger : Ledger, str or os.PathLike
        Where to. All workers must reach it there: an object store, or a folder that they share.
    storage_options : mapping of str to str, optional
        Address and credentials of the store of the tables.
    allow_bases : sequence of str
        Places outside the tables from which files may be read, as for :func:`open_table`.
    words : bool, default True
        Whether to keep what people wrote, as for :meth:`Ledger.record`.
    values : bool or sequence of str, default False
        Whether to keep the values that rows had, of which columns; each table is one task.
    max_bytes : int, default 1 GiB
        How many bytes of values to keep for each branch.
    bytes_per_task : int
        About how many bytes of manifests a task reads.

    Raises
    ------
    LanceExplorerError
        If no table could be recorded.

    Examples
    --------
    >>> lx.spark.record(spark, table.uri, folder / "all").select("branch", "new_versions").rows()
    [(None, 7), ('dev', 1)]
    """
    session_of(spark)
    is_one = isinstance(uris, str | os.PathLike)
    roots = [path("uris", uris)] if is_one else paths("uris", uris)
    options = StorageOptions(storage_options)
    to = ledger_of(ledger)
    size = whole_number("bytes_per_task", bytes_per_task, 1)
    columns = values if isinstance(values, bool) else names("values", values)
    most = whole_number("max_bytes", max_bytes)
    bases, keeps_words = paths("allow_bases", allow_bases), flag("words", words)
    tables = list(dict.fromkeys(one for uri in roots for one in tables_below(uri, options)))
    for uri in tables:
        place_of(to).check_apart(open_storage(uri, options).uri)
    spark.dataSource.register(RecordingSource)
    reader = spark.read.format(RecordingSource.name()).options(
        ledger=to.uri,
        words=str(keeps_words).lower(),
        bytes_per_task=str(size),
        max_bytes=str(most),
        values=json.dumps(columns),
        allow_bases=json.dumps(bases),
    )
    for prefix, some in ((STORAGE_PREFIX, options), (LEDGER_PREFIX, place_of(to).storage.options)):
        for name, value in some.items():
            reader = reader.option(f"{prefix}{name}", value)

    def run(step: str, items: Sequence[Any]) -> pl.DataFrame:
        if not items:
            return _FOUND.build({name: [] for name in _FOUND.names})
        lines = reader.option("step", step).load(json.dumps(items)).collect()
        columns = {name: [row[name] for row in lines] for name in _FOUND.names}
        return _FOUND.build(columns)

    lines = run("tables", tables)
    rest = [json.loads(text) for text in lines["rest"].drop_nulls()]
    frames = [lines.filter(pl.col("rest").is_null()), run("ranges", rest), run("rest", rest)]
    if values is not False:
        unread = set(lines.filter(pl.col("error").is_not_null())["uri"])
        frames.append(run("values", [uri for uri in tables if uri not in unread]))
    added = _added(pl.concat(frames))
    if len(added) and added["error"].null_count() == 0:
        uri, error = added.select("uri", "error").row(0)
        raise LanceExplorerError(f"no table was recorded; {uri}: {error}")
    return added


def _added(parts: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each branch, even if several tasks recorded parts of it."""
    of_branch = parts.group_by("uri", "branch", maintain_order=True).agg(
        pl.col("new_versions").sum(),
        pl.col("first_version").min(),
        pl.col("last_version").max(),
        pl.col("bytes_read", *_KEPT).sum(),
        pl.col("error").drop_nulls().first(),
    )
    ordered = of_branch.sort("uri", "branch", nulls_last=False, maintain_order=True)
    return ordered.select(RECORDED_TABLES.names).cast(RECORDED_TABLES.polars_schema)


class RecordingSource(DataSource):
    """Records, and returns what was added. It is read once, by :func:`record`."""

    def __init__(self, options: dict[str, str]) -> None:
        known = ("step", "words", "values", "max_bytes", "bytes_per_task")
        self._options = Options.parse(self.name(), hidden(options), known)

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer.recording"

    def schema(self) -> StructType:
        """Return the columns."""
        return spark_schema(arrow_table(_FOUND.polars_schema.to_frame()).schema, _FOUND.names)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what records."""
        return _Recording(self._options, schema)


class _Recording(DataSourceReader):
    def __init__(self, options: Options, schema: StructType) -> None:
        self._schema = schema
        self._step = options.required("step", "'tables'")
        self._items: list[Any] = json.loads(options.required("path", "a list"))
        self._bytes_per_task = options.number("bytes_per_task", _BYTES_PER_TASK)
        self._words = options.text("words") != "false"
        self._values: bool | list[str] = json.loads(options.text("values") or "false")
        self._max_bytes = options.number("max_bytes", 0, least=0)
        self._ref = replace(TableRef.at("", options), ledger=None, ledger_storage=())
        self._ledger = options.required("ledger", "a folder"), options.ledger_storage

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work."""
        if self._step == "values":
            return [InputPartition([uri]) for uri in self._items]
        if self._step == "tables":
            size = min(-(-len(self._items) // _FEW_TASKS), _MOST_TABLES_PER_TASK)
            starts = range(0, len(self._items), size)
            return [InputPartition(self._items[start : start + size]) for start in starts]
        rest = [_rest(item) for item in self._items]
        if self._step == "rest":
            return [InputPartition(one) for one in rest]
        return [InputPartition(one) for of in rest for one in self._ranges(of)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Record a part, and yield what was added."""
        work = partition.value
        ledger = Ledger(self._ledger[0], StorageOptions(dict(self._ledger[1])))
        columns: dict[str, list[Any]] = {name: [] for name in _FOUND.names}
        for row in self._rows(work, ledger):
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
        yield from batches_of(_FOUND.build(columns), target_schema(self._schema))

    def _rows(self, work: Any, ledger: Ledger) -> Iterator[tuple[Any, ...]]:
        if isinstance(work, _Failed):
            yield _failed(work.uri, work.branch, work.error)
        elif isinstance(work, _Range):
            yield from _recorded(work.of, lambda: self._record_range(work, ledger))
        elif isinstance(work, _Rest):
            yield from _recorded(work, lambda: self._record_rest(work, ledger))
        else:
            record = self._keep_values if self._step == "values" else self._record_table
            for uri in work:
                try:
                    yield from record(uri, ledger)
                except LanceExplorerError as error:
                    yield _failed(uri, None, str(error))

    def _record_table(self, uri: str, ledger: Ledger) -> Iterator[tuple[Any, ...]]:
        """Record the branches of a table that have few new versions; return the others."""
        main = replace(self._ref, uri=uri).open().on_branch(None)
        table = recorded_table(ledger, main.uri)
        for branch in (None, *main.refs.branches):
            try:
                view = main.on_branch(branch)
            except NotFoundError:
                continue  # its name is there, and its versions are not
            files = new_files(view, table)
            if sum([file.size_bytes for file in files]) <= self._bytes_per_task:
                row = record_and_merge(view, place_of(ledger), table, words=self._words)
                yield (*row, *_NOTHING_KEPT, None, None)
                continue
            life = table.chosen(branch)
            known = max(life.digests.items(), default=None) if life else None
            rest = json.dumps(_Rest(main.uri_to_open, branch, known))
            yield (main.uri, branch, 0, None, None, 0, *_NOTHING_KEPT, None, rest)

    def _keep_values(self, uri: str, ledger: Ledger) -> Iterator[tuple[Any, ...]]:
        """Keep values of a table whose metadata is recorded; also return what is new since."""
        kept = ledger.record(
            uri,
            None,
            dict(self._ref.storage),
            self._ref.allow_bases,
            words=self._words,
            values=self._values,
            max_bytes=self._max_bytes,
        )
        for row in kept.iter_rows():
            yield (*row, None, None)

    def _ranges(self, of: _Rest) -> list[_Range | _Failed]:
        ledger = Ledger(self._ledger[0], StorageOptions(dict(self._ledger[1])))
        try:
            ranges = ranges_to_record(self._view(of), ledger, self._bytes_per_task, of.known)
        except LanceExplorerError as error:
            return [_Failed(of.uri, of.branch, str(error))]
        return [_Range(of, versions) for versions in ranges]

    def _record_range(self, work: _Range, ledger: Ledger) -> tuple[Any, ...]:
        of = work.of
        uri, root = replace(self._ref, uri=of.uri, branch=of.branch).storages()
        added = record_range(root, ledger, uri, of.branch, work.versions, words=self._words)
        return recorded_row(uri, of.branch, added)

    def _record_rest(self, of: _Rest, ledger: Ledger) -> tuple[Any, ...]:
        view = self._view(of)
        table = recorded_table(ledger, view.uri)
        row = record_and_merge(view, place_of(ledger), table, words=self._words)
        merge_branch(table, of.branch)  # the ranges, if nothing was left
        return row

    def _view(self, of: _Rest) -> HistoryView:
        return replace(self._ref, uri=of.uri, branch=of.branch).open()


def _rest(item: Any) -> _Rest:
    uri, branch, known = item
    return _Rest(uri, branch, None if known is None else (known[0], known[1]))


def _recorded(of: _Rest, record: Callable[[], tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    try:
        yield (*record(), *_NOTHING_KEPT, None, None)
    except LanceExplorerError as error:
        yield _failed(of.uri, of.branch, str(error))


def _failed(uri: str, branch: str | None, error: str) -> tuple[Any, ...]:
    return (uri, branch, 0, None, None, 0, *_NOTHING_KEPT, error, None)
