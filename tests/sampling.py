"""Which stored tables a run asks: a sample that covers every scenario and every release.

What is asked of every stored table finds the same in most of them. A run asks a sample, drawn by a
seed: the tree of the commit, so that a commit gives one verdict on every machine, and the next
commit asks other tables.
"""

import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "DATA",
    "StoredTable",
    "chosen_tables",
    "covering_sample",
    "stored_tables",
]

DATA = Path(__file__).parent / "data"


class StoredTable(NamedTuple):
    """A folder of ``tests/data``: the release that wrote it, and what it shows."""

    release: str
    folder: str

    def __str__(self) -> str:
        return f"{self.release}/{self.scenario}"

    @property
    def scenario(self) -> str:
        """What it shows."""
        return self.folder.removesuffix(".lance")

    @property
    def root(self) -> Path:
        """Where it is."""
        return DATA / self.release / self.folder


def stored_tables() -> list[StoredTable]:
    """Return all of them."""
    return [StoredTable(*path.relative_to(DATA).parts) for path in sorted(DATA.glob("*/*.lance"))]


def chosen_tables(which: str, seed: str) -> list[StoredTable]:
    """Return "all" tables, a "sample", or the one of a name such as 14.0.2/branches."""
    tables = stored_tables()
    match which:
        case "all":
            return tables
        case "sample":
            return sorted(covering_sample(tables, seed))
        case name:
            return [table for table in tables if str(table) == name]


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
