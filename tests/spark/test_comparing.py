"""Diffs by key and equality of contents, against what Python sets say."""

import lance
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException

import lance_explorer as lx


def table_of(path, rows) -> str:
    columns = {"id": pa.int64(), "x": pa.float64(), "tags": pa.list_(pa.string())}
    arrays = [pa.array([row[i] for row in rows], t) for i, t in enumerate(columns.values())]
    lance.write_dataset(pa.table(arrays, names=[*columns]), str(path), mode="overwrite")
    return str(path)


def read(spark, path, **options):
    return spark.read.format("lance_explorer.rows").options(**options).load(path)


NAN = float("nan")
BEFORE = [(1, 1.0, ["a"]), (2, NAN, None), (3, 3.0, []), (4, 4.0, None), (None, 0.0, None)]
AFTER = [(4, 4.5, ["new"]), (2, NAN, None), (5, 5.0, []), (1, 1.0, ["a"]), (None, 0.0, None)]


@pytest.fixture
def both(spark, tmp_path):
    before = read(spark, table_of(tmp_path / "before.lance", BEFORE))
    return before, read(spark, table_of(tmp_path / "after.lance", AFTER))


def test_a_diff_by_key_has_what_differs(both):
    found = lx.spark.diff(both[0], both[1], "id").orderBy("id", "_change_type").collect()
    assert [(row["id"], row["_change_type"], row["changed_columns"]) for row in found] == [
        (None, "delete", None),
        (None, "insert", None),
        (3, "delete", None),
        (4, "update", ["x", "tags"]),
        (5, "insert", None),
    ]
    update = found[3]
    assert (update["before"]["x"], update["after"]["x"]) == (4.0, 4.5)
    assert update["after"]["tags"] == ["new"]


def test_a_diff_of_a_version_with_itself_is_empty(both):
    assert lx.spark.diff(both[0].where("id IS NOT NULL"), both[0].where("id > 0"), "id").isEmpty()


def test_rows_with_one_key_are_matched_by_value_and_uncertain(spark, tmp_path):
    one = read(spark, table_of(tmp_path / "a.lance", [(1, 1.0, None), (1, 2.0, None)]))
    two = read(spark, table_of(tmp_path / "b.lance", [(1, 2.0, None), (1, 1.0, None)]))
    assert lx.spark.diff(one, two, "id").isEmpty()
    [removed] = (
        lx.spark.diff(one, two.where("x = 1.0"), "id").where("_change_type = 'delete'").collect()
    )
    assert removed["is_uncertain"]


def test_two_versions_of_a_table_differ_by_what_an_update_wrote(spark, tmp_path):
    path = table_of(tmp_path / "t.lance", [(n, float(n), None) for n in range(50)])
    lance.dataset(path).update({"x": "x + 1"}, where="id % 5 = 0")
    found = lx.spark.diff(read(spark, path, version=1), read(spark, path, version=2), "id")
    assert sorted(row["id"] for row in found.collect()) == [*range(0, 50, 5)]


def test_a_column_that_only_one_has_is_not_compared(both):
    with pytest.raises(lx.InvalidArgumentError, match="no column 'y' in both"):
        lx.spark.diff(both[0], both[1], "id", columns=["y"])


def test_contents_are_equal_whatever_the_order(spark, tmp_path):
    one = table_of(tmp_path / "a.lance", BEFORE)
    two = table_of(tmp_path / "b.lance", BEFORE[::-1])
    assert lx.spark.same_content(lx.spark.content(spark, one), lx.spark.content(spark, two))


@pytest.mark.parametrize(
    "rows",
    [
        BEFORE[1:],
        [*BEFORE, BEFORE[0]],
        [(1, 1.0, ["b"]), *BEFORE[1:]],
        [(2, 1.0, ["a"]), (1, NAN, None), *BEFORE[2:]],
        [(1, 1.0, ["a"]), (2, None, None), *BEFORE[2:]],
    ],
)
def test_contents_that_differ_are_not_equal(spark, tmp_path, rows):
    one, two = table_of(tmp_path / "a.lance", BEFORE), table_of(tmp_path / "b.lance", rows)
    assert not lx.spark.same_content(lx.spark.content(spark, one), lx.spark.content(spark, two))


def test_a_compaction_changes_no_content(spark, tmp_path):
    path = str(tmp_path / "t.lance")
    for begin in (0, 10, 20):
        lance.write_dataset(pa.table({"id": range(begin, begin + 10)}), path, mode="append")
    before = lance.dataset(path).version
    lance.dataset(path).optimize.compact_files()
    old, new = lx.spark.content(spark, path, version=before), lx.spark.content(spark, path)
    assert lx.spark.same_content(old, new)
    assert old.collect()[0]["num_rows"] == 30


def test_a_column_that_is_not_there_has_no_content(spark, tmp_path):
    path = table_of(tmp_path / "a.lance", BEFORE)
    content = lx.spark.content(spark, path, columns=["id", "y"])
    with pytest.raises(AnalysisException, match="no column 'y'; there are"):
        content.collect()


def test_columns_that_spark_would_round_to_compare_them_are_refused(spark):
    one = spark.createDataFrame([(2**53, 1), (2**53 + 1, 1)], "id bigint, n int")
    other = spark.createDataFrame([(2.0**53, 1.0)], "id double, n double")
    with pytest.raises(lx.InvalidArgumentError, match="'id' is bigint before and double after"):
        lx.spark.diff(one, other, "id")
    assert lx.spark.diff(one.select("n"), other.select("n"), "n").count() == 1  # an int fits
