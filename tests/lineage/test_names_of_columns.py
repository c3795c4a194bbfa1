"""Columns renamed, swapped, dropped or cast: searches and histories name them as feeds do."""

from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx

BIG = 2**53 + 1


def made(path, columns: dict[str, Any], *, stable: bool) -> Any:
    return lance.write_dataset(pa.table(columns), path, enable_stable_row_ids=stable)


def swap(table: Any, one: str, other: str) -> None:
    for old, new in ((one, "between"), (other, one), ("between", other)):
        table.alter_columns({"path": old, "name": new})


def values(frame, *names: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = frame.select(*names).to_dicts()
    return found


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_names_that_were_swapped_and_swapped_back_are_those_of_the_latest_version(tmp_path, stable):
    table = made(tmp_path, {"uid": [1, 2], "price": [10, 20], "stock": [700, 800]}, stable=stable)
    swap(table, "price", "stock")
    table.delete("uid = 1")
    swap(table, "price", "stock")
    opened = lx.open_table(tmp_path)
    row = {"uid": 1, "price": 10, "stock": 700}
    [found] = opened.find("uid = 1").to_polars().to_dicts()
    assert row.items() <= found.items()
    assert (found["first_version"], found["last_version"]) == (1, 4)
    assert [*opened.row(0, at=1).history(values=True)["values"]] == [row, row]
    assert values(opened.changes(1).to_polars(), *row) == [row]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_swap_that_stays_is_no_change_of_a_value(tmp_path, stable):
    table = made(tmp_path, {"uid": [1, 2], "a": [10, 20], "b": [700, 800]}, stable=stable)
    swap(table, "a", "b")
    table.update({"a": "a + 1"}, where="uid = 1")
    opened = lx.open_table(tmp_path)
    [number] = lance.dataset(tmp_path).to_table(with_row_id=True, filter="uid = 1")["_rowid"]
    history = opened.row(number.as_py()).history(values=True)
    assert history["values"].struct.field("a").to_list() == [700, 701]
    assert history["changed_columns"].to_list()[1] == ["a"]
    found = opened.find("uid = 1").to_polars().sort("first_version")
    assert found.select("first_version", "last_version", "a", "b").rows() == [
        (1, 4, 700, 10),
        (5, 5, 701, 10),
    ]


def test_a_column_that_was_dropped_has_its_value_in_the_versions_that_had_it(tmp_path):
    table = made(tmp_path, {"uid": [1, 2], "a": [10, 20], "b": [1, 2]}, stable=True)
    table.drop_columns(["a"])
    table.delete("uid = 1")
    found = lx.open_table(tmp_path).find("uid < 3").to_polars().sort("uid")
    assert found.select("uid", "first_version", "last_version", "a").rows() == [
        (1, 1, 2, 10),
        (2, 1, 3, 20),
    ]


def test_a_column_that_is_asked_for_by_a_name_that_it_had_is_found_under_its_latest(tmp_path):
    table = made(tmp_path, {"uid": [1, 2], "a": [10, 20], "b": [1, 2]}, stable=True)
    table.alter_columns({"path": "a", "name": "c"})
    table.delete("uid = 1")
    opened = lx.open_table(tmp_path)
    for name in ("a", "c"):
        found = opened.find("uid = 1", columns=name).to_polars()
        assert found.columns[-1] == "c"
        assert found["c"].to_list() == [10]


def test_a_value_is_exact_beside_a_type_that_cannot_hold_it(tmp_path):
    made(tmp_path, {"uid": [1], "x": [BIG]}, stable=True)
    lance.write_dataset(pa.table({"uid": [2], "x": [0.5]}), tmp_path, mode="overwrite")
    opened = lx.open_table(tmp_path)
    found = opened.find("uid > 0").to_polars().sort("uid")
    assert found.select("uid", "x", "x@1").rows() == [(1, None, BIG), (2, 0.5, None)]
    history = opened.row(0).history(values=True)
    assert history["values"].struct.field("x@1").to_list() == [BIG] * 2
    feed = opened.changes(1, 2).to_polars()
    assert feed.select("uid", "x", "x@1").rows() == [(1, None, BIG), (2, 0.5, None)]


def test_a_number_that_another_column_has_in_its_name_is_not_free(tmp_path):
    made(tmp_path, {"x": [BIG], "x@1": ["mine"]}, stable=True)
    lance.write_dataset(pa.table({"x": [0.5], "x@1": ["new"]}), tmp_path, mode="overwrite")
    feed = lx.open_table(tmp_path).changes(1, 2).to_polars()
    assert feed.select("x", "x@1", "x@2").rows() == [(None, "mine", BIG), (0.5, "new", None)]


@pytest.mark.parametrize("mode", ["net", "per_commit"])
def test_rows_are_not_matched_by_keys_that_were_rounded(tmp_path, mode):
    made(tmp_path, {"id": [BIG - 1, BIG, 7]}, stable=True)
    rows = pa.table({"id": [float(BIG - 1), 7.0]})
    lance.write_dataset(rows, tmp_path, mode="overwrite")
    with pytest.raises(
        lx.InvalidArgumentError, match="Int64 in version 1 and Float64 in version 2"
    ):
        lx.open_table(tmp_path).changes(1, 2, mode, key="id").summary()


def test_rows_are_matched_by_keys_of_two_types_that_fit(tmp_path):
    made(tmp_path, {"id": pa.array([2**31 - 1, 7], pa.int32())}, stable=True)
    rows = pa.table({"id": [float(2**31 - 1), 8.0]})
    lance.write_dataset(rows, tmp_path, mode="overwrite")
    summary = lx.open_table(tmp_path).changes(1, 2, key="id").summary()
    assert summary.select("updated", "inserted", "deleted").row(0) == (1, 1, 1)


def test_blame_takes_a_cast_for_a_change_where_it_rounds_a_value_and_nowhere_else(tmp_path):
    table = made(tmp_path, {"n": [BIG, 7], "x": [0.1, 0.5]}, stable=True)
    table.alter_columns(
        {"path": "n", "data_type": pa.uint64()}, {"path": "x", "data_type": pa.float32()}
    )
    cells = lx.open_table(tmp_path).blame().to_polars()
    assert cells.select("column", "version", "before").rows() == [
        ("n", 1, None),
        ("x", 2, "0.1"),
        ("n", 1, None),
        ("x", 1, None),
    ]


def test_a_column_that_one_side_cast_is_compared_by_its_exact_values(tmp_path):
    main = made(tmp_path, {"uid": [1, 2, 3], "x": [BIG, 7, 8]}, stable=True)
    branch = main.create_branch("dev", 1)
    branch.alter_columns({"path": "x", "data_type": pa.uint64()})
    branch.update({"x": "x + 1"}, where="uid > 1")
    main.update({"x": "x + 5"}, where="uid < 3")
    preview = lx.open_table(tmp_path).merge_preview("dev")
    cells = preview.cells().select("column", "base", "ours", "theirs").rows()
    assert cells == [("x", "7", "12", "8")]
    rows = preview.rows().sort("_rowaddr_base")
    assert rows["outcome"].to_list() == ["kept", "conflict", "incoming"]
    assert rows["theirs"].struct.field("x@1").to_list()[1:] == [8, 9]
