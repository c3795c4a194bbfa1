"""Which commit last changed each cell, and what it was before."""

from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError


def rows(*ids):
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "mood": ["calm"] * len(ids),
            "parts": pa.array([[number, number] for number in ids]),
        }
    )


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def written(request, tmp_path):
    """A table with an update, a column that came later, and a compaction."""
    path = str(tmp_path / "t.lance")
    table: Any = lance.write_dataset(
        rows(*range(10)), path, max_rows_per_file=5, enable_stable_row_ids=request.param
    )
    table.update({"mood": "'glad'"}, where="id = 4")
    table.add_columns({"more": "id * 2"})
    lance.write_dataset(
        pa.table({**dict(zip(rows().column_names, rows(10).columns, strict=True)), "more": [20]}),
        path,
        mode="append",
        commit_message="one more",
        transaction_properties={"job": "nightly"},
    )
    table = lance.dataset(path)
    table.optimize.compact_files()
    return path


def cells(table, *names, **how):
    return table.blame(**how).to_polars().select(*names).rows()


def test_a_changed_cell_has_its_commit_and_what_it_was(written):
    table = lx.open_table(written)
    told = cells(table, "column", "version", "before", "is_new", "event", where="id = 4")
    assert told == [
        ("id", 1, None, True, "created"),
        ("mood", 2, "calm", False, "updated"),
        ("parts", 1, None, True, "created"),
        ("more", 3, None, True, "column_added"),
    ]


def test_it_says_what_the_commit_says(written):
    [cell] = cells(
        lx.open_table(written), "message", "job", "operation", where="id = 10", columns="id"
    )
    assert cell == ("one more", "nightly", "Append")


def test_an_earlier_version(written):
    table = lx.open_table(written)
    assert cells(table, "value", "version", where="id = 4", columns="mood", version=1) == [
        ("calm", 1)
    ]
    with pytest.raises(InvalidArgumentError, match="version 1 has no column 'more'"):
        table.blame(columns="more", version=1)


def test_values_are_text(written):
    [parts] = cells(lx.open_table(written), "value", where="id = 3", columns="parts")
    assert parts == ("[3,3]",)


def test_a_commit_that_wrote_the_same_value_changed_nothing(written):
    lance.dataset(written).update({"mood": "'glad'"}, where="id = 4")
    assert cells(lx.open_table(written), "version", where="id = 4", columns="mood") == [(2,)]


def test_it_goes_on_where_it_ended(written):
    table = lx.open_table(written)
    whole = table.blame()
    part = table.blame(limit=3)
    assert whole.is_complete
    assert not part.is_complete
    assert "There are more rows" in part.sentence
    assert part.num_rows == 3
    parts = [part]
    while len(parts) < 100 and not parts[-1].is_complete:
        parts.append(parts[-1].go_on(limit=3))
    last = parts[-1]
    assert last.to_polars().equals(whole.to_polars())
    assert last.go_on() is last


def test_commits_that_changed_any_cell(written):
    commits = lx.open_table(written).blame().commits()
    found = dict(commits.select("version", "num_cells").iter_rows())
    theirs = lance.dataset(written).count_rows()
    assert sum(found.values()) == 4 * theirs
    assert found[2] == 1
    assert commits.filter(pl.col("version") == 2)["columns"].to_list() == [["mood"]]


def test_values_that_are_lost_make_it_uncertain(written, tmp_path):
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(written)
    lance.dataset(written).cleanup_old_versions(retain_versions=1)
    table = lx.open_table(written, ledger=ledger)
    told = cells(table, "version", "before", "is_uncertain", where="id = 4", columns="mood")
    assert told == [(2, None, True)]


def test_a_branch_goes_back_to_its_parent(written):
    branch: Any = lance.dataset(written).create_branch("dev", 2)
    branch.update({"mood": "'bad'"}, where="id = 1")
    table = lx.open_table(written, "dev")
    assert cells(table, "branch", "version", "before", where="id = 1", columns="mood") == [
        ("dev", 3, "calm")
    ]
    assert cells(table, "branch", "version", "before", where="id = 4", columns="mood") == [
        (None, 2, "calm")
    ]


def test_no_rows(written):
    empty = lx.open_table(written).blame("id = 99")
    assert (empty.num_rows, empty.is_complete) == (0, True)
    assert empty.to_polars().schema == lx.open_table(written).blame().to_polars().schema


def test_blobs_are_left_out_unless_they_are_named(tmp_path):
    path = tmp_path / "t.lance"
    field = pa.field("image", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    table = pa.table(
        {"id": pa.array([1, 2], pa.int64()), "image": pa.array([b"abc", None], pa.large_binary())},
        schema=pa.schema([pa.field("id", pa.int64()), field]),
    )
    lance.write_dataset(table, path)
    ours = lx.open_table(path)
    assert ours.blame().to_polars()["column"].unique().to_list() == ["id"]
    assert cells(ours, "value", columns="image") == [("616263 (3 bytes)",), (None,)]


def test_a_column_that_a_branch_added_is_not_its_parents_where_the_fork_is_lost(tmp_path):
    uri = str(tmp_path / "t.lance")
    table = lance.write_dataset(pa.table({"key": [0, 1]}), uri)
    branch = table.create_branch("dev")
    branch.add_columns({"more": "key + 1"})
    branch.cleanup_old_versions(versions=[1])
    cells = lx.open_table(uri, "dev").blame().to_polars()
    told = cells.select("column", "branch", "version", "is_new", "is_uncertain").unique()
    assert sorted(told.rows()) == [
        ("key", None, 1, True, False),
        ("more", "dev", 2, True, True),
    ]


@pytest.mark.parametrize("stable", [True, False])
def test_a_column_is_as_old_as_the_commit_of_the_ancestor_that_added_it(tmp_path, stable):
    uri = str(tmp_path / "t.lance")
    table = lance.write_dataset(pa.table({"key": [0, 1]}), uri, enable_stable_row_ids=stable)
    table.add_columns({"again": "key + 1"})
    table.drop_columns(["again"])
    table.add_columns({"again": "key + 2"})
    dev = table.create_branch("dev")
    dev.add_columns({"later": "key"})
    dev.create_branch("try").update_config({"owner": "Ana"})
    cells = lx.open_table(uri, "try").blame().to_polars()
    told = cells.select("column", "branch", "version", "is_uncertain").unique()
    assert sorted(told.rows(), key=str) == [
        ("again", None, 4, False),
        ("key", None, 1, False),
        ("later", "dev", 5, False),
    ]


@pytest.mark.parametrize("stable_row_ids", [True, False], ids=["stable", "addresses"])
def test_what_lost_versions_of_a_branch_wrote_in_place_is_not_the_parents(tmp_path, stable_row_ids):
    path = str(tmp_path / "t.lance")
    first: Any = lance.write_dataset(rows(1, 2), path, enable_stable_row_ids=stable_row_ids)
    first.create_branch("dev", 1)
    dev: Any = lance.dataset(path).checkout_version(("dev", None))
    dev.insert(rows(3))
    [fragment, _] = dev.get_fragments()
    new = pa.table({"id": pa.array([1], pa.int64()), "mood": ["glad"]})
    written, fields = fragment.update_columns(new, left_on="id", right_on="id")
    operation = lance.LanceOperation.Update(updated_fragments=[written], fields_modified=fields)
    dev = lance.LanceDataset.commit(dev, operation, read_version=dev.version)
    dev.insert(rows(4))
    dev.cleanup_old_versions(retain_versions=1)
    table = lx.open_table(path, "dev")
    assert table.versions()["version"].to_list() == [4]
    told = cells(table, "column", "branch", "version", "is_uncertain", where="id = 1")
    assert told == [
        ("id", None, 1, False),
        ("mood", "dev", 4, True),
        ("parts", None, 1, False),
    ]
    history = table.row(0, at=4).history()
    assert history.select("branch", "version", "event", "evidence").rows() == [
        (None, 1, "created", "recorded"),
        ("dev", 4, "column_rewritten", "lost"),
    ]


def test_a_column_that_took_the_name_of_another_one_is_as_old_as_itself(tmp_path):
    path = str(tmp_path / "t.lance")
    table: Any = lance.write_dataset(pa.table({"id": [1], "old": [5]}), path)
    table.add_columns({"new": "old"})
    for before, after in (("old", "between"), ("new", "old"), ("between", "new")):
        table.alter_columns({"path": before, "name": after})
    table.update({"new": "7"}, where="id = 1")
    table.drop_columns(["new"])
    told = cells(lx.open_table(path), "column", "version", "before", "is_new")
    assert told == [("id", 1, None, True), ("old", 2, None, True)]


@pytest.mark.parametrize("data_format", ["legacy", "2.1"])
def test_a_field_inside_that_was_gone_for_a_while_does_not_change_its_column(tmp_path, data_format):
    path = str(tmp_path / "t.lance")
    first = pa.table({"id": [1], "mood": ["calm"], "place": [{"x": 1, "y": "a"}]})
    table: Any = lance.write_dataset(first, path, data_storage_version=data_format)
    table.alter_columns({"path": "mood", "data_type": pa.large_string()})
    table.drop_columns(["place.y"])
    lance.dataset(path, version=1).restore()
    told = cells(lx.open_table(path), "column", "version")
    assert told == [("id", 1), ("mood", 1), ("place", 1)]


def test_a_column_whose_cast_was_undone_by_a_restore_of_a_lost_version_is_the_same(tmp_path):
    path = str(tmp_path / "t.lance")
    table: Any = lance.write_dataset(pa.table({"id": [1], "mood": ["calm"]}), path)
    table.alter_columns({"path": "id", "data_type": pa.int32()})
    lance.dataset(path, version=1).restore()
    lance.dataset(path).cleanup_old_versions(versions=[1])
    told = cells(lx.open_table(path), "column", "version")
    assert told == [("id", 2), ("mood", 2)]


def test_names_are_told_apart_where_an_overwrite_gave_the_same_schema_again(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": [1], "a": [5]}), path)
    table: Any = lance.write_dataset(pa.table({"id": [2], "a": [6]}), path, mode="overwrite")
    table.add_columns({"b": "a"})
    table.alter_columns({"path": "b", "name": "c"})
    table.alter_columns({"path": "a", "name": "b"})
    told = cells(lx.open_table(path), "column", "version")
    assert told == [("id", 2), ("b", 2), ("c", 3)]


def test_columns_that_were_cast_over_lost_versions_keep_the_names_that_they_had_before(tmp_path):
    path = str(tmp_path / "t.lance")
    first = pa.table({"id": [1], "a": [5], "b": [6], "mood": ["calm"]})
    table: Any = lance.write_dataset(first, path)
    for old, new in (("a", "x"), ("b", "a"), ("x", "b")):
        table.alter_columns({"path": old, "name": new})
    table.update_config({"a": "b"})
    for name in ("id", "a", "b"):
        table.alter_columns({"path": name, "data_type": pa.int32()})
    lance.dataset(path).cleanup_old_versions(versions=[6, 7])
    told = cells(lx.open_table(path), "column", "value", "version")
    assert told == [("id", "1", 1), ("b", "5", 1), ("a", "6", 1), ("mood", "calm", 1)]


def test_a_column_that_was_cast_over_lost_versions_is_the_same_after_restores(tmp_path):
    path = str(tmp_path / "t.lance")
    table: Any = lance.write_dataset(pa.table({"id": [1], "mood": ["calm"]}), path)
    table.update_config({"a": "b"})
    table.alter_columns({"path": "id", "data_type": pa.int32()})
    for version in (1, 3):
        lance.dataset(path, version=version).restore()
    lance.dataset(path).cleanup_old_versions(versions=[2])
    told = cells(lx.open_table(path), "column", "version")
    assert told == [("id", 1), ("mood", 1)]


def test_a_column_whose_lost_cast_a_restore_undid_is_as_old_as_before(tmp_path):
    path = str(tmp_path / "t.lance")
    table: Any = lance.write_dataset(pa.table({"id": [1], "mood": ["calm"]}), path)
    table.alter_columns({"path": "id", "data_type": pa.int32()})
    table.update_config({"a": "b"})
    lance.dataset(path, version=1).restore()
    lance.dataset(path).cleanup_old_versions(versions=[2])
    told = cells(lx.open_table(path), "column", "version")
    assert told == [("id", 1), ("mood", 1)]


@pytest.mark.parametrize("data_format", ["legacy", "2.1"])
def test_a_struct_is_as_old_as_the_fields_inside_that_it_has(tmp_path, data_format):
    path = str(tmp_path / "t.lance")
    first = pa.table({"id": [1], "mood": ["calm"], "place": [{"x": 1, "y": "a"}]})
    table: Any = lance.write_dataset(first, path, data_storage_version=data_format)
    table.drop_columns(["place.y"])
    table.update({"mood": "'glad'"}, where="id = 1")
    lance.dataset(path, version=1).restore()
    with_both = cells(lx.open_table(path), "column", "version", "is_new")
    assert with_both == [("id", 1, True), ("mood", 4, False), ("place", 1, True)]
    lance.dataset(path).drop_columns(["place.x"])
    with_one = cells(lx.open_table(path), "column", "version", "is_new")
    assert with_one == [("id", 1, True), ("mood", 4, False), ("place", 4, True)]


def test_a_vector_that_was_cast_to_a_list_keeps_the_age_of_its_values(tmp_path):
    path = str(tmp_path / "t.lance")
    vectors = pa.array([[1.0, 2.0], [0.1, 1.5]], pa.list_(pa.float64(), 2))
    lance.write_dataset(pa.table({"vector": vectors}), path)
    to_list: Any = {"path": "vector", "data_type": pa.list_(pa.float32())}
    lance.dataset(path).alter_columns(to_list)
    cells = lx.open_table(path).blame().to_polars()
    assert cells.select("version", "is_new").rows() == [(1, True), (2, False)]


def test_a_cell_of_a_column_that_a_restore_brought_back_had_no_value_before(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(3), "a": [0, 0, 0]}), path)
    lance.dataset(path).update({"a": "5"}, where="id = 1")
    lance.dataset(path).drop_columns(["a"])
    lance.dataset(path, version=2).restore()
    told = lx.open_table(path).blame(columns=["a"]).to_polars()
    assert told.select("version", "is_new", "before").unique().rows() == [(4, True, None)]
