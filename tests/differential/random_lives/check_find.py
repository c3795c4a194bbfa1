"""Rows that are found by their values, against what pylance finds in each version."""

from collections.abc import Iterator
from random import Random

import lance
import polars as pl

from lance_explorer import InvalidArgumentError, Table
from tests.differential.random_lives.check_changes import names_in_doubt
from tests.differential.random_lives.checks import check, equal, observed
from tests.differential.random_lives.world import Observed, World

__all__: list[str] = []


@check
def find(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Filters and words: the same rows as pylance finds in every kept version."""
    kept = observed(world, branch)
    for where in _filters(kept, rng):
        theirs = {version: _found(world, branch, version, where) for version in kept}
        try:
            found = table.find(where, limit=10_000, max_bytes=2**40)
        except InvalidArgumentError as error:
            if any(keys is not None for keys in theirs.values()):
                yield f"find {where!r}: {error}"
            continue
        rows = found.to_polars()
        if not found.is_complete and None not in theirs.values():
            yield f"find {where!r} is not complete: {found.sentence}"
        for version, keys in theirs.items():
            is_there = pl.col("first_version") <= version, pl.col("last_version") >= version
            ours = rows.filter(*is_there)
            found_keys = sorted(ours["key"].to_list()) if len(ours) else []
            if found_keys != sorted(keys or []):
                yield f"find {where!r} in version {version}: {found_keys}, not {sorted(keys or [])}"
        yield from _lines(rows, kept, where, names_in_doubt(found.findings()))
        if len(rows):
            parts = table.find(where, limit=1, max_bytes=1)
            for _go in range(10_000):
                if parts.is_complete:
                    break
                parts = parts.go_on(limit=rng.randint(1, 5), max_bytes=rng.choice([1, 2**40]))
            if not parts.to_polars().equals(rows):
                yield f"find {where!r}, gone on with: other rows than at once"


def _lines(
    rows: pl.DataFrame, kept: dict[int, Observed], where: str, in_doubt: dict[str, set[str]]
) -> Iterator[str]:
    """Yield what is wrong of the values, addresses and ends of what was found."""
    versions = [*kept]
    latest, lines = kept[versions[-1]], rows.select("first_version", "last_version").unique().rows()
    shown = [seen for n, seen in kept.items() if any(first <= n <= last for first, last in lines)]
    named = {n: seen.named_as_in(latest, [*shown, latest]) for n, seen in kept.items()}
    for row in rows.iter_rows(named=True):
        last, told = kept[row["last_version"]], f"find {where!r}: key {row['key']}"
        at = last.rows[row["key"]]
        is_named = last.stable or not kept[versions[-1]].stable  # else by what its place got
        if row["_rowaddr"] != at.address or (is_named and row["_rowid"] != at.id):
            yield f"{told} in {last.version}: at {row['_rowaddr']}, ID {row['_rowid']}, not {at}"
        here = [n for n in versions if row["first_version"] <= n <= last.version]
        for version in here if last.era == latest.era else ():
            for name, value in named[version].rows[row["key"]].values.items():
                others = in_doubt.get(name, set())
                perhaps = [own for own in row if own.split("@")[0] == name or own in others]
                if not any(equal(row[own], value) for own in perhaps):
                    yield f"{told} in {version}: {name} {row.get(name)}, not {value}"
        after = next((number for number in versions if number > last.version), None)
        if row["is_live"] is not (after is None):
            yield f"{told} is_live {row['is_live']}, the latest is {versions[-1]}"
        if after is None or row["ended_version"] is None:
            if after is not None:
                yield f"{told}: no ended_version, though it was found until {last.version}"
            continue
        if row["evidence"] == "lost":
            continue
        is_there = row["key"] in kept[after].rows
        if is_there and row["ended_as"] in ("deleted", "overwritten") and not row["is_uncertain"]:
            yield f"{told}: {row['ended_as']} in {row['ended_version']}, but there in {after}"
        if not is_there and row["ended_as"] not in ("deleted", "overwritten", "restored"):
            yield f"{told}: ended as {row['ended_as']}, but is not in {after}"


def _filters(kept: dict[int, Observed], rng: Random) -> Iterator[str]:
    names = sorted({name for seen in kept.values() for name in seen.fields} - {"key"})
    yield f"key % {rng.randint(1, 4)} = 0"
    yield rng.choice(["_rowid % 2 = 0", "_rowaddr > 3", "true"])
    for name in rng.sample(names, min(2, len(names))):
        yield rng.choice(
            [f"{name} % 3 = 1", f"{name} IS NOT NULL AND key > 2", f"{name} LIKE '%3%'"]
        )
    yield f"s{rng.randint(1, 9)}"


def _found(world: World, branch: str | None, version: int, where: str) -> list[int] | None:
    """Return the keys that pylance finds; None if the filter does not fit the version."""
    dataset = lance.dataset(world.lines[branch].uri).checkout_version(version)
    if where.startswith("s"):
        told = dataset.to_table().to_pylist()
        return [row["key"] for row in told if any(where in text for text in _texts(row))]
    try:
        scanned = dataset.scanner(columns=["key"], filter=where, use_scalar_index=False)
        found: list[int] = scanned.to_table()["key"].to_pylist()
    except (ValueError, OSError):
        return None
    return found


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a row and of its structs."""
    if isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, str):
        yield value
