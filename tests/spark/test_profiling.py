"""Profiles that Spark's tasks read: the same as those of one process."""

from pathlib import Path
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

import lance_explorer as lx

EXACT = ("version", "column", "num_rows", "num_nulls", "min", "max", "num_distinct", "mean", "std")


@pytest.fixture
def uri(tmp_path: Path) -> str:
    uri, rng = str(tmp_path / "t.lance"), np.random.default_rng(4)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.normal(size=80_000), pa.float32()), 2)
    rows = pa.table({"key": range(40_000), "score": rng.normal(size=40_000), "v": vectors})
    lance.write_dataset(rows, uri, max_rows_per_file=8_000, enable_stable_row_ids=True)
    lance.dataset(uri).delete("key % 9 = 1")
    lance.dataset(uri).update({"score": "score + 3"}, where="key < 500")
    return uri


def same(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    rounded = pl.col(pl.Float64).round(9)
    return one.select(EXACT).with_columns(rounded).equals(other.select(EXACT).with_columns(rounded))


def test_tasks_read_what_one_process_reads(spark: SparkSession, uri: str):
    table = lx.open_table(uri)
    found = lx.spark.profile(spark, uri, bytes_per_task=1)
    assert same(found.to_polars(), table.profile().to_polars())
    assert found.is_complete
    assert found.bytes_read == table.profile().bytes_read
    assert found.shifts(1).select("version", "column").row(0) == (3, "score")
    some = lx.spark.profile(spark, uri, ["score"], [1, -1])
    assert same(some.to_polars(), table.profile("score", [1, -1]).to_polars())


def test_lost_values_are_told_by_the_driver(spark: SparkSession, uri: str):
    [file, *_] = sorted(Path(uri, "data").iterdir(), key=lambda one: one.stat().st_size)
    file.unlink()
    found = lx.spark.profile(spark, uri, bytes_per_task=1)
    assert found.findings()["code"].unique().to_list() == ["values_lost"]
    assert found.to_polars()["num_rows"].null_count() > 0


def test_wrong_options_and_columns_are_refused_by_the_driver(spark: SparkSession, uri: str):
    with pytest.raises(lx.InvalidArgumentError, match="nope"):
        lx.spark.profile(spark, uri, "nope")
    wrong: Any = {"wrong": "1"}
    with pytest.raises(lx.InvalidArgumentError, match="wrong"):
        lx.spark.profile(spark, uri, **wrong)


def test_versions_that_vanish_are_an_error(
    spark: SparkSession, uri: str, monkeypatch: pytest.MonkeyPatch
):
    from lance_explorer.profiles.reading import ProfileRows

    monkeypatch.setattr(ProfileRows, "signature", "another")
    with pytest.raises(PythonException, match="versions were removed in the meantime"):
        lx.spark.profile(spark, uri)
