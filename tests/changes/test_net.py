"""Net changes from metadata alone, on tables that were never filled."""

import lance
import numpy as np
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer import open_table
from lance_explorer.changes.counting import counted
from lance_explorer.changes.net import net_changes, net_changes_since
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.paths import EMPTY, path_between
from lance_explorer.history.view import HistoryView
from tests.format.samples import DATA
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def table(request, tmp_path) -> SyntheticTable:
    """Two fragments of four rows, in version 1."""
    made = SyntheticTable(tmp_path / "t.lance", stable_row_ids=request.param)
    return made.append(rows=4, fragments=2)


def rows_of(table: SyntheticTable) -> StateRows:
    return state_rows(HistoryView.open(str(table.path)))


def some_pairs(rows: StateRows) -> list[tuple[int, int]]:
    """Return pairs of versions: neighbours, some further apart, and each with the last."""
    last = len(rows.history) - 1
    steps = {(begin, min(begin + far, last)) for begin in range(last + 1) for far in (1, 3, last)}
    return sorted(steps)


def net(table: SyntheticTable, begin: int, end: int) -> dict[str, int]:
    rows = rows_of(table)
    runs = net_changes(rows, rows.history.position(begin), rows.history.position(end))
    return {change.label: runs.count(change) for change in RowEvent if runs.count(change)}


def test_commits_that_a_restore_undid_are_not_on_the_way(table):
    table.append(rows=1).restore(1).append(rows=1)
    path = path_between(rows_of(table).history, 0, 3)
    assert (path.undone, path.done, path.common) == ((), (2, 3), 0)
    path = path_between(rows_of(table).history, 1, 3)
    assert (path.undone, path.done, path.common) == ((1,), (2, 3), 0)


def test_the_way_from_the_empty_table_is_the_line_of_a_version(table):
    table.append(rows=1).restore(1)
    path = path_between(rows_of(table).history, EMPTY, 2)
    assert (path.done, path.common) == ((0, 2), EMPTY)


def test_columns_added_one_after_the_other_are_looked_through(table):
    table.add_column("one").update({0: [1]}).add_column("two").add_column("three")
    assert net(table, 1, 5) == {"updated": 1, "column_added": 7}
    assert net(table, 3, 5) == {"column_added": 8}


def test_where_the_version_before_a_column_was_added_is_lost_rows_may_be_updated(table):
    table.update({0: [1]}).add_column("one").remove(2)
    rows = rows_of(table)
    runs = net_changes(rows, 0, 1)
    if rows.has_row_ids:
        assert runs.count(RowEvent.UPDATED) == 8
        assert runs.is_uncertain.all()


def test_rows_are_shown_as_updated_where_a_lost_version_that_added_a_column_may_hide_it(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).add_column("one").append(rows=1)
    table.remove(2)
    runs = net_changes(rows_of(table), 0, 1)
    updated = runs.only(RowEvent.UPDATED)
    assert updated.count(RowEvent.UPDATED) == 4
    assert updated.is_uncertain.all()


def test_a_lost_update_of_some_rows_is_exact(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).update({0: [1]}).append(rows=1)
    table.remove(2)
    runs = net_changes(rows_of(table), 0, 1)
    assert runs.count(RowEvent.UPDATED) == 1
    assert not runs.is_uncertain.any()


def test_a_restore_on_a_branch_takes_back_what_was_written_into_rows_of_the_parent(table):
    branch = table.branch("dev")
    branch.update({0: [1]}).restore(1)
    assert net(branch, 2, 3) == {"updated": 1}


def test_a_column_in_the_same_files_is_the_same_one_though_restores_went_to_lost_versions(table):
    table.add_column("one").append(rows=1).restore(2).restore(3).remove(2, 3)
    assert net(table, 4, 5) == {"inserted": 1}


def test_one_file_that_both_have_tells_that_rows_elsewhere_only_moved(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=2)
    table.add_column("one").compact([0])
    last = table.version
    table.restore(2).restore(last).remove(*range(2, last + 1))
    assert net(table, last + 1, last + 2) == {"moved": 4}


def test_a_column_that_a_restore_undid_is_not_the_one_added_since_with_its_id(table):
    table.add_column("one").restore(1).add_column("one")
    assert net(table, 2, 4) == {"column_rewritten": 8}


def test_without_row_ids_rows_that_moved_over_lost_versions_are_uncertain(table):
    table.compact([0, 1]).append(rows=1)
    rows = rows_of(table.remove(table.version - 1))
    moved = net_changes(rows, 0, len(rows.history) - 1).only(RowEvent.MOVED)
    assert moved.count(RowEvent.MOVED) == 8
    assert moved.is_uncertain.all() == moved.is_uncertain.any() == (not rows.has_row_ids)


@pytest.mark.parametrize("then", ["nothing", "upsert", "compaction"])
def test_rows_that_a_restored_lost_version_brought_back_may_be_those_that_it_took(tmp_path, then):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4)
    table.update({0: range(4)}, inserted=1).append(rows=1).restore(2).restore(1)
    match then:
        case "upsert":
            table.update({0: range(4)}, inserted=1)
        case "compaction":
            table.compact([0])
    rows = rows_of(table.remove(1, 2))
    runs = net_changes(rows, 1, len(rows.history) - 1)
    assert {RowEvent.DELETED, RowEvent.INSERTED} == {*runs.change.tolist()}
    assert runs.is_uncertain.all()


@pytest.mark.parametrize("lost", ["upsert", "restore"])
def test_rows_of_an_upsert_may_be_the_same_though_it_or_a_restore_of_it_is_lost(tmp_path, lost):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4)
    table.update({0: range(4)}, inserted=1)
    if lost == "upsert":
        rows = rows_of(table.append(rows=1).restore(1).remove(2))
        runs = net_changes(rows, 1, 2)
    else:
        rows = rows_of(table.restore(1).restore(2).append(rows=1).remove(4))
        runs = net_changes(rows, 2, 3)
    halves = dict.fromkeys((RowEvent.DELETED, RowEvent.INSERTED), 0)
    for change, length, is_uncertain in zip(
        runs.change.tolist(), runs.length.tolist(), runs.is_uncertain.tolist(), strict=True
    ):
        halves[RowEvent(change)] += length if is_uncertain else 0
    assert sorted(halves.values()) == [4, 5]
    assert runs.length.sum() == 10  # what was appended is certain


def test_row_versions_tell_what_came_after_a_version_that_is_lost(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=2)
    table.update({0: [1], 1: [0]}).add_column("one").remove(1)
    runs = net_changes_since(rows_of(table), 1, 2)
    assert runs.count(RowEvent.INSERTED) == 2
    assert runs.count(RowEvent.UPDATED) == 1
    assert runs.count(RowEvent.COLUMN_ADDED) == 3


@pytest.mark.slow
def test_a_compaction_is_not_written_out(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=5_000_000).delete({0: [7]})
    table.compact([0])
    rows = rows_of(table)
    runs = net_changes(rows, 0, len(rows.history) - 1)
    assert len(runs) == 3
    assert net(table, 1, table.version) == {"deleted": 1, "moved": 4_999_999}


@stored_check()
def check_counting_gives_what_comparing_gives(asked):
    rows = state_rows(asked.view)
    for begin, end in some_pairs(rows):
        counts = counted(rows, begin, end)
        if counts is not None:
            runs = net_changes(rows, begin, end)
            assert counts == {change: runs.count(change) for change in counts}, (begin, end)


@stored_check()
def check_net_changes_add_up(asked):
    rows = state_rows(asked.view)
    live = [
        sum(rows.num_rows(s) - len(rows.deleted(s)) for s in rows.history.states_at(position))
        for position in range(len(rows.history))
    ]
    for begin, end in some_pairs(rows):
        runs = net_changes(rows, begin, end)
        added, removed = runs.count(RowEvent.INSERTED), runs.count(RowEvent.DELETED)
        assert live[end] - live[begin] == added - removed, (begin, end)
        assert int(runs.length.sum(dtype=np.uint64)) <= live[begin] + added


@pytest.mark.parametrize("release", ["1.0.4", "8.0.1"])
def test_a_row_id_that_an_old_restore_gave_out_again_is_another_row(release):
    path = str(DATA / release / "stable_row_ids.lance")
    versions = [lance.dataset(path, version=version) for version in (15, 18)]
    scans = [version.to_table(columns=["id", "_rowid"]) for version in versions]
    ids, row_ids = [[{*scan[name].to_pylist()} for scan in scans] for name in ("id", "_rowid")]
    assert not ids[0] & ids[1]
    assert row_ids[0] & row_ids[1]
    summary = open_table(path).changes(15, 18).summary().row(0, named=True)
    assert (summary["deleted"], summary["inserted"]) == (len(ids[0]), len(ids[1]))
    assert summary["updated"] == 0


def test_the_summary_of_an_append_reads_no_deletion_file(tmp_path):
    numbers = pa.table({"n": range(400)})
    dataset = lance.write_dataset(
        numbers, tmp_path / "t", enable_stable_row_ids=True, max_rows_per_file=10
    )
    dataset.delete("n % 10 = 3")
    dataset.insert(numbers.slice(0, 5))
    table = lx.open_table(tmp_path / "t")
    summary = table.changes(2, 3).summary()
    assert summary.select("inserted", "unchanged").rows() == [(5, 360)]
    assert table.io.requests < 40
