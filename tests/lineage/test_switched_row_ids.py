"""Tables whose stable row IDs were turned on: synthetic ones, since no call in Python does that."""

import pytest

import lance_explorer as lx
from lance_explorer.errors import RowNotFoundError, UnsupportedFeatureError
from tests.synthetic.tables import SyntheticTable

SWITCHED = 4


@pytest.fixture
def table(tmp_path):
    """Two fragments, a deletion, row IDs turned on (4), then an append, an update, a compaction."""
    synthetic = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    synthetic.append(rows=3).append(rows=4).delete({0: [1]}).turn_on_row_ids()
    synthetic.append(rows=2).update({1: [2]}).delete({1: [0]}).compact([0, 1])
    return lx.open_table(synthetic.path)


def events(table: lx.Table, row_id: int) -> list[tuple[object, ...]]:
    history = table.row(row_id).history()
    return history.select("version", "event", "evidence").rows()


def test_a_life_begins_where_the_row_was_written(table):
    assert events(table, 0) == [(1, "created", "recorded"), (9, "moved", "recorded")]
    assert events(table, 5) == [(2, "created", "recorded"), (6, "updated", "derived")]
    assert events(table, 3) == [(2, "created", "recorded"), (7, "deleted", "recorded")]
    assert events(table, 7) == [(5, "created", "recorded")]


def test_deleted_rows_have_ids_that_nobody_finds(table):
    assert table.at(SWITCHED).row_ids()["_rowid"].to_list() == [0, 2, 3, 4, 5, 6]
    with pytest.raises(RowNotFoundError):
        table.row(1).history()


def test_changes_are_told_on_either_side(table):
    before = table.changes(2, 3, images=None).summary()
    assert before.select("deleted", "unchanged", "evidence").rows() == [(1, 6, "recorded")]
    after = table.changes(SWITCHED, 9, images=None).summary()
    assert after.select("inserted", "deleted", "updated").rows() == [(2, 1, 1)]
    everything = table.changes(0, 9, images=None).summary()
    assert everything.select("inserted", "deleted", "updated").rows() == [(7, 0, 0)]


@pytest.mark.parametrize(("begin", "end"), [(3, 4), (1, 9), (2, 6)])
def test_changes_across_are_refused_with_the_version(table, begin, end):
    with pytest.raises(UnsupportedFeatureError, match="version 4 turned stable row IDs on"):
        table.changes(begin, end, images=None).summary()


def test_rows_are_not_followed_across(table):
    with pytest.raises(UnsupportedFeatureError, match="version 4 turned stable row IDs on"):
        table.follow([0, 2], 3, 9)


def test_the_switch_is_a_finding(table):
    found = table.check_row_ids()
    assert found["code"].to_list() == ["stable_row_ids_switched"]


def test_a_file_that_changed_with_the_switch_breaks_the_life(tmp_path):
    synthetic = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=3)
    fragment = synthetic.state.fragments[0]
    fragment.message.files[0].path = "another.lance"
    synthetic.turn_on_row_ids()
    table = lx.open_table(synthetic.path)
    assert [event for _, event, _ in events(table, 0)] == ["created"]
    assert events(table, 0)[0][0] == 2


def test_row_ids_may_be_turned_on_again_after_a_restore(tmp_path):
    synthetic = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    synthetic.append(rows=3).append(rows=4)
    synthetic.turn_on_row_ids()
    synthetic.state.stable_row_ids = False
    synthetic.restore(2)
    table = lx.open_table(synthetic.path)
    assert table.latest.version == 4
    assert (
        table.latest.row_ids()["_rowid"].to_list() == table.latest.row_ids()["_rowaddr"].to_list()
    )
    assert table.changes(1, 2, images=None).summary()["inserted"].to_list() == [4]
    with pytest.raises(UnsupportedFeatureError, match="version 4 turned stable row IDs off"):
        table.changes(2, 4, images=None).summary()
