"""The rows source: which version, which columns, which pieces of work."""

from datetime import UTC, timedelta
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import functions as fn
from pyspark.sql.types import LongType

import lance_explorer as lx
from lance_explorer.spark.rows_source import (
    RowsSource,
    Stretch,
    _rows_per_partition,
    stretches,
)
from lance_explorer.spark.types import spark_schema
from tests.format.samples import DATA


def people(begin: int, end: int) -> pa.Table:
    ids = range(begin, end)
    return pa.table({"id": pa.array(ids, pa.int64()), "city": [f"city {i % 3}" for i in ids]})


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> str:
    """Ten fragments of 100 rows each, every seventh row deleted; a tag and a branch."""
    path = str(tmp_path_factory.mktemp("rows") / "people.lance")
    table = lance.write_dataset(
        people(0, 1000), path, max_rows_per_file=100, enable_stable_row_ids=True
    )
    table.tags.create("whole", 1)
    table.delete("id % 7 = 0")
    branch = table.create_branch("dev", 1)
    branch.delete("id >= 10")
    return path


def read(spark, path, **options):
    return spark.read.format("lance_explorer.rows").options(**options).load(path)


def ids(path):
    return lance.dataset(path).to_table(columns=["id"])["id"].to_pylist()


def test_the_latest_version_is_read_by_default(spark, path):
    assert read(spark, path).select("id").toArrow()["id"].to_pylist() == ids(path)


@pytest.mark.parametrize("version", [1, "whole", "tag:whole"])
def test_a_version_is_named_as_everywhere(spark, path, version):
    assert read(spark, path, version=version).count() == 1000


def test_a_time_names_the_version_of_then(spark, path):
    first: Any = lance.dataset(path).versions()[0]["timestamp"]
    later = (first.astimezone(UTC) + timedelta(microseconds=1)).isoformat()
    assert read(spark, path, version=later).count() == 1000


def test_a_branch_has_its_own_rows(spark, path):
    assert read(spark, path, branch="dev").count() == 10


def test_a_filter_is_that_of_pylance(spark, path):
    rows = read(spark, path, where="id % 10 = 3").toArrow()
    expected = lance.dataset(path).to_table(
        columns=["id", "_rowid", "_rowaddr"], filter="id % 10 = 3"
    )
    assert rows.select(["id", "_rowid", "_rowaddr"]).to_pylist() == expected.to_pylist()


def test_one_column_alone_can_be_read(spark, path):
    wanted = spark.read.format("lance_explorer.rows").schema("_rowid long").load(path)
    scanned = lance.dataset(path).to_table(columns=[], with_row_id=True)["_rowid"].to_pylist()
    assert wanted.toArrow()["_rowid"].to_pylist() == scanned
    wanted = spark.read.format("lance_explorer.rows").schema("id long").load(path)
    assert wanted.toArrow()["id"].to_pylist() == ids(path)


def test_columns_are_an_option(spark, path):
    found = read(spark, path, columns="id, _rowid").toArrow()
    assert found.column_names == ["id", "_rowid"]
    assert found["id"].to_pylist() == ids(path)


@pytest.mark.parametrize(
    ("where", "pieces"),
    [
        ("_rowid = 205", [2]),
        ("_rowid IN (5, 999, 5000) AND id > 2", [0, 9]),
        ("_rowid BETWEEN 150 AND 320", [1, 2, 3]),
        ("_rowaddr >= 34359738368", [8, 9]),
        ("_rowid < 0", []),
        ("_rowid = 205 OR id = 3", list(range(10))),
        ("id = 3", list(range(10))),
    ],
)
def test_row_ids_in_a_filter_spare_fragments(spark, path, where, pieces):
    source = RowsSource({"path": path, "where": where, "rows_per_partition": "1"})
    reader = source.reader(source.schema())
    planned = [piece for part in reader.partitions() for piece in part.value]
    assert [piece.fragment_id for piece in planned] == pieces
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    found = [one for batch in batches for one in pl.DataFrame(batch)["id"].to_list()]
    assert found == lance.dataset(path).to_table(columns=["id"], filter=where)["id"].to_pylist()


def test_many_small_fragments_are_few_batches(tmp_path):
    path = str(tmp_path / "small.lance")
    table = lance.write_dataset(
        people(0, 600), path, max_rows_per_file=2, enable_stable_row_ids=True
    )
    table.delete("id % 5 = 0")
    source = RowsSource({"path": path, "rows_per_partition": "1000"})
    reader = source.reader(source.schema())
    [piece] = reader.partitions()
    assert len(list(reader.read(piece))) == 1
    frame = pl.concat([pl.DataFrame(batch) for batch in reader.read(piece)])
    expected = lx.open_table(path).latest.row_ids(columns=["id", "city"])
    assert frame.cast(expected.schema).equals(expected)


def test_partitions_have_so_many_rows_that_they_fit_into_memory(tmp_path):
    wide = pa.FixedSizeListArray.from_arrays(pa.array(range(2_000_000), pa.float32()), 1000)
    path = str(tmp_path / "wide.lance")
    lance.write_dataset(pa.table({"id": range(2000), "vector": wide}), path)
    history = lx.open_table(path)._view.version(1)
    fields = [pa.field("id", pa.int64()), pa.field("vector", pa.list_(pa.float32(), 10_000_000))]
    assert _rows_per_partition(history, fields[:1]) == 1 << 16
    assert _rows_per_partition(history, fields) == 1024


def test_rows_are_counted_without_reading_them(spark, path):
    assert lx.spark.count(spark, path) == len(ids(path))
    assert lx.spark.count(spark, path, version="whole") == 1000
    assert lx.spark.count(spark, path, where="id < 10") == 8
    old = str(DATA / "0.10.18" / "life_cycle.lance")
    assert lx.spark.count(spark, old) == lance.dataset(old).count_rows()


def test_large_fragments_are_split_and_small_ones_grouped(path):
    source = lx.open_table(path)._view
    assert [len(group) for group in stretches(source, 1, 250)] == [2, 2, 2, 2, 2]
    split = stretches(source, 1, 40)
    assert split[:3] == [[Stretch(0, 0, 40)], [Stretch(0, 40, 80)], [Stretch(0, 80, 100)]]
    assert all(len(group) == 1 for group in stretches(source, 1, 40, whole_fragments=True))


@pytest.mark.parametrize("size", [1, 33, 100, 350])
def test_pieces_of_work_are_all_rows_once(path, size):
    source = RowsSource({"path": path, "rows_per_partition": str(size)})
    reader = source.reader(source.schema())
    batches = [batch for piece in reader.partitions() for batch in reader.read(piece)]
    assert pa.Table.from_batches(batches)["id"].to_pylist() == ids(path)


def test_a_piece_of_work_that_is_read_twice_gives_the_same_rows(path):
    source = RowsSource({"path": path, "rows_per_partition": "33"})
    reader = source.reader(source.schema())
    for piece in reader.partitions()[:5]:
        assert list(reader.read(piece)) == list(reader.read(piece))


def test_a_task_that_fails_once_is_done_again(spark, path):
    @fn.udf(LongType(), useArrow=False)
    def fail_at_first(value):
        context: Any = TaskContext.get()
        if context.attemptNumber() == 0 and context.partitionId() == 1:
            raise RuntimeError("once")
        return context.attemptNumber() * 10_000 + value

    found = read(spark, path, rows_per_partition=400).select(fail_at_first("id").alias("id"))
    values = found.toArrow()["id"].to_pylist()
    assert [value % 10_000 for value in values] == ids(path)
    assert any(value >= 10_000 for value in values)


def test_what_was_loaded_stays_at_its_version(spark, tmp_path):
    path = str(tmp_path / "grows.lance")
    table = lance.write_dataset(people(0, 5), path)
    loaded = read(spark, path)
    table.insert(people(5, 9))
    assert (loaded.count(), read(spark, path).count()) == (5, 9)


def test_a_query_with_two_filters_is_not_confused(spark, path):
    rows = read(spark, path)
    assert rows.where("id = 3").union(rows.where("id = 5")).select("id").collect() == [(3,), (5,)]
    assert rows.count() == len(ids(path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"verson": "1"}, "has no option 'verson'"),
        ({"version": "77"}, "version 77 never existed"),
        ({"version": "-77"}, "there is no version -77"),
        ({"version": "noon"}, "no version or tag is called 'noon'"),
        ({"version": "tag:no"}, "no tag 'no'"),
        ({"tag": "whole"}, "has no option 'tag'"),
    ],
)
def test_options_that_do_not_fit_are_told_at_once(path, options, message):
    with pytest.raises(lx.LanceExplorerError, match=message):
        RowsSource({"path": path, **options})


def test_a_column_that_is_not_there_is_named(path):
    source = RowsSource({"path": path})
    schema = spark_schema(pa.schema({"town": pa.string()}))
    with pytest.raises(lx.InvalidArgumentError, match="no column 'town'; there are: _rowid"):
        source.reader(schema)


def test_storage_options_are_never_shown(spark, path):
    hidden = {"storage.secret_access_key": "hush-hush"}
    rows = read(spark, path, **hidden)
    assert "hush" not in rows._jdf.queryExecution().toString()
    with pytest.raises(Exception, match="no option") as error:
        read(spark, path, **hidden, nonsense=1)
    assert "hush" not in str(error.value)


def test_a_column_of_the_table_hides_one_of_ours(spark, tmp_path):
    path = str(tmp_path / "own.lance")
    lance.write_dataset(pa.table({"created_at_version": ["mine"]}), path)
    found = pl.DataFrame(read(spark, path).toArrow())
    assert found["created_at_version"].to_list() == ["mine"]
