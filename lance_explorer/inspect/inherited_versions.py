"""The versions of a branch with those inherited from its ancestors."""

import polars as pl

from lance_explorer.history.ancestors import parents_of
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.versions import versions

__all__ = ["inherited_versions"]


def inherited_versions(view: HistoryView) -> pl.DataFrame:
    """Return the versions of a branch, and before them those of its ancestors up to the forks.

    The version of a fork is included twice: for its parent, and as the first of the branch. An
    ancestor that is gone, or was created again under its name, ends the list.
    """
    frames = [versions(view)]
    for ancestor, fork in parents_of(view):
        frames.append(versions(ancestor).filter(pl.col("version") <= fork))
    return pl.concat(reversed(frames))
