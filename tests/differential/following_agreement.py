"""What must hold of row events and of following: rows are told apart by their keys.

A row of a twin keeps its key for life, and no other row ever has it. Where pylance scans a key says
where its row is.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from msgspec.structs import asdict
from polars.testing import assert_frame_equal

from lance_explorer import Table, open_table
from lance_explorer.history.events.row_events import NO_ADDRESS, RowEvent, RowEvents, row_events
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.inspect.row_counts import counts_of
from lance_explorer.lineage.follow_addresses import follow_addresses
from lance_explorer.lineage.following import follow, row_history
from tests.differential.agreement import checked_out
from tests.differential.twin import COUNTS, Twin

__all__ = ["Places", "assert_followed", "assert_histories", "assert_right_events", "places"]

DOUBTFUL = {
    "created_or_updated",
    "restored_or_reverted",
    "reverted_or_deleted",
    "unknown",
    "updated",
    "updated_or_deleted",
}
"""Outcomes of rows without stable IDs that may be, or are, live under another address."""

VALUES_CHANGE = {RowEvent.UPDATED, RowEvent.COLUMN_REWRITTEN, RowEvent.RESTORED}


@dataclass(frozen=True)
class Places:
    """The rows of one version by key: addresses, and row IDs."""

    addresses: Mapping[int, int]
    ids: Mapping[int, int]

    @property
    def keys(self) -> dict[int, int]:
        """The key at each address."""
        return {address: key for key, address in self.addresses.items()}


Scanned = Callable[[Table, int], Places]


def places(table: Table, version: int) -> Places:
    """Return where pylance finds the rows of a version."""
    rows = checked_out(table, version).to_table(columns=["key", "_rowaddr", "_rowid"])
    keys = rows["key"].to_pylist()
    addresses, ids = [rows[name].to_pylist() for name in ("_rowaddr", "_rowid")]
    return Places(dict(zip(keys, addresses, strict=True)), dict(zip(keys, ids, strict=True)))


def assert_right_events(table: Table, twin: Twin, scanned: Scanned = places) -> None:
    """Check the events of every kept version but the first against the kept one before."""
    versions = [record.version for record in state_rows(table._view).history.records]
    for position in range(1, len(versions)):
        events = row_events(table._view, position)
        before, after = [
            scanned(table, version) for version in versions[position - 1 : position + 1]
        ]
        assert_rows_are_told(events, before, after)
        assert_values_are_told(events, twin, versions[position - 1], before, after)
        if events.step.follows:
            assert_right_sums(events, twin)


def assert_rows_are_told(events: RowEvents, before: Places, after: Places) -> None:
    """Check that who is said to be the same row is, and who is not is not."""
    old_keys, new_keys = before.keys, after.keys
    told_before, told_after = set[int](), set[int]()
    for one in spread(events).iter_rows(named=True):
        was, is_ = one["before"], one["after"]
        old, new = old_keys.get(was), new_keys.get(is_)
        assert (was is None) == (old is None), one
        assert (is_ is None) == (new is None), one
        may_be_more = one["is_uncertain"] or one["evidence"] == Evidence.LOST
        if old is not None and new is not None:
            assert old == new, one
        elif old is not None:
            assert old not in after.addresses or may_be_more, one
        elif new is not None and one["event"] in (RowEvent.CREATED, RowEvent.RESTORED):
            assert new not in before.addresses or may_be_more, one
        told_before.add(was)
        told_after.add(is_)
    untold = {key: place for key, place in before.addresses.items() if place not in told_before}
    assert untold == {
        key: place for key, place in after.addresses.items() if place not in told_after
    }


def assert_values_are_told(
    events: RowEvents, twin: Twin, before_version: int, before: Places, after: Places
) -> None:
    """Check that rows with other values have events that say so."""
    old, new = [twin.commits[version].rows for version in (before_version, events.step.version)]
    changed = {key for key in old.keys() & new.keys() if old[key] != new[key]}
    may_change = {event.value for event in VALUES_CHANGE}
    rows = spread(events)
    told = rows.filter(
        pl.col("event").is_in(may_change)
        | (pl.col("is_uncertain"))
        | (pl.col("evidence") == Evidence.LOST)
    )
    places_told = {*told["before"], *told["after"]}
    for key in changed:
        assert before.addresses[key] in places_told or after.addresses[key] in places_told, key
    unchanged = rows.filter(
        pl.col("event").is_in([RowEvent.MOVED, RowEvent.COLUMN_ADDED]) & ~pl.col("is_uncertain")
    )
    places_unchanged = unchanged["before"].drop_nulls()  # others came over a gap
    assert changed.isdisjoint(before.keys[place] for place in places_unchanged)


def assert_right_sums(events: RowEvents, twin: Twin) -> None:
    """Check the numbers of rows against what the twin did."""
    counts = twin.commits[events.step.version].counts
    sums = asdict(counts_of(events))
    told = [name for name in COUNTS if None not in (counts[name], sums[name])]
    assert {name: sums[name] for name in told} == {name: counts[name] for name in told}
    if events.step.is_unpaired_update:
        added, updated, deleted = [counts[name] or 0 for name in ("added", "updated", "deleted")]
        halves = events.count(RowEvent.CREATED), events.count(RowEvent.DELETED)
        assert halves == (added + updated, deleted + updated)


def spread(events: RowEvents) -> pl.DataFrame:
    """Return events row by row; addresses are null where the row is not live."""
    lengths = events.length.astype(np.int64)
    run = np.repeat(np.arange(len(events)), lengths)
    shift = np.arange(len(run)) - np.repeat(np.cumsum(lengths) - lengths, lengths)

    def shifted(addresses: np.ndarray) -> pl.Series:
        values = [
            None if a == NO_ADDRESS else int(a) + int(s)
            for a, s in zip(addresses[run], shift, strict=True)
        ]
        return pl.Series(values, dtype=pl.UInt64())

    return pl.DataFrame(
        {
            "event": events.event[run],
            "before": shifted(events.before),
            "after": shifted(events.after),
            "is_uncertain": events.is_uncertain[run],
            "evidence": events.evidence[run],
        }
    )


def assert_followed(table: Table, begin: int, end: int, scanned: Scanned = places) -> None:
    """Check where all rows of a version are said to be in another one."""
    before, after = scanned(table, begin), scanned(table, end)
    asked = [*before.addresses.values()]
    strangers = [max([*asked, -1]) + 1, 1 << 62]
    found = follow_addresses(
        table._view, np.array([*asked, *strangers], dtype=np.uint64), begin, end
    )
    assert found["_rowaddr"].to_list() == [*asked, *strangers]
    assert found["outcome"].to_list()[len(asked) :] == ["not_live"] * 2
    stable = table.latest.has_stable_row_ids
    versions = table.versions()["version"].to_list()
    for key, one in zip(before.addresses, found.iter_rows(named=True), strict=False):
        place = after.addresses.get(key)
        is_doubtful = not stable and one["outcome"] in DOUBTFUL
        if one["outcome"] == "live":
            assert one["end_rowaddr"] == place, (key, one)
        else:
            assert one["end_rowaddr"] is None
            ended = one["outcome_version"]
            assert ended is not None
            if place is not None and not is_doubtful:
                # An update that cannot be paired made it another row, which that version ended;
                # a restore then undid the update.
                assert not stable
                there = versions[bisect_left(versions, ended) - (end < begin)]
                assert key not in scanned(table, there).addresses, (key, one)
        assert (one["outcome"] == "unknown") == (one["evidence"] == "lost"), one


def assert_histories(table: Table, version: int, scanned: Scanned = places) -> None:
    """Check the histories of all rows of a version: one by one the same as all at once.

    They begin where the row came, on an ancestor of the branch too, unless that is not kept.
    """
    now = scanned(table, version)
    stable = table.latest.has_stable_row_ids
    rows = now.ids if stable else now.addresses
    asked = np.array([*rows.values()], dtype=np.uint64)
    keys = {number: key for key, number in rows.items()}
    branches = {branch: open_table(table.uri, branch) for branch in [None, *table.branches]}
    all_at_once = follow(table._view, asked, None, version)
    at = None if stable else version
    for number in asked.tolist():
        alone = row_history(table._view, number, at)
        ours = all_at_once.filter(pl.col("_rowid") == number).drop("_rowid")
        assert_frame_equal(alone.filter(pl.col("version") <= version).select(ours.columns), ours)
        assert ours["_rowaddr_after"].to_list()[-1] == now.addresses[keys[number]]
        assert ours["_rowaddr_before"].to_list()[0] is None
        assert ours["version"].is_sorted()
        for branch, version_then, after in ours.select(
            "branch", "version", "_rowaddr_after"
        ).iter_rows():
            there = branches[branch]
            if after is not None and version_then in there.versions()["version"]:
                assert scanned(there, version_then).addresses.get(keys[number]) == after
