"""Random lives with detached versions, which give out row IDs again: nothing false is certain.

A key that no commit changes says which row is which; pylance reads it in every version.
"""

import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import lance
import pyarrow as pa
import pytest
from lance.fragment import write_fragments

import lance_explorer as lx
from tests.differential.never_false import false_certainties

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
        # It is built on what is open: the version that was checked out, or the latest one. That one
        # may have the deleted rows elsewhere, and then they would be there twice.
        is_append = isinstance(operation, lance.LanceOperation.Append)
        onto: Any = self.chance.choice([there, self.uri]) if is_append else there
        committed = lance.LanceDataset.commit(onto, operation, read_version=base, detached=True)
        self.detached.append(committed.version)

    def restore(self, dataset: lance.LanceDataset) -> None:
        versions = [known["version"] for known in dataset.versions()]
        some = self.detached if self.detached and self.chance.random() < 0.6 else versions
        dataset.checkout_version(self.chance.choice(some)).restore()


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "plain"])
@pytest.mark.drawn(5)
def test_nothing_is_certain_that_is_false(tmp_path, seed, stable):
    uri = str(tmp_path / "t.lance")
    life = Life(uri, random.Random(seed))
    lance.write_dataset(life.rows(4), uri, enable_stable_row_ids=stable, max_rows_per_file=2)
    for _ in range(NUM_STEPS):
        life.step()
    assert not false_certainties(uri)


@pytest.mark.drawn(5)
def test_rows_are_told_to_come_and_go_where_pylance_reads_so(tmp_path, seed):
    uri = str(tmp_path / "t.lance")
    life = Life(uri, random.Random(seed))
    lance.write_dataset(life.rows(4), uri, enable_stable_row_ids=True, max_rows_per_file=2)
    for _ in range(NUM_STEPS):
        life.step()
    table, keys = lx.open_table(uri), dict[int, set[int]]()
    for version in (known["version"] for known in lance.dataset(uri).versions()):
        keys[version] = {*lance.dataset(uri, version=version).to_table()["key"].to_pylist()}
    for begin, end in pairwise(keys):
        lines = table.changes(begin, end, images="both").to_polars()
        told = {kind: {*lines.filter(_change_type=kind)["key"]} for kind in ("insert", "delete")}
        assert keys[end] - keys[begin] <= told["insert"]
        assert keys[begin] - keys[end] <= told["delete"]
