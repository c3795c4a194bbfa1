"""Changes between two versions, net and commit by commit, against what pylance read of both."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import networkx as nx
import polars as pl

from lance_explorer import Table, VersionNotFoundError, open_table
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES
from lance_explorer.report.facts import Facts
from tests.changes.parts import as_parts_of
from tests.differential.random_lives.checks import (
    check,
    differing,
    equal,
    observed,
    same_shape,
    some_pairs,
    state,
)
from tests.differential.random_lives.world import Observed, World
from tests.report.changed_rows import differing_counts

__all__ = ["names_in_doubt"]

ALL = ("moved", "column_added")
BEFORE, AFTER = "_rowaddr_before", "_rowaddr_after"
_IN_DOUBT = " in doubt"  # where a line has what is in doubt of columns
KEPT = ("updated", "column_rewritten", "column_added", "moved", "unchanged")


@check
def net(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Net changes with both images, their counts, and batches and parts of them."""
    kept = observed(world, branch)
    for begin, end in some_pairs([*kept], rng, 8):
        new = state(kept, end)
        old = state(kept, begin).named_as_in(new)
        changes = table.changes(begin, end, images="both", include=ALL)
        feed, where = changes.to_polars(), f"net {begin} to {end}"
        yield from _wrong_lines(feed, old, new, where, names_in_doubt(changes.findings()))
        if branch is None and new.stable:
            yield from _wrong_row_ids(feed, kept, where)
        yield from _wrong_sums(changes.summary(), feed, len(old.rows), len(new.rows), where)
        yield from _other_parts(changes, feed, rng, where)


@check
def commits(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """What each commit did, against the version before; batches and parts of all of it."""
    kept = observed(world, branch)
    first = 0 if 1 in kept and branch is None else min(kept)
    changes = table.changes(first, mode="per_commit", images="both", include=ALL)
    feed = changes.to_polars()
    for version, new in kept.items():
        if version - 1 not in kept and (version > 1 or branch is not None):
            continue
        last = kept[max(kept)]
        old, new = _named_as_in(state(kept, version - 1), new, last, kept.values())
        lines = feed.filter(_commit_version=version)
        where = f"commit {version} ({new.operation})"
        yield from _wrong_lines(lines, old, new, where, names_in_doubt(changes.findings()))
    if branch is None and kept[max(kept)].stable:
        yield from _wrong_row_ids(feed.filter(pl.col("_event") != "lost"), kept, "commits")
    yield from _other_parts(changes, feed, rng, "commits")


@check
def counted(_: World, __: str | None, table: Table, ___: Table, ____: Random) -> Iterator[str]:
    """The rows that each commit changed, as a report draws them: from versions, where they tell."""
    drawn = Facts(table._view).changed_rows
    summary = table.changes(0, mode="per_commit").summary()
    if not drawn.equals(summary) and len(wrong := differing_counts(drawn, summary)):
        yield f"counts of versions are not those of changes: {wrong}"


def _named_as_in(
    old: Observed, new: Observed, last: Observed, among: Iterable[Observed]
) -> tuple[Observed, Observed]:
    """Return two versions named as in a later one, without names that are two columns in them."""
    pairs = {(i, new.fields.get(n)) for n, i in old.named_as_in(new).fields.items()}
    before, after = [one.named_as_in(last, among) for one in (old, new)]
    common = before.fields.keys() & after.fields
    two = {n for n in common if (before.fields[n], after.fields[n]) not in pairs}
    rows = {
        key: replace(row, values={n: v for n, v in row.values.items() if n not in two})
        for key, row in before.rows.items()
    }
    fields = {n: i for n, i in before.fields.items() if n not in two}
    return replace(before, rows=rows, fields=fields), after


@check
def folded(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Following rows through the feed of all commits ends in the net changes."""
    kept = observed(world, branch)
    for begin, end in some_pairs([*kept], rng, 3):
        if not {*range(begin + 1, end + 1)} <= {*kept} or (begin == 0 and branch is not None):
            continue
        yield from _wrong_fold(table, kept, begin, end)


@check
def by_key(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Changes of rows that are told apart by their keys."""
    kept = observed(world, branch)
    for begin, end in some_pairs([*kept], rng, 3):
        new = state(kept, end)
        old = state(kept, begin).named_as_in(new)
        feed = table.changes(begin, end, images="both", key="key", include=ALL).to_polars()
        where = f"by key {begin} to {end}"
        names = {"insert": new.rows.keys() - old.rows, "delete": old.rows.keys() - new.rows}
        for name, keys in names.items():
            told = {*feed.filter(_change_type=name)["key"]}
            if told != keys:
                yield f"{where}: {name} of {told}, not {keys}"
        updated = {*feed.filter(_change_type="update_postimage")["key"]}
        for key in old.rows.keys() & new.rows.keys():
            if differing(old, new, key) and key not in updated:
                yield f"{where}: key {key} differs in {differing(old, new, key)}: not told"


@check
def across(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """What two versions of one branch or of two differ in, in either direction."""
    for _number in range(3):
        one, other = branch, rng.choice([*world.lines])
        a, b = rng.choice(world.kept(one)), rng.choice(world.kept(other))
        old, new = observed(world, one)[a], observed(world, other)[b]
        told_a, told_b = (a if one is None else (one, a)), (b if other is None else (other, b))
        diff = open_table(world.root).diff(told_a, told_b)
        same = _contents(old) == _contents(new)
        where = f"diff of {told_a} and {told_b}"
        alike = (old.fields, old.children) == (new.fields, new.children)
        if alike and diff.same_content().is_same != same:
            yield f"{where}: {diff.same_content()}, not {same}"
        if diff.is_identical and not same:
            yield f"{where}: is_identical, and the rows differ"
        try:
            changed = diff.rows(images="both", include=ALL)
        except VersionNotFoundError:
            if one == other or _has_all_forks(world):
                raise
            continue
        in_doubt = names_in_doubt(diff.findings())
        yield from _wrong_lines(changed, old.named_as_in(new), new, where, in_doubt)


def _has_all_forks(world: World) -> bool:
    """Whether all versions from which branches come are kept."""
    return all(
        line.fork in world.kept(line.parent)
        for branch, line in world.lines.items()
        if branch is not None and line.parent in world.lines
    )


def _contents(seen: Observed) -> list[str]:
    return sorted(str(sorted(row.values.items())) for row in seen.rows.values())


def names_in_doubt(findings: pl.DataFrame) -> dict[str, set[str]]:
    """Return for each name of a column the names of those that are said to be perhaps that one.

    A column that may be another, which may be a third one, may be that one, too.
    """
    maybe_one: nx.Graph[str] = nx.Graph()
    for message in findings.filter(code="column_in_doubt")["statement"]:
        told = re.match(r"column '(.*)', with .*, may be '(.*)' of version", message)
        assert told is not None, message
        maybe_one.add_edge(*told.groups())
    return {name: same - {name} for same in nx.connected_components(maybe_one) for name in same}


def _wrong_lines(
    frame: pl.DataFrame,
    old: Observed,
    new: Observed,
    where: str,
    in_doubt: Mapping[str, Collection[str]],
) -> Iterator[str]:
    """Yield what is wrong in lines that lead from one version to another, with both images."""
    lines = [{**line, _IN_DOUBT: in_doubt} for line in frame.to_dicts()]
    was, is_now = old.at, new.at
    kinds = ("insert", "delete", "update_preimage")
    removed = {line[BEFORE]: line for line in lines if line["_change_type"] == "delete"}
    added_rows = {line[AFTER]: line for line in lines if line["_change_type"] == "insert"}
    images = {line[BEFORE]: line for line in lines if line["_change_type"] == "update_preimage"}
    pairs = {line[BEFORE]: line for line in lines if line["_change_type"] not in kinds}
    if len(removed) + len(added_rows) + len(images) + len(pairs) != len(lines):
        yield f"{where}: a row is told twice"
        return
    strange = [a for a in [*removed, *pairs] if a not in was]
    strange += [
        a for a in [*added_rows, *(line[AFTER] for line in pairs.values())] if a not in is_now
    ]
    if strange:
        yield f"{where}: no live rows at {strange[:5]}"
        return
    for address, line in removed.items():
        key = was[address]
        if key in new.rows and not line["is_uncertain"]:
            yield f"{where}: key {key} certainly deleted ({line['_event']}), but it is there"
        yield from _wrong_values(line, old.rows[key].values, f"{where}: deleted key {key}")
    for address, line in added_rows.items():
        key = is_now[address]
        if key in old.rows and not line["is_uncertain"]:
            yield f"{where}: key {key} certainly inserted ({line['_event']}), but it was there"
        yield from _wrong_values(line, new.rows[key].values, f"{where}: inserted key {key}")
    for address, line in pairs.items():
        yield from _wrong_pair(line, images.get(address), was[address], old, new, where)
    told_after = {*added_rows, *(line[AFTER] for line in pairs.values())}
    rest = {was[a] for a in was.keys() - removed.keys() - pairs.keys()}
    left = {is_now[a] for a in is_now.keys() - told_after}
    if rest != left:
        yield f"{where}: keys {rest - left} vanish untold, {left - rest} come untold"
    for key in rest & left:
        if differing(old, new, key):
            yield f"{where}: key {key} differs in {differing(old, new, key)}, said to be unchanged"
        if old.rows[key].address != new.rows[key].address:
            yield f"{where}: key {key} moved, said to be unchanged"


def _wrong_row_ids(feed: pl.DataFrame, kept: dict[int, Observed], where: str) -> Iterator[str]:
    """Yield lines that name a row, after it has a row ID, by another one than pylance does.

    Before, an update may have made another row of it, and which one is not told.
    """
    ids = dict[int, set[int]]()
    for one in kept.values():
        for key, row in one.rows.items():
            if one.stable:
                ids.setdefault(key, set()).add(row.id)
    first = min(version for version, one in kept.items() if one.stable)
    for line in feed.select("key", "_rowid", "_event", "_commit_version", AFTER).iter_rows():
        key, row_id, event, version, after = line
        is_named = after is not None if where.startswith("net") else version and version >= first
        if key is not None and is_named and row_id not in ids.get(key, {row_id}):
            yield f"{where}: {event} key {key} has the row ID {row_id}, not {ids[key]}"


def _wrong_pair(
    line: dict[str, Any],
    image: dict[str, Any] | None,
    key: int,
    old: Observed,
    new: Observed,
    where: str,
) -> Iterator[str]:
    event, now = line["_event"], new.at[line[AFTER]]
    where = f"{where}: {event} key {key} (is_uncertain={line['is_uncertain']}, {line['evidence']})"
    if now != key and line["is_uncertain"] and line["evidence"] == "inferred":
        return  # lost versions may have made others
    if now != key:
        yield f"{where} is paired with key {now}"
        return
    different = differing(old, new, key)
    yield from _wrong_values(line, new.rows[key].values, where)
    if event == "moved":
        if old.rows[key].address == new.rows[key].address:
            yield f"{where} is where it was"
        if different and not line["is_uncertain"]:
            yield f"{where} differs in {different}"
        return
    if image is None:
        yield f"{where} has no image before"
        return
    yield from _wrong_values(image, old.rows[key].values, f"{where} before")
    told = line[CHANGED_COLUMNS]
    if told is None:
        yield f"{where}: changed_columns is null"
        return
    split = {name.split("@")[0] for name in line if "@" in name} | {*line[_IN_DOUBT]}
    common = {*told} & same_shape(old, new) - split
    if common != {*different} & same_shape(old, new) - split:
        yield f"{where}: changed_columns {told}, not {different}"
    if event == "column_added" and different and not line["is_uncertain"]:
        yield f"{where} differs in {different}"


def _wrong_values(line: dict[str, Any], values: Any, where: str) -> Iterator[str]:
    wrong = {
        name: (line.get(name, "no column"), value)
        for name, value in values.items()
        if not any(
            equal(line[own], value)
            for own in line
            if own.split("@")[0] == name or own in line[_IN_DOUBT].get(name, ())
        )
    }
    if wrong:
        yield f"{where}: values are told wrong (ours, pylance's): {wrong}"


def _wrong_sums(
    summary: pl.DataFrame, feed: pl.DataFrame, num_old: int, num_new: int, where: str
) -> Iterator[str]:
    [counts] = summary.to_dicts()
    rows = feed.filter(pl.col("_change_type").ne_missing("update_preimage"))
    told = dict(rows["_event"].cast(pl.String).value_counts().iter_rows())
    for name in ("inserted", "deleted", *KEPT[:-1]):
        if counts[name] != told.get(name, 0):
            yield f"{where}: summary {name} {counts[name]}, feed {told}"
    if counts["uncertain"] != rows["is_uncertain"].sum():
        yield f"{where}: summary uncertain {counts['uncertain']}, feed {rows['is_uncertain'].sum()}"
    kept = sum(counts[name] for name in KEPT)
    if num_old != counts["deleted"] + kept or num_new != counts["inserted"] + kept:
        yield f"{where}: {num_old} rows became {num_new}, summary {counts}"


def _other_parts(changes: Any, feed: pl.DataFrame, rng: Random, where: str) -> Iterator[str]:
    size = rng.randint(1, 5)
    batches = pl.concat([feed.clear(), *changes.batches(size, progress=False)])
    if not batches.equals(feed):
        yield f"{where}: batches of {size} are not the whole:\n{_unlike(batches, feed)}"
    parts = [
        pl.concat([feed.clear(), *changes.batches(rng.randint(1, 5), progress=False, part=part)])
        for part in changes.parts(size)
    ]
    together = as_parts_of(feed, parts, changes.mode)
    if not together.equals(feed):
        yield f"{where}: parts of {size} are not the whole:\n{_unlike(together, feed)}"


def _unlike(one: pl.DataFrame, other: pl.DataFrame) -> str:
    if len(one) != len(other):
        return f"{len(one)} and {len(other)} lines"
    names = [name for name in other.columns if not one[name].equals(other[name], null_equal=True)]
    for index, (a, b) in enumerate(zip(one.iter_rows(), other.iter_rows(), strict=True)):
        if a != b:
            return f"line {index} of {len(one)} in {names}: {a} and {b}"
    return "types"


def _wrong_fold(table: Table, kept: dict[int, Observed], begin: int, end: int) -> Iterator[str]:
    feed = table.changes(begin, end, "per_commit", images="both", include=ALL).to_polars()
    first, last = state(kept, begin), state(kept, end)
    origin: dict[int, int | None] = {address: address for address in first.at}
    written = dict[int, dict[str, Any]]()
    for (version,), commit in feed.group_by("_commit_version", maintain_order=True):
        left, entered = {}, {}
        for line in commit.to_dicts():
            if line["_change_type"] == "update_preimage":
                continue
            if line[BEFORE] is not None:
                left[line[BEFORE]] = origin.get(line[BEFORE])
            if line[AFTER] is not None:
                entered[line[AFTER]] = left.get(line[BEFORE])
                if line["_event"] == "restored" and line[BEFORE] is None:
                    key = kept[version].at[line[AFTER]]
                    entered[line[AFTER]] = first.rows[key].address if key in first.rows else None
                written[line[AFTER]] = line  # a restore may bring a row back to where it was
        origin = {a: o for a, o in origin.items() if a not in left} | entered
    net = table.changes(begin, end, images="both", include=ALL).to_polars()
    unsure = {
        line[side] for line in net.to_dicts() for side in (BEFORE, AFTER) if line["is_uncertain"]
    }
    unsure |= {line[s] for line in feed.to_dicts() for s in (BEFORE, AFTER) if line["is_uncertain"]}
    unsure.discard(None)
    pairs = {*net.select(BEFORE, AFTER).iter_rows()}
    fold: set[tuple[int | None, int | None]] = {(old, new) for new, old in origin.items()}
    fold |= {(address, None) for address in first.at.keys() - {before for before, _ in fold}}
    pairs, fold = ({pair for pair in some if unsure.isdisjoint(pair)} for some in (pairs, fold))
    moved = {pair for pair in fold if pair[0] != pair[1]}
    if not moved <= pairs <= fold:
        yield f"{begin} to {end}: fold {moved - pairs} not net, net {pairs - fold} not in the fold"
    for line in net.to_dicts():
        if (
            line["is_uncertain"]
            or line["_event"] != "updated"
            or line["_change_type"] != "update_postimage"
        ):
            continue
        if line[AFTER] in written and line[AFTER] not in unsure:
            image = written[line[AFTER]]
            # What became of fields inside a column afterwards is no change of the row.
            shape = same_shape(kept[image["_commit_version"]].named_as_in(last), last)
            names = [n for n in shape if n not in CHANGES.names and n in image]
            both = [(n, line[n], image[n]) for n in names]
            wrong = [n for n, a, b in both if not equal(a, b) and not equal(b, a)]
            if wrong and line[AFTER] in origin:
                yield f"{begin} to {end}: the last image of {line[AFTER]} has other {wrong}"
