"""Manifests of a store of which only the ends are read, beside the files."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from lance_explorer import Table
from tests.differential.random_lives.checks import check
from tests.differential.random_lives.world import World
from tests.history.derived_manifests import differing

__all__: list[str] = []


@check
def manifests(
    world: World, branch: str | None, table: Table, early: Table, rng: Random
) -> Iterator[str]:
    """Each derived manifest is its file, but for the order of entries of maps."""
    wrong, _ = differing(Path(table._view.storage.uri))
    for version in wrong:
        yield f"the derived manifest of version {version} is not its file"
