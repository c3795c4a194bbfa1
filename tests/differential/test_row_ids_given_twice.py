"""Random lives with detached versions: rows with one ID in two lines of commits are told apart.

A key that no commit changes says which row is which; pylance reads it in every version.
"""

import random
from dataclasses import dataclass, field
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from lance.fragment import write_fragments

import lance_explorer as lx
from lance_explorer import Table
from lance_explorer.history.events.row_events import NO_ADDRESS, row_events
from tests.differential.following_agreement import (
    Places,
    assert_followed,
    assert_rows_are_told,
)

NUM_STEPS = 12


@dataclass
class Life:
    """A table that grows at random. ``next_key`` is that of the next row."""

    uri: str
    chance: random.Random
    next_key: int = 0
    clock: int = 0
    detached: list[int] = field(default_factory=list)

    def step(self) -> None:
        """Commit something."""
        dataset = lance.dataset(self.uri)
        ways = [self.append, self.update, self.delete, self.detach, self.restore, self.restore]
        getattr(self, self.chance.choice([*ways, self.compact]).__name__)(dataset)

    def rows(self, count: int) -> pa.Table:
        keys = range(self.next_key, self.next_key + count)
        self.next_key += count
        return pa.table({"key": pa.array(keys, pa.int64()), "value": pa.array([0] * count)})

    def append(self, dataset: lance.LanceDataset) -> None:
        lance.write_dataset(self.rows(self.chance.randint(1, 3)), self.uri, mode="append")

    def update(self, dataset: lance.LanceDataset) -> None:
        self.clock += 1
        dataset.update({"value": str(self.clock)}, where=f"key % 3 = {self.chance.randint(0, 2)}")

    def delete(self, dataset: lance.LanceDataset) -> None:
        dataset.delete(f"key % 5 = {self.chance.randint(0, 4)}")

    def compact(self, dataset: lance.LanceDataset) -> None:
        dataset.optimize.compact_files()

    def detach(self, dataset: lance.LanceDataset) -> None:
        """Commit a detached version on an ordinary one, or on another detached one."""
        versions = [known["version"] for known in dataset.versions()]
        base = self.chance.choice([*versions[-4:], *self.detached[-2:]])
        there = dataset.checkout_version(base)
        fragments = there.get_fragments()
        if fragments and self.chance.random() < 0.3:
            [fragment] = self.chance.sample(fragments, 1)
            left = fragment.delete(f"key % 2 = {self.chance.randint(0, 1)}")
            removed = [] if left is not None else [fragment.fragment_id]
            updated = [] if left is None else [left]
            operation: Any = lance.LanceOperation.Delete(updated, removed, "key")
        else:
            new = write_fragments(self.rows(self.chance.randint(1, 3)), self.uri)
            operation = lance.LanceOperation.Append(new)
        # It is built on what is open: the version that was checked out, or the latest one.
        onto: Any = self.chance.choice([there, self.uri])
        committed = lance.LanceDataset.commit(onto, operation, read_version=base, detached=True)
        self.detached.append(committed.version)

    def restore(self, dataset: lance.LanceDataset) -> None:
        versions = [known["version"] for known in dataset.versions()]
        some = self.detached if self.detached and self.chance.random() < 0.6 else versions
        dataset.checkout_version(self.chance.choice(some)).restore()


@dataclass(frozen=True)
class Scan:
    """What pylance reads in a version."""

    places: Places
    values: dict[int, int]


class Scans:
    """All versions of a table, each read once."""

    def __init__(self, uri: str) -> None:
        self.versions = [known["version"] for known in lance.dataset(uri).versions()]
        self.of = {version: self._scan(uri, version) for version in self.versions}

    def __call__(self, table: Table, version: int) -> Places:
        return self.of[version].places

    @staticmethod
    def _scan(uri: str, version: int) -> Scan:
        columns = ["key", "value", "_rowaddr", "_rowid"]
        rows = lance.dataset(uri, version=version).to_table(columns=columns)
        keys, values, addresses, ids = [rows[name].to_pylist() for name in columns]
        places = Places(dict(zip(keys, addresses, strict=True)), dict(zip(keys, ids, strict=True)))
        return Scan(places, dict(zip(keys, values, strict=True)))

    def changed(self, begin: int, end: int) -> set[int]:
        """Return the keys of both versions whose values differ."""
        old, new = self.of[begin].values, self.of[end].values
        return {key for key in old.keys() & new.keys() if old[key] != new[key]}


pytestmark = pytest.mark.drawn(5, scope="module")
STABLE_ALONE = pytest.mark.parametrize("life", [True], indirect=True, ids=["stable"])


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "plain"])
def life(request, seed, tmp_path_factory) -> tuple[Table, Scans]:
    uri = str(tmp_path_factory.mktemp("life") / "t.lance")
    life = Life(uri, random.Random(seed))
    lance.write_dataset(life.rows(4), uri, enable_stable_row_ids=request.param, max_rows_per_file=2)
    for _ in range(NUM_STEPS):
        life.step()
    return lx.open_table(uri), Scans(uri)


def test_rows_are_followed_between_any_two_versions(life):
    table, scans = life
    for begin in scans.versions:
        for end in scans.versions:
            assert_followed(table, begin, end, scans)


def test_the_events_of_each_commit_are_about_the_right_rows(life):
    table, scans = life
    seen = set(scans.of[1].values)
    for position in range(1, len(scans.versions)):
        begin, end = scans.versions[position - 1 : position + 1]
        events = row_events(table._view, position)
        assert_rows_are_told(events, scans(table, begin), scans(table, end))
        is_new = (events.before == NO_ADDRESS) & ~events.is_uncertain
        added_rows = [
            (int(address) + shift, label)
            for address, length, label in zip(
                events.after[is_new], events.length[is_new], events.event[is_new], strict=True
            )
            for shift in range(int(length))
        ]
        keys = scans(table, end).keys
        if table.latest.has_stable_row_ids:
            assert {keys[place] for place, label in added_rows if label == 0} == {
                keys[place] for place, _ in added_rows if keys[place] not in seen
            }
        seen |= set(scans.of[end].values)


def test_versions_count_rows_as_their_keys_do(life):
    table, scans = life
    counts = table.versions()
    seen = set(scans.of[1].values)
    for begin, end in zip(scans.versions, scans.versions[1:], strict=False):
        [row] = counts.filter(version=end).to_dicts()
        old, new = set(scans.of[begin].values), set(scans.of[end].values)
        told = {
            "rows_added": len(new - old - seen),
            "rows_restored": len((new - old) & seen),
            "rows_deleted": len(old - new),
        }
        for name, count in told.items():
            assert row[name] == count or (row[name] is None and not table.latest.has_stable_row_ids)
        seen |= new


@STABLE_ALONE  # addresses leave open which rows a restore brought back
def test_net_changes_are_about_the_right_rows(life):
    table, scans = life
    for begin in scans.versions[::2]:
        for end in [version for version in scans.versions if version > begin]:
            lines = table.changes(begin, end, images="both", include=("moved",)).to_polars()
            keys = {
                name: set(some["key"])
                for (name,), some in lines.group_by(pl.col("_change_type").cast(pl.String))
            }
            old, new = scans.of[begin].values, scans.of[end].values
            assert keys.get("insert", set()) == new.keys() - old.keys()
            assert keys.get("delete", set()) == old.keys() - new.keys()
            assert keys.get("update_preimage", set()) == keys.get("update_postimage", set())
            assert scans.changed(begin, end) <= keys.get("update_postimage", set())
            assert keys.get(None, set()) <= old.keys() & new.keys()
            for side, ids in (
                ("delete", scans(table, begin).ids),
                ("insert", scans(table, end).ids),
            ):
                some = lines.filter(_change_type=side)
                assert dict(some.select("key", "_rowid").iter_rows()) == {
                    key: ids[key] for key in some["key"]
                }


def test_commit_by_commit_the_rows_are_the_right_ones(life):
    table, scans = life
    lines = table.changes(1, mode="per_commit", images="both").to_polars()
    for begin, end in zip(scans.versions, scans.versions[1:], strict=False):
        here = lines.filter(_commit_version=end)
        old, new = scans.of[begin].values, scans.of[end].values
        for name, keys in (
            ("insert", new.keys() - old.keys()),
            ("delete", old.keys() - new.keys()),
        ):
            some = here.filter((pl.col("_change_type") == name) & ~pl.col("is_uncertain"))
            assert set(some["key"]) <= keys
            assert keys <= set(here.filter(_change_type=name)["key"])


@STABLE_ALONE
def test_the_history_of_a_row_id_tells_where_its_rows_were(life):
    table, scans = life
    ids = sorted({id_ for scan in scans.of.values() for id_ in scan.places.ids.values()})
    followed = table.follow(np.array(ids, dtype=np.uint64))
    for row_id in ids:
        history = table.row(row_id).history()
        alone = followed.filter(_rowid=row_id).drop("_rowid")
        assert alone.equals(history.select(alone.columns))
        place, events = None, history.to_dicts()
        for version in scans.versions:
            there = scans(table, version)
            live = {id_: there.addresses[key] for key, id_ in there.ids.items()}
            while events and events[0]["version"] == version:
                event = events.pop(0)
                assert event["_rowaddr_before"] == place
                place = event["_rowaddr_after"]
            assert place == live.get(row_id)
        assert not events
