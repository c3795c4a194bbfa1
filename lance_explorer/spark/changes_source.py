"""``lance_explorer.changes``: what changed between two versions, and the same as a stream.

The driver plans parts from metadata (:mod:`lance_explorer.changes.feed_parts`); each task reads its
part as :meth:`Changes.batches` does on one machine.
"""

import json
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import (
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from lance_explorer.arguments import of_kind
from lance_explorer.changes.change_feed import Changes
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.spark.change_parts import ChangesQuery, part_batches, value_names
from lance_explorer.spark.given import session_of
from lance_explorer.spark.options import LEDGER_PREFIX, STORAGE_PREFIX, Options, hidden
from lance_explorer.spark.pinning import PinnedTable, TableRef
from lance_explorer.spark.source import Source, says_what_is_wrong
from lance_explorer.spark.streaming import LIMITS, ChangesStream
from lance_explorer.spark.types import (
    CHANGES_OF,
    arrow_table,
    spark_schema,
    with_comments,
    with_metadata,
)

__all__ = ["ChangesSource", "changes_to_spark"]

_OPTIONS = (
    "begin_version",
    "end_version",
    "mode",
    "images",
    "columns",
    "key",
    "include",
    "tolerance",
    "rows_per_partition",
    "failOnDataLoss",
    "readChangeFeed",
    *LIMITS,
)

_CHANGE_FEED = {"mode": "per_commit", "images": "both"}
"""What ``readChangeFeed`` means for Delta tables."""


class ChangesSource(Source):
    """Changes between two versions; as a stream, the changes of each new version.

    Options: ``path``, ``branch``; ``begin_version`` (exclusive; 0 is the empty table, where a
    stream begins by default) and ``end_version`` (by default the latest; not for streams), each as
    text that :meth:`Table.at` takes; ``mode``: ``net`` or ``per_commit`` (a stream is always
    ``per_commit``); ``images``: ``known``, ``after`` or ``both``; by default no values are read;
    ``columns``, ``key`` and ``include``: lists; ``tolerance``; ``rows_per_partition``;
    ``max_versions_per_batch`` (1,000), ``max_rows_per_batch`` (10 million) and
    ``max_bytes_per_batch`` (8 GiB of data files), for streams; ``allow_bases``, a list;
    ``storage.*``; ``ledger`` and ``ledger.storage.*``. Options are those of :meth:`Table.changes`
    and :func:`open_table`, with these other defaults. Also understood, with the meaning that they
    have for Delta tables, are ``startingVersion`` (inclusive; of a stream also ``latest``),
    ``endingVersion``, ``startingTimestamp``, ``endingTimestamp``, ``readChangeFeed`` (each commit,
    values before and after) (a day is its midnight in ``timeZone``, by default UTC) and, for
    streams, ``failOnDataLoss``: if false, versions that were cleaned up before they were read
    become a line of the event ``lost``. A stream has the columns of the latest version, null in
    versions that lack them; if ``mode`` and ``begin_version`` are given, it has those of all
    versions from there on.
    """

    def __init__(self, options: dict[str, str]) -> None:
        options = hidden(options)
        self._options = Options.parse(self.name(), options, _OPTIONS)
        if self._options.flag("readChangeFeed", default=False):
            given = dict(self._options.values)
            self._options = self._options.with_values(**{**_CHANGE_FEED, **given})
        self._ref = TableRef.of(self._options)
        view = self._ref.open()
        end = self._options.version("end_version", view)
        self._end = view.latest_version if end is None else end
        self._begin = self._options.version("begin_version", view, is_begin=True) or 0
        self._table = PinnedTable.at(view, self._end or view.latest_version, self._ref)
        self.note = f"up to version {self._end}"
        self._first = next(
            (file.version for file in view.listing.versions if file.version >= self._begin),
            view.latest_version,
        )

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer.changes"

    def schema(self) -> StructType:
        """Return all columns."""
        begin = self._begin
        if not self._options.has_version(
            "begin_version"
        ):  # a stream may begin before kept versions
            begin = self._end
        changes = self._query(begin, None).changes()
        schema = spark_schema(arrow_table(changes.schema.to_frame()).schema, ids=CHANGES.names)
        origin = {
            "table": self._table.ref.uri,
            "images": self._options.text("images"),
            "has_row_ids": changes._versions.ids_of is not None and self._begins_with_row_ids(),
        }
        commented = with_comments(schema, CHANGES, self.note)
        return with_metadata(commented, {CHANGES_OF: json.dumps(origin)})

    def _begins_with_row_ids(self) -> bool:
        """Return whether the first version has stable row IDs; False if no values are read.

        A version may turn them on. The feed identifies rows of earlier commits by their addresses.
        """
        if self._options.text("images") not in ("after", "both"):
            return False
        [record] = self._ref.open().version(self._first).records
        return bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads some columns once."""
        if not self._options.has_version("begin_version"):
            self._options.required("begin_version", "option('begin_version', 3)")
        for name in ("failOnDataLoss", *LIMITS):
            if self._options.text(name.lower()) is not None:
                raise InvalidArgumentError(f"{name} is for streams")
        return _ChangesReader(self._query(self._begin, schema), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Return a stream reader for some columns."""
        if self._options.has_version("end_version"):
            raise InvalidArgumentError("end_version is not allowed in streams, which have no end")
        if self._options.text("mode") not in (None, "per_commit"):
            raise InvalidArgumentError("streams have only the mode per_commit")
        per_commit = self._options.with_values(mode="per_commit")
        there = self.schema().names
        for name in schema.names:
            if name not in there:
                raise InvalidArgumentError(f"no column {name!r}; there are: {', '.join(there)}")
        columns = value_names(per_commit, schema)
        if columns is not None:
            asked = there if CHANGED_COLUMNS in schema.names else schema.names
            columns = tuple([n for n in asked if n not in (*CHANGES.names, CHANGED_COLUMNS)])
        return ChangesStream(self._ref, per_commit, self._begin, self._table, schema, columns)

    def _query(self, begin: int, schema: StructType | None) -> ChangesQuery:
        chosen = self._options.texts("columns")
        columns = None if chosen is None else tuple(chosen)
        if schema is not None:
            columns = value_names(self._options, schema)
        if self._table.handed is None:  # Spark keeps this source for the planning process
            is_net = self._options.text("mode") in (None, "net")
            asks_before = is_net and "moved" in (self._options.texts("include") or ())
            table = self._table
            self._table = table.with_versions() if asks_before else table.with_range(begin)
        return ChangesQuery(self._table, begin, self._end, self._options, columns)


class _ChangesReader(DataSourceReader):
    def __init__(self, query: ChangesQuery, schema: StructType) -> None:
        self._query = query
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work."""
        return [InputPartition(part) for part in self._query.parts()] or [InputPartition(None)]

    @says_what_is_wrong
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one part."""
        if partition.value is not None:
            yield from part_batches(self._query, partition.value, self._schema)


def changes_to_spark(spark: SparkSession, found: Changes) -> DataFrame:
    """Return changes as a Spark DataFrame; registers the data source in the session.

    Examples
    --------
    >>> lx.spark.changes_to_spark(spark, table.changes(1, 2)).count()
    2
    """
    found = of_kind("found", found, Changes, "Changes, as table.changes gives them")
    session_of(spark).dataSource.register(ChangesSource)
    view, asked = found._view, found.options
    options = {
        "begin_version": str(found.begin_version),
        "end_version": str(found.end_version),
        "mode": found.mode,
        "tolerance": repr(asked.tolerance),
        "include": json.dumps(asked.include),
        "branch": view.branch,
        "images": asked.images,
        "columns": None if asked.columns is None else json.dumps([*asked.columns]),
        "key": json.dumps(asked.key) if asked.key else None,
        "allow_bases": json.dumps(view.main_storage.bases.allowed),
        **{f"{STORAGE_PREFIX}{n}": value for n, value in view.main_storage.options.items()},
    }
    if isinstance(view.recorded, RecordedTable):
        ledger = view.recorded.place.storage
        options["ledger"] = ledger.uri
        options |= {f"{LEDGER_PREFIX}{n}": value for n, value in ledger.options.items()}
    given = {name: value for name, value in options.items() if value is not None}
    return spark.read.format(ChangesSource.name()).options(**given).load(view.uri_to_open)
