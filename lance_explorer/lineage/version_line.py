"""The line of versions that a branch comes from: its parents up to the fork, then its own."""

from dataclasses import dataclass

import numpy as np

from lance_explorer.errors import FormatError, LanceExplorerError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.table_operations import Clone
from lance_explorer.history.ancestors import parent_of
from lance_explorer.history.history import History
from lance_explorer.history.lives import Lives, fragment_lives
from lance_explorer.history.view import HistoryView

__all__ = ["LinePart", "Origin", "line_of"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a branch, or a clone, left its parent.

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
        Where it left the stretch before.
    """

    view: HistoryView
    history: History
    num_versions: int
    table: str | None
    lives: Lives
    fork: Origin | None


def line_of(view: HistoryView) -> tuple[LinePart, ...]:
    """Return the stretches that lead to the latest version of a branch, oldest first.

    A parent that is gone, or cannot be read, is left out: the fork then tells of it.

    Raises
    ------
    StorageError
        If a manifest of the branch itself cannot be read.
    """
    line = [_stretch(view, view.history, len(view.history), None)]
    seen = {view.storage.uri}
    while (fork := line[-1].fork) is not None:
        parent = _parent(line[-1], fork)
        if parent is None or parent.view.storage.uri in seen:
            break
        seen.add(parent.view.storage.uri)
        line.append(parent)
    return tuple(reversed(line))


def _stretch(view: HistoryView, history: History, num_versions: int, table: str | None) -> LinePart:
    lives = fragment_lives(history, num_versions)
    return LinePart(view, history, num_versions, table, lives, _fork(view, history, table))


def _fork(view: HistoryView, history: History, table: str | None) -> Origin | None:
    first = history.records[0] if history.records else None
    branch = view.refs.branches.get(view.branch) if view.branch else None
    is_recorded = first is not None and first.operation == OperationName.CLONE
    if branch is not None:
        return Origin(table, branch.parent_branch, branch.parent_version, is_recorded)
    if first is None or not is_recorded:
        return None
    try:
        transaction = view.transaction(first)
    except FormatError:
        return None
    if transaction is None or not isinstance(transaction.operation, Clone):
        return None
    return Origin(transaction.operation.ref_path, None, transaction.operation.ref_version, True)


def _parent(child: LinePart, fork: Origin) -> LinePart | None:
    try:
        if fork.table == child.table:
            place = parent_of(child.view)
            if place is None:
                return None
            view, table = place.view, child.table
        else:
            view = child.view.led_to(str(fork.table))
            table = view.uri
        history = view.history
    except LanceExplorerError:
        return None
    num_versions = int(np.searchsorted(history.versions, np.uint64(fork.version), side="right"))
    return _stretch(view, history, num_versions, table) if num_versions else None
