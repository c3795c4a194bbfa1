"""Converts frames between Polars and Spark, and reads the metadata of many tables at once."""

import json
from collections.abc import Mapping, Sequence

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lance_explorer.arguments import check_choice, names, of_kind, paths, text
from lance_explorer.checks.depths import DEPTHS, Depth
from lance_explorer.spark.given import session_of
from lance_explorer.spark.options import STORAGE_PREFIX
from lance_explorer.spark.types import arrow_table, batches_of, spark_schema, target_schema
from lance_explorer.storage import Options as StorageOptions
from lance_explorer.storage.secrets import hiding_arguments

__all__ = ["from_polars", "metadata"]


def from_polars(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """Return a Polars frame as a Spark DataFrame.

    Types map as in :mod:`lance_explorer.spark.types`; uint64 becomes decimal(20,0), as in table
    data.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Any session.
    frame : polars.DataFrame
        The frame.

    Raises
    ------
    InvalidArgumentError
        If Spark has no such type, or a value is out of its range.

    Examples
    --------
    >>> lx.spark.from_polars(spark, table.versions()).where("rows_deleted > 0").count()
    1
    """
    session_of(spark)
    frame = of_kind("frame", frame, pl.DataFrame, "a Polars DataFrame")
    schema = spark_schema(arrow_table(frame.clear()).schema)
    target = target_schema(schema)
    batches = [*batches_of(frame, target)] or [pa.RecordBatch.from_pylist([], target)]
    return spark.createDataFrame(pa.Table.from_batches(batches, target), schema)


@hiding_arguments
def metadata(
    spark: SparkSession,
    tables: str | Sequence[str],
    frame: str,
    *,
    depth: Depth = "quick",
    storage_options: Mapping[str, str] | None = None,
    allow_bases: Sequence[str] = (),
) -> DataFrame:
    """Return a frame of :attr:`Table.inspect`, or ``findings``, of many tables at once.

    Tasks read and decode the manifests of each table.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Any session that knows the data sources (:func:`~lance_explorer.spark.register`).
    tables : str or sequence of str
        A folder of tables, or URIs of tables.
    frame : str
        Name of the frame, such as ``"fragments"`` or ``"all_fragments"``; ``"lineage_edges"``,
        ``"lineage_states"``, ``"checks"``, ``"tables"`` and ``"disk_usage"`` are there, too.
    depth : {'quick', 'deep', 'values'}, default 'quick'
        How deep ``"checks"`` look, as for :meth:`Table.check`; ``values`` reads all data files.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store.
    allow_bases : sequence of str
        Places outside the tables from which files may be read, as for :func:`open_table`.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of the frame, after ``table``, the URI of the table.

    Raises
    ------
    pyspark.errors.AnalysisException
        If there is no such frame, or no table in the folder.

    Examples
    --------
    >>> fragments = lx.spark.metadata(spark, [table.uri], "fragments")
    >>> fragments.groupBy("table").count().first()["count"] == len(table.inspect.fragments())
    True
    """
    session_of(spark)
    frame = text("frame", frame)
    check_choice("depth", depth, DEPTHS)
    uris = names("tables", tables)
    bases = paths("allow_bases", allow_bases)
    storage_options = StorageOptions(storage_options)
    reader = spark.read.format("lance_explorer.metadata").option("frame", frame)
    if depth != "quick":
        reader = reader.option("depth", depth)
    for name, value in storage_options.items():
        reader = reader.option(f"{STORAGE_PREFIX}{name}", value)
    if bases:
        reader = reader.option("allow_bases", json.dumps(bases))
    path = tables if isinstance(tables, str) else json.dumps(uris)
    return reader.load(path)
