"""Commits to a table at random, in a process beside its readers; logs what each version holds."""

import json
import random
import shutil
import sys
import time
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import lance
import obstore
import pyarrow as pa
from obstore.store import S3Store

from tests.soak.log import append_line

__all__ = ["Writer"]

_MOST_ROWS = 150
_COMMITS_OF_A_GENERATION = 45


class Writer:
    """One table; what is done next comes from the seed alone."""

    def __init__(
        self,
        uri: str,
        log: Path,
        turns: Path,
        seed: int,
        options: dict[str, str],
        *,
        stable: bool,
    ) -> None:
        self._uri = uri
        self._log = log
        self._turns = turns
        self._options = options or None
        self._stable = stable
        self._random = random.Random(seed)
        self._generation = 0
        self._stamp = 0
        self._logged = 0
        self._doing = "create"
        self._table: Any = None

    def run(self, commits: int) -> None:
        """Commit so many times or some more; drop the table now and then."""
        self._create()
        done = 0
        actions = [
            *[self._append] * 4,
            *[self._update] * 4,
            *[self._delete] * 3,
            *[self._merge] * 3,
            *[self._compact] * 2,
            *[self._clean_up] * 2,
            self._restore,
            self._index,
            self._optimize_indices,
            self._tag,
            self._untag,
            self._branch,
            self._configure,
        ]
        turns = 0
        while done < commits:
            if self._random.random() < 0.4:
                turns = self._wait_for_readers(turns)
            before = self._logged
            if before >= _COMMITS_OF_A_GENERATION:
                self._drop()
                self._create()
            else:
                action = self._random.choice(actions)
                self._doing = action.__name__.strip("_")
                action()
            self._log_versions()
            done += max(self._logged - before, 1)
        append_line(self._log, kind="over")

    def _wait_for_readers(self, turns: int) -> int:
        """Wait until a reader has begun something new; without that, the writer runs ahead."""
        while (begun := self._turns.stat().st_size) <= turns:
            time.sleep(0.002)
        return begun

    def _create(self) -> None:
        self._generation += 1
        self._logged = 0
        self._write(self._rows(range(20)), "create")
        self._log_versions()
        if self._generation > 1:
            append_line(self._log, kind="end", removed=[])

    def _write(self, rows: pa.Table, mode: str) -> None:
        self._table = lance.write_dataset(
            rows,
            self._uri,
            mode=mode,
            storage_options=self._options,
            enable_stable_row_ids=self._stable,
            data_storage_version="2.1",
        )

    def _rows(self, keys: Iterable[int]) -> pa.Table:
        self._stamp += 1
        ids = [*keys]
        return pa.table({"id": pa.array(ids, pa.int64()), "stamp": [self._stamp] * len(ids)})

    def _some(self) -> str:
        divisor = self._random.choice([2, 3, 5, 7, 11])
        return f"id % {divisor} = {self._random.randrange(divisor)}"

    def _append(self) -> None:
        if self._table.count_rows() > _MOST_ROWS:
            self._table.delete("id % 2 = 0")
            self._log_versions()
        first = self._random.randrange(1000)
        self._write(self._rows(range(first, first + self._random.randrange(1, 25))), "append")

    def _update(self) -> None:
        self._stamp += 1
        self._table.update({"stamp": f"{self._stamp}"}, where=self._some())

    def _delete(self) -> None:
        self._table.delete(self._some())

    def _merge(self) -> None:
        keys = self._table.to_table(columns=["id"])["id"].to_pylist()
        chosen = {*self._random.sample(keys, min(len(keys), 6)), 2000 + self._random.randrange(99)}
        merge = self._table.merge_insert("id").when_matched_update_all()
        merge.when_not_matched_insert_all().execute(self._rows(sorted(chosen)))

    def _compact(self) -> None:
        rows = self._random.choice([40, 1000])
        self._table.optimize.compact_files(target_rows_per_fragment=rows)

    def _restore(self) -> None:
        versions = [entry["version"] for entry in self._table.versions()]
        table = self._table.checkout_version(self._random.choice(versions))
        table.restore()

    def _index(self) -> None:
        if self._table.count_rows():
            self._table.create_scalar_index("id", "BTREE", replace=True)

    def _optimize_indices(self) -> None:
        self._table.optimize.optimize_indices()

    def _tag(self) -> None:
        self._table.tags.create(f"tag-{self._stamp}-{self._table.version}", self._table.version)
        self._stamp += 1

    def _untag(self) -> None:
        for name in [*self._table.tags.list()][:1]:
            self._table.tags.delete(name)

    def _branch(self) -> None:
        name = f"branch-{self._stamp}"
        self._stamp += 1
        branch: Any = self._table.create_branch(name, self._table.version)
        branch.delete("id % 13 = 0")

    def _configure(self) -> None:
        self._table.update_config({"stamp": f"{self._stamp}"})

    def _clean_up(self) -> None:
        before = self._versions()
        append_line(self._log, kind="begin", what="cleanup", generation=self._generation)
        self._table.cleanup_old_versions(
            timedelta(0), delete_unverified=True, error_if_tagged_old_versions=False
        )
        removed = sorted(before - self._versions())
        append_line(self._log, kind="end", removed=removed)

    def _drop(self) -> None:
        append_line(self._log, kind="begin", what="drop", generation=self._generation)
        if self._options is None:
            shutil.rmtree(self._uri)
            return
        options = {key: v for key, v in self._options.items() if key.startswith("aws_")}
        store = S3Store(
            urlsplit(self._uri).netloc,
            config=options,  # type: ignore[arg-type]
            client_options={"allow_http": True},
        )
        prefix = urlsplit(self._uri).path.strip("/")
        paths = [found["path"] for some in obstore.list(store, prefix) for found in some]
        self._random.shuffle(paths)
        obstore.delete(store, paths)

    def _versions(self) -> set[int]:
        return {entry["version"] for entry in self._table.versions()}

    def _log_versions(self) -> None:
        """Log the versions that came, as pylance reads them; nobody else removes any."""
        self._table = lance.dataset(self._uri, storage_options=self._options)
        for version in range(self._logged + 1, self._table.version + 1):
            table: Any = self._table.checkout_version(version)
            rows = table.to_table(with_row_id=True, with_row_address=True)
            columns = [rows[name].to_pylist() for name in ("_rowid", "_rowaddr", "id", "stamp")]
            append_line(
                self._log,
                kind="version",
                generation=self._generation,
                version=version,
                timestamp_us=table._ds.current_version()["timestamp"] // 1000,
                operation=self._doing,
                rows=[*zip(*columns, strict=True)],
            )
        self._logged = self._table.version


if __name__ == "__main__":
    uri, log, turns, seed, commits, stable, options = sys.argv[1:]
    Writer(
        uri, Path(log), Path(turns), int(seed), json.loads(options), stable=stable == "stable"
    ).run(int(commits))
