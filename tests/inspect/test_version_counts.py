"""What versions() counts of rows where fragments alone do not tell, but the rows themselves do.

tests/differential compares all counts with pylance's scans, and with what was done to a table.
"""

from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.versions import versions
from tests.inspect.tables import rows_of, stored, write

COUNTS = ("rows_added", "rows_updated", "rows_deleted", "rows_column_rewritten")


def counts_of(view, version):
    [row] = rows_of(versions(view).filter(version=version), *COUNTS)
    return row


def of_columns(path, version):
    names = "rows_column_rewritten", "rows_column_added"
    [row] = rows_of(versions(HistoryView.open(str(path))).filter(version=version), *names)
    return row


def test_rows_of_an_upsert_are_told_apart_though_they_are_spilled():
    assert counts_of(stored("14.0.2/spilled.lance"), 4) == (2, 3, 0, 0)


@pytest.mark.parametrize("release", ["8.0.1", "14.0.2"])
def test_what_the_restore_of_a_detached_version_did_to_rows_is_not_counted(release):
    assert counts_of(stored(f"{release}/detached.lance"), 3) == (None, None, None, None)


def test_an_old_update_in_place_may_be_of_all_rows():
    assert counts_of(stored("0.32.1/stable_row_ids.lance"), 20) == (0, 0, 0, 23)


@pytest.mark.parametrize("release", ["8.0.1", "13.0.0", "14.0.2"])
def test_an_upsert_tells_what_it_wrote_though_the_version_before_is_gone(release):
    view = stored(f"{release}/cleaned_stable_row_ids.lance")
    assert counts_of(view, 8) == (1, 2, None, 0)


@pytest.mark.parametrize("release", ["0.32.1", "1.0.4"])
def test_wrong_or_missing_row_versions_tell_nothing(release):
    view = stored(f"{release}/cleaned_stable_row_ids.lance")
    assert counts_of(view, 8) == (None, None, None, 0)


@pytest.mark.parametrize("release", ["1.0.4", "8.0.1", "13.0.0", "14.0.2"])
def test_an_update_in_place_tells_its_rows_whether_or_not_its_transaction_does(release):
    assert counts_of(stored(f"{release}/stable_row_ids.lance"), 20) == (0, 2, 0, 0)


def test_an_update_in_place_that_says_nothing_may_be_of_all_rows():
    assert counts_of(stored("14.0.2/update_columns.lance"), 2)[1:] == (0, 0, 6)


def test_a_new_column_is_added_and_rewrites_no_row(tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": [1, 2, 3]}), path, enable_stable_row_ids=True)
    write(path, "append", id=[4])
    lance.dataset(path).delete("id = 2")
    lance.dataset(path).add_columns({"more": "id + 1"})
    assert of_columns(path, 4) == (0, 3)
    cast: Any = {"path": "more", "data_type": pa.int32()}
    lance.dataset(path).alter_columns(cast)
    assert of_columns(path, 5) == (3, 0)
    table = lx.open_table(path)
    feed = table.changes(3, 5, mode="per_commit", include=("column_added",)).to_polars()
    events = feed.group_by("_commit_version", "_event").agg(pl.col("_rowid").n_unique())
    assert sorted(events.rows()) == [(4, "column_added", 3), (5, "column_rewritten", 3)]
    words = table.log()["words"].to_list()
    assert "filled in 3 rows" in words[1]
    assert "values of 3 rows written" in words[0]
    # Of a lone Merge the row versions tell that it wrote all rows, and not which columns.
    lance.dataset(path).cleanup_old_versions(retain_versions=1)
    assert counts_of(HistoryView.open(str(path)), 5) == (0, 0, None, None)
    assert of_columns(path, 5) == (None, None)


def test_an_update_by_hand_that_wrote_rows_anew_may_be_a_delete_and_an_insert(tmp_path):
    path = str(tmp_path / "t.lance")
    dataset: Any = lance.write_dataset(pa.table({"id": [1, 2, 3], "value": [0, 0, 0]}), path)
    masked = dataset.get_fragments()[0].delete("id = 2")
    new = lance.fragment.write_fragments(pa.table({"id": [2], "value": [5]}), path)
    value = dataset.lance_schema.field("value").id()
    operation = lance.LanceOperation.Update(
        updated_fragments=[masked], new_fragments=new, fields_modified=[value]
    )
    lance.LanceDataset.commit(path, operation, read_version=1)
    assert counts_of(HistoryView.open(path), 2) == (None, None, None, 0)
