"""What happened to rows, on tables that show one thing each."""

import numpy as np
import pytest

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.events.row_events import (
    NO_ADDRESS,
    RowEvent,
    RowEvents,
    row_events,
)
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.row_counts import counts_of
from tests.inspect.tables import stored
from tests.synthetic import SyntheticTable
from tests.synthetic.fragments import RowSequences
from tests.synthetic.wire import record

FRAGMENT = 1 << 32


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def table(request, tmp_path) -> SyntheticTable:
    """Two fragments of four rows, in version 1."""
    path = tmp_path / "t.lance"
    return SyntheticTable(path, stable_row_ids=request.param).append(rows=4, fragments=2)


def events_of(table: SyntheticTable, version: int | None = None) -> RowEvents:
    view = HistoryView.open(str(table.path))
    versions = [record.version for record in state_rows(view).history.records]
    return row_events(view, versions.index(version or table.version))


def told(events: RowEvents) -> list[tuple[str, str, int, int | None, int | None, int]]:
    """Return events as event, evidence, identity, addresses before and after, and length."""
    names = [RowEvent(event).label for event in events.event]
    known = [Evidence(evidence).label for evidence in events.evidence]
    places = [
        [None if address == NO_ADDRESS else address for address in column.tolist()]
        for column in (events.before, events.after)
    ]
    columns = (names, known, events.identity.tolist(), *places, events.length.tolist())
    return sorted(zip(*columns, strict=True), key=lambda row: row[2])


def test_rows_of_new_fragments_are_created(table):
    [event] = told(events_of(table.append(rows=3)))
    identity = 8 if table.state.stable_row_ids else 2 * FRAGMENT
    assert event == ("created", "recorded", identity, None, 2 * FRAGMENT, 3)


def test_masked_rows_are_deleted(table):
    events = told(events_of(table.delete({0: [1, 2], 1: [0, 1, 2, 3]})))
    second = 4 if table.state.stable_row_ids else FRAGMENT
    assert events == [
        ("deleted", "recorded", 1, 1, None, 2),
        ("deleted", "recorded", second, FRAGMENT, None, 4),
    ]


def test_updated_rows_are_the_masked_ones_in_their_order(table):
    events = told(events_of(table.update({0: [1, 3], 1: [0]})))
    second = 4 if table.state.stable_row_ids else FRAGMENT
    how = "derived" if table.state.stable_row_ids else "inferred"
    new = 2 * FRAGMENT
    expected = [("updated", how, 1, 1, new, 1), ("updated", how, 3, 3, new + 1, 1)]
    assert events == [*expected, ("updated", how, second, FRAGMENT, new + 2, 1)]


def test_an_upsert_without_row_ids_may_be_an_update_or_not(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4)
    events = events_of(table.update({0: [1]}, inserted=1))
    assert told(events) == [
        ("deleted", "recorded", 1, 1, None, 1),
        ("created", "derived", FRAGMENT, None, FRAGMENT, 2),
    ]
    assert events.is_uncertain.all()
    assert events.step.is_unpaired_update


def test_an_upsert_of_rows_that_an_update_wrote_is_no_less_open(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4)
    events = events_of(table.update({0: [1, 3]}).update({0: [0], 1: [1]}, inserted=1))
    assert told(events) == [
        ("deleted", "recorded", 0, 0, None, 1),
        ("deleted", "recorded", 3, FRAGMENT + 1, None, 1),
        ("created", "derived", 2 * FRAGMENT, None, 2 * FRAGMENT, 3),
    ]
    assert events.is_uncertain.all()


def test_an_upsert_with_row_ids_tells_updated_rows_from_inserted_ones(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).update({0: [1]}, inserted=1)
    events = events_of(table)
    assert told(events) == [
        ("updated", "derived", 1, 1, FRAGMENT, 1),
        ("created", "derived", 4, None, FRAGMENT + 1, 1),
    ]
    assert not events.is_uncertain.any()


def test_a_compaction_moves_live_rows(table):
    table.delete({0: [1]}).compact([0, 1])
    new = table.fragment_ids[0] * FRAGMENT
    second = 4 if table.state.stable_row_ids else FRAGMENT
    assert told(events_of(table)) == [
        ("moved", "recorded", 0, 0, new, 1),
        ("moved", "recorded", 2, 2, new + 1, 2),
        ("moved", "recorded", second, FRAGMENT, new + 3, 4),
    ]


def test_a_restore_over_a_compaction_moves_rows_back(table):
    table.delete({0: [1]}).compact([0, 1]).append(rows=1).restore(1)
    new = int(events_of(table, 4).after.min())
    second = 4 if table.state.stable_row_ids else FRAGMENT
    added = 8 if table.state.stable_row_ids else new + FRAGMENT
    assert told(events_of(table)) == [
        ("moved", "derived", 0, new, 0, 1),
        ("restored", "derived", 1, None, 1, 1),
        ("moved", "derived", 2, new + 1, 2, 2),
        ("moved", "derived", second, new + 3, FRAGMENT, 4),
        ("deleted", "recorded", added, new + FRAGMENT, None, 1),
    ]


def test_a_row_that_an_inner_restore_moved_back_is_followed_through_it(table):
    table.compact([0, 1])
    compacted = table.version
    table.restore(1).restore(compacted)
    moved = [event for event in told(events_of(table)) if event[0] == "moved"]
    assert sum(event[-1] for event in moved) == 8


def test_a_restore_brings_values_back_and_forward(table):
    table.update({0: [1]}).restore(1).restore(2)
    new = 2 * FRAGMENT
    weakest = "derived" if table.state.stable_row_ids else "inferred"
    assert told(events_of(table, 3)) == [("restored", weakest, 1, new, 1, 1)]
    assert told(events_of(table, 4)) == [("restored", weakest, 1, 1, new, 1)]


def test_an_overwrite_ends_all_rows(table):
    events = events_of(table.overwrite(rows=2))
    assert events.count(RowEvent.OVERWRITTEN) == 8
    assert {*events.evidence[events.event == RowEvent.OVERWRITTEN].tolist()} == {Evidence.RECORDED}
    assert events.count(RowEvent.CREATED) == 2
    assert len(events) == (3 if not table.state.stable_row_ids else events.event.size)


def test_a_column_with_values_is_added_to_each_row(table):
    events = told(events_of(table.delete({0: [0]}).add_column("more")))
    assert {event[:2] for event in events} == {("column_added", "derived")}
    assert sum(event[-1] for event in events) == 7


@pytest.mark.parametrize("version", [("update_config", 2), ("rename_column", 2)])
def test_a_commit_that_touches_no_rows_has_no_events(table, version):
    name, number = version
    arguments = {"a": "b"} if name == "update_config" else {}
    operands = () if arguments else ("score", "points")
    getattr(table, name)(*operands, **arguments)
    assert len(events_of(table, number)) == 0


def test_a_branch_begins_without_events(table):
    assert len(events_of(table.branch("dev"))) == 0


@pytest.mark.slow
def test_runs_are_not_written_out(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=5_000_000)
    assert len(events_of(table)) == 1
    events = events_of(table.delete({0: [7]}).compact([0]))
    assert (len(events), events.num_rows) == (2, 4_999_999)


# ----------------------------------------------------------------------------------------- gaps


def test_over_a_gap_the_row_versions_tell_when(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4)
    table.append(rows=2).update({0: [1]}).delete({0: [2]}).append(rows=1).remove(2, 3, 4)
    events = events_of(table)
    assert not events.step.follows
    by_row = {row[2]: (row[0], row[1]) for row in told(events)}
    assert by_row == {
        1: ("updated", "derived"),
        2: ("deleted", "lost"),
        4: ("created", "derived"),
        6: ("created", "recorded"),
    }
    versions = dict(zip(events.identity.tolist(), events.version.tolist(), strict=True))
    assert versions == {1: 3, 2: 5, 4: 2, 6: 5}


def test_over_a_gap_a_row_of_a_detached_version_is_new_by_its_row_id(tmp_path):
    """Its created version tells no time; it has the first row ID that was not given before."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=1).append(rows=1)
    fragments = [one.message for one in table.state.fragments.values()]
    detached = np.full(1, FIRST_DETACHED + 7, dtype=np.uint64)
    ids = np.array([4], dtype=np.uint64)
    RowSequences([ids], detached, detached).write_to(fragments[1])
    records = [record(2, fragment.SerializeToString()) for fragment in fragments]
    table.amend(fragments=b"".join(records)).remove(2)
    assert told(events_of(table)) == [
        ("created", "lost", 4, None, FRAGMENT, 1),
        ("created", "recorded", 5, None, 2 * FRAGMENT, 1),
    ]


def test_over_a_gap_addresses_prove_what_stayed(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4)
    table.append(rows=2).update({0: [1]}).delete({0: [2]}).append(rows=1).remove(2, 3, 4)
    assert told(events_of(table)) == [
        ("deleted", "lost", 1, 1, None, 2),
        ("created", "lost", FRAGMENT, None, FRAGMENT, 2),
        ("created", "lost", 2 * FRAGMENT, None, 2 * FRAGMENT, 1),
        ("created", "recorded", 3 * FRAGMENT, None, 3 * FRAGMENT, 1),
    ]


def test_a_compaction_after_a_gap_is_still_told_by_its_transaction(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4).append(rows=2)
    table.compact([0, 1]).remove(3)
    new = table.fragment_ids[0] * FRAGMENT
    assert told(events_of(table)) == [
        ("moved", "recorded", 0, 0, new, 4),
        ("moved", "recorded", FRAGMENT, FRAGMENT, new + 4, 2),
    ]


def test_a_lost_compaction_moved_rows_before_the_version_that_shows_it(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4, fragments=2)
    table.compact([0, 1])
    compacted = table.version
    table.append(rows=1).remove(*range(2, compacted + 1))
    moved = events_of(table)
    moved = moved.where(moved.event == RowEvent.MOVED)
    assert (moved.num_rows, set(moved.version.tolist())) == (8, {compacted})
    assert set(moved.evidence.tolist()) == {Evidence.INFERRED}


@pytest.mark.parametrize("num_lost", [1, 2])
def test_rows_that_moved_in_a_gap_may_have_been_written_too(table, num_lost):
    """One commit cannot do both; with row IDs it would tell if it wrote them anew."""
    table.compact([0, 1]).append(rows=1).remove(*range(table.version - num_lost, table.version))
    events = events_of(table)
    moved = events.where(events.event == RowEvent.MOVED)
    assert moved.num_rows == 8
    assert moved.is_uncertain.any() == (num_lost > 1 or not table.state.stable_row_ids)
    assert moved.is_uncertain.all() == moved.is_uncertain.any()


def test_a_lost_restore_that_moved_rows_back_is_not_dated(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4, fragments=2)
    table.compact([0, 1]).restore(1).append(rows=1).remove(table.version - 1)
    events = events_of(table)
    moved = events.where(events.event == RowEvent.MOVED)
    assert (moved.num_rows, set(moved.evidence.tolist())) == (8, {Evidence.LOST})


def test_the_first_kept_version_tells_when_its_rows_were_written(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).update({0: [1]}).append(rows=1)
    table.remove(1, 2)
    view = HistoryView.open(str(table.path))
    events = row_events(view, 0)
    pairs = zip(
        events.event.tolist(), events.identity.tolist(), events.version.tolist(), strict=True
    )
    assert sorted(pairs) == [
        (RowEvent.CREATED, 0, 1),
        (RowEvent.CREATED, 1, 1),
        (RowEvent.CREATED, 2, 1),
        (RowEvent.CREATED, 4, 3),
        (RowEvent.UPDATED, 1, 2),
    ]


# ------------------------------------------------------------- restores without stable row IDs


@pytest.fixture
def upserted(tmp_path) -> SyntheticTable:
    """Rows in version 1; in version 2 one of them was updated and one inserted."""
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4)
    return table.update({0: [1]}, inserted=1)


def test_a_restore_over_an_upsert_may_bring_back_the_rows_that_it_takes_out(upserted):
    events = events_of(upserted.restore(1))
    assert events.is_uncertain.all()
    counts = counts_of(events)
    assert (counts.deleted, counts.restored, counts.reverted, counts.moved) == (None,) * 4


def test_rows_of_the_first_kept_version_may_be_those_that_a_restore_brings_back(upserted):
    events = events_of(upserted.append(rows=2).restore(1).remove(1))
    assert told(events)[0][:2] == ("restored", "derived")
    assert events.where(events.event != RowEvent.DELETED).is_uncertain.all()
    in_first = events.before < np.uint64(2 * FRAGMENT)
    assert events.where((events.event == RowEvent.DELETED) & in_first).is_uncertain.all()
    later = events.where((events.event == RowEvent.DELETED) & ~in_first)
    assert later.num_rows == 2
    assert not later.is_uncertain.any()


def test_a_restore_over_rows_that_came_later_is_certain(upserted):
    events = events_of(upserted.append(rows=2).delete({0: [0]}).restore(2))
    assert not events.is_uncertain.any()
    counts = counts_of(events)
    assert (counts.deleted, counts.restored, counts.reverted, counts.moved) == (2, 1, 0, 0)


# ------------------------------------------------------------------------------- stored tables


@pytest.mark.parametrize("writer", ["8.0.1", "14.0.2"])
def test_row_ids_of_a_restored_detached_version_are_those_of_other_rows(writer):
    view = stored(f"{writer}/detached.lance")
    events = row_events(view, state_rows(view).history.position(3))
    ended, added = (
        events.where(events.after == NO_ADDRESS),
        events.where(events.before == NO_ADDRESS),
    )
    rows = state_rows(view)
    for some in (ended, added):
        assert (rows.row_ids(some.identity).tolist(), some.length.tolist()) == ([6], [3])
    assert ended.identity.tolist() != added.identity.tolist()
    assert len(events) == 2


@pytest.mark.parametrize("writer", ["0.10.18", "8.0.1"])
def test_a_fragment_that_got_an_old_id_has_rows_of_its_own(writer):
    view = stored(f"{writer}/life_cycle.lance")
    rows = state_rows(view)
    overwrite = next(
        position
        for position, record in enumerate(rows.history.records)
        if position and record.operation == "Overwrite"
    )
    ids = {rows.history.states[state].id for state in rows.history.states_added(overwrite).tolist()}
    assert 0 in ids  # it was there in version 1
    events = row_events(view, overwrite)
    seen = {RowEvent(event) for event in events.event.tolist()}
    assert seen == {RowEvent.OVERWRITTEN, RowEvent.CREATED}
    old = events.identity[events.event == RowEvent.OVERWRITTEN]
    assert not set(old.tolist()) & set(events.identity[events.event == RowEvent.CREATED].tolist())


def test_columns_written_in_place_may_have_the_values_that_they_had():
    view = stored("14.0.2/data_replacement.lance")
    operations = [record.operation for record in state_rows(view).history.records]
    events = row_events(view, operations.index(OperationName.DATA_REPLACEMENT))
    assert {*events.event.tolist()} == {RowEvent.COLUMN_REWRITTEN}
    assert events.is_uncertain.all()


def test_an_update_in_place_without_offsets_concerns_the_whole_fragment():
    view = stored("14.0.2/update_columns.lance")
    events = row_events(view, 1)
    assert {*events.event.tolist()} == {RowEvent.COLUMN_REWRITTEN}
    assert {*events.evidence.tolist()} == {Evidence.INFERRED}
    assert events.is_uncertain.all()
    offsets = row_events(view, 4)
    assert {*offsets.event.tolist()} == {RowEvent.UPDATED}


def test_a_cast_rewrites_a_column_and_adds_none():
    view = stored("14.0.2/schema_changes.lance")
    events = {position: row_events(view, position) for position in (2, 3)}
    assert {*events[2].event.tolist()} == {RowEvent.COLUMN_ADDED}
    assert {*events[3].event.tolist()} == {RowEvent.COLUMN_REWRITTEN}


def test_an_overlay_updates_the_rows_that_it_covers():
    view = stored("14.0.2/data_overlay.lance")
    events = row_events(view, 1)
    assert events.step.name == OperationName.DATA_OVERLAY
    assert {*events.event.tolist()} == {RowEvent.UPDATED}
