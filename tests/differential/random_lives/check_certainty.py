"""Nothing is certain that is false, whatever versions are lost: against all that pylance ever read.

What is uncertain, or lost, may be anything. Keys say who rows are, in lost versions too.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import polars as pl

from lance_explorer import LanceExplorerError, Table
from tests.differential.random_lives.checks import check, differing, some_pairs, state
from tests.differential.random_lives.world import FILL, Observed, World

__all__: list[str] = []

_ENDS = ("deleted", "overwritten")
_ALL = ("moved", "column_added")

_Kept = dict[int, Observed]


@check
def certainty(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """Rows that are the same, moved, live, created, deleted with certainty: they are."""
    kept = {version: world.lines[branch].seen[version] for version in world.kept(branch)}
    pairs = [pair for pair in some_pairs([*kept], rng, 12) if pair[0]]
    for begin, end in pairs:
        yield from _followed(table, kept, begin, end)
        yield from _followed(table, kept, end, begin)
    for begin, end in some_pairs([*kept], rng, 8):
        changes = table.changes(begin, end, images=None, include=_ALL).to_polars()
        told = f"net {begin} to {end}"
        yield from _changed(changes, state(kept, begin), kept[end], told)
    yield from _commits(table, kept)
    for version in rng.sample([*kept], min(3, len(kept))):
        yield from _lives(world, table, kept[version], rng)
        yield from _blamed(world, table, kept[version])
    yield from _found(table, kept)
    yield from _edges(world, branch, table)


def _is_certain(line: dict[str, Any]) -> bool:
    return not line["is_uncertain"] and line["evidence"] != "lost"


def _next(kept: _Kept, version: int) -> int | None:
    return min([one for one in kept if one >= version], default=None)


def _before(kept: _Kept, version: int) -> int | None:
    return max([one for one in kept if one < version], default=None)


def _followed(table: Table, kept: _Kept, begin: int, end: int) -> Iterator[str]:
    """Yield what is certain, and wrong, of where rows went."""
    before, after = kept[begin], kept[end]
    frame = table.follow_addresses([row.address for row in before.rows.values()], begin, end)
    for key, line in zip(before.rows, frame.iter_rows(named=True), strict=True):
        where = f"follow {begin} to {end}, key {key}: {line}"
        place = after.rows[key].address if key in after.rows else None
        outcome, version = line["outcome"], line["outcome_version"]
        if not _is_certain(line) or "_or_" in outcome or outcome == "updated":
            continue
        if outcome == "live":
            if line["end_rowaddr"] != place:
                yield f"{where}; it is at {place}"
        elif outcome in ("not_live", "unknown"):
            yield f"{where}; it was live"
        else:
            there = _next(kept, version) if begin <= end else _before(kept, version)
            if there is not None and key in kept[there].rows:
                yield f"{where}; it is in {there}"


def _changed(frame: pl.DataFrame, old: Observed, new: Observed, told: str) -> Iterator[str]:
    """Yield what is certain, and wrong, in lines that lead from one version to another."""
    was, is_now = old.at, new.at
    listed = set[int]()
    for line in frame.iter_rows(named=True):
        before, after = line["_rowaddr_before"], line["_rowaddr_after"]
        listed.add(before)
        if line["_event"] == "lost" or not _is_certain(line):
            continue
        where = f"{told}: {line['_event']} from {before} to {after}, {line['evidence']}"
        goes, comes = was.get(before), is_now.get(after)
        if before is not None and after is not None:
            if goes != comes or goes is None:
                yield f"{where}: key {goes} becomes {comes}"
            elif line["_event"] == "moved" and old.era == new.era:
                names = differing(old.named_as_in(new), new, goes)
                if names:
                    yield f"{where}: key {goes} differs in {names}"
        elif goes in new.rows:
            yield f"{where}: key {goes} is there"
        elif after is not None and comes in old.rows:
            yield f"{where}: key {comes} was there"
    for address in was.keys() & is_now.keys() - listed:
        if was[address] != is_now[address]:
            yield f"{told}: key {was[address]} at {address} is said to be {is_now[address]}"


def _commits(table: Table, kept: _Kept) -> Iterator[str]:
    changes = table.changes(min(kept), mode="per_commit", images=None, include=_ALL).to_polars()
    for version, new in kept.items():
        previous = _before(kept, version)
        if previous is None:
            continue
        is_mine = pl.col("_commit_version").is_between(previous + 1, version)
        lines = changes.filter(is_mine, pl.col("_event") != "lost")
        # Over lost versions a row may have several lines: created, then updated.
        if previous + 1 == version and not _restored_detached(new):
            told = f"commit {version} ({new.operation})"
            yield from _changed(lines, kept[previous], new, told)
            continue
        for line in lines.filter(pl.col("_event").is_in(["created", *_ENDS])).iter_rows(named=True):
            if not _is_certain(line):
                continue
            where = f"lost up to {version}: {line['_event']} in {line['_commit_version']}"
            if line["_rowaddr_after"] is not None:
                key = new.at.get(line["_rowaddr_after"])
                if key in kept[previous].rows:
                    yield f"{where}: key {key} was in {previous}"
            else:
                key = kept[previous].at.get(line["_rowaddr_before"])
                if key in new.rows:
                    yield f"{where}: key {key} is in {version}"


def _restored_detached(seen: Observed) -> bool:
    return bool((seen.restored or 0) >> 63)


def _lives(world: World, table: Table, seen: Observed, rng: Random) -> Iterator[str]:
    """Yield what is certain, and wrong, in the lives of rows of a version."""
    keys = rng.sample([*seen.rows], min(5, len(seen.rows)))
    numbers = {key: seen.rows[key].id if seen.stable else seen.rows[key].address for key in keys}
    if not keys:
        return
    together = table.follow([*numbers.values()], None, seen.version)
    later = table.follow([*numbers.values()], seen.version, None)
    for key, number in numbers.items():
        frames: dict[str, Callable[[], pl.DataFrame]] = {
            "row": lambda n=number: table.row(n, None if seen.stable else seen.version).history(),  # type: ignore[misc]
            "follow": lambda n=number: together.filter(pl.col("_rowid") == n),  # type: ignore[misc]
            "follow from": lambda n=number: later.filter(pl.col("_rowid") == n),  # type: ignore[misc]
        }
        for name, call in frames.items():
            for event in call().iter_rows(named=True):
                if _is_certain(event) and (wrong := _wrong(world, key, number, event)):
                    yield f"{name} of key {key} in {seen.version}: {event['event']} in " + wrong


def _wrong(world: World, key: int, number: int, event: dict[str, Any]) -> str | None:
    """Return what is wrong of a certain event."""
    line, version = world.lines[event["branch"]], event["version"]
    kept = {number: line.seen[number] for number in world.kept(event["branch"])}
    there, before = _next(kept, version), _before(kept, version)
    where = f"{version} of {event['branch']}, {event['evidence']}"
    for side, one in (("_rowaddr_before", before), ("_rowaddr_after", there)):
        if event[side] is None or one is None or kept[one].operation == "Clone":
            continue
        found = kept[one].at.get(event[side])
        is_namesake = found is not None and kept[one].rows[found].id == number
        if found != key and not (kept[one].stable and is_namesake):
            return f"{where}: {side} {event[side]} in {one} has key {found}"
        if found != key:
            return None  # all rows that ever had the row ID are told of
    if event["event"] in _ENDS and there is not None and key in kept[there].rows:
        return f"{where}: it is in {there}"
    if event["event"] == "created" and before is not None and key in kept[before].rows:
        return f"{where}: it was in {before}"
    is_stored = version > 1 or not kept[max(kept)].stable  # pylance stores 1 where it knows nothing
    if event["event"] == "created" and version in line.seen and is_stored:
        return None if key in line.seen[version].rows else f"{where}: it is not in it"
    return None


def _blamed(world: World, table: Table, seen: Observed) -> Iterator[str]:
    """Yield which cells are certainly changed by a commit that did not change their rows."""
    try:
        cells = table.blame(version=seen.version).to_polars()
    except LanceExplorerError as error:
        yield f"blame of {seen.version}: {error}"
        return
    for cell in cells.iter_rows(named=True):
        if cell["is_uncertain"] or cell["version"] is None or cell["evidence"] == "lost":
            continue
        key, version = seen.at[cell["_rowaddr"]], cell["version"]
        where = f"blame of {seen.version}, {cell['column']} of {key}: in {version}"
        versions = world.lines[cell["branch"]].seen
        is_stored = version > 1 or not seen.stable  # pylance stores 1 where it knows nothing
        if is_stored and version in versions and key not in versions[version].rows:
            yield f"{where}, which has no such row"
        before = versions.get(version - 1)
        if before is None:
            continue
        if cell["event"] == "created" and key in before.rows:
            yield f"{where} created, and it was there before"
        if cell["before"] is not None and not isinstance(cell["value"], dict):
            values = (
                [str(v) for v in before.rows[key].values.values()] if key in before.rows else []
            )
            if cell["before"] not in values and "{" not in cell["before"] + "".join(values):
                yield f"{where}, before {cell['before']!r}, not {values}"


def _found(table: Table, kept: _Kept) -> Iterator[str]:
    rows = table.find("key >= 0", limit=10_000, max_bytes=2**40).to_polars()
    for row in rows.iter_rows(named=True):
        key, told = row["key"], f"find: key {row['key']}"
        versions = [v for v in kept if row["first_version"] <= v <= row["last_version"]]
        if absent := [version for version in versions if key not in kept[version].rows]:
            yield f"{told} is not in {absent}"
        if row["ended_version"] is None or not row["evidence"] or not _is_certain(row):
            continue
        after = min(version for version in kept if version > row["last_version"])
        is_there = key in kept[after].rows
        where = f"{told} {row['ended_as']} in {row['ended_version']}"
        if is_there != (row["ended_as"] not in _ENDS) and row["ended_as"] != "restored":
            yield f"{where}, certainly; is in {after}: {is_there}"


def _edges(world: World, branch: str | None, table: Table) -> Iterator[str]:
    """Yield fragments said to be rewritten from others that never had their rows."""
    story, seen = table.lineage(), world.lines[branch].seen
    own = story.fragments().filter(pl.col("branch").eq_missing(pl.lit(branch, pl.String)))
    place = {
        node: (number, first)
        for node, number, first in own.select("node", "fragment_id", "first_version").iter_rows()
    }
    edges = story.edges().filter(pl.col("kind") == "rewrite", ~pl.col("is_uncertain"))
    for end, starts in edges.group_by("to_node").agg("from_node").iter_rows():
        if end not in place or not {*starts} <= place.keys():
            continue
        number, first = place[end]
        old = {place[start][0] for start in starts}
        ever = {
            key
            for one in seen.values()
            for key, row in one.rows.items()
            if row.address // FILL in old
        }
        rows = {k for k, row in seen[first].rows.items() if row.address // FILL == number}
        if first in world.kept(branch) and (strange := rows - ever):
            yield f"edges to {end} from {starts}: keys {strange} were never there"
