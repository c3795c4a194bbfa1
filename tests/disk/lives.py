"""Random lives of tables on disk: what commits, failed commits and killed writers leave there."""

import os
import random
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

__all__ = ["Compacted", "Life", "rows"]

_DAY = 24 * 3600

_STRANGERS = [
    "notes.txt",
    "data/readme.md",
    "_deletions/x.arrow",
    "data/a/b.blob",
    "data/.tmpA",
    "data/a/.tmpB.lance",
    "_indices/x",
    "_fri/m/stable_partition.lance",
]
"""Files that no commit wrote."""


def rows(count: int, first: int = 0) -> pa.Table:
    """Return rows with an ID, a number and a text."""
    ids = np.arange(first, first + count)
    return pa.table({"id": ids, "score": ids / 2, "name": [f"name {each}" for each in ids]})


class Life:
    """A table to which random things happen.

    Parameters
    ----------
    path : Path
        Where it is made.
    seed : int
        What happens follows from it.
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.random = random.Random(seed)
        self.is_stable = seed % 2 == 0
        self._next_id = 0
        self._names = 0
        self.dataset = lance.write_dataset(
            self._rows(12), str(path), enable_stable_row_ids=self.is_stable, max_rows_per_file=6
        )
        self.branches: list[str] = []

    def live(self, steps: int) -> None:
        """Let so many things happen."""
        usual: list[Callable[[], object]] = [
            self.append,
            self.delete,
            self.update,
            self.merge,
            self.compact,
            self.index,
            self.optimize,
            self.overwrite,
            self.restore,
            self.tag,
            self.branch,
            self.detached,
            self.abandoned_data,
            self.abandoned_index,
            self.staged_manifest,
            self.failed_commit,
            self.add_column,
            self.drop_column,
            self.older,
            self.stranger,
            self.cleanup,
        ]
        often = [self.append, self.delete, self.update, self.branch_write]
        for _ in range(steps):
            self.random.choice([*usual, *often])()

    # ----------------------------------------------------------------------------------- commits

    def append(self) -> None:
        dataset = lance.dataset(str(self.path))
        table = self._rows(self.random.randint(1, 9))
        lance.write_dataset(
            table.select([name for name in dataset.schema.names if name in table.column_names]),
            str(self.path),
            mode="append",
            max_rows_per_file=4,
        )

    def delete(self) -> None:
        self._delete(lance.dataset(str(self.path)))

    def update(self) -> None:
        dataset = lance.dataset(str(self.path))
        dataset.update({"score": "score + 1"}, where=f"id % 5 = {self.random.randint(0, 4)}")

    def merge(self) -> None:
        dataset = lance.dataset(str(self.path))
        if self._is_plain(dataset):
            first = max(0, self._next_id - 3)
            new = rows(6, first)
            self._next_id = max(self._next_id, first + 6)
            dataset.merge_insert(
                "id"
            ).when_matched_update_all().when_not_matched_insert_all().execute(new)

    def compact(self) -> None:
        lance.dataset(str(self.path)).optimize.compact_files(
            target_rows_per_fragment=self.random.choice([5, 10, 100])
        )

    def index(self) -> None:
        dataset = lance.dataset(str(self.path))
        column = self.random.choice(["id", "score"])
        dataset.create_scalar_index(column, "BTREE", replace=True)

    def optimize(self) -> None:
        lance.dataset(str(self.path)).optimize.optimize_indices()

    def overwrite(self) -> None:
        if self.random.random() < 0.3:
            lance.write_dataset(
                self._rows(8), str(self.path), mode="overwrite", max_rows_per_file=5
            )

    def restore(self) -> None:
        versions = [each["version"] for each in lance.dataset(str(self.path)).versions()]
        lance.dataset(str(self.path), version=self.random.choice(versions)).restore()

    def add_column(self) -> None:
        dataset = lance.dataset(str(self.path))
        if "extra" not in dataset.schema.names:
            dataset.add_columns({"extra": "id * 2"})

    def drop_column(self) -> None:
        dataset = lance.dataset(str(self.path))
        if "extra" in dataset.schema.names:
            dataset.drop_columns(["extra"])

    def detached(self) -> None:
        dataset = lance.dataset(str(self.path))
        if self._is_plain(dataset):
            fragment = lance.fragment.LanceFragment.create(str(self.path), self._rows(2))
            lance.LanceDataset.commit(
                str(self.path),
                lance.LanceOperation.Append([fragment]),
                read_version=dataset.version,
                detached=True,
            )

    # -------------------------------------------------------------------------------------- refs

    def tag(self) -> None:
        dataset = lance.dataset(str(self.path))
        branch = self.random.choice([None, *self.branches])
        if branch is None:
            version = self.random.choice(dataset.versions())["version"]
            dataset.tags.create(self._name("tag"), version)
        else:
            latest = dataset.checkout_version((branch, None)).version
            dataset.tags.create(self._name("tag"), (branch, latest))

    def branch(self) -> None:
        if len(self.branches) < 3:
            name = self._name("branch") + self.random.choice(["", "/deep"])
            parent = self.random.choice([None, *self.branches])
            dataset = lance.dataset(str(self.path))
            if parent is None:
                version = self.random.choice(dataset.versions())["version"]
                dataset.create_branch(name, version)
            else:
                dataset.create_branch(name, (parent, None))
            self.branches.append(name)

    def branch_write(self) -> None:
        if self.branches:
            name = self.random.choice(self.branches)
            dataset = lance.dataset(str(self.path)).checkout_version((name, None))
            if self.random.random() < 0.5:
                self._delete(dataset)
            else:
                dataset.update(
                    {"score": "score + 1"}, where=f"id % 4 = {self.random.randint(0, 3)}"
                )

    # --------------------------------------------------------------------------------- left over

    def abandoned_data(self) -> None:
        """Leave what a writer leaves that was killed before its commit."""
        if self._is_plain(lance.dataset(str(self.path))):
            lance.fragment.LanceFragment.create(str(self.path), self._rows(3))

    def failed_commit(self) -> None:
        """Leave what a writer leaves whose commit is refused: another changed the same rows."""
        dataset = lance.dataset(str(self.path))
        ids = dataset.to_table(["id"])["id"].to_pylist()
        if not ids:
            return
        row = f"id = {self.random.choice(ids)}"
        stale = lance.dataset(str(self.path), version=dataset.version)
        dataset.update({"score": "score + 2"}, where=row)
        with suppress(OSError):
            stale.delete(row, conflict_retries=0)

    def abandoned_index(self) -> None:
        folder = self.path / "_indices" / str(uuid.UUID(int=self.random.getrandbits(128)))
        folder.mkdir(parents=True)
        (folder / "page_data.lance").write_bytes(b"half an index")

    def staged_manifest(self) -> None:
        name = self.random.choice([".tmp_7.manifest_1", "18446744073709551000.manifest-1234"])
        (self.path / "_versions" / f"{name}{self._name('x')}").write_bytes(b"staged")

    def stranger(self) -> None:
        place = self.random.choice(_STRANGERS)
        file = self.path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"whose is this?")

    def older(self) -> None:
        """Let files be as if they had been written long ago."""
        then = time.time() - self.random.choice([3, 8, 30]) * _DAY
        for file in self.path.rglob("*"):
            if file.is_file() and self.random.random() < 0.5:
                os.utime(file, (then, then))

    def cleanup(self) -> None:
        if self.random.random() < 0.3:
            lance.dataset(str(self.path)).cleanup_old_versions(
                retain_versions=self.random.randint(1, 4), error_if_tagged_old_versions=False
            )

    # ------------------------------------------------------------------------------------- parts

    def _is_plain(self, dataset: lance.LanceDataset) -> bool:
        return {*dataset.schema.names} == {"id", "score", "name"}

    def _delete(self, dataset: lance.LanceDataset) -> None:
        dataset.delete(f"id % 7 = {self.random.randint(0, 6)}")

    def _rows(self, count: int) -> pa.Table:
        table = rows(count, self._next_id)
        self._next_id += count
        return table

    def _name(self, what: str) -> str:
        self._names += 1
        return f"{what}{self._names}"


class Compacted(Life):
    """A life with small fragments, indices and deferred compactions."""

    def live(self, steps: int) -> None:
        often = [self.append, self.append, self.append, self.delete, self.update]
        more = [self.index, self.optimize, self.compact, self.deferred, self.branch]
        wide = [self.branch_write, self.add_column, self.drop_column, self.restore]
        for _ in range(steps):
            self.random.choice([*often, *often, *more, *wide])()

    def deferred(self) -> None:
        if not self.is_stable:
            lance.dataset(str(self.path)).optimize.compact_files(
                target_rows_per_fragment=8, defer_index_remap=True
            )
