"""The versions of a branch with those that it inherits from its ancestors."""

from collections.abc import Iterator

import polars as pl

from lance_explorer.errors import RefNotFoundError
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.versions import versions

__all__ = ["inherited_versions"]


def inherited_versions(source: TableSource) -> pl.DataFrame:
    """Return the versions of a branch, and before them those of its ancestors up to the forks.

    The version of a fork is there twice: as its parent has it, and as the first of the branch. An
    ancestor that is gone, or was made again under its name, ends the list.
    """
    frames = [versions(source)]
    for ancestor, fork in _ancestors(source):
        frames.append(versions(ancestor).filter(pl.col("version") <= fork))
    return pl.concat(reversed(frames))


def _ancestors(source: TableSource) -> Iterator[tuple[TableSource, int]]:
    """Yield the ancestors of a branch, and at which of their versions the next one left them."""
    seen = {source.branch}
    while source.branch is not None and (ref := source.branches.get(source.branch)) is not None:
        parent = None if ref.parent_branch is None else source.branches.get(ref.parent_branch)
        known = () if parent is None else parent.identifier
        if ref.identifier and ref.identifier[:-1] != known:
            return  # another branch has the parent's name by now
        try:
            source = source.on_branch(ref.parent_branch)
        except RefNotFoundError:
            return
        if source.branch in seen:
            return
        seen.add(source.branch)
        yield source, ref.parent_version
