"""Which commit last changed each cell, against the values that pylance read of every version."""

from collections.abc import Iterator
from random import Random
from typing import Any

from lance_explorer import Table
from tests.differential.random_lives.checks import check, differing, shares_fields
from tests.differential.random_lives.world import Observed, World

__all__: list[str] = []


@check
def blame(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Cells of some versions, all rows and columns."""
    kept = {version: world.lines[branch].seen[version] for version in world.kept(branch)}
    chosen = rng.sample([*kept], min(3, len(kept)))
    for version in sorted(chosen):
        told = table.blame(version=version)
        cells = told.to_polars()
        now = kept[version]
        if len(cells) != len(now.rows) * len(now.fields) or not told.is_complete:
            yield f"blame of {version}: {len(cells)} cells of {len(now.rows)} rows"
            continue
        keys = {row.address: key for key, row in now.rows.items()}
        past = [*_past(world, branch, version)]
        for cell in cells.iter_rows(named=True):
            key, name = keys[cell["_rowaddr"]], cell["column"]
            if not _agrees(cell["value"], now.rows[key].values[name]):
                yield f"blame of {version}, {name} of {key}: {cell['value']!r}"
            yield from _wrong(cell, now, past, key)
        some = table.blame(version=version, where="key % 2 = 0", columns="key", limit=1)
        for _step in range(1000):
            if some.is_complete:
                break
            some = some.go_on(limit=rng.randint(1, 4))
        evens = [key for key in now.rows if key % 2 == 0]
        if sorted(some.to_polars()["value"].cast(int).to_list()) != sorted(evens):
            yield f"blame of {version}, gone on with: {some.num_rows} rows, not {len(evens)}"


def _past(world: World, branch: str | None, version: int) -> Iterator[Observed]:
    """Yield the versions before one, newest first; those before a fork are the parent's."""
    line = world.lines[branch]
    for number in reversed(world.kept(branch)):
        if number < version:
            yield line.seen[number]
    if branch is not None and line.parent in world.lines:
        kept = world.kept(line.parent)
        if line.fork in kept:
            yield from _past(world, line.parent, line.fork + 1)


def _wrong(cell: dict[str, Any], now: Observed, past: list[Observed], key: int) -> Iterator[str]:
    name = cell["column"]
    where = f"blame of {now.version}, {name} of {key}"
    later, value, inside = now, now.rows[key].values[name], now.children[name]
    for earlier in past:
        before = earlier.named_as_in(now)
        if key not in earlier.rows:
            yield from _differs(cell, where, earlier, later, is_new=True)
            return
        if name not in before.fields or not shares_fields(before, now, name):
            if value is None and cell["branch"] != now.branch:
                return  # where a column of nulls is from is told on the own branch alone
            if inside and not {*inside.values()} & {*now.children[name].values()}:
                return  # casts gave all fields inside other IDs: their names alone tell no more
            yield from _differs(cell, where, earlier, later, is_new=True)
            return
        old = before.rows[key].values[name]
        if name in differing(before, now, key):
            yield from _differs(cell, where, earlier, later, is_new=False)
            if not cell["is_uncertain"] and not _agrees(cell["before"], old):
                yield f"{where}: before {cell['before']!r}, not {old!r}"
            return
        later, inside = earlier, before.children[name]
    yield from _differs(cell, where, None, later, is_new=True)


def _differs(
    cell: dict[str, Any], where: str, earlier: Observed | None, later: Observed, *, is_new: bool
) -> Iterator[str]:
    """Yield what is wrong, if the value is of a version after one and up to another."""
    first = 0 if earlier is None or earlier.branch != later.branch else earlier.version
    version = cell["version"]
    if cell["is_uncertain"]:
        if cell["evidence"] == "inferred":
            return  # the row may be another one
        if version is not None and version <= first and cell["branch"] == later.branch:
            yield f"{where}: in {version}, uncertain, but changed after {first}"
        return
    told = f"{where}: {cell['event']} in {version} of {cell['branch']}"
    if cell["branch"] != later.branch:
        yield f"{told}, not of {later.branch}"
    elif not first < version <= later.version:
        yield f"{told}, not after {first} and up to {later.version}"
    if cell["is_new"] is not is_new:
        yield f"{told}: is_new {cell['is_new']}"


def _agrees(text: str | None, value: Any) -> bool:
    """Return whether a text is that of a value, of a plain type."""
    return isinstance(value, dict | list) or text == (None if value is None else str(value))
