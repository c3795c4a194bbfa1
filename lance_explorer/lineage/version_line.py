"""The line of versions of a branch: its parents up to the fork, then its own versions."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.ancestors import cloned_from, parents_of
from lance_explorer.history.history import History
from lance_explorer.history.lives import Lives, fragment_lives
from lance_explorer.history.view import HistoryView

__all__ = ["LinePart", "Origin", "line_of"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a branch or a clone left its parent.

    ``table`` is None for the same table. ``is_recorded`` tells whether the first version of the
    branch is kept, which says so; else the reference file does.
    """

    table: str | None
    branch: str | None
    version: int
    is_recorded: bool


@dataclass(frozen=True)
class LinePart:
    """The versions of one branch that belong to a line.

    Attributes
    ----------
    view : HistoryView
        The branch.
    history : History
        Its history, as it was when the line was drawn.
    num_versions : int
        How many of its kept versions, from the first on, belong to the line.
    table : str or None
        URI of the table; None for the table that the line leads to.
    lives : Lives
        The lives of the fragments in these versions.
    fork : Origin or None
        Where it left the branch before.
    """

    view: HistoryView
    history: History
    num_versions: int
    table: str | None
    lives: Lives
    fork: Origin | None


def line_of(view: HistoryView) -> tuple[LinePart, ...]:
    """Return the parts that lead to the latest version of a branch, oldest first.

    A parent that is gone or unreadable is left out: then only the fork names it.

    Raises
    ------
    StorageError
        If a manifest of the branch itself cannot be read.
    """
    line = [_part(view, len(view.history), None)]
    with suppress(LanceExplorerError):
        for parent, version in parents_of(view, over_clones=True):
            is_same = parent.main_storage.uri == line[-1].view.main_storage.uri
            kept = np.searchsorted(parent.history.versions, np.uint64(version), side="right")
            if not kept:
                break
            line.append(_part(parent, int(kept), line[-1].table if is_same else parent.uri))
    return tuple(reversed(line))


def _part(view: HistoryView, num_versions: int, table: str | None) -> LinePart:
    history = view.history
    return LinePart(
        view,
        history,
        num_versions,
        table,
        fragment_lives(history, num_versions),
        _fork(view, history, table),
    )


def _fork(view: HistoryView, history: History, table: str | None) -> Origin | None:
    is_recorded = bool(len(history)) and history.records[0].operation == OperationName.CLONE
    branch = view.refs.branches.get(view.branch) if view.branch else None
    if branch is not None:
        return Origin(table, branch.parent_branch, branch.parent_version, is_recorded)
    clone = cloned_from(view)
    return None if clone is None else Origin(clone.ref_path, None, clone.ref_version, True)
