"""One random life of a table: which steps it takes, told by a seed, and what is wrong then."""

import os
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from lance_explorer import Table, open_table
from tests.differential.random_lives import (  # noqa: F401  they fill the lists
    by_hand,
    check_blame,
    check_certainty,
    check_changes,
    check_find,
    check_following,
    check_frames,
    check_manifests,
    check_parts,
    check_plans,
    check_profiles,
    check_rows,
    check_versions,
    columns,
    plan_actions,
    rows,
    upkeep,
)
from tests.differential.random_lives.checks import CHECKS, Difference
from tests.differential.random_lives.registry import ACTIONS
from tests.differential.random_lives.world import Refused, World
from tests.differential.row_ids_turned_on import turn_on_row_ids

__all__ = ["BEYOND", "LOSSES", "WITH_PLANS", "Lived", "live", "shrink", "take"]

LOSSES = {
    "append": 3,
    "append_without_columns": 0.5,
    "overwrite": 0.3,
    "overwrite_alike": 0.3,
    "update_all_rows": 0.3,
    "delete": 1.5,
    "delete_fragment": 0.5,
    "update": 1,
    "merge": 1.5,
    "add_column": 0.4,
    "drop_column": 0.4,
    "rename": 0.3,
    "cast": 0.6,
    "cast_everything": 0.5,
    "create_index": 0.6,
    "compact": 1,
    "compact_without_indices": 1,
    "compact_in_part": 0.8,
    "restore": 0.8,
    "configure": 0.4,
    "fork": 0.2,
    "switch": 0.2,
    "clean_up_some": 0.7,
    "lose": 6,
}
"""What is done, and how often, in a life that loses most of what would tell its past."""

BEYOND = {one.name: one.weight for one in ACTIONS} | {
    "restore_detached": 3,
    "detach": 2,
    "rewrite_by_hand": 1,
    "compact": 1,
    "lose": 2,
}
"""The same in a life with many commits beyond the contract, some of which are lost."""

WITH_PLANS = {one.name: one.weight for one in ACTIONS if not one.is_beyond} | {"undo_by_plan": 4}
"""The same in a life in which commits are undone by plans."""

_REFUSALS = (Refused, OSError, ValueError, TypeError, RuntimeError, KeyError, NotImplementedError)


@dataclass
class Lived:
    """What a table went through, and what is wrong with what we say of it."""

    seed: int
    kind: str
    steps: list[tuple[int, str]]
    refused: dict[str, str]
    differences: list[Difference]
    done: dict[str, int]


def live(
    seed: int,
    steps: Iterable[int],
    checks: Collection[str] = (),
    without: Collection[str] = (),
    turn_on: int | None = None,
    weights: Mapping[str, float] | None = None,
) -> Lived:
    """Live some of the steps of a life. Each has its own random numbers, so any may be left out.

    Steps that are one of the actions ``without`` are not taken. A table whose row IDs are turned on
    has none before the step of that number. With ``weights`` only those actions are taken, else
    those within the contract. Of lives with losses three of four have no row IDs.
    """
    os.environ["LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES"] = "1"
    with TemporaryDirectory() as folder:
        without_ids = turn_on is not None or (weights is LOSSES and seed % 4 > 0)
        world = World.create(Path(folder), Random(f"{seed}"), without_row_ids=without_ids)
        kind = f"{'stable' if world.stable else 'addresses'}, {world.data_format}"
        lived = Lived(seed, kind, [], {}, [], {})
        tables: dict[str | None, Table] = {None: open_table(world.root)}
        for number in steps:
            if number == turn_on:
                rng = Random(f"{seed} {number} on")
                version = turn_on_row_ids(world.line.uri, with_versions=rng.random() < 0.5)
                world.observe()
                lived.steps.append((number, f"turn row IDs on -> v{version} of {world.head}"))
            take(world, number, Random(f"{seed} {number}"), lived, without, weights)
            if Random(f"{seed} {number} look").random() < 0.3:
                found = _raised(partial(_look, world, tables))
                lived.differences += [Difference("look", world.head, words) for words in found]
        for branch in world.lines:
            tables.setdefault(branch, open_table(world.root, branch))
        chosen = {name: check for name, check in CHECKS.items() if name in checks or not checks}
        for branch in world.lines:
            for name, check in chosen.items():
                rng = Random(f"{seed} {branch} {name}")
                fresh = open_table(world.root, branch)
                found = _raised(partial(check, world, branch, fresh, tables[branch], rng))
                lived.differences += [Difference(name, branch, words) for words in found]
    return lived


def _raised(call: Callable[[], Iterable[str]]) -> list[str]:
    """Return what a check yields, or what is raised: whatever that is, it is wrong."""
    try:
        return list(call())
    except Exception:  # noqa: BLE001
        return [traceback.format_exc(limit=-6)]


def take(
    world: World,
    number: int,
    rng: Random,
    lived: Lived,
    without: Collection[str],
    weights: Mapping[str, float] | None = None,
) -> None:
    """Do one thing; go back if pylance cannot read what came of it."""
    if weights is None:
        weights = {one.name: one.weight for one in ACTIONS if not one.is_beyond}
    often = [weights.get(one.name, 0) for one in ACTIONS]
    [chosen] = rng.choices(ACTIONS, often)
    if chosen.name in without:
        return
    copy = world.save()
    head = world.head
    try:
        words = chosen.deed(world, rng)
    except BaseException as error:
        if not isinstance(error, _REFUSALS) and "Panic" not in type(error).__name__:
            raise
        words = None
        lived.refused[chosen.name] = f"{type(error).__name__}: {error}"[:300]
    try:
        world.observe()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        world.take_back(copy)
        world.head = head
        lived.refused[chosen.name] = f"unreadable: {type(error).__name__}: {error}"[:300]
        return
    version = f"v{world.latest.version}" + (f" of {world.head}" if world.head else "")
    if words is None:
        return
    lived.steps.append((number, f"{words} -> {version}"))
    lived.done[chosen.name] = lived.done.get(chosen.name, 0) + 1


def _look(world: World, tables: dict[str | None, Table]) -> Iterator[str]:
    """Refresh the tables that were opened before, and ask them for what they then keep."""
    for branch in world.lines:
        if branch not in tables:
            tables[branch] = open_table(world.root, branch)
        tables[branch].refresh().versions()
        tables[branch].changes(0, mode="per_commit").summary()
    yield from ()


def shrink(
    lived: Lived,
    without: Collection[str] = (),
    turn_on: int | None = None,
    weights: Mapping[str, float] | None = None,
) -> Lived:
    """Leave out steps as long as there is a difference of the first one's kind."""
    kind, name = lived.differences[0].kind, lived.differences[0].check
    left = [*dict.fromkeys(number for number, _ in lived.steps)]
    best = lived
    size = max(1, len(left) // 2)
    while size:
        start = 0
        while start < len(left):
            fewer = left[:start] + left[start + size :]
            tried = live(lived.seed, fewer, [name], without, turn_on, weights)
            tried.differences = [one for one in tried.differences if one.kind == kind]
            if tried.differences:
                left, best = [*dict.fromkeys(number for number, _ in tried.steps)], tried
            else:
                start += size
        size //= 2
    return best
