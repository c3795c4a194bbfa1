"""What must hold of a life: the list of all checks, and what they have in common.

A check gets the world, a branch, a table of ours that was just opened, one that was opened early
and asked now and then, and random numbers; it yields a sentence for each thing that is wrong.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import networkx as nx

from lance_explorer import Table
from tests.differential.random_lives.world import EMPTY, Observed, World

__all__ = [
    "CHECKS",
    "Check",
    "Difference",
    "check",
    "differing",
    "equal",
    "observed",
    "same_shape",
    "shares_fields",
    "some_pairs",
    "state",
]

Check = Callable[[World, str | None, Table, Table, Random], Iterator[str]]

CHECKS: dict[str, Check] = {}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is wrong."""

    check: str
    branch: str | None
    words: str

    @property
    def kind(self) -> str:
        """What is wrong, without numbers and values: the same for differences of one cause."""
        first = self.words.split("\n")[0 if "Traceback" not in self.words else -2]
        return f"{self.check}: " + re.sub(r"\d+|'[^']*'|[\[{(].*", "#", first)[:160]


def check(function: Check) -> Check:
    """Add a check to the list."""
    assert function.__name__ not in CHECKS, function.__name__
    CHECKS[function.__name__] = function
    return function


def observed(world: World, branch: str | None) -> dict[int, Observed]:
    """Return the kept versions of a branch as they were read after their commits.

    A cast gives a column another ID: only if it and the version before are kept, both tell that it
    is one column. Before the first commit of a branch stands the version that it left.
    """
    told: nx.Graph[tuple[int, int]] = nx.Graph()
    for name, line in world.lines.items():
        kept = {version: line.seen[version] for version in world.kept(name)}
        if line.fork in line.seen and line.fork in world.kept(line.parent):
            kept[line.fork] = line.seen[line.fork]
        told.add_nodes_from(pair for one in kept.values() for pair in _pairs(one).values())
        for version, one in kept.items():
            ids = dict(_pairs(kept[version - 1]).values()) if version - 1 in kept else {}
            both = [(n, i) for n, i in _pairs(one).values() if n in ids]
            told.add_edges_from([((n, ids[n]), (n, i)) for n, i in both])
    numbers = {pair: i for i, same in enumerate(nx.connected_components(told)) for pair in same}
    seen = world.lines[branch].seen
    return {
        version: replace(
            seen[version],
            columns={name: numbers[pair] for name, pair in _pairs(seen[version]).items()},
        )
        for version in world.kept(branch)
    }


def _pairs(one: Observed) -> dict[str, tuple[int, int]]:
    """Return for each column of a version its number for life, and its ID."""
    return {name: (number, one.fields[name]) for name, number in one.columns.items()}


def some_pairs(versions: list[int], rng: Random, most: int) -> list[tuple[int, int]]:
    """Return some pairs of versions, the earlier one first; 0 is the empty table."""
    ends = [0, *versions]
    pairs = {tuple(sorted(rng.sample(ends, 2))) for _ in range(most)} if versions else set()
    return sorted((begin, end) for begin, end in pairs)


def state(kept: dict[int, Observed], version: int) -> Observed:
    """Return a version, or the empty table for 0."""
    return kept[version] if version else EMPTY


def differing(old: Observed, new: Observed, key: int) -> list[str]:
    """Return the common columns in which a row of two versions differs; ``old`` is named as new.

    Of structs the fields count that both have.
    """
    before, after = old.rows[key].values, new.rows[key].values
    common = [name for name in before if name in after]
    return sorted(
        name
        for name in common
        if _known(before[name], old, name, new) != _known(after[name], new, name, old)
    )


def same_shape(old: Observed, new: Observed) -> set[str]:
    """Return the common columns that have the same fields inside."""
    names = old.fields.keys() & new.fields.keys()
    return {n for n in names if old.children[n].keys() == new.children[n].keys()}


def shares_fields(old: Observed, new: Observed, name: str) -> bool:
    """Return whether a column of two versions has any field inside that both have, if any at all.

    ``old`` is named as new.
    """
    inside = new.children[name]
    return not inside or bool(_known(dict.fromkeys(inside), new, name, old))


def equal(ours: Any, theirs: Any) -> bool:
    """Return whether a value is as pylance reads it.

    Structs may have more fields, of nulls, and fields the names of a later version; numbers are
    text where other versions have text.
    """
    if isinstance(theirs, dict) and isinstance(ours, dict):
        ours, theirs = [{n: v for n, v in one.items() if v is not None} for one in (ours, theirs)]
        if ours.keys() == theirs.keys():
            return all(equal(ours[name], theirs[name]) for name in ours)
        return sorted(map(str, ours.values())) == sorted(map(str, theirs.values()))
    return bool(ours == theirs or ours == str(theirs))


def _known(value: Any, own: Observed, name: str, other: Observed) -> Any:
    """Return a value; of a struct the fields that another version has, too."""
    if not isinstance(value, dict):
        return value
    theirs = other.children.get(name, {})
    by_id = {i: n for n, i in theirs.items()} if own.era == other.era else {}
    found = {}
    for child, one in value.items():
        place = by_id.get(own.children[name].get(child, -1), child)
        if child in theirs or place in own.children[name]:
            place = child  # its ID was given to another one: a restore or a cast came between
        if place in theirs:
            found[min(place, child)] = one
    return found
