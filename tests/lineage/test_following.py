"""The history of one row, and of many at once."""

from itertools import pairwise
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer.errors import (
    InvalidArgumentError,
    RowNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.frames.followed import FOLLOWED, ROW_HISTORY
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.following import follow, row_history
from tests.format.samples import DATA
from tests.inspect.tables import rows_of, stored
from tests.synthetic import SyntheticTable

FRAGMENT = 1 << 32


def view_of(table: SyntheticTable) -> HistoryView:
    return HistoryView.open(str(table.path))


def events(frame: pl.DataFrame) -> list[tuple[int, str]]:
    return rows_of(frame, "version", "event")


def test_a_row_is_followed_through_every_version_that_touched_it():
    history = row_history(stored("14.0.2/stable_row_ids.lance"), 2)
    assert events(history) == [
        (1, "created"),
        (4, "updated"),
        (6, "column_added"),
        (11, "moved"),
        (14, "overwritten"),
        (16, "restored"),
        (19, "deleted"),
    ]
    assert history["operation"][3] == "Rewrite"
    assert history.schema == ROW_HISTORY.polars_schema
    places = history.select("_rowaddr_before", "_rowaddr_after").rows()
    for (_, after), (before, _) in pairwise(places[:5]):
        assert after == before


def test_without_row_ids_a_row_is_its_address_in_a_version():
    view = stored("14.0.2/life_cycle.lance")
    history = row_history(view, 2, at=1)
    moved = history.filter(event="moved")["_rowaddr_after"][0]
    later = row_history(view, moved, at=12)
    assert later.equals(history)
    assert events(history)[1] == (4, "updated")
    assert history["evidence"][1] == "inferred"


def test_without_a_version_an_address_means_the_last_row_there():
    view = stored("14.0.2/life_cycle.lance")
    with pytest.raises(RowNotFoundError):
        row_history(view, 1, at=3)
    assert events(row_history(view, 1))[-1] == (3, "deleted")


def test_values_are_those_after_each_event_and_before_the_end():
    history = row_history(stored("14.0.2/stable_row_ids.lance"), 2, values=True)
    values = history["values"].struct.unnest()
    assert values["score"].to_list()[:2] == [1.0, 101.0]
    assert values["id"].to_list() == [2] * 7
    assert values["half"].to_list()[1:3] == [None, 50.5]
    assert history["changed_columns"].to_list()[:4] == [None, ["score"], ["half"], []]


@pytest.mark.parametrize("stable_row_ids", [True, False], ids=["stable", "addresses"])
def test_values_of_the_oldest_data_format_are_those_after_each_event(tmp_path, stable_row_ids):
    path = str(tmp_path / "t.lance")
    dataset: Any = lance.write_dataset(
        pa.table({"a": [*range(20)], "b": ["x"] * 20}),
        path,
        data_storage_version="legacy",
        enable_stable_row_ids=stable_row_ids,
    )
    dataset.update({"b": "'y'"}, where="a = 12")
    dataset.delete("a = 12")
    history = row_history(HistoryView.open(path), 12, 1, values=True)
    assert events(history) == [(1, "created"), (2, "updated"), (3, "deleted")]
    values = history["values"].struct.unnest()
    assert values.rows() == [(12, "x"), (12, "y"), (12, "y")]


def test_a_renamed_column_and_one_that_came_as_null_did_not_change(tmp_path):
    path = str(tmp_path / "t.lance")
    dataset: Any = lance.write_dataset(pa.table({"a": [1, 2], "b": ["x", "y"]}), path)
    dataset.alter_columns({"path": "b", "name": "c"})
    dataset.add_columns(pa.field("d", pa.int64()))
    dataset.alter_columns({"path": "a", "data_type": pa.int32()})
    dataset.update({"c": "'z'"}, where="a = 2")
    history = row_history(HistoryView.open(path), 1, 1, values=True)
    assert rows_of(history, "version", "event", "changed_columns") == [
        (1, "created", None),
        (4, "column_rewritten", []),
        (5, "updated", ["c"]),
    ]


def test_a_column_that_came_back_with_a_type_that_fits_not_is_two_columns(tmp_path):
    path = str(tmp_path / "t.lance")
    dataset: Any = lance.write_dataset(pa.table({"a": [1, 2], "b": ["x", "y"]}), path)
    dataset.drop_columns(["b"])
    dataset.add_columns({"b": "make_array(a)"})
    dataset.update({"b": "make_array(7)"}, where="a = 2")
    history = row_history(HistoryView.open(path), 1, 1, values=True)
    assert rows_of(history, "version", "changed_columns") == [(1, None), (3, ["b"]), (4, ["b"])]
    values = history["values"].struct.unnest()
    assert values.select("a", "b", "b@1").rows() == [(2, None, "y"), (2, [2], None), (2, [7], None)]


def test_values_are_null_where_files_are_gone(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=2).delete({0: [1]})
    history = row_history(view_of(table), 1, values=True)
    assert events(history) == [(1, "created"), (2, "deleted")]
    assert history["values"].to_list() == [None, None]
    assert history["changed_columns"].to_list() == [None, None]


def test_a_lost_update_is_told_by_the_row_version(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).update({0: [1]}).append(rows=1)
    table.remove(1, 2)
    history = row_history(view_of(table), 1)
    assert rows_of(history, "version", "event", "operation", "evidence") == [
        (1, "created", None, "derived"),
        (2, "updated", None, "derived"),
    ]
    assert history["timestamp"].null_count() == 2


def test_what_ended_in_a_gap_is_lost(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4)
    table.delete({0: [1]}).append(rows=1).remove(2)
    history = row_history(view_of(table), 1)
    assert rows_of(history, "version", "event", "evidence", "source")[-1] == (
        3,
        "deleted",
        "lost",
        None,
    )


@pytest.mark.parametrize("row_id", [-1, 99, (1 << 64) - 1, 1 << 70])
@pytest.mark.parametrize("stable", [True, False])
def test_a_row_that_never_was_is_an_error(tmp_path, stable, row_id):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=stable).append(rows=4)
    with pytest.raises(RowNotFoundError):
        row_history(view_of(table), row_id)


def test_an_unknown_version_is_an_error(tmp_path):
    view = view_of(SyntheticTable(tmp_path / "t.lance").append(rows=4))
    with pytest.raises(VersionNotFoundError):
        row_history(view, 0, at=5)
    with pytest.raises(VersionNotFoundError):
        follow(view, [0], begin_version=5)


@pytest.mark.parametrize("stable", [True, False])
def test_history_crosses_into_the_branch_that_a_branch_left(tmp_path, stable):
    main = SyntheticTable(tmp_path / "t.lance", stable_row_ids=stable).append(rows=4)
    main.compact([0])
    dev = main.branch("dev").append(rows=1)
    address = dev.fragment_ids[0] * FRAGMENT + 1
    dev.delete({dev.fragment_ids[0]: [1]})
    view = HistoryView.open(str(main.path), "dev")
    asked = 1 if stable else address
    history = row_history(view, asked, None if stable else 4)
    expected = [(None, 1, "created"), (None, 3, "moved"), ("dev", 5, "deleted")]
    assert rows_of(history, "branch", "version", "event") == expected
    followed = follow(view, [asked], end_version=4 if not stable else None)
    assert rows_of(followed, "branch", "version", "event") == expected[: 3 if stable else 2]


def test_rows_of_a_branch_are_not_those_of_the_parent_with_the_same_number(tmp_path):
    main = SyntheticTable(tmp_path / "t.lance").append(rows=4)
    dev = main.branch("dev")
    main.append(rows=2).delete({1: [0]})
    dev.append(rows=3)
    assert events(row_history(HistoryView.open(str(main.path)), 4)) == [
        (2, "created"),
        (3, "deleted"),
    ]
    history = row_history(HistoryView.open(str(main.path), "dev"), 4)
    assert rows_of(history, "branch", "version", "event") == [("dev", 2, "created")]


def test_branches_of_branches_go_back_to_the_main_branch(monkeypatch):
    monkeypatch.chdir(DATA / "14.0.2")
    view = HistoryView.open("branches.lance", "dev/deep")
    history = row_history(view, 2)
    assert rows_of(history, "branch", "version", "event") == [
        (None, 1, "created"),
        ("dev", 5, "updated"),
    ]


def test_many_rows_come_in_input_order_each_once(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).update({0: [1, 3]}).append(rows=1)
    frame = follow(view_of(table), [3, 0, 77, 3, 1])
    assert rows_of(frame, "_rowid", "version", "event") == [
        (3, 1, "created"),
        (3, 2, "updated"),
        (0, 1, "created"),
        (1, 1, "created"),
        (1, 2, "updated"),
    ]


def test_events_are_those_after_the_first_version_up_to_the_last(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).update({0: [1]}).delete({1: [0]})
    view = view_of(table)
    assert events(follow(view, [1], begin_version=1, end_version=2)) == [(2, "updated")]
    assert events(follow(view, [1], begin_version=2)) == [(3, "deleted")]
    assert follow(view, [1], begin_version=3).is_empty()


def test_nothing_followed_is_an_empty_frame(tmp_path):
    view = view_of(SyntheticTable(tmp_path / "t.lance").append(rows=4))
    frame = follow(view, np.empty(0, dtype=np.uint64))
    assert frame.schema == FOLLOWED.polars_schema
    assert frame.is_empty()


def test_a_first_version_behind_the_last_is_refused(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=1)
    with pytest.raises(InvalidArgumentError, match="begin_version 2 is later than end_version 1"):
        follow(view_of(table), [0], 2, 1)


@pytest.mark.parametrize("ids", [[-1], [0.5], ["a"], [[1]]])
def test_ids_are_whole_numbers(tmp_path, ids):
    view = view_of(SyntheticTable(tmp_path / "t.lance").append(rows=4))
    with pytest.raises(InvalidArgumentError, match="row IDs are whole numbers"):
        follow(view, ids)


def test_new_versions_are_followed_after_a_refresh(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4)
    view = view_of(table)
    assert events(row_history(view, 1)) == [(1, "created")]
    table.delete({0: [1]})
    view = view.refreshed()
    assert events(row_history(view, 1)) == [(1, "created"), (2, "deleted")]


def branch_without_its_first_versions(path: str) -> Any:
    """Make branch dev of version 2, of which only version 7 is kept, and return its rows there."""
    dataset: Any = lance.write_dataset(
        pa.table({"key": [*range(10)]}), path, enable_stable_row_ids=True, max_rows_per_file=5
    )
    dataset.delete("key = 0")
    dev = dataset.create_branch("dev")
    dev.delete("key = 1")
    dev.update({"key": "key + 100"}, where="key = 2")
    dev.optimize.compact_files()
    dev = lance.write_dataset(pa.table({"key": [20]}), dev, mode="append")
    dev.cleanup_old_versions(versions=[2, 3, 4, 5, 6])
    return dev.to_table(columns=["key", "_rowid", "_rowaddr"]).to_pydict()


def test_rows_of_a_branch_whose_first_versions_are_lost_are_compared_with_the_fork(tmp_path):
    rows = branch_without_its_first_versions(str(tmp_path / "t.lance"))
    view = HistoryView.open(tmp_path / "t.lance", branch="dev")
    places = dict(zip(rows["_rowid"], rows["_rowaddr"], strict=True))
    shown = "branch", "version", "event", "_rowaddr_before", "_rowaddr_after"
    expected: dict[int, list[Any]] = {
        0: [(None, 1, "created", None, 0), (None, 2, "deleted", 0, None)],
        1: [(None, 1, "created", None, 1), ("dev", 7, "deleted", 1, None)],
        2: [(None, 1, "created", None, 2), ("dev", 4, "updated", 2, places[2])],
        3: [(None, 1, "created", None, 3), ("dev", 7, "moved", 3, places[3])],
        10: [("dev", 7, "created", None, places[10])],
    }
    for row_id, lived in expected.items():
        assert rows_of(row_history(view, row_id), *shown) == lived
    asked = [10, 3, 2, 1, 0]
    followed = follow(view, asked)
    assert rows_of(followed, *shown) == [event for row_id in asked for event in expected[row_id]]


def test_rows_that_stayed_in_their_fragments_on_a_branch_were_created_once(tmp_path):
    path = str(tmp_path / "t.lance")
    dataset: Any = lance.write_dataset(pa.table({"key": [*range(4)]}), path)
    dev = dataset.create_branch("dev")
    dev.delete("key = 1")
    dev.cleanup_old_versions(retain_versions=1)
    view = HistoryView.open(path, branch="dev")
    shown = "branch", "version", "event", "_rowaddr_after"
    expected = [(None, 1, "created", 2)]
    assert rows_of(row_history(view, 2), *shown) == expected
    assert rows_of(follow(view, [2]), *shown) == expected
