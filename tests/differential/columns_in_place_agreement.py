"""What must hold of tables whose columns were written in place: nothing that is certain is wrong.

pylance's scans of two versions tell which values differ, by key. What the life says that a commit
wrote tells besides whether a row of which the values are the same was written at all.
"""

from itertools import pairwise

import polars as pl

from lance_explorer import Table
from tests.differential.changes_agreement import (
    Scan,
    Scans,
    assert_all_agree,
    differing,
)
from tests.differential.columns_in_place import Done, InPlaceLife
from tests.differential.following_agreement import assert_followed, assert_histories
from tests.differential.row_agreement import assert_counts_are_those_of_events

__all__ = ["assert_life_is_told"]


def assert_life_is_told(table: Table, life: InPlaceLife) -> None:
    """Check counts, changes, histories and lineage of all versions."""
    scans = Scans()
    for version, done in life.done.items():
        if version - 1 in (0, *life.done):
            assert_counts_hold(table, scans, version, done)
            assert_events_hold(table, scans, version, done)
        else:
            assert_lone_counts_hold(table, version, done)
    assert_counts_are_those_of_events(table)
    assert_all_agree(table)
    first, last = min(life.done), max(life.done)
    for begin, end in [*pairwise(life.done), (first, last), (last, first)]:
        assert_followed(table, begin, end)
    assert_histories(table, last)
    assert_edges_hold(table, scans)


def changed_keys(old: Scan, new: Scan) -> set[int]:
    """Return the keys of rows of which a column of both versions has other values."""
    before, after = by_key(old), by_key(new)
    common = before.keys() & after.keys()
    return {key for key in common if differing(before[key], after[key])}


def by_key(scan: Scan) -> dict[int, dict[str, object]]:
    return {row["key"]: row for row in scan.rows.values()}


def assert_counts_hold(table: Table, scans: Scans, version: int, done: Done) -> None:
    """Check the counts of versions() that are not null."""
    [row] = table.versions().filter(version=version).to_dicts()
    counts = {name[5:]: row[name] for name in row if name.startswith("rows_")}
    new = scans.of(table, version)
    old = scans.of(table, version - 1).named_as_in(new)
    changed = changed_keys(old, new)
    where = (version, done.name, counts)
    if done.name == "restore":
        removed, added_rows = (
            by_key(old).keys() - by_key(new).keys(),
            by_key(new).keys() - by_key(old).keys(),
        )
        assert counts["deleted"] in (None, len(removed)), where
        assert counts["restored"] in (None, len(added_rows)), where
        assert counts["reverted"] is None or counts["reverted"] >= len(changed), where
        return
    assert counts["added"] in (None, len(done.added)), where
    assert counts["deleted"] in (None, len(done.deleted)), where
    parts = counts["column_rewritten"], counts["column_added"]
    if counts["updated"] is not None and None not in parts:
        whole = sum(parts)
        assert counts["updated"] <= len(done.written), where
        assert counts["updated"] + whole >= len(done.written | changed), where


def assert_lone_counts_hold(table: Table, version: int, done: Done) -> None:
    """Check the counts of a version of which the one before is lost."""
    [row] = table.versions().filter(version=version).to_dicts()
    if done.name not in ("create", "restore"):
        assert row["rows_added"] in (None, len(done.added)), (version, done)
        assert row["rows_deleted"] in (None, len(done.deleted)), (version, done)
        assert (row["rows_updated"] or 0) <= len(done.written), (version, done)


def assert_events_hold(table: Table, scans: Scans, version: int, done: Done) -> None:
    """Check that no row is certain to be updated that was not written."""
    feed = table.changes(
        version - 1, version, "per_commit", None, include=("moved", "column_added")
    )
    keys = {place: row["key"] for place, row in scans.of(table, version).rows.items()}
    certain = feed.to_polars().filter(~pl.col("is_uncertain"), pl.col("_event") == "updated")
    told = {keys[place] for place in certain["_rowaddr_after"]}
    assert told <= done.written, (version, done, told)


def assert_edges_hold(table: Table, scans: Scans) -> None:
    """Check how many rows updates are said to have taken from one fragment into another."""
    story = table.lineage()
    places = dict(story.fragments().select("node", "fragment_id").iter_rows())
    versions = {*table.versions()["version"]}
    for edge in story.edges().filter(pl.col("kind") == "update").iter_rows(named=True):
        if edge["rows"] is None or not {edge["version"] - 1, edge["version"]} <= versions:
            continue
        before, after = (
            {row["key"]: place >> 32 for place, row in scans.of(table, v).rows.items()}
            for v in (edge["version"] - 1, edge["version"])
        )
        way = places[edge["from_node"]], places[edge["to_node"]]
        moved = [key for key in before.keys() & after if (before[key], after[key]) == way]
        assert edge["rows"] == len(moved), edge
