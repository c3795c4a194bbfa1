"""How types become Spark types: the only place that knows.

Spark has no unsigned numbers, and one unit of time.

================================================= ==================================================
Arrow                                             Spark
================================================= ==================================================
row IDs, row addresses, versions (uint64)         bigint; an error from 2^63 on
uint64 in data                                    decimal(20,0)
bool, int8, int16, int32, int64, float32, float64 the same
uint8, uint16, uint32                             smallint, int, bigint
float16                                           float
string, binary, also large and of fixed size      string, binary
decimal of up to 38 digits                        the same
date32, date64                                    date
time32, time64                                    time, cut to microseconds
timestamp with time zone                          timestamp, cut to microseconds, in UTC
timestamp without                                 timestamp_ntz, cut to microseconds
duration                                          interval day to second, cut to microseconds
list, also large and of fixed size: vectors       array
struct, map                                       the same, whatever is inside mapped by this table
dictionary                                        what its values are
null                                              void
extension                                         what it is stored as
================================================= ==================================================

All other types (unions, calendar intervals, wider decimals) raise an error that names the column.
Decimals of 256 bits become strings in changes. Every column may be null. A session that
:func:`~lance_explorer.spark.session` did not make supports times of day if its setting
``spark.sql.timeType.enabled`` is true.
"""

from collections.abc import Collection, Iterator, Mapping
from inspect import signature
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as arrow
from pyspark.sql import types as sql
from pyspark.sql.pandas.types import to_arrow_schema

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.columns import FrameSchema

__all__ = [
    "CHANGES_OF",
    "arrow_table",
    "batch_of",
    "batches_of",
    "spark_schema",
    "spark_type",
    "target_schema",
    "with_comments",
    "with_metadata",
]

CHANGES_OF = "lance_explorer.changes"
"""A key in the metadata of each column of changes; its value names the table and the images."""

_MOST_DIGITS = 38

_IN_UTC: dict[str, Any] = {"timezone": "UTC"}
if "timezone" not in signature(to_arrow_schema).parameters:  # PySpark 4.1: UTC unless told else
    _IN_UTC = {}
_MICROSECONDS = 6

_SCALARS: dict[pa.DataType, sql.DataType] = {
    pa.bool_(): sql.BooleanType(),
    pa.int8(): sql.ByteType(),
    pa.int16(): sql.ShortType(),
    pa.int32(): sql.IntegerType(),
    pa.int64(): sql.LongType(),
    pa.uint8(): sql.ShortType(),
    pa.uint16(): sql.IntegerType(),
    pa.uint32(): sql.LongType(),
    pa.uint64(): sql.DecimalType(20, 0),
    pa.float16(): sql.FloatType(),
    pa.float32(): sql.FloatType(),
    pa.float64(): sql.DoubleType(),
    pa.string(): sql.StringType(),
    pa.large_string(): sql.StringType(),
    pa.binary(): sql.BinaryType(),
    pa.large_binary(): sql.BinaryType(),
    pa.date32(): sql.DateType(),
    pa.date64(): sql.DateType(),
    pa.null(): sql.NullType(),
}


def spark_schema(schema: pa.Schema, ids: Collection[str] = ()) -> sql.StructType:
    """Return the Spark schema of an Arrow schema.

    Parameters
    ----------
    schema : pyarrow.Schema
        The columns.
    ids : collection of str
        Columns of which uint64 is a row ID, an address or a version: a bigint.

    Raises
    ------
    InvalidArgumentError
        If Spark does not have the type of a column.

    Examples
    --------
    >>> schema = pa.schema({"_rowid": pa.uint64(), "hash": pa.uint64()})
    >>> spark_schema(schema, ["_rowid"]).simpleString()
    'struct<_rowid:bigint,hash:decimal(20,0)>'
    """
    fields = []
    for field in schema:
        is_id = field.name in ids and arrow.is_uint64(field.type)
        mapped = sql.LongType() if is_id else spark_type(field.type, field.name)
        fields.append(sql.StructField(field.name, mapped, nullable=True))
    return sql.StructType(fields)


def spark_type(kind: pa.DataType, column: str) -> sql.DataType:
    """Return the Spark type of an Arrow type; if there is none, the error names ``column``.

    Examples
    --------
    >>> spark_type(pa.list_(pa.float16(), 8), "vector").simpleString()
    'array<float>'
    """
    if kind in _SCALARS:
        return _SCALARS[kind]
    if isinstance(kind, pa.BaseExtensionType):
        return spark_type(kind.storage_type, column)
    if arrow.is_dictionary(kind):
        return spark_type(kind.value_type, column)
    if arrow.is_fixed_size_binary(kind):
        return sql.BinaryType()
    if arrow.is_decimal(kind) and kind.precision <= _MOST_DIGITS and kind.scale >= 0:
        return sql.DecimalType(kind.precision, kind.scale)
    if arrow.is_time(kind):
        return sql.TimeType(_MICROSECONDS)
    if arrow.is_timestamp(kind):
        return sql.TimestampNTZType() if kind.tz is None else sql.TimestampType()
    if arrow.is_duration(kind):
        return sql.DayTimeIntervalType()
    if arrow.is_list(kind) or arrow.is_large_list(kind) or arrow.is_fixed_size_list(kind):
        return sql.ArrayType(spark_type(kind.value_type, column))
    if arrow.is_map(kind):
        key, value = spark_type(kind.key_type, column), spark_type(kind.item_type, column)
        return sql.MapType(key, value)
    if arrow.is_struct(kind):
        return sql.StructType(
            [sql.StructField(field.name, spark_type(field.type, column)) for field in kind]
        )
    raise InvalidArgumentError(
        f"column {column!r} has the type {kind}, which Spark does not have; leave it out: name "
        "the others with .schema(...) or columns"
    )


def with_comments(schema: sql.StructType, declared: FrameSchema, note: str) -> sql.StructType:
    """Return columns with their descriptions as comments, the first one with a note."""
    meanings = {column.name: column.meaning for column in declared.columns}
    comments = {name: meanings[name] for name in schema.names if name in meanings}
    first = schema.names[0]
    comments[first] = f"{comments[first]} ({note})" if first in comments else note
    return sql.StructType(
        [
            sql.StructField(
                field.name,
                field.dataType,
                field.nullable,
                {"comment": comments[field.name]} if field.name in comments else None,
            )
            for field in schema
        ]
    )


def with_metadata(schema: sql.StructType, more: Mapping[str, str]) -> sql.StructType:
    """Return columns with more metadata each."""
    return sql.StructType(
        [
            sql.StructField(f.name, f.dataType, f.nullable, {**(f.metadata or {}), **more})
            for f in schema
        ]
    )


def target_schema(schema: sql.StructType) -> pa.Schema:
    """Return the Arrow schema that Spark requires for batches of a schema."""
    return to_arrow_schema(schema, **_IN_UTC)


def batch_of(columns: list[pa.Array], target: pa.Schema) -> pa.RecordBatch:
    """Return a batch in the form that Spark requires.

    Raises
    ------
    InvalidArgumentError
        If a value does not fit, such as a row ID of 2^63 or more.
    """
    arrays = [_cast(column, field) for column, field in zip(columns, target, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=target)


def batches_of(frame: pl.DataFrame, target: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the columns of a frame that Spark wants, as it wants them; no rows, no batches.

    Raises
    ------
    InvalidArgumentError
        If a value does not fit, such as a row ID of 2^63 or more.
    """
    if len(frame):
        table = arrow_table(frame.select(target.names)).combine_chunks()
        for batch in table.to_batches():
            yield batch_of(batch.columns, target)


def arrow_table(frame: pl.DataFrame) -> pa.Table:
    """Return a frame as Arrow, without types that only the newest readers know."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def _cast(column: pa.Array, field: pa.Field) -> pa.Array:
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    if column.type == field.type:
        return column
    if arrow.is_null(column.type):
        return pa.nulls(len(column), field.type)
    try:
        options = pc.CastOptions.safe(field.type)
        options.allow_time_truncate = True
        return pc.cast(column, options=options)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InvalidArgumentError(
            f"column {field.name!r} does not fit Spark's type for {column.type}: {error}"
        ) from error
