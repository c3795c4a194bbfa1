"""Where rows at some addresses are in another version."""

import pytest

from lance_explorer.errors import InvalidArgumentError, VersionNotFoundError
from lance_explorer.frames.followed import FOLLOWED_ADDRESSES
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.follow_addresses import follow_addresses
from tests.inspect.tables import rows_of
from tests.synthetic import SyntheticTable

FRAGMENT = 1 << 32
COLUMNS = ("_rowaddr", "end_rowaddr", "outcome", "outcome_version")


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def table(request, tmp_path) -> SyntheticTable:
    """Two fragments of three rows, in version 1."""
    path = tmp_path / "t.lance"
    return SyntheticTable(path, stable_row_ids=request.param).append(rows=3, fragments=2)


def followed(table, addresses, begin=None, end=None):
    return follow_addresses(HistoryView.open(str(table.path)), addresses, begin, end)


def test_live_rows_are_where_a_compaction_put_them(table):
    table.delete({0: [1]}).compact([0, 1])
    new = table.fragment_ids[0] * FRAGMENT
    frame = followed(table, [2, 0, 2, FRAGMENT, 1])
    assert rows_of(frame, *COLUMNS) == [
        (2, new + 1, "live", None),
        (0, new, "live", None),
        (2, new + 1, "live", None),
        (FRAGMENT, new + 2, "live", None),
        (1, None, "deleted", 2),
    ]
    assert frame["evidence"].to_list() == ["recorded"] * 5
    assert frame["end_fragment_id"].to_list() == [new // FRAGMENT] * 4 + [None]
    assert frame.schema == FOLLOWED_ADDRESSES.polars_schema


def test_backwards_rows_are_where_they_came_from(table):
    table.delete({0: [1]}).append(rows=1).compact([0, 1, 2])
    new = table.fragment_ids[0] * FRAGMENT
    frame = followed(table, [new + 1, new + 5, new + 2, new + 9], table.version, 1)
    assert rows_of(frame, *COLUMNS) == [
        (new + 1, 2, "live", None),
        (new + 5, None, "created", 3),
        (new + 2, FRAGMENT, "live", None),
        (new + 9, None, "not_live", None),
    ]


def test_an_update_is_followed_by_row_id_or_by_order(table):
    table.update({0: [1]})
    frame = followed(table, [1, 0])
    evidence = "derived" if table.state.stable_row_ids else "inferred"
    assert rows_of(frame, "end_rowaddr", "outcome", "evidence") == [
        (2 * FRAGMENT, "live", evidence),
        (0, "live", "recorded"),
    ]


def test_a_row_that_an_upsert_took_without_row_ids_is_updated_or_deleted(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=3)
    table.update({0: [1]}, inserted=1)
    assert rows_of(followed(table, [1]), *COLUMNS, "end_fragment_id", "evidence") == [
        (1, None, "updated_or_deleted", 2, None, "recorded")
    ]
    backwards = followed(table, [FRAGMENT], 2, 1)
    assert rows_of(backwards, *COLUMNS) == [(FRAGMENT, None, "created_or_updated", 2)]


def test_a_restore_over_such_an_upsert_may_have_brought_its_rows_back(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=3)
    table.update({0: [1]}, inserted=1).restore(1)
    assert rows_of(followed(table, [FRAGMENT], 2), *COLUMNS) == [
        (FRAGMENT, None, "reverted_or_deleted", 3)
    ]
    backwards = followed(table, [1], 3, 2)
    assert rows_of(backwards, *COLUMNS) == [(1, None, "restored_or_reverted", 3)]


def test_an_overwrite_ends_rows(table):
    table.overwrite(rows=1)
    assert rows_of(followed(table, [0]), *COLUMNS) == [(0, None, "overwritten", 2)]


def test_a_deleted_row_that_was_brought_back_is_live(table):
    table.delete({0: [1]}).restore(1)
    assert rows_of(followed(table, [1]), *COLUMNS) == [(1, 1, "live", None)]
    assert rows_of(followed(table, [1], 3, 1), *COLUMNS) == [(1, 1, "live", None)]
    assert rows_of(followed(table, [1], 3, 2), *COLUMNS) == [(1, None, "restored", 3)]


def test_what_became_of_a_row_in_a_gap_is_unknown(table):
    table.delete({0: [1]}).append(rows=1).remove(2)
    frame = followed(table, [1, 0])
    assert rows_of(frame, *COLUMNS, "evidence", "source")[0] == (
        1,
        None,
        "unknown",
        3,
        "lost",
        None,
    )
    assert rows_of(frame, "outcome", "evidence")[1] == ("live", "recorded")


def test_a_row_that_moved_in_a_gap_is_proven_by_its_id(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3)
    table.update({0: [1]}).append(rows=1).remove(2)
    frame = followed(table, [1])
    assert rows_of(frame, "end_rowaddr", "outcome", "evidence") == [(FRAGMENT, "live", "derived")]


def test_a_version_before_the_fork_is_an_error_that_names_the_parent(table):
    table.append(rows=1)
    dev = table.branch("dev").append(rows=1)
    view = HistoryView.open(str(table.path), "dev")
    with pytest.raises(VersionNotFoundError, match="before the fork"):
        follow_addresses(view, [0], 1)
    assert follow_addresses(view, [0], 2)["outcome"].to_list() == ["live"]
    assert dev.version == 3


def test_addresses_are_whole_numbers(table):
    with pytest.raises(InvalidArgumentError, match="row addresses are whole numbers"):
        followed(table, [-1])
