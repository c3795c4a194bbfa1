"""What columns of values are called in a feed, when names or types of two versions collide."""

from typing import Any, cast

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer import InvalidArgumentError, Table
from lance_explorer.history.columns.common_types import common_type

OWN = ["_change_type", "_event", "_commit_version", "evidence", "is_uncertain", "changed_columns"]

DECIMAL, STRUCT = pl.Decimal(10, 2), pl.Struct({"a": pl.Int64})


def overwritten(path, old: object, new: object) -> Table:
    """Return a table whose column ``tags`` has other values, of another type, in version 2."""
    for tags in (old, new):
        rows = pa.table({"id": [1, 2], "tags": tags})
        lance.write_dataset(rows, path, mode="overwrite", enable_stable_row_ids=True)
    return lx.open_table(path)


def lines(table: Table, **options) -> pl.DataFrame:
    return table.changes(1, 2, images="both", **options).to_polars()


# ------------------------------------------------------------------------------------------- types


def test_a_column_whose_types_have_nothing_in_common_is_two_columns(tmp_path):
    table = overwritten(tmp_path / "t.lance", ["a", "b"], [["c"], ["d", "e"]])
    feed = lines(table)
    assert feed["tags"].to_list() == [None, None, ["c"], ["d", "e"]]
    assert feed["tags@1"].to_list() == ["a", "b", None, None]
    assert table.changes(1, 2, images="both").schema == feed.schema


@pytest.mark.parametrize("mode", ["net", "per_commit"])
def test_batches_and_a_diff_have_the_same_two_columns(tmp_path, mode):
    table = overwritten(tmp_path / "t.lance", ["a", "b"], [["c"], ["d", "e"]])
    feed = lines(table, mode=mode)
    values = feed.select("_change_type", "id", "tags", "tags@1")
    batches = table.changes(1, 2, mode, images="both").batches(3, progress=False)
    assert pl.concat(batches).equals(feed)
    assert table.diff(1, 2).rows(images="both").select(values.columns).equals(values)


def test_images_after_alone_have_the_types_of_the_later_version(tmp_path):
    table = overwritten(tmp_path / "t.lance", ["a", "b"], [1, 2])
    for rows in (table.changes(1, 2, images="after").to_polars(), table.diff(1, 2).rows("after")):
        assert rows.schema["tags"] == pl.Int64
        assert rows["tags"].to_list() == [None, None, 1, 2]


def test_with_a_key_both_columns_of_an_updated_row_changed(tmp_path):
    table = overwritten(tmp_path / "t.lance", ["a", "b"], [["c"], ["d", "e"]])
    feed = lines(table, key="id")
    assert feed["_change_type"].to_list() == ["update_preimage"] * 2 + ["update_postimage"] * 2
    assert feed["changed_columns"].to_list() == [["tags", "tags@1"]] * 4


def test_no_row_is_matched_by_a_column_whose_types_do_not_fit(tmp_path):
    table = overwritten(tmp_path / "t.lance", ["a", "b"], [["c"], ["d"]])
    with pytest.raises(InvalidArgumentError, match=r"matched by 'tags': .* or its type changed"):
        table.changes(1, 2, key="tags").summary()
    with pytest.raises(InvalidArgumentError, match="matched by 'tags'"):
        table.diff(1, 2).rows(key="tags")


def test_only_the_column_that_is_asked_for_is_there(tmp_path):
    table = overwritten(tmp_path / "t.lance", ["a", "b"], [["c"], ["d"]])
    assert lines(table, columns=["tags@1"]).columns[-2:] == ["changed_columns", "tags@1"]
    assert lines(table, columns=["tags"]).columns[-2:] == ["changed_columns", "tags"]
    with pytest.raises(InvalidArgumentError, match="no column 'tag'; there are: id, tags, tags@1"):
        lines(table, columns=["tag"])


def test_a_struct_that_gained_a_field_has_nulls_before(tmp_path):
    table = overwritten(tmp_path / "t.lance", [{"a": 1}] * 2, [{"b": "x", "a": 2}] * 2)
    feed = lines(table)
    assert feed["tags"].to_list() == [{"b": None, "a": 1}] * 2 + [{"b": "x", "a": 2}] * 2


def test_vectors_of_another_length_are_lists(tmp_path):
    old, new = (pa.FixedSizeListArray.from_arrays(pa.array([1.0] * 2 * n), n) for n in (2, 3))
    feed = lines(overwritten(tmp_path / "t.lance", old, new))
    assert feed["tags"].to_list() == [[1.0] * 2] * 2 + [[1.0] * 3] * 2


def test_a_column_that_was_dropped_stays_beside_one_that_got_its_name(tmp_path):
    path = tmp_path / "t.lance"
    rows = pa.table({"id": [1, 2], "one": ["a", "b"], "other": ["c", "d"]})
    table = lance.write_dataset(rows, path, enable_stable_row_ids=True)
    table.drop_columns(["one"])
    table.alter_columns(cast(Any, {"path": "other", "name": "one"}))
    table.update({"one": "'new'"}, where="id = 1")
    feed = lx.open_table(path).changes(1, images="both").to_polars()
    assert feed.select("one", "one@1").rows() == [("c", "a"), ("new", None)]


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (pl.Int32(), pl.Int64(), pl.Int64()),
        (pl.UInt8(), pl.Int8(), pl.Int16()),
        (pl.UInt32(), pl.Int32(), pl.Int64()),
        (pl.Int64(), pl.UInt64(), None),
        (pl.Int16(), pl.Float32(), pl.Float32()),
        (pl.Int32(), pl.Float32(), pl.Float64()),
        (pl.UInt32(), pl.Float64(), pl.Float64()),
        (pl.Int64(), pl.Float64(), None),
        (pl.UInt64(), pl.Float32(), None),
        (pl.Float32(), pl.Float64(), pl.Float64()),
        (pl.Int64(), pl.Boolean(), None),
        (DECIMAL, pl.Decimal(12, 4), pl.Decimal(12, 4)),
        (DECIMAL, pl.Decimal(9, 4), pl.Decimal(12, 4)),
        (DECIMAL, pl.Decimal(38, 4), pl.Decimal(38, 4)),
        (pl.Decimal(38, 2), pl.Decimal(38, 4), None),
        (DECIMAL, pl.Float64(), None),
        (DECIMAL, pl.Int64(), None),
        (pl.Int64(), pl.String(), None),
        (pl.Date(), pl.String(), None),
        (pl.Duration("ms"), pl.Duration("us"), None),
        (pl.List(pl.Int64()), pl.List(pl.Float64()), None),
        (STRUCT, pl.Struct({"a": pl.Float64()}), None),
        (pl.Categorical(), pl.String(), pl.String()),
        (pl.Null(), pl.List(pl.Int64()), pl.List(pl.Int64())),
        (pl.List(pl.Int8()), pl.List(pl.Int64()), pl.List(pl.Int64())),
        (pl.Array(pl.Float32(), 2), pl.List(pl.Float32()), pl.List(pl.Float32())),
        (STRUCT, pl.Struct({"b": pl.Int64()}), pl.Struct({"a": pl.Int64(), "b": pl.Int64()})),
        (pl.String(), pl.List(pl.String()), None),
        (pl.Int64(), pl.List(pl.Int64()), None),
        (STRUCT, pl.String(), None),
        (STRUCT, pl.Struct({"a": pl.List(pl.Int64())}), None),
        (pl.List(pl.Int8()), pl.List(pl.List(pl.Int8())), None),
        (pl.Binary(), pl.String(), None),
        (pl.Date(), pl.Int64(), None),
        (pl.Datetime("us"), pl.Datetime("ns"), None),
        (pl.Datetime("us", "UTC"), pl.Datetime("us", "Europe/Berlin"), None),
    ],
)
def test_a_common_type_is_one_that_loses_nothing_in_either_order(one, other, common):
    assert common_type(one, other) == common
    assert common is None or common_type(other, common) == common


# ------------------------------------------------------------------------------------------- names


@pytest.fixture
def named(tmp_path) -> Table:
    """A table of columns that have the names of those of a feed; one row is updated."""
    path = tmp_path / "t.lance"
    others = {**{name: ["a", "b"] for name in OWN}, "is_uncertain_": ["c", "d"]}
    rows = pa.table({"id": [1, 2], **others})
    table = lance.write_dataset(rows, path, enable_stable_row_ids=True)
    table.update({"evidence": "'new'"}, where="id = 1")
    return lx.open_table(path)


def test_columns_of_the_table_that_have_names_of_the_feed_have_an_underscore_after_them(named):
    feed = lines(named)
    assert feed["evidence_"].to_list() == ["a", "new"]
    assert feed["evidence"].cast(pl.String).to_list() == ["derived"] * 2
    assert feed["changed_columns"].to_list() == [["evidence_"]] * 2
    assert {f"{name}_" for name in OWN} <= {*feed.columns}


def test_an_underscore_more_keeps_two_columns_of_the_table_apart(named):
    assert lines(named).select("is_uncertain__", "is_uncertain_").row(0) == ("a", "c")


def test_such_columns_are_asked_for_by_either_name(named):
    for name in ("evidence", "evidence_"):
        assert lines(named, columns=[name]).columns[-1] == "evidence_"


def test_rows_are_matched_by_such_a_column(named):
    summary = named.changes(1, 2, key="_event").summary()
    assert summary.select("updated", "unchanged").row(0) == (1, 1)


def test_a_diff_has_the_same_names(named):
    rows = named.diff(1, 2).rows(images="both")
    assert rows.drop("_commit_version").equals(lines(named).drop("_commit_version"))


def test_the_history_of_a_row_has_such_columns_in_its_values(named):
    values = named.row(0).history(values=True)["values"]
    assert values.struct.field("evidence").to_list() == ["a", "new"]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
@pytest.mark.parametrize("name", ["a`b", "`", "", " ", 'a"b', "a'b", "a b", "a.b", "a.`b", "."])
def test_columns_and_fields_may_have_any_name(tmp_path, name, stable):
    path, top = tmp_path / "t.lance", name.replace(".", "-")  # Lance refuses dots at the top
    rows = pa.table({"id": [1, 2], top: ["a", "b"], "nested": [{name: 3}, {name: 4}]})
    table = lance.write_dataset(rows, path, enable_stable_row_ids=stable)
    table.delete("id = 1")
    one, two = [{**row, "_rowaddr": number} for number, row in enumerate(rows.to_pylist())]
    opened = lx.open_table(path)
    for feed in (opened.changes(1).to_polars(), opened.diff(1, 2).rows()):
        assert feed.select(*rows.column_names, "_rowaddr").to_dicts() == [one]
    for images in ("known", "after", "both"):
        feed = opened.changes(0, images=images).to_polars()
        assert feed.select(*rows.column_names, "_rowaddr").to_dicts() == [two]
    assert opened.changes(0, columns=top).to_polars()[top].to_list() == ["b"]
    assert opened.changes(1, key=top).summary()["deleted"].to_list() == [1]
    assert opened.diff(1, 2).same_content().is_same is False
    history = opened.row(int(opened.changes(0).to_polars()["_rowid"].item())).history(values=True)
    assert history["values"][0] == rows.to_pylist()[1]


def test_nothing_compared_with_nothing_has_the_columns_of_the_latest_version(tmp_path):
    lance.write_dataset(pa.table({"a": [1]}), tmp_path / "t.lance")
    lance.dataset(tmp_path / "t.lance").add_columns({"b": "a + 1"})
    table = lx.open_table(tmp_path / "t.lance")
    for mode in ("net", "per_commit"):
        feed = table.changes(0, 0, mode, images="both").to_polars()
        assert feed.is_empty()
        assert feed.columns[-2:] == ["a", "b"]
