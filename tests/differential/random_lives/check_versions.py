"""All that pylance says of each version, its commit, the step to it, and of refs and gaps."""

from collections.abc import Iterator
from random import Random

from lance_explorer import Table
from tests.differential.agreement import (
    assert_right_gaps,
    assert_same_refs,
    assert_same_steps,
    assert_same_transactions,
    assert_same_versions,
)
from tests.differential.random_lives.checks import check
from tests.differential.random_lives.world import World

__all__: list[str] = []


@check
def versions(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """Versions, all that is in them, and what commits say of themselves."""
    assert_same_versions(table)
    assert_same_transactions(table)
    assert_same_refs(table)
    yield from ()


@check
def steps(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """What differs between each version and the one before."""
    assert_same_steps(table)
    yield from ()


@check
def gaps(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Versions that are not there."""
    assert_right_gaps(table, first=min(world.lines[branch].seen))
    yield from ()
