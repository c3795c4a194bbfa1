"""The mapping of types, without a session; and over a session, there and back."""

import datetime as dt
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.spark.types import batch_of, batches_of, spark_schema, spark_type, target_schema

MAPPED = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "int",
    pa.uint32(): "bigint",
    pa.uint64(): "decimal(20,0)",
    pa.float16(): "float",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
    pa.binary(4): "binary",
    pa.decimal128(38, 2): "decimal(38,2)",
    pa.decimal256(20, 3): "decimal(20,3)",
    pa.date32(): "date",
    pa.date64(): "date",
    pa.time32("s"): "time(6)",
    pa.time64("ns"): "time(6)",
    pa.timestamp("ns", "Europe/Paris"): "timestamp",
    pa.timestamp("s"): "timestamp_ntz",
    pa.duration("ns"): "interval day to second",
    pa.list_(pa.uint8()): "array<smallint>",
    pa.large_list(pa.string()): "array<string>",
    pa.list_(pa.float16(), 8): "array<float>",
    pa.struct({"a": pa.uint64()}): "struct<a:decimal(20,0)>",
    pa.map_(pa.string(), pa.uint16()): "map<string,int>",
    pa.dictionary(pa.int8(), pa.string()): "string",
    pa.null(): "void",
    pa.bool8(): "tinyint",
}


@pytest.mark.parametrize(("kind", "name"), MAPPED.items(), ids=str)
def test_types_are_those_of_the_table(kind, name):
    assert spark_type(kind, "x").simpleString() == name


@pytest.mark.parametrize(
    "kind", [pa.decimal256(60, 0), pa.month_day_nano_interval(), pa.list_(pa.decimal256(60, 0))]
)
def test_a_type_that_spark_lacks_is_an_error_that_names_the_column(kind):
    with pytest.raises(InvalidArgumentError, match=r"'price'.*which Spark does not have"):
        spark_schema(pa.schema({"price": kind}))


def test_ids_are_exact_up_to_two_to_the_63():
    schema = spark_schema(pa.schema({"_rowid": pa.uint64()}), ids=["_rowid"])
    target = target_schema(schema)
    assert schema.simpleString() == "struct<_rowid:bigint>"
    largest = pa.array([2**53 + 1, 2**63 - 1], pa.uint64())
    assert batch_of([largest], target).column(0).to_pylist() == [2**53 + 1, 2**63 - 1]
    with pytest.raises(InvalidArgumentError, match="column '_rowid' does not fit"):
        batch_of([pa.array([2**63], pa.uint64())], target)


def test_times_are_cut_and_nothing_else_is():
    schema = pa.schema({"t": pa.timestamp("ns", "UTC"), "l": pa.list_(pa.timestamp("ns"))})
    target = target_schema(spark_schema(schema))
    cut = batch_of([pa.array([1_999], schema[0].type), pa.array([[1_999]], schema[1].type)], target)
    assert cut.column(0).cast(pa.int64()).to_pylist() == [1]
    assert cut.column(1).flatten().cast(pa.int64()).to_pylist() == [1]
    seconds = pa.schema({"t": pa.timestamp("s", "UTC")})
    with pytest.raises(InvalidArgumentError, match="column 't'"):
        batch_of([pa.array([2**62], seconds[0].type)], target_schema(spark_schema(seconds)))


def test_no_rows_are_no_batches():
    frame = pl.DataFrame({"x": []}, schema={"x": pl.Int64})
    assert list(batches_of(frame, target_schema(spark_schema(pa.schema({"x": pa.int64()}))))) == []


FRAME = pl.DataFrame(
    {
        "uint64": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
        "uint8": pl.Series([255, None], dtype=pl.UInt8),
        "half": pl.Series([0.5, None], dtype=pl.Float32).cast(pl.Float16),
        "text": ["ä", None],
        "kind": pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
        "bytes": [b"\x00", None],
        "price": pl.Series([Decimal("1.50"), None], dtype=pl.Decimal(10, 2)),
        "day": [dt.date(1970, 1, 2), None],
        "time": [dt.time(1, 2, 3, 4), None],
        "at": pl.Series([dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.UTC), None]),
        "local": pl.Series([dt.datetime(1960, 1, 2, tzinfo=dt.UTC), None]).dt.replace_time_zone(
            None
        ),
        "took": [dt.timedelta(days=-1, microseconds=1), None],
        "vector": pl.Series([[0.5, 1.5], None], dtype=pl.Array(pl.Float32, 2)),
        "nested": [{"a": [{"b": 1}], "c": None}, None],
        "nothing": [None, None],
    }
)


def test_a_frame_goes_to_spark_and_comes_back(spark):
    there = lx.spark.from_polars(spark, FRAME)
    back = pl.DataFrame(there.toArrow())
    assert back.cast(FRAME.schema).equals(FRAME)


def test_an_empty_frame_has_its_columns_on_spark(spark):
    there = lx.spark.from_polars(spark, FRAME.clear())
    assert there.columns == FRAME.columns
    assert there.count() == 0
