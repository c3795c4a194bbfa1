"""Which stored tables a run asks: a sample that covers every scenario and every release.

A function that is asked of every stored table finds the same in most of them. A run asks it of a
sample, drawn by a seed: the tree of the commit, so that a commit gives one verdict on every
machine, and the next commit asks other tables.
"""

import random
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

__all__ = ["DATA", "StoredTable", "covering_sample", "stored_table_of", "tree_of_the_commit"]

DATA = Path(__file__).parent / "data"


class StoredTable(NamedTuple):
    """A folder of ``tests/data``: the release that wrote it, and what it shows."""

    release: str
    scenario: str


def stored_table_of(path: Path) -> StoredTable | None:
    """Return the stored table that a path is, or lies in; None if it lies elsewhere."""
    whole = DATA / path
    if DATA not in whole.parents:
        return None
    parts = whole.relative_to(DATA).parts
    return StoredTable(parts[0], parts[1]) if len(parts) > 1 else None


def covering_sample(tables: Iterable[StoredTable], seed: str) -> set[StoredTable]:
    """Return one table of every scenario, and more until there is one of every release."""
    chance = random.Random(seed)
    shuffled = sorted(set(tables))
    chance.shuffle(shuffled)
    sample = {table.scenario: table for table in shuffled}
    releases = {table.release for table in sample.values()}
    others = defaultdict[str, list[StoredTable]](list)
    for table in shuffled:
        if table.release not in releases:
            others[table.release].append(table)
    return {*sample.values(), *(some[0] for some in others.values())}


def tree_of_the_commit() -> str:
    """Return the hash of the tree of the commit that is checked out; "none" outside of git."""
    found = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"],
        cwd=DATA.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or "none"
