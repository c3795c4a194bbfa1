"""Where rows went, and what happened to them, against where pylance found their keys."""

from bisect import bisect_left
from collections.abc import Iterator
from random import Random
from typing import Any

import polars as pl

from lance_explorer import Table
from tests.differential.random_lives.checks import check, differing, equal, observed
from tests.differential.random_lives.world import Observed, World

__all__: list[str] = []


@check
def followed(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """Where all rows of a version are in another one, earlier or later."""
    kept = observed(world, branch)
    versions = [*kept]
    pairs = [(versions[0], versions[-1]), (versions[-1], versions[0])]
    pairs += [(rng.choice(versions), rng.choice(versions)) for _ in range(6)]
    for begin, end in dict.fromkeys(pairs):
        yield from _wrong_ends(table, kept, begin, end)


def _wrong_ends(table: Table, kept: dict[int, Observed], begin: int, end: int) -> Iterator[str]:
    before, after = kept[begin], kept[end]
    keys = [*before.rows]
    addresses = [before.rows[key].address for key in keys]
    strangers = [max([*addresses, -1]) + 1, 1 << 62]
    found = table.follow_addresses([*addresses, *strangers], begin, end)
    if found["_rowaddr"].to_list() != [*addresses, *strangers]:
        yield f"follow {begin} to {end}: other addresses are answered"
    if found["outcome"].to_list()[len(keys) :] != ["not_live"] * 2:
        yield f"follow {begin} to {end}: strangers are {found['outcome'].to_list()[-2:]}"
    versions = [*kept]
    for key, one in zip(keys, found.iter_rows(named=True), strict=False):
        where = f"follow {begin} to {end}, key {key}: {dict(one)}"
        place = after.rows[key].address if key in after.rows else None
        if one["outcome"] == "live":
            if one["end_rowaddr"] != place and not one["is_uncertain"]:
                yield f"{where}; it is at {place}"
            continue
        if one["end_rowaddr"] is not None or one["outcome_version"] is None:
            yield f"{where}: an end without its version, or with an address"
            continue
        unsure = one["outcome"] == "updated" or "_or_" in one["outcome"]
        if (one["outcome"] == "unknown") != (one["evidence"] == "lost"):
            yield f"{where}: unknown and lost are not the same"
        if (
            place is None
            or one["outcome"] == "unknown"
            or one["is_uncertain"]
            or (unsure and not (before.stable and after.stable))
        ):
            continue
        if before.stable and after.stable:
            yield f"{where}; it is at {place}"
            continue
        ended = one["outcome_version"]
        there = versions[max(bisect_left(versions, ended) - (end < begin), 0)]
        if key in kept[there].rows:
            yield f"{where}; it is at {place}, and was in {there}"


@check
def histories(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """The life of rows, one by one and all at once, with their values."""
    kept = observed(world, branch)
    version = [*kept][-1]
    seen = kept[version]
    keys = rng.sample([*seen.rows], min(6, len(seen.rows)))
    numbers = {(seen.rows[k].id if seen.stable else seen.rows[k].address): k for k in keys}
    together = table.follow([*numbers], None, version)
    for number, key in numbers.items():
        row = table.row(number, None if seen.stable else version)
        alone = row.history()
        ours = together.filter(pl.col("_rowid") == number).drop("_rowid")
        until = alone.filter(pl.col("version") <= version).select(ours.columns)
        if not until.equals(ours):
            yield f"key {key}, row {number}: follow() says other than history():\n{ours}\n{until}"
        if not len(ours):
            yield f"key {key}, row {number}: no event"
            continue
        if ours["_rowaddr_after"][-1] != seen.rows[key].address:
            yield f"key {key}: ends at {ours['_rowaddr_after'][-1]}, not {seen.rows[key].address}"
        if not ours["version"].is_sorted():
            yield f"key {key}: events are not in order"
        yield from _wrong_events(world, key, number, row.history(values=True))


def _wrong_events(world: World, key: int, number: int, events: pl.DataFrame) -> Iterator[str]:
    for event in events.iter_rows(named=True):
        line = world.lines[event["branch"]]
        if line.seen[max(line.seen)].stable and _is_of_namesake(world, key, number, event):
            continue  # all rows that ever had the row ID are told of
        after = event["_rowaddr_after"]
        seen = line.seen.get(event["version"])
        if seen is None:
            yield f"key {key}: an event in {event['branch']}@{event['version']}, which never was"
            continue
        where = f"key {key}: {event['event']} in {event['version']} of {event['branch']}"
        if event["version"] not in world.kept(event["branch"]):
            continue  # its addresses are those of the versions around
        row = seen.rows.get(key)
        if _is_doubted(event):
            continue
        if after is not None and (row is None or row.address != after):
            yield f"{where}: at {after}, not {row.address if row else None}"
            continue
        if (
            after is None
            and row is not None
            and not event["is_uncertain"]
            and event["evidence"] != "lost"
        ):
            yield f"{where}: it is at {row.address}"
        values = event["values"]
        if after is not None and row is not None:
            wrong = {
                name: (values and values.get(name), value)
                for name, value in row.values.items()
                if not values
                or not any(_shown(values, one, value) for one in _names(world, seen, name))
            }
            if wrong:
                yield f"{where}: values (ours, pylance's): {wrong}"


def _is_doubted(event: dict[str, Any]) -> bool:
    """Return whether an event may be of another row, to which only counts and order lead."""
    return bool(event["is_uncertain"]) and event["evidence"] == "inferred"


def _is_of_namesake(world: World, key: int, number: int, event: dict[str, Any]) -> bool:
    """Return whether an event is of another row that had the row ID on another line of commits."""
    version, seen = event["version"], world.lines[event["branch"]].seen
    before = max([kept for kept in world.kept(event["branch"]) if kept < version], default=0)
    found = list[bool]()
    for side, one in (("_rowaddr_before", before), ("_rowaddr_after", version)):
        if event[side] is not None and one in seen and seen[one].stable:
            other = seen[one].at.get(event[side], key)
            found.append(other != key and seen[one].rows[other].id == number)
    return bool(found) and all(found)


def _names(world: World, seen: Observed, name: str) -> set[str]:
    """Return what a column of a version was ever called, since later versions name it."""
    number = seen.columns[name]
    every = [one for line in world.lines.values() for one in line.seen.values()]
    return {name} | {own for one in every for own, i in one.columns.items() if i == number}


def _shown(values: dict[str, Any], name: str, value: Any) -> bool:
    """Return whether the value is there, perhaps in the column of an earlier type."""
    return any(equal(values[own], value) for own in values if own.split("@")[0] == name)


@check
def events(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Whoever got other values has an event that may say so; whoever came or went has one."""
    kept = observed(world, branch)
    versions = [*kept]
    if len(versions) < 2:
        return
    chosen = rng.sample(range(1, len(versions)), min(4, len(versions) - 1))
    for position in chosen:
        begin, end = versions[position - 1], versions[position]
        before, after = kept[begin], kept[end]
        if before.version + 1 != after.version:
            continue
        old = before.named_as_in(after)
        numbers = {(r.id if before.stable else r.address): k for k, r in before.rows.items()}
        if not numbers:
            continue
        frame = table.follow([*numbers], begin, end)
        told: dict[int, list[dict[str, Any]]] = {}
        for event in frame.iter_rows(named=True):
            told.setdefault(numbers[event["_rowid"]], []).append(event)
        for key in before.rows:
            mine = told.get(key, [])
            where = f"follow {begin} to {end} ({after.operation}), key {key}"
            words = [(e["event"], e["is_uncertain"], e["evidence"]) for e in mine]
            certain = [e for e in mine if not e["is_uncertain"] and e["evidence"] != "lost"]
            if key not in after.rows:
                if not mine:
                    yield f"{where} is gone: no event"
                continue
            names = differing(old, after, key)
            only_moved = all(e["event"] in ("moved", "column_added") for e in certain)
            if names and only_moved and len(certain) == len(mine):
                yield f"{where} differs in {names}: {words}"
            if any(e["_rowaddr_after"] is None for e in certain):
                yield f"{where} is there: {words}"
