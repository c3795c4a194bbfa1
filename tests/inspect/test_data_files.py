"""Data files against what pylance says of the same fragments."""

import lance
import polars as pl
import pyarrow as pa

from lance_explorer.inspect.data_files import all_data_files, data_files
from tests.inspect.tables import rows_of, stored


def test_fields_have_the_names_of_that_version():
    source = stored("14.0.2/schema_changes.lance")
    assert data_files(source, 1)["fields"].list.get(1).unique().to_list() == ["text"]
    assert data_files(source, 14)["fields"].list.get(1).unique().to_list() == ["body"]
    kept = all_data_files(source).filter(fragment_id=0, first_version=1)
    assert rows_of(kept, "last_version", "num_tombstones") == [(14, 0)]
    assert kept["fields"][0][1] == "text"


def test_a_replaced_column_is_a_tombstone_and_another_state_of_the_file():
    frame = all_data_files(stored("14.0.2/data_replacement.lance")).filter(fragment_id=0)
    [replaced] = frame.filter(frame["num_tombstones"] > 0).iter_rows(named=True)
    assert "<tombstone>" in replaced["fields"]
    assert -2 in replaced["field_ids"]
    states = frame.filter(path=replaced["path"])
    assert states["num_tombstones"].to_list() == [0, 1]
    assert states["last_version"][0] + 1 == states["first_version"][1]


def test_a_dropped_column_has_no_name(tmp_path):
    table = lance.write_dataset(pa.table({"kept": [1], "dropped": [2]}), tmp_path / "t")
    table.drop_columns(["dropped"])
    assert data_files(stored(tmp_path / "t"), 2)["fields"].to_list() == [["kept", None]]


def test_spilled_sequences_go_by_the_name_of_their_column():
    frame = all_data_files(stored("14.0.2/spilled.lance"))
    hidden = frame.explode("field_ids", "fields").filter(pl.col("field_ids") < 0)
    assert set(rows_of(hidden, "field_ids", "fields")) == {
        (-3, "_rowid"),
        (-4, "_row_created_at_version"),
        (-5, "_row_last_updated_at_version"),
    }


def test_sizes_that_the_writer_did_not_store_are_null():
    assert data_files(stored("0.10.18/life_cycle.lance"), 1)["size_bytes"].null_count() == 2


def test_files_of_another_root_name_it():
    frame = data_files(stored("14.0.2/branches.lance/tree/dev"), 6)
    roots = rows_of(frame, "base_id", "root")
    assert set(roots) == {(0, "branches.lance"), (None, None)}


def test_a_file_outlives_the_states_of_its_fragment():
    source = stored("14.0.2/life_cycle.lance")
    first = all_data_files(source).filter(fragment_id=0, first_version=1)
    states = source.history.states
    with_file = [state for state in states if state.files[0].path in set(first["path"])]
    assert len(first) == 1
    assert len(with_file) > 1


def test_overlays_are_files_too():
    overlays = all_data_files(stored("14.0.2/data_overlay.lance")).filter("is_overlay")
    assert overlays["fields"].to_list() == [["score"], ["score"], ["score", "name"]]
