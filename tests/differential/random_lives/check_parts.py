"""What is answered after reading only the versions that are needed, against reading all."""

from collections.abc import Iterator
from random import Random
from unittest.mock import patch

import polars as pl

from lance_explorer import LanceExplorerError, Table, open_table
from lance_explorer.history import view as views
from tests.differential.random_lives.checks import check, observed, some_pairs
from tests.differential.random_lives.world import World

__all__: list[str] = []


@check
def in_parts(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """The last versions, and changes between two, of a table of which little is read."""
    kept = [*observed(world, branch)]
    whole = table.versions()
    number = rng.randint(1, len(whole))
    pairs = some_pairs(kept, rng, 6)
    with patch.object(views, "_PART_OF", 0):
        if not _fresh(table).versions(last=number).equals(whole.tail(number)):
            yield f"versions(last={number}) differs from the end of versions()"
        for begin, end in pairs:
            expected, found = (_changes(one, begin, end) for one in (table, _fresh(table)))
            for name, answer in found.items():
                if not _equal(answer, expected[name]):
                    yield f"{name} changes {begin} to {end} differ where only these are read"


def _fresh(table: Table) -> Table:
    return open_table(table.uri, table.branch)


def _changes(table: Table, begin: int, end: int) -> dict[str, pl.DataFrame | str]:
    """Return all that is said of the changes between two versions, or the error."""
    found = dict[str, pl.DataFrame | str]()
    for mode in ("net", "per_commit"):
        try:
            changes = table.changes(
                begin, end, mode=mode, images=None, include=("moved", "column_added")
            )
            answers = changes.to_polars(), changes.summary(), changes.findings()
        except LanceExplorerError as error:
            found[mode] = str(error)
        else:
            found |= {f"{mode} {number}": answer for number, answer in enumerate(answers)}
    for one, other in ((begin, end), (end, begin)) if begin else ():
        diff = table.diff(one, other)
        try:
            rows = diff.rows(None, include=("moved", "column_added"))
            answers = rows, diff.summary(), diff.schema()
        except LanceExplorerError as error:
            found[f"diff {one}"] = str(error)
        else:
            found |= {f"diff {one} {number}": answer for number, answer in enumerate(answers)}
    return found


def _equal(one: pl.DataFrame | str, other: pl.DataFrame | str) -> bool:
    if isinstance(one, pl.DataFrame) and isinstance(other, pl.DataFrame):
        return one.equals(other)
    return isinstance(one, str) and one == other
