"""Rows found by their values: what is told of them, what is read, and how to go on."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer import values
from lance_explorer.errors import InvalidArgumentError
from tests.differential.agreement import checked_out


def rows(*ids, mood="calm"):
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "city": [("Lisbon", "New York", "O'Hara")[number % 3] for number in ids],
            "mood": [mood for _ in ids],
        }
    )


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def written(request, tmp_path):
    """A table of which rows were deleted, updated and compacted; what is said of a commit."""
    path = str(tmp_path / "t.lance")
    table: Any = lance.write_dataset(
        rows(*range(10)), path, max_rows_per_file=5, enable_stable_row_ids=request.param
    )
    table.delete("id = 3")
    table.update({"mood": "'glad'"}, where="id = 4")
    table.insert(rows(10, 11), transaction_properties={"author": "Ana"})
    table.optimize.compact_files()
    table.delete("id = 10")
    return path


def found(table, where, **how):
    return table.find(where, **how).to_polars()


def test_a_deleted_row_says_when_and_why(written):
    row = found(lx.open_table(written), "id = 3").row(0, named=True)
    assert (row["first_version"], row["last_version"], row["is_live"]) == (1, 1, False)
    told = row["ended_as"], row["ended_version"], row["ended_operation"], row["predicate"]
    assert told == ("deleted", 2, "Delete", "id = 3")
    assert (row["id"], row["city"], row["first_version_exact"]) == (3, "Lisbon", True)


def test_a_value_inside_a_struct_is_told_until_its_field_was_dropped(tmp_path):
    path = str(tmp_path / "t.lance")
    places = pa.array([{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    table: Any = lance.write_dataset(pa.table({"id": [1, 2], "place": places}), path)
    table.update_config({"a": "b"})
    table.drop_columns(["place.y"])
    table.update_config({"a": "c"})
    lines = found(lx.open_table(path), "id = 2").select("first_version", "last_version", "place")
    assert lines.rows() == [(3, 4, {"x": 3, "y": None}), (1, 2, {"x": 3, "y": 4})]


def test_a_row_that_was_updated_is_told_once_for_each_of_its_values(written):
    lines = found(lx.open_table(written), "id = 4").select(
        "first_version", "last_version", "mood", "ended_as"
    )
    assert lines.rows()[0][:3] == (3, lx.open_table(written).latest.version, "glad")
    assert lines.rows()[1] == (1, 2, "calm", "updated")


def test_what_was_only_moved_is_one_line(written):
    [line] = found(lx.open_table(written), "id = 7").to_dicts()
    assert line["is_live"]
    assert line["first_version"] == 1
    assert line["versions_kept"] == lx.open_table(written).latest.version


def test_only_live_rows(written):
    table = lx.open_table(written)
    live = found(table, "id < 5", deleted=False)
    theirs = checked_out(table).to_table(filter="id < 5")["id"].to_pylist()
    assert sorted(live["id"].to_list()) == sorted(theirs)
    assert live["last_version"].unique().to_list() == [table.latest.version]


def test_a_word_is_looked_for_in_texts_and_a_number_in_numbers(written):
    table = lx.open_table(written)
    assert set(found(table, "york", columns="id")["id"]) == {1, 4, 7, 10}
    assert set(found(table, "o'hara", columns="id")["id"]) == {2, 5, 8, 11}
    assert set(found(table, "11", columns="id")["id"]) == {11}
    assert found(table, "nowhere").is_empty()


def test_each_physical_row_is_read_once(written):
    table = lx.open_table(written)
    read = []
    matching = values.matching_rows

    def counted(uri, version, fragment_ids, *rest):
        read.extend(fragment_ids)
        return matching(uri, version, fragment_ids, *rest)

    with patch.object(values, "matching_rows", counted):
        table.find("id >= 0", limit=1000)
    stored = {
        tuple(
            file["path"]
            for file in table.inspect.all_data_files().to_dicts()
            if file["fragment_id"] == n
        )
        for n in table.inspect.all_fragments()["fragment_id"].unique()
    }
    assert len(read) == len(stored)


def test_it_goes_on_where_it_ended(written):
    table = lx.open_table(written)
    everything = found(table, "id >= 0", limit=1000)
    part = table.find("id >= 0", limit=2, max_bytes=1)
    assert part.to_polars()["id"].n_unique() == 2
    assert not part.is_complete
    assert "earlier versions were not" in part.sentence
    whole = part.go_on(limit=1000, max_bytes=1 << 30)
    assert whole.is_complete
    assert whole.to_polars().equals(everything)
    assert part.to_polars()["id"].n_unique() == 2, "what was told before stays"
    assert everything["last_version"].is_sorted(descending=True)


def test_nothing_is_searched_without_bytes_to_read(written):
    nothing = lx.open_table(written).find("id = 3", max_bytes=0)
    assert (nothing.num_rows, nothing.searched_from, nothing.is_complete) == (0, None, False)
    assert nothing.to_polars().is_empty()
    assert "nothing was searched yet" in nothing.sentence


def test_versions_that_the_filter_does_not_fit_are_named(written):
    theirs: Any = lance.dataset(written)
    theirs.alter_columns({"path": "mood", "name": "feeling"})
    table = lx.open_table(written)
    last = table.latest.version
    told = table.find("mood = 'glad'")
    assert told.to_polars()["last_version"].max() == last - 1
    assert told.to_polars().row(0, named=True)["ended_operation"] == "Project"
    [message] = told.findings()["statement"].to_list()
    assert f"version {last} is not searched" in message
    assert told.is_complete
    later = table.find("feeling = 'glad'").to_polars()
    assert later["first_version"].to_list() == [last]


@pytest.mark.parametrize("where", ["", "  ", "id = ", "id + 1", "nowhere = 3", "id = 'x' OR"])
def test_a_filter_that_fits_nowhere_is_an_error(written, where):
    with pytest.raises(InvalidArgumentError):
        lx.open_table(written).find(where)


def test_columns_that_are_nowhere_are_an_error(written):
    with pytest.raises(InvalidArgumentError, match="there are: id, city, mood"):
        lx.open_table(written).find("id = 3", columns=["nowhere"])


def test_a_branch_has_its_own_versions(written):
    table: Any = lance.dataset(written).create_branch("dev", 2)
    table.delete("id = 5")
    main, dev = lx.open_table(written), lx.open_table(written, "dev")
    assert found(main, "id = 5")["is_live"].to_list() == [True]
    assert found(dev, "id = 5").select("branch", "ended_as", "predicate").rows() == [
        ("dev", "deleted", "id = 5")
    ]


def test_branches_that_may_have_what_was_not_found_are_named(written):
    assert lx.open_table(written).find("id = 99").sentence == "no row found in versions 1 to 7."
    for name in ("dev", "try", "old", "new"):
        lance.dataset(written).create_branch(name, 2)
        if name == "dev":
            main = lx.open_table(written).find("id = 99").sentence
            assert main == "no row found in versions 1 to 7; branch dev was not searched."
    told = lx.open_table(written, "dev").find("id = 99").sentence
    assert told.endswith("; 4 other branches were not searched.")
    assert "not searched" not in lx.open_table(written).find("id = 5").sentence


def test_rows_of_recorded_versions_are_found_as_long_as_their_files_are_there(written, tmp_path):
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(written)
    whole = found(lx.open_table(written), "id = 4 OR id = 10")
    lance.dataset(written).cleanup_old_versions(retain_versions=1)
    table = lx.open_table(written, ledger=ledger)
    left = table.find("id = 4 OR id = 10")
    assert not left.is_complete
    assert "values_lost" in left.findings()["code"].to_list()
    assert set(left.to_polars()["id"]) <= set(whole["id"])
    assert 4 in left.to_polars()["id"]


def test_a_column_that_is_taken_gets_an_underscore(tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"branch": ["a", "b"], "key": [1, 2]}), path)
    frame = found(lx.open_table(path), "key = 2")
    assert frame.select("branch", "branch_").rows() == [(None, "b")]


def test_an_empty_answer_has_the_columns_of_a_full_one(written):
    table = lx.open_table(written)
    empty = found(table, "id = 99")
    assert empty.is_empty()
    assert set(empty.columns) <= set(found(table, "id = 3").columns)
    assert isinstance(empty, pl.DataFrame)


def test_rows_that_an_index_lost_are_found(tmp_path):
    """pylance 14.0.2 loses entries of a BTREE after a deferred compaction and an ordinary one."""
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(pa.table({"id": range(12)}), path, max_rows_per_file=4)
    dataset.create_scalar_index("id", "BTREE")
    dataset.optimize.compact_files(defer_index_remap=True)
    lance.write_dataset(pa.table({"id": range(12, 16)}), lance.dataset(path), mode="append")
    lance.dataset(path).delete("id = 2")
    lance.dataset(path).optimize.compact_files(materialize_deletions_threshold=0.0)
    assert len(lance.dataset(path).to_table(filter="id = 7")) == 0
    assert lx.open_table(path).find("id = 7").to_polars()["is_live"].to_list() == [True]


def test_a_blob_that_another_one_of_its_size_replaced_is_apart(tmp_path):
    path = str(tmp_path / "t.lance")
    blob = pa.field("data", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    schema = pa.schema([pa.field("id", pa.int64()), blob])

    def pictures(content: bytes) -> pa.Table:
        return pa.table({"id": [1], "data": [content]}, schema=schema)

    table: Any = lance.write_dataset(pictures(b"before"), path, enable_stable_row_ids=True)
    table.merge_insert("id").when_matched_update_all().execute(pictures(b"after!"))
    found = lx.open_table(path).find("id = 1").to_polars()
    assert sorted(found.select("first_version", "last_version").rows()) == [(1, 1), (2, 2)]
    assert found.filter(first_version=1)["ended_as"].to_list() == ["updated"]


def test_rows_are_found_though_no_value_of_them_can_be_read(tmp_path):
    path = str(tmp_path / "t.lance")
    table: Any = lance.write_dataset(rows(1, 2), path)
    before = {*(tmp_path / "t.lance" / "data").iterdir()}
    table.add_columns({"twice": "id * 2"})
    table.cleanup_old_versions(timedelta(0))
    [file] = {*(tmp_path / "t.lance" / "data").iterdir()} - before
    file.unlink()
    found = lx.open_table(path).find("id = 1")
    assert found.to_polars().select("first_version", "id", "twice").rows() == [(2, None, None)]
    assert found.findings().height


def test_a_column_that_a_lost_cast_may_have_made_is_said_to_be_in_doubt(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"key": [1, 2], "label": ["a", "b"]}), path)
    cast: Any = {"path": "label", "data_type": pa.large_string()}
    lance.dataset(path).alter_columns(cast)
    lance.dataset(path).delete("key = 2")
    rename: Any = {"path": "label", "name": "other"}
    lance.dataset(path).alter_columns(rename)
    lance.dataset(path).checkout_version(1).restore()
    (tmp_path / "t.lance" / "_versions" / f"{2**64 - 1 - 2}.manifest").unlink()
    found = lx.open_table(path).find("key > 0")
    assert {"label", "other"} <= {*found.to_polars().columns}
    assert "column_in_doubt" in found.findings()["code"].to_list()
