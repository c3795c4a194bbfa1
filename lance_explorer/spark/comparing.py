"""Compares versions and tables by their values: by key, row by row, and as a whole."""

import json
from collections.abc import Sequence
from decimal import Decimal

import polars as pl
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as fn
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from lance_explorer.arguments import names, text
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.columns.common_types import common_type
from lance_explorer.inspect.rows import ROWS
from lance_explorer.spark.content_source import HASHES
from lance_explorer.spark.given import option_texts, rows_of, session_of
from lance_explorer.spark.types import target_schema

__all__ = ["content", "diff", "same_content"]

_BEFORE, _AFTER = "before", "after"
_TURN, _COUNT = "turn", "count"
_MODULUS = Decimal(1 << 64)


def diff(
    before: DataFrame,
    after: DataFrame,
    key: str | Sequence[str],
    *,
    columns: Sequence[str] | None = None,
) -> DataFrame:
    """Return which rows differ between two versions or two tables, matched by a key.

    One Spark join, for any two tables: read both with ``lance_explorer.rows``.

    Parameters
    ----------
    before, after : pyspark.sql.DataFrame
        The rows.
    key : str or sequence of str
        Columns that identify a row. A null in the key matches nothing. If several rows have the
        same key, those with equal values are matched first; all of them are uncertain.
    columns : sequence of str, optional
        Columns to compare; by default all that both have, except system columns.

    Returns
    -------
    pyspark.sql.DataFrame
        One row for each row that differs: the key; ``_change_type``, ``insert``, ``update`` or
        ``delete``; ``changed_columns``, the names of those that differ, for updates only;
        ``before`` and ``after``, structs of the compared columns, null where the row does not
        exist; ``is_uncertain``, true if the key is not unique. NaN equals NaN; null equals null.

    Raises
    ------
    InvalidArgumentError
        If a column is missing in one of them, has types that no common type can hold exactly, or is
        compared and contains nested maps.

    Examples
    --------
    >>> rows = spark.read.format("lance_explorer.rows")
    >>> old, new = (rows.option("version", v).load(table.uri) for v in (1, 2))
    >>> sorted(row["id"] for row in lx.spark.diff(old, new, "id").collect())
    [5, 6]
    """
    rows_of("before", before)
    rows_of("after", after)
    keys = names("key", key)
    if not keys:
        raise InvalidArgumentError("key must name at least one column that identifies a row")
    chosen = None if columns is None else names("columns", columns)
    compared = _compared(before, after, keys, chosen)
    joined = _side(before, keys, compared, _BEFORE).join(
        _side(after, keys, compared, _AFTER),
        [_own(_BEFORE, name) == _own(_AFTER, name) for name in (*keys, _TURN)],
        "full_outer",
    )
    is_new, is_gone = fn.col(_BEFORE).isNull(), fn.col(_AFTER).isNull()
    differing = [fn.when(~_same(after.schema[name].dataType, name), name) for name in compared]
    changed = fn.filter(fn.array(*differing).cast("array<string>"), lambda name: name.isNotNull())
    twice = [fn.coalesce(_own(side, _COUNT), fn.lit(1)) > 1 for side in (_BEFORE, _AFTER)]
    lines = joined.select(
        *[fn.coalesce(_own(_AFTER, name), _own(_BEFORE, name)).alias(name) for name in keys],
        fn.when(is_new, "insert").when(is_gone, "delete").otherwise("update").alias("_change_type"),
        fn.when(~is_new & ~is_gone, changed).alias("changed_columns"),
        _BEFORE,
        _AFTER,
        (twice[0] | twice[1]).alias("is_uncertain"),
    )
    return lines.where(fn.col("changed_columns").isNull() | (fn.size("changed_columns") > 0))


def content(
    spark: SparkSession, path: str, *, columns: Sequence[str] | None = None, **options: str | int
) -> DataFrame:
    """Return a hash of all rows of a version, independent of their order and addresses.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Any session that knows the data sources.
    path : str
        The table.
    columns : sequence of str, optional
        The columns to hash; by default all, in the order of their names.
    **options
        Options of ``lance_explorer.rows``, such as ``version``.

    Returns
    -------
    pyspark.sql.DataFrame
        One row: ``num_rows``, ``hash_1`` and ``hash_2``. Hashes differ between releases of Polars.

    Raises
    ------
    pyspark.errors.AnalysisException
        If an option does not fit the table.

    Examples
    --------
    >>> lx.spark.content(spark, table.uri, version=1).first()["num_rows"]
    4
    """
    session_of(spark)
    path = text("path", path)
    chosen = None if columns is None else names("columns", columns)
    given = option_texts(options)
    reader = spark.read.format("lance_explorer.content").options(**given)
    if chosen is not None:
        reader = reader.option("columns", json.dumps(chosen))
    sums = [fn.sum(name).cast("decimal(38,0)") % _MODULUS for name in HASHES]
    named = [each.cast("decimal(20,0)").alias(n) for each, n in zip(sums, HASHES, strict=True)]
    num_rows = fn.coalesce(fn.sum("num_rows"), fn.lit(0)).alias("num_rows")
    return reader.load(path).agg(num_rows, *named)


def same_content(one: DataFrame, other: DataFrame) -> bool:
    """Return whether two versions or two tables have the same rows, in any order.

    Parameters
    ----------
    one, other : pyspark.sql.DataFrame
        The results of :func:`content` for both, with columns of equal names and types.

    Examples
    --------
    >>> before, after = (lx.spark.content(spark, table.uri, version=v) for v in (5, 6))
    >>> lx.spark.same_content(before, after)
    True
    """
    rows_of("one", one)
    rows_of("other", other)
    return bool(one.first() == other.first())


def _compared(
    before: DataFrame, after: DataFrame, keys: Sequence[str], columns: Sequence[str] | None
) -> list[str]:
    """Return the columns to compare."""
    both = [name for name in before.columns if name in after.columns]
    chosen = columns
    if chosen is None:
        chosen = [name for name in both if name not in (*keys, *ROWS.names)]
    for name in (*keys, *chosen):
        if name not in both:
            raise InvalidArgumentError(f"no column {name!r} in both; there are: {', '.join(both)}")
    for name in (*keys, *chosen):
        old, new = before.schema[name].dataType, after.schema[name].dataType
        if old != new and common_type(*[_in_polars(kind) for kind in (old, new)]) is None:
            raise InvalidArgumentError(
                f"column {name!r} is {old.simpleString()} before and {new.simpleString()} after, "
                "and no type can hold both exactly; cast one of them, or compare other columns"
            )
    for name in chosen:
        kind = after.schema[name].dataType
        if _has_map(kind.valueType if isinstance(kind, MapType) else kind):
            raise InvalidArgumentError(
                f"column {name!r} contains maps, which Spark cannot compare; leave it out"
            )
    return list(chosen)


def _in_polars(kind: DataType) -> pl.DataType:
    """Return the type that distinguishes the values of a Spark type."""
    schema = target_schema(StructType([StructField("value", kind)]))
    return pl.DataFrame(schema.empty_table()).schema["value"]


def _side(rows: DataFrame, keys: Sequence[str], compared: Sequence[str], side: str) -> DataFrame:
    """Return one side of the join: keys, values, and the rank and number of rows with the key."""
    of_key = Window.partitionBy(*keys)
    values = [_comparable(rows.schema[name].dataType, fn.col(name)) for name in compared]
    turn = fn.row_number().over(of_key.orderBy(fn.xxhash64(fn.lit(0), *values)))
    return rows.select(
        *[fn.col(name).alias(f"{side}.{name}") for name in keys],
        fn.struct(*compared).alias(side),
        turn.alias(f"{side}.{_TURN}"),
        fn.count(fn.lit(1)).over(of_key).alias(f"{side}.{_COUNT}"),
    )


def _own(side: str, name: str) -> Column:
    return fn.col(f"`{side}.{name}`")


def _same(kind: DataType, name: str) -> Column:
    before, after = fn.col(_BEFORE)[name], fn.col(_AFTER)[name]
    return _comparable(kind, before).eqNullSafe(_comparable(kind, after))


def _comparable(kind: DataType, value: Column) -> Column:
    """Return a value in a form that Spark can compare; for a map, its entries in order."""
    return fn.array_sort(fn.map_entries(value)) if isinstance(kind, MapType) else value


def _has_map(kind: DataType) -> bool:
    match kind:
        case MapType():
            return True
        case ArrayType():
            return _has_map(kind.elementType)
        case StructType():
            return any(_has_map(field.dataType) for field in kind)
    return False
