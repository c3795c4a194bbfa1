"""Merges in tables without stable row IDs: what is counted, what is followed, what stays open.

A merge takes rows out and puts rows in; nothing says which became which. So a row that it took out
is told as deleted and one that it put in as created, both as uncertain: two halves of an update, or
not. How many there were of each can be counted where the sums leave no choice, and where a filter
of the primary key says that nothing was inserted. Keys tell it all.
"""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from lance_explorer import Table, open_table
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_events import row_events
from lance_explorer.inspect.row_counts import counts_of
from tests.differential.following_agreement import places
from tests.differential.twin import Keys, Twin

OLD, ABSENT = Keys(4, 0), Keys(4, 1)

MERGES: dict[str, Callable[[Twin], None]] = {
    "update": lambda twin: twin.upsert(OLD, 0),
    "update_one_column": lambda twin: twin.upsert_value(OLD),
    "update_where": lambda twin: twin.upsert_where(Keys(2, 0), OLD),
    "update_and_delete": lambda twin: twin.mirror(OLD, 0, ABSENT),
    "upsert": lambda twin: twin.upsert(OLD, 2),
    "upsert_and_delete": lambda twin: twin.mirror(OLD, 2, ABSENT),
}
INSERT_NOTHING = [name for name in MERGES if name.startswith("update")]


def merged(path: object, merge: str, *, has_primary_key: bool) -> tuple[Twin, Table]:
    """Return a table whose last commit is a merge; some of its rows were updated before."""
    twin = Twin.create(str(path), 12, has_primary_key=has_primary_key)
    twin.update(Keys(8, 0))
    MERGES[merge](twin)
    return twin, open_table(twin.uri)


def counted(twin: Twin) -> dict[str, int | None]:
    """Return how many rows the last commit added, updated and deleted."""
    return {name: twin.commits[twin.version].counts[name] for name in NAMES}


NAMES = ("added", "updated", "deleted")


@pytest.fixture(params=[True, False], ids=["primary_key", "no_key"])
def has_primary_key(request) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("merge", MERGES)
def test_both_halves_of_what_may_be_an_update_are_marked(merge, has_primary_key, tmp_path):
    twin, table = merged(tmp_path / "t.lance", merge, has_primary_key=has_primary_key)
    events = row_events(table._view, len(table._view.history) - 1)
    added, updated, deleted = [count or 0 for count in counted(twin).values()]
    assert events.count(RowEvent.DELETED) == updated + deleted
    assert events.count(RowEvent.CREATED) == updated + added
    assert events.num_rows == added + 2 * updated + deleted
    assert events.is_uncertain.all()
    [net] = table.changes(twin.version - 1).summary().to_dicts()
    assert (net["inserted"], net["deleted"]) == (added + updated, updated + deleted)
    assert net["uncertain"] == net["inserted"] + net["deleted"]


@pytest.mark.parametrize("merge", INSERT_NOTHING)
def test_a_primary_key_filter_without_keys_says_how_many_were_updated(merge, tmp_path):
    twin, table = merged(tmp_path / "t.lance", merge, has_primary_key=True)
    row = table.versions().row(-1, named=True)
    assert {name: row[f"rows_{name}"] for name in NAMES} == counted(twin)


@pytest.mark.parametrize("merge", MERGES)
def test_versions_count_what_the_events_add_up_to(merge, has_primary_key, tmp_path):
    _, table = merged(tmp_path / "t.lance", merge, has_primary_key=has_primary_key)
    row = table.versions().row(-1, named=True)
    counts = counts_of(row_events(table._view, len(table._view.history) - 1))
    assert [row[f"rows_{name}"] for name in NAMES] == [getattr(counts, name) for name in NAMES]


@pytest.mark.parametrize("merge", MERGES)
def test_a_row_that_a_merge_took_is_said_to_be_updated_only_if_none_was_deleted(
    merge, has_primary_key, tmp_path
):
    twin, table = merged(tmp_path / "t.lance", merge, has_primary_key=has_primary_key)
    before, after = places(table, twin.version - 1), places(table, twin.version)
    asked = np.array([*before.addresses.values()], dtype=np.uint64)
    found = table.follow_addresses(asked, twin.version - 1, twin.version)
    taken = [place for place in before.addresses.values() if place not in after.keys]
    is_told = has_primary_key and merge.startswith("update") and "delete" not in merge
    ended = found.filter(outcome="updated" if is_told else "updated_or_deleted")
    assert ended["_rowaddr"].to_list() == taken
    assert found.filter(outcome="live").height == len(asked) - len(taken)
    wrote = {address >> 32 for address in after.keys if address not in before.keys}
    assert set(ended["end_fragment_id"]) == (wrote if is_told else {None})
    added = np.array([place for place in after.keys if place not in before.keys], dtype=np.uint64)
    backwards = table.follow_addresses(added, twin.version, twin.version - 1)["outcome"]
    assert set(backwards) == {"updated" if is_told else "created_or_updated"}
    history = table.follow(asked, twin.version - 1, twin.version)
    assert history["_rowid"].to_list() == taken
    assert history.select(pl.col("event").cast(pl.String), "is_uncertain").unique().rows() == [
        ("deleted", True)
    ]


@pytest.mark.parametrize("merge", MERGES)
def test_keys_tell_what_a_merge_did(merge, has_primary_key, tmp_path):
    twin, table = merged(tmp_path / "t.lance", merge, has_primary_key=has_primary_key)
    [net] = table.changes(twin.version - 1, key="key").summary().to_dicts()
    told = {"added": net["inserted"], "updated": net["updated"], "deleted": net["deleted"]}
    assert (told, net["uncertain"]) == (counted(twin), 0)


def test_one_row_taken_and_one_written_are_the_same_if_nothing_was_inserted(tmp_path):
    twin = Twin.create(str(tmp_path / "t.lance"), 9, has_primary_key=True)
    twin.upsert(Keys(9, 1), 0)
    table = open_table(twin.uri)
    events = row_events(table._view, len(table._view.history) - 1)
    assert (events.count(RowEvent.UPDATED), events.num_rows) == (1, 1)
    assert not events.is_uncertain.any()
    before, after = places(table, 1), places(table, 2)
    found = table.follow_addresses(np.array([before.addresses[1]], dtype=np.uint64), 1, 2)
    assert found["end_rowaddr"].to_list() == [after.addresses[1]]
