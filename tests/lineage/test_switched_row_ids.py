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


def test_a_row_that_was_deleted_before_has_the_row_id_that_its_place_got(table):
    assert table.at(SWITCHED).row_ids()["_rowid"].to_list() == [0, 2, 3, 4, 5, 6]
    assert events(table, 1) == [(1, "created", "recorded"), (3, "deleted", "recorded")]
    with pytest.raises(RowNotFoundError, match="only the IDs up to 8 were assigned"):
        table.row(9).history()


def test_changes_are_told_on_either_side(table):
    before = table.changes(2, 3, images=None).summary()
    assert before.select("deleted", "unchanged", "evidence").rows() == [(1, 6, "recorded")]
    after = table.changes(SWITCHED, 9, images=None).summary()
    assert after.select("inserted", "deleted", "updated").rows() == [(2, 1, 1)]
    everything = table.changes(0, 9, images=None).summary()
    assert everything.select("inserted", "deleted", "updated").rows() == [(7, 0, 0)]


def test_net_changes_across_name_rows_by_their_row_ids(table):
    feed = table.changes(2, 9, images=None, include=("moved",)).to_polars()
    assert feed.select("_event", "_rowid", "_commit_version", "evidence").rows() == [
        ("deleted", 1, None, "derived"),
        ("deleted", 3, None, "derived"),
        ("updated", 5, 6, "derived"),
        ("moved", 0, 1, "derived"),
        ("moved", 2, 1, "derived"),
        ("moved", 4, 2, "derived"),
        ("moved", 6, 2, "derived"),
        ("inserted", 7, 5, "derived"),
        ("inserted", 8, 5, "derived"),
    ]
    assert table.changes(3, 4, images=None).summary()["unchanged"].to_list() == [6]


def test_changes_commit_by_commit_name_rows_by_the_ids_of_the_last_version(table):
    feed = table.changes(2, 9, mode="per_commit", images=None).to_polars()
    assert feed.select("_commit_version", "_event", "_rowid").rows() == [
        (3, "deleted", 1),
        (5, "created", 7),
        (5, "created", 8),
        (6, "updated", 5),
        (7, "deleted", 3),
    ]
    before = table.changes(2, 3, images=None).to_polars()
    assert before["_rowid"].to_list() == [1]  # an address: version 3 has no row IDs


def test_a_row_without_a_place_left_has_no_row_id(tmp_path):
    synthetic = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    synthetic.append(rows=3).append(rows=2).delete({0: [0]}).compact([0, 1]).turn_on_row_ids()
    table = lx.open_table(synthetic.path)
    feed = table.changes(2, None, images=None, include=("moved",)).to_polars()
    assert feed.select("_event", "_rowid").rows() == [
        ("deleted", None),
        *[("moved", row_id) for row_id in range(4)],
    ]
    lost = table.row(0, at=2).history()
    assert lost["event"].to_list() == ["created", "deleted"]
    assert events(table, 0) == [
        (1, "created", "recorded"),
        (5, "moved", "recorded"),
    ]


def test_rows_are_named_as_the_version_names_them_that_they_are_followed_from(table):
    found = table.follow([0, 1, 1 << 32], 2, 9)
    assert found.select("_rowid", "version", "event").rows() == [
        (0, 9, "moved"),
        (1, 3, "deleted"),
        (1 << 32, 7, "deleted"),
    ]
    by_row_id = table.follow([0, 1, 3], end_version=9)
    assert by_row_id.select("_rowid", "version", "event").rows() == [
        (0, 1, "created"),
        (0, 9, "moved"),
        (1, 1, "created"),
        (1, 3, "deleted"),
        (3, 2, "created"),
        (3, 7, "deleted"),
    ]


def test_addresses_are_followed_across_both_ways(table):
    there = table.follow_addresses([0, 1, 2], 1, 9)
    assert there["outcome"].to_list() == ["live", "deleted", "live"]
    ends = there["end_rowaddr"].drop_nulls().to_list()
    back = table.follow_addresses(ends, 9, 1)
    assert back.select("end_rowaddr", "outcome").rows() == [(0, "live"), (2, "live")]


@pytest.mark.parametrize("with_versions", [True, False])
def test_versions_that_the_switch_wrote_for_older_rows_say_nothing(tmp_path, with_versions):
    synthetic = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    synthetic.append(rows=3).append(rows=2).turn_on_row_ids(with_versions=with_versions)
    synthetic.delete({0: [0]}).update({1: [1]})
    table = lx.open_table(synthetic.path)
    counts = table.changes(2, 5, images=None).summary()
    assert counts.select("updated", "deleted", "unchanged").rows() == [(1, 1, 3)]
    assert table.changes(3, 5, images=None).summary()["updated"].to_list() == [1]


@pytest.mark.parametrize("with_versions", [True, False])
def test_an_update_before_the_switch_is_known_after_a_lost_deletion(tmp_path, with_versions):
    synthetic = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    synthetic.append(rows=3).update({0: [1, 2]}).append(rows=1).update({1: [0, 1]})
    synthetic.turn_on_row_ids(with_versions=with_versions).delete({3: [1]}).append(rows=1)
    synthetic.remove(2, 6)  # the one wrote the rows first, the other deleted one of them
    table = lx.open_table(synthetic.path)
    feed = table.changes(3, 7, images=None, include=("moved",)).to_polars()
    assert feed.filter(_event="moved").is_empty()
    updated = feed.filter(_change_type="update_postimage")
    assert updated.select("_rowid", "_commit_version", "is_uncertain").rows() == [(4, 4, False)]


def test_the_switch_is_a_finding(table):
    found = table.check_row_ids()
    assert found["code"].to_list() == ["stable_row_ids_switched"]


def test_a_file_that_the_switch_replaced_may_have_other_values(tmp_path):
    synthetic = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=3)
    fragment = synthetic.state.fragments[0]
    fragment.message.files[0].path = "another.lance"
    synthetic.turn_on_row_ids()
    table = lx.open_table(synthetic.path)
    history = table.row(0).history().select("version", "event", "is_uncertain").rows()
    assert history == [(1, "created", False), (2, "column_rewritten", True)]


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
