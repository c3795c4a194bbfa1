"""What happened to the rows of a DataFrame, and where they are: tasks look up their own rows.

A join by ranges: Spark sorts row IDs into ranges, and each task reads only the metadata of
fragments that can have its range. Nothing is collected.
"""

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from lance_explorer.arguments import text
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.columns import ID, Column, FrameSchema
from lance_explorer.frames.followed import FOLLOWED
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.version_refs import VersionRef, version_number
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.following import follow as follow_locally
from lance_explorer.row_index import SnapshotRowIdIndex
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.spark.given import option_texts, rows_of
from lance_explorer.spark.id_bounds import id_bounds
from lance_explorer.spark.options import Options
from lance_explorer.spark.pinning import PinnedTable, TableRef
from lance_explorer.spark.temporary_ledger import with_temporary_ledger
from lance_explorer.spark.types import arrow_table, batches_of, spark_schema, target_schema

__all__ = ["LOCATED", "follow", "locate"]

_ROWS_AT_A_TIME = 262_144

_STRETCHES = 1024
"""The number of ranges of row IDs, or addresses, of a table; tasks get whole ranges."""

_MOST = np.uint64(2**63 - 1)

LOCATED = FrameSchema(
    "located",
    (
        Column("_rowid", ID, "row ID"),
        Column("_rowaddr", ID, "row address; null if the row is not live", nullable=True),
        Column("fragment_id", ID, "fragment of the row; null if it is not live", nullable=True),
    ),
)

_Answer = Callable[[Uint64Array], pl.DataFrame]


def follow(
    rows: DataFrame,
    path: str,
    *,
    row_id: str = "_rowid",
    begin_version: VersionRef | None = None,
    end_version: VersionRef | None = None,
    **options: str | int,
) -> DataFrame:
    """Return what happened to the rows of a DataFrame, as :meth:`Table.follow` does.

    Parameters
    ----------
    rows : pyspark.sql.DataFrame
        Has the row IDs; without stable row IDs, addresses in ``begin_version``, or else in
        ``end_version``. A repeated row ID is followed once, null not at all.
    path : str
        The table.
    row_id : str, default "_rowid"
        The column with the row IDs.
    begin_version, end_version : version, optional
        The range of the events, by default from the beginning to the latest version.
    **options
        Options of ``lance_explorer.history``, such as ``branch`` and ``ledger``.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of :meth:`Table.follow`, one row for each row ID and event, in no order.

    Raises
    ------
    InvalidArgumentError
        If there is no such column.

    Examples
    --------
    >>> rows = spark.createDataFrame([(2,), (3,)], "_rowid bigint")
    >>> sorted(lx.spark.follow(rows, table.uri).select("_rowid", "event").collect())[:2]
    [Row(_rowid=2, event='created'), Row(_rowid=2, event='updated')]
    """
    rows_of("rows", rows)
    text("row_id", row_id)
    ref = _table("lance_explorer.history", path, options)
    ref = with_temporary_ledger(rows.sparkSession, ref)
    view = ref.open()
    begin = None if begin_version is None else _number(view, "begin_version", begin_version)
    last = -1 if end_version is None else end_version
    end = _number(view, "end_version", last)
    if begin is not None and begin > end:
        raise InvalidArgumentError(
            f"begin_version {begin} is later than end_version {end}; swap them"
        )
    table = PinnedTable.at(view, end, ref).with_versions()
    bounds = state_rows(table.open()).bounds

    def answer(row_ids: Uint64Array) -> pl.DataFrame:
        opened = table.open()
        state_rows(opened).bounds = bounds
        return follow_locally(opened, row_ids, begin, end)

    return _asked(_ids(rows, row_id, bounds[1]), FOLLOWED, answer)


def locate(
    rows: DataFrame,
    path: str,
    version: VersionRef = -1,
    *,
    row_id: str = "_rowid",
    **options: str | int,
) -> DataFrame:
    """Return where the rows of a DataFrame are in a version, from metadata alone.

    Parameters
    ----------
    rows : pyspark.sql.DataFrame
        Has the row IDs.
    path : str
        The table.
    version : version, default -1
        The version, by default the latest.
    row_id : str, default "_rowid"
        The column with the row IDs.
    **options
        Options of ``lance_explorer.rows``, such as ``branch``.

    Returns
    -------
    pyspark.sql.DataFrame
        ``_rowid``, ``_rowaddr`` and ``fragment_id``, one row for each row ID, in no order; null
        where the row is not live.

    Raises
    ------
    InvalidArgumentError
        If there is no such column.

    Examples
    --------
    >>> rows = spark.createDataFrame([(2,), (99,)], "_rowid bigint")
    >>> sorted(lx.spark.locate(rows, table.uri, 1).collect())
    [Row(_rowid=2, _rowaddr=2, fragment_id=0), Row(_rowid=99, _rowaddr=None, fragment_id=None)]
    """
    rows_of("rows", rows)
    text("row_id", row_id)
    ref = _table("lance_explorer.rows", path, options)
    view = ref.open()
    number = _number(view, "version", version)
    table = PinnedTable.at(view, number, ref).with_version()
    bounds = id_bounds(table.open(), number)

    def answer(row_ids: Uint64Array) -> pl.DataFrame:
        index = SnapshotRowIdIndex(table.open(), number, bounds.with_any(row_ids))
        addresses = index.locate_many(row_ids)
        is_live = addresses.is_not_null()
        fragments = pl.Series(fragments_of(addresses.fill_null(0).to_numpy()), dtype=pl.UInt64())
        return LOCATED.build(
            {"_rowid": row_ids, "_rowaddr": addresses, "fragment_id": fragments.set(~is_live, None)}
        )

    return _asked(_ids(rows, row_id, bounds.high), LOCATED, answer)


def _ids(rows: DataFrame, row_id: str, highest: Uint64Array) -> DataFrame:
    """Return the row IDs of a DataFrame in order, with each range in one partition.

    ``highest`` has the highest one of each fragment; more than Spark can have are aliases.
    """
    if row_id not in rows.columns:
        raise InvalidArgumentError(
            f"rows has no column {row_id!r}; there are: {', '.join(rows.columns)}"
        )
    chosen = rows.select(fn.col(f"`{row_id}`").cast("bigint").alias("_rowid"))
    there = chosen.where(fn.col("_rowid").isNotNull())
    last = int(highest[highest <= _MOST].max(initial=0))
    stretch = fn.floor(fn.col("_rowid") / (last // _STRETCHES + 1))
    return there.repartition(stretch).sortWithinPartitions("_rowid")


def _table(source: str, path: str, options: dict[str, str | int]) -> TableRef:
    given = {"path": text("path", path), **option_texts(options)}
    return TableRef.of(Options.parse(source, given, ()))


def _number(view: HistoryView, name: str, version: VersionRef) -> int:
    try:
        return version_number(view, version, is_begin=name.startswith("begin"))
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{name}: {error}") from None


def _asked(ids: DataFrame, frame: FrameSchema, answer: _Answer) -> DataFrame:
    """Return the answers of the tasks for their row IDs."""
    names = frame.names
    schema = spark_schema(arrow_table(frame.polars_schema.to_frame()).schema, ids=names)
    target = target_schema(schema)

    def answered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row_ids in _some(batches):
            yield from batches_of(answer(row_ids), target)

    return ids.mapInArrow(answered, schema)


def _some(batches: Iterator[pa.RecordBatch]) -> Iterator[Uint64Array]:
    """Yield distinct ascending row IDs, many at a time: each batch has a fixed cost."""
    waiting, size = list[Uint64Array](), 0
    last = np.empty(0, dtype=np.uint64)
    for batch in batches:
        waiting.append(batch.column(0).to_numpy(zero_copy_only=False).astype(np.uint64))
        size += batch.num_rows
        if size >= _ROWS_AT_A_TIME:
            yield np.setdiff1d(np.concatenate(waiting), last)
            waiting, size, last = [], 0, waiting[-1][-1:]
    if size:
        yield np.setdiff1d(np.concatenate(waiting), last)
