"""The frames of ``lance_explorer.metadata``, and how tasks share the work on one large table."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import polars as pl

from lance_explorer.checks.all_checks import check
from lance_explorer.checks.depths import Depth
from lance_explorer.checks.frame import CHECKS
from lance_explorer.database.look import TABLES, line_of
from lance_explorer.disk.usage import USAGE, disk_usage
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import FRAMES, frame
from lance_explorer.lineage.graph import lineage
from lance_explorer.lineage.nodes import EDGES, STATES

__all__ = ["BY_FRAGMENT", "SERVED", "fragment_ranges", "is_about_history", "served"]

_OTHERS: dict[FrameSchema, Callable[[HistoryView], pl.DataFrame]] = {
    EDGES: lambda view: lineage(view).edges(),
    STATES: lambda view: lineage(view).states(),
    CHECKS: check,
    TABLES: line_of,
    USAGE: lambda view: disk_usage(view).summary(),
}

_MAKE = {schema.name: make for schema, make in _OTHERS.items()}

SERVED: dict[str, FrameSchema] = {**FRAMES, **{schema.name: schema for schema in _OTHERS}}
"""The frames of ``table.inspect``, of fragments, of all checks, of disk use, and of tables."""

BY_FRAGMENT = frozenset(
    f"{which}{name}"
    for name in (
        "fragments",
        "data_files",
        "deletions",
        "row_id_segments",
        "row_id_encodings",
        "version_runs",
    )
    for which in ("", "all_")
)
"""The frames in which each row comes from one fragment alone."""


def served(view: HistoryView, name: str, depth: Depth = "quick") -> pl.DataFrame:
    """Return a frame by its name; frames of a single version are of the latest one."""
    if name == CHECKS.name:
        return check(view, depth)
    return _MAKE[name](view) if name in _MAKE else frame(view, name)


def is_about_history(name: str) -> bool:
    """Tell whether a frame by fragment covers all versions, or one."""
    return name.startswith("all_")


def fragment_ranges(view: HistoryView, name: str, size: int) -> list[range]:
    """Return ranges of fragment IDs with about equally many rows of fragments.

    Parameters
    ----------
    view : HistoryView
        The table.
    name : str
        One of the frames by fragment.
    size : int
        How many fragments a range has, or, of all versions, how many of their states.
    """
    version = view.latest_version
    history = view.history if is_about_history(name) else view.version(version)
    ids = np.sort(history.states.ids[history.intervals.keys])
    if len(ids) <= size:
        return []
    bounds = np.unique(ids[size::size]).tolist()
    ends = [0, *[bound for bound in bounds if bound > 0], int(ids[-1]) + 1]
    return [range(begin, end) for begin, end in pairwise(ends)]
