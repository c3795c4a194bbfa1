"""Commits to a table one after another, in a process beside a reader: appends, updates, deletions,
compactions, tags, and cleanups that leave a few versions."""

import json
import sys
from datetime import timedelta
from typing import Any

import lance
import pyarrow as pa

__all__ = ["ROWS"]

ROWS = 20
"""How many rows an append writes."""


def write(path: str, commits: int, options: dict[str, str]) -> None:
    """Commit so many times or a few times more."""
    table: Any = lance.dataset(path, storage_options=options)
    for turn in range(commits // 5):
        first = table.count_rows()
        table = lance.write_dataset(rows(first), path, mode="append", storage_options=options)
        table.update({"mood": f"{turn}"}, where=f"id % 7 = {turn % 7}")
        table.delete(f"id % 11 = {turn % 11}")
        table.optimize.compact_files(target_rows_per_fragment=60 + turn % 3 * 1000)
        table = lance.dataset(path, storage_options=options)
        table.tags.create(f"turn-{turn}", table.version)
        table.update_config({"turn": f"{turn}"})
        if turn % 4 == 3:
            for name in [*table.tags.list()][:-1]:
                table.tags.delete(name)
            table.cleanup_old_versions(
                timedelta(0), delete_unverified=True, error_if_tagged_old_versions=False
            )


def rows(first: int) -> pa.Table:
    """Return the rows of one append."""
    return pa.table({"id": range(first, first + ROWS), "mood": pa.array([0] * ROWS, pa.int64())})


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
