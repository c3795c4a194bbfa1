"""A copy of a table elsewhere that follows its changes: each micro-batch is merged by key.

The source is never written. It writes only the one target that the caller names.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lance_explorer.arguments import names, shown
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES
from lance_explorer.errors import InvalidArgumentError, VersionNotFoundError
from lance_explorer.spark.given import rows_of
from lance_explorer.spark.merge_targets import Batch, Mark, Target, target_of
from lance_explorer.spark.types import CHANGES_OF
from lance_explorer.storage import Options as StorageOptions
from lance_explorer.storage.secrets import hiding_arguments

__all__ = ["merge_into"]

_ROW_ID = "_rowid"
_TYPE, _VERSION, _EVENT = "_change_type", "_commit_version", "_event"
_PUTS = ("insert", "update_postimage")
_OWN = {*CHANGES.names, CHANGED_COLUMNS}
_QUERY = "sql.streaming.queryId"


@hiding_arguments
def merge_into(
    stream: DataFrame,
    target: Any,
    keys: str | Sequence[str] = _ROW_ID,
    *,
    format: str | None = None,
    catalog: Any = None,
    storage_options: Mapping[str, str] | None = None,
) -> "DataStreamWriter":
    """Return what keeps a copy of a table up to date; start it as any writer of a stream.

    In each micro-batch the last change of each key counts, and deleted rows are deleted. Each batch
    is one step of the target that also stores the query and the number of the batch: after a crash,
    a batch that is already there is not merged again. The driver merges a batch, so the batch must
    fit into its memory: limit it with ``max_rows_per_batch``.

    Parameters
    ----------
    stream : pyspark.sql.DataFrame
        A stream of ``lance_explorer.changes`` with ``images`` ``after`` or ``both``. Columns may
        have been left out of it, computed or renamed; all but those of the feed are copied.
    target : str, DeltaTable, pyiceberg.table.Table or LanceDataset
        The copy. It is made if it is not there yet.
    keys : str or sequence of str, default "_rowid"
        What names a row. The row ID does where the table has stable ones; a Lance target calls it
        ``source_rowid``. Other columns need ``images="both"``, and each must name one row.
    format : {'delta', 'iceberg', 'lance', 'parquet'}, optional
        What the target is; by default as it looks.
    catalog : pyiceberg.catalog.Catalog, optional
        The catalog in which ``target`` is a name: ``"lake.trips"``.
    storage_options : mapping of str to str, optional
        Address and credentials of the target's object store, for ``delta`` and ``lance``.

    Returns
    -------
    pyspark.sql.streaming.DataStreamWriter
        Give it a ``checkpointLocation`` and, if you like, a trigger; then start it.

    Raises
    ------
    InvalidArgumentError
        If the stream is not one of changes, or lacks what the keys need; if the target is the table
        itself, is inside it or around it, or has an unknown format.
    MissingDependencyError
        If the library of the target is not installed: ``pip install 'lance-explorer[sinks]'``.

    Examples
    --------
    >>> changes = spark.readStream.format("lance_explorer").option("view", "changes")
    >>> changes = changes.option("images", "after").load(table.uri)
    >>> writer = lx.spark.merge_into(changes, f"{folder}/copy", format="parquet")
    >>> writer = writer.option("checkpointLocation", f"{folder}/checkpoint")
    >>> writer.trigger(availableNow=True).start().awaitTermination()
    >>> spark.read.parquet(f"{folder}/copy").count()
    9
    """
    key_names, options = list(names("keys", keys)), StorageOptions(storage_options)
    _check_stream(rows_of("stream", stream), key_names)
    copy = target_of(target, format, catalog, options)
    tables = {origin["table"] for one in stream.schema if (origin := _origin(one.metadata))}
    for table in tables:
        if _is_within(copy.uri, table) or _is_within(table, copy.uri):
            raise InvalidArgumentError(
                f"target {copy.uri} is the table itself, {table}, or in it, or around it: a table "
                "is never written"
            )
    return stream.writeStream.foreachBatch(_merging(copy, key_names))


def _merging(target: Target, keys: list[str]) -> Callable[[DataFrame, int], None]:
    """Return what merges one micro-batch."""

    def merge(lines: DataFrame, number: int) -> None:
        query = lines.sparkSession.sparkContext.getLocalProperty(_QUERY) or ""
        mark = Mark(query, number)
        if target.has(mark):
            return
        kept = (*keys, _TYPE, _VERSION, _EVENT)
        some = lines.drop(*[n for n in lines.columns if n in _OWN and n not in kept])
        if _ROW_ID in keys:
            some = some.where(fn.coalesce(fn.col(_TYPE), fn.lit("")) != "update_preimage")
        batch = last_changes(some.toArrow(), keys)
        if batch.num_rows:
            target.merge(batch, mark)

    return merge


def last_changes(lines: pa.Table, keys: Sequence[str]) -> Batch:
    """Return the result of a micro-batch: the rows to write, and the keys to delete.

    Within a commit, the old key of a row is deleted before its new key is written.

    Raises
    ------
    VersionNotFoundError
        If versions were cleaned up before they were read.
    InvalidArgumentError
        If a key is null, or two rows have it.
    """
    changes = pl.DataFrame(lines.select([*dict.fromkeys([*keys, _TYPE, _VERSION, _EVENT])]))
    lost = changes.filter(pl.col(_EVENT) == "lost")
    if len(lost):
        raise VersionNotFoundError(
            f"changes up to version {max(lost[_VERSION])} are lost: versions were cleaned up "
            "before they were read. Begin a new copy, with a new checkpoint"
        )
    if changes.select(pl.any_horizontal(pl.col(*keys).is_null()).any()).item():
        raise InvalidArgumentError(f"keys name a row each, but {', '.join(keys)} is null in some")
    is_put = pl.col(_TYPE).cast(pl.String).is_in(_PUTS)
    changes = changes.with_columns(_is_put=is_put).with_row_index("_line")
    puts = changes.filter("_is_put")
    twice = puts.filter(puts.select(*keys, _VERSION).is_duplicated())
    if len(twice):
        raise InvalidArgumentError(
            f"keys name a row each, but version {twice[_VERSION][0]} has written several with "
            + ", ".join([f"{key} {shown(twice[key][0])}" for key in keys])
        )
    last = changes.sort(_VERSION, "_is_put").unique(keys, keep="last", maintain_order=True)
    values = lines.select([n for n in lines.column_names if n in keys or n not in _OWN])
    return Batch(
        tuple(keys),
        values.take(last.filter("_is_put")["_line"].to_arrow()),
        values.select(list(keys)).take(last.filter(~pl.col("_is_put"))["_line"].to_arrow()),
    )


def _check_stream(stream: DataFrame, keys: list[str]) -> None:
    """Raise InvalidArgumentError unless a stream has all that a merge by these keys needs."""
    origins = [origin for field in stream.schema if (origin := _origin(field.metadata))]
    there = stream.columns
    if not stream.isStreaming or not origins or not {_TYPE, _VERSION, _EVENT} <= {*there}:
        raise InvalidArgumentError(
            "stream must be one of lance_explorer.changes, loaded by spark.readStream, with its "
            f"columns {_TYPE}, {_VERSION} and {_EVENT}"
        )
    missing = [key for key in keys if key not in there]
    if missing:
        raise InvalidArgumentError(f"no column {missing[0]!r}; there are: {', '.join(there)}")
    if origins[0]["images"] not in ("after", "both"):
        raise InvalidArgumentError(
            f"a copy needs the values after each change: images is {origins[0]['images']!r}, give "
            'the stream option("images", "after"), or "both" if keys are columns of the table'
        )
    if _ROW_ID in keys and not origins[0]["has_row_ids"]:
        raise InvalidArgumentError(
            "this table has no stable row IDs, and a row address names another row after a "
            'compaction: name the columns of a key, with option("images", "both")'
        )
    if _ROW_ID not in keys and origins[0]["images"] != "both":
        raise InvalidArgumentError(
            f"rows are found by {', '.join(keys)}, which an update may change, and a delete must "
            'tell: give the stream option("images", "both")'
        )


def _is_within(uri: str, other: str) -> bool:
    """Whether a location is another one, or below it."""
    place, above = (_plain(one) for one in (uri, other))
    return f"{place}/".startswith(f"{above}/")


def _plain(uri: str) -> str:
    """Return a location in one spelling, without symbolic links."""
    scheme, _, rest = uri.rpartition("://")
    return str(Path(rest).resolve()) if scheme in ("", "file") else uri.rstrip("/")


def _origin(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a source of changes wrote into the metadata of its columns."""
    text = (metadata or {}).get(CHANGES_OF)
    return json.loads(text) if text else None
