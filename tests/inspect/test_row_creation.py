from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.format.table_operations import Restore
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.row_creation import CREATED_AT_SOURCE, created_at
from lance_explorer.inspect.rows import rows
from tests.format.samples import DATA
from tests.inspect.tables import stored
from tests.stored_tables import Asked, has_row_ids, is_main, stored_check
from tests.synthetic import SyntheticTable


def has_all_versions(asked: Asked) -> bool:
    """Tell whether a table has stable row IDs and all versions that its rows come from."""
    is_whole = is_main(asked) and asked.versions[0] == 1 and asked.scenario != "detached"
    return is_whole and has_row_ids(asked)


def created(view: HistoryView, version: int) -> pl.DataFrame:
    """Return the row IDs, what the file says, what is told, and by what."""
    frame = rows(view, version)
    told, told_by = created_at(view, version, frame)
    return frame.select("_rowid", "_row_created_at_version", told, told_by)


def told(view: HistoryView, version: int) -> dict[int, tuple[int | None, str | None]]:
    frame = created(view, version).select("_rowid", "created_at_version", "created_at_source")
    return {row_id: (at, by) for row_id, at, by in frame.rows()}


def line_of(view: HistoryView, version: int) -> list[int]:
    """Return the versions that one comes from, oldest first."""
    line = [version]
    while line[-1] != 1:
        record = view.history.records[view.history.position(line[-1])]
        transaction = view.transaction(record)
        if transaction is not None and isinstance(transaction.operation, Restore):
            line.append(transaction.operation.version)
        else:
            line.append(line[-1] - 1)
    return line[::-1]


@stored_check(has_all_versions)
def check_a_row_was_created_in_the_first_version_that_has_its_id(asked):
    view = asked.view
    for version in asked.versions:
        first: dict[int, int] = {}
        for earlier in line_of(view, version):
            for row_id in rows(view, earlier)["_rowid"]:
                first.setdefault(row_id, earlier)
        frame = created(view, version)
        assert frame["created_at_version"].to_list() == [first[r] for r in frame["_rowid"]]
        kept = frame.filter(pl.col("created_at_source") == "file")
        assert kept["created_at_version"].equals(kept["_row_created_at_version"])


def test_the_file_is_believed_unless_it_is_wrong():
    frame = created(stored("1.0.4/stable_row_ids.lance"), 19)
    wrong = frame.filter(pl.col("created_at_source") == "history")
    assert frame.schema["created_at_source"] == CREATED_AT_SOURCE
    assert set(wrong["_row_created_at_version"]) == {1}
    assert set(wrong["created_at_version"]) == {5, 18, 19}
    assert dict(wrong.select("_rowid", "created_at_version").rows())[30] == 19


def test_tables_of_sound_writers_need_no_history():
    view = stored("14.0.2/cleaned_stable_row_ids.lance")
    frame = rows(view, 10)
    before = view.storage.io.requests
    at, by = created_at(view, 10, frame)
    assert view.storage.io.requests - before <= 1  # the first kept manifest
    assert at.equals(frame["_row_created_at_version"], check_names=False)
    assert set(by) == {"file"}


def test_versions_that_are_gone_leave_it_unknown():
    # 4 and 14 were updated, and 18 to 23 came, in versions that are gone. The one before 8 is gone
    # too, which updated 5 and 20: so nothing tells whether 24 came in it.
    lost = told(stored("1.0.4/cleaned_stable_row_ids.lance"), 10)
    unknown = {row_id for row_id, (at, by) in lost.items() if at is None and by is None}
    assert unknown == {4, 5, 14, 20, 24}
    assert {lost[row_id] for row_id in (0, 1, 2)} == {(1, "file")}
    assert {by for at, by in lost.values() if at is not None} == {"file"}


def test_a_branch_is_followed_to_its_parent(monkeypatch):
    monkeypatch.chdir(DATA / "1.0.4")
    main = told(stored("1.0.4/branches.lance"), 3)
    deep = told(stored("1.0.4/branches.lance/tree/dev/deep"), 7)
    assert {row_id: at for row_id, (at, _) in deep.items() if row_id < 18} == {
        row_id: main[row_id][0] for row_id in deep if row_id < 18
    }
    on_branch = {row_id: deep[row_id] for row_id in deep if row_id >= 18}
    assert on_branch == {
        18: (4, "file"),
        19: (4, "history"),
        21: (4, "file"),
        22: (7, "history"),
    }


def test_tables_that_store_no_versions_have_the_history():
    view = stored("0.32.1/stable_row_ids.lance")
    frame = created(view, 5)
    assert frame["_row_created_at_version"].null_count() == len(frame)
    assert set(frame["created_at_source"]) == {"history"}
    assert frame["created_at_version"].null_count() == 0


def test_without_stable_row_ids_nothing_is_told():
    frame = created(stored("14.0.2/life_cycle.lance"), 17)
    assert frame["created_at_version"].null_count() == len(frame)
    assert frame["created_at_source"].null_count() == len(frame)
    assert frame.schema["created_at_version"] == pl.UInt64()


def test_detached_versions_are_as_their_files_say():
    view = stored("14.0.2/detached.lance")
    for file in view.listing.detached:
        frame = created(view, file.version)
        assert frame["created_at_version"].equals(
            frame["_row_created_at_version"], check_names=False
        )


def test_an_empty_table_has_no_rows():
    assert created(stored("14.0.2/empty.lance"), 1).is_empty()


# -------------------------------------------------------------------------------- synthetic tables


def write_as(table: SyntheticTable, release: str) -> SyntheticTable:
    table.state.manifest.writer_version.version = release
    return table


def update_wrongly(table: SyntheticTable, rows_: dict[int, list[int]], inserted: int) -> int:
    """Update like 1.0.4, which says that version 1 created all rows; return the fragment."""
    write_as(table, "1.0.4").update(rows_, inserted=inserted)
    fragment_id = table.fragment_ids[-1]
    fragment = table.state.fragments[fragment_id]
    assert fragment.sequences is not None
    ones = np.ones_like(fragment.sequences.created_at)
    sequences = replace(fragment.sequences, created_at=ones)
    sequences.write_to(fragment.message)
    wrong = replace(fragment, message=fragment.message, sequences=sequences)
    table.state.fragments[fragment_id] = wrong
    records = b"".join(table.state.fragments[key].record for key in table.fragment_ids)
    table.amend(fragments=records)
    return fragment_id


@pytest.fixture
def table(tmp_path):
    """IDs 0 to 2 of version 1, 3 and 4 of version 2; in version 3, 1 and 3 updated, 5 new."""
    table = write_as(SyntheticTable(tmp_path / "t.lance"), "1.0.4").append(rows=3).append(rows=2)
    update_wrongly(table, {0: [1], 1: [0]}, inserted=1)
    return table


TRUTH = {
    0: (1, "file"),
    1: (1, "file"),
    2: (1, "file"),
    3: (2, "history"),
    4: (2, "file"),
    5: (3, "history"),
}


def test_what_a_faulty_writer_wrote_is_told_by_the_history(table):
    view = HistoryView.open(str(table.path))
    assert set(created(view, 3)["_row_created_at_version"]) == {1, 2}
    assert told(view, 3) == TRUTH


def test_what_a_compaction_of_a_sound_writer_carried_on_is_corrected_too(table):
    write_as(table, "14.0.2").compact([0, 1, 2]).append(rows=1)
    assert told(HistoryView.open(str(table.path)), table.version) == {**TRUTH, 6: (6, "file")}


def test_a_faulty_writer_among_sound_ones_is_noticed(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3).append(rows=2)
    update_wrongly(table, {0: [1], 1: [0]}, inserted=1)
    assert told(HistoryView.open(str(table.path)), 3) == TRUTH


def test_ids_that_a_restore_let_be_given_out_again_are_those_of_the_new_rows(table):
    table.state.manifest.next_row_id = 5
    table.restore(2).append(rows=1)
    update_wrongly(table, {3: [0]}, inserted=0)
    assert told(HistoryView.open(str(table.path)), table.version)[5] == (5, "history")


def test_what_the_first_kept_version_has_may_be_older_than_it(table):
    table.remove(1, 2)
    lost = told(HistoryView.open(str(table.path)), 3)
    assert lost == {
        0: (1, "file"),
        1: (None, None),
        2: (1, "file"),
        3: (None, None),
        4: (2, "file"),
        5: (None, None),
    }


def test_a_gap_leaves_open_what_came_in_it(table):
    table.append(rows=1)
    fragment_id = table.fragment_ids[-1]
    update_wrongly(table, {fragment_id: [0]}, inserted=1)
    table.remove(4)
    told_now = told(HistoryView.open(str(table.path)), 5)
    assert told_now[6] == (None, None)
    assert told_now[7] == (None, None)  # in the kept version 5, or in version 4
    assert {row_id: told_now[row_id] for row_id in TRUTH} == TRUTH


def test_a_restore_that_cannot_be_followed_leaves_open_what_was_before(tmp_path):
    table = write_as(SyntheticTable(tmp_path / "t.lance"), "1.0.4").append(rows=3).append(rows=2)
    table.commit("restore", pb.Restore(version=3))  # of itself
    update_wrongly(table, {0: [1], 1: [0]}, inserted=1)
    lost = told(HistoryView.open(str(table.path)), 4)
    assert lost[1] == (1, "file")
    assert lost[3] == (None, None)
    assert lost[5] == (4, "history")


def test_rows_of_a_detached_version_that_was_restored_are_as_their_file_says():
    view = stored("14.0.2/detached.lance")
    assert {at for at, by in told(view, 4).values()} == {1, 2, 4}
