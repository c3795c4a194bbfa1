"""Profiles of all versions, against the values that pylance read after each commit."""

import math
import statistics
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from lance_explorer import InvalidArgumentError, Table
from tests.differential.random_lives.checks import check, observed, some_pairs
from tests.differential.random_lives.world import Observed, World

__all__: list[str] = []


@check
def profiles(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """Each line has the statistics of what pylance read; a name is one column for life."""
    kept = observed(world, branch)
    profile = table.profile()
    lines = profile.to_polars()
    told = {(line["version"], line["column"]): line for line in lines.iter_rows(named=True)}
    found = profile._found
    assert found is not None, "the cache is off"
    lives = dict[str, set[int]]()
    for name, at in found.columns.items():
        for position, column in at.items():
            version = found.rows.history.records[position].version
            seen = kept[version]
            lives.setdefault(name, set()).add(seen.columns[column.own])
            values = [row.values[column.own] for row in seen.rows.values()]
            for leaf in column.leaves:
                inside = [_inside(value, seen, column.own, leaf.path[1:]) for value in values]
                yield from _wrong(told.pop((version, leaf.name)), inside)
    for version, seen in kept.items():
        have = {
            c.own
            for at in found.columns.values()
            for p, c in at.items()
            if found.rows.history.records[p].version == version
        }
        if have != seen.columns.keys():
            yield f"profile of {version}: columns {have}, not {seen.columns.keys()}"
    if told:
        yield f"profile: lines of {[*told][:3]}, which no version has"
    versions = sorted(rng.sample([*kept], min(3, len(kept))))
    some = table.profile(versions=versions).to_polars()
    same = [n for n in some.columns if n not in ("column", "type", "bin_edges", "bin_counts")]
    same = [n for n in same if not n.startswith(("from_", "shift", "centroid_"))]
    whole = lines.filter(lines["version"].is_in(versions))
    ours, theirs = (
        sorted(one.select(same).rows(), key=lambda row: repr([_rounded(cell) for cell in row]))
        for one in (some, whole)
    )
    pairs = [pair for pair in zip(ours, theirs, strict=False) if not _are_close(*pair)]
    if pairs or len(ours) != len(theirs):
        yield f"profile of {versions} alone: {pairs[:1] or (len(ours), len(theirs))}"


def _rounded(cell: object) -> object:
    return float(f"{cell:.4g}") if isinstance(cell, float) else cell


def _are_close(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Tell whether rows are equal but for what comes from the order in which floats are summed."""
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(a, float) and isinstance(b, float) and not math.isnan(a)
        else repr(a) == repr(b)
        for a, b in zip(one, other, strict=True)
    )


@check
def drift(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Numbers of rows that two versions have moved as far as pylance read."""
    kept = observed(world, branch)
    for begin, end in some_pairs([*kept], rng, 4):
        if begin and kept[begin].era == kept[end].era:
            for name in sorted({"key", "value"} & kept[end].fields.keys()):
                yield from _wrong_drift(table, kept[begin], kept[end], name)


def _wrong_drift(table: Table, old: Observed, new: Observed, name: str) -> Iterator[str]:
    where = f"drift of {name} from {old.version} to {new.version}"
    was = [own for own, number in old.columns.items() if number == new.columns[name]]
    values = {key: row.values[name] for key, row in new.rows.items()}
    if not was or any(isinstance(value, str) for value in values.values()):
        return
    before = {key: row.values[was[0]] for key, row in old.rows.items() if key in values}
    try:
        found = table.changes(old.version, new.version).drift(name)
    except InvalidArgumentError as error:
        has_values = any(value is not None for value in values.values())  # which tell the type
        if has_values and "for certain" not in str(error):
            yield f"{where}: {error}"
        return
    keys = {row.address: key for key, row in new.rows.items()}
    lines = found.to_polars().select("_rowaddr_after", "l2", "is_uncertain").rows()
    away = {
        key: None if values[key] is None or value is None else abs(values[key] - value)
        for key, value in before.items()
    }
    for address, l2, is_uncertain in lines:
        key = keys[address]
        if not is_uncertain and l2 != away.get(key, "another row"):
            yield f"{where}, key {key}: {l2}, not {away.get(key)}"
    if any(is_uncertain for *_, is_uncertain in lines):
        return
    rows, moved, unpaired = found.summary().select("num_rows", "num_moved", "num_unpaired").row(0)
    theirs = len(before), sum(map(bool, away.values()))
    for told, true in zip((rows, moved), theirs, strict=True):
        if not true - unpaired <= told <= true:
            yield f"{where}: {rows} rows, {moved} moved, {unpaired} unpaired, not {theirs}"


def _inside(value: Any, seen: Observed, own: str, path: tuple[str, ...]) -> Any:
    """Return a field of a struct: the name may be that of another version, so by its place."""
    if not path or value is None:
        return value
    names = [*value]
    return value[path[0]] if path[0] in names else _Unknown


class _Unknown:
    """A field under a name of another version."""


def _wrong(line: dict[str, Any], values: list[Any]) -> Iterator[str]:
    where = f"profile of {line['version']}, {line['column']}"
    if _Unknown in values:
        return
    known = [value for value in values if value is not None]
    if (line["num_rows"], line["num_nulls"]) != (len(values), len(values) - len(known)):
        yield f"{where}: {line['num_rows']} rows, {line['num_nulls']} null, not {values}"
    measured = {
        "value": lambda: [float(one) for one in known],
        "characters": lambda: [float(len(one)) for one in known],
        "items": lambda: [float(len(one)) for one in known],
        "length": lambda: [float(np.linalg.norm(one)) for one in known],
        "nothing": list,
    }[line["measure"]]()
    if line["measure"] in ("value", "characters"):
        counts = Counter(known)
        ends = (str(min(known)), str(max(known))) if known else (None, None)
        if (line["min"], line["max"]) != ends and not isinstance(known[0], float):
            yield f"{where}: from {line['min']} to {line['max']}, not {ends}"
        if line["num_distinct"] != len(counts):
            yield f"{where}: {line['num_distinct']} different, not {len(counts)}"
        top = [one["count"] for one in line["top_values"]]
        if top != sorted(counts.values(), reverse=True)[:10]:
            yield f"{where}: counts {top}, not those of {counts}"
    mean = statistics.fmean(measured) if measured else None
    std = statistics.stdev(measured) if len(measured) > 1 else None
    for name, ours, theirs in (("mean", line["mean"], mean), ("std", line["std"], std)):
        if (ours is None) != (theirs is None) or not np.isclose(ours or 0, theirs or 0):
            yield f"{where}: {name} {ours}, not {theirs}"
    if measured and line["quantiles"][4] != sorted(measured)[(len(measured) - 1) // 2]:
        yield f"{where}: median {line['quantiles'][4]}, not that of {measured}"
    if sum(line["bin_counts"]) not in (len(measured), 0):
        yield f"{where}: bins {line['bin_counts']} of {len(measured)} numbers"
