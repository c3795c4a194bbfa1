"""Walks over the commits of one branch, by position: see :mod:`lance_explorer.history.graph`.

A position is that of a kept version in a history. Lost and detached versions have none: they are
left out of a path, and the last kept version before them replaces one at which a walk ends.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.graph.commits import Commit, EdgeKind
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = [
    "EMPTY",
    "Branch",
    "Line",
    "Stop",
    "VersionPath",
    "commit_at",
    "parent_position",
    "path_between",
    "restores_unseen",
]

EMPTY = -1
"""The position of the empty table, before every version."""


class Line(Protocol):
    """The versions of a branch."""

    @property
    def view(self) -> HistoryView:
        """The branch."""

    @property
    def history(self) -> History:
        """Those that count."""


@dataclass(frozen=True, slots=True)
class Branch:
    """All kept versions of a branch, including those without readable rows."""

    view: HistoryView
    history: History


class Stop(NamedTuple):
    """A version of a branch, by its position in a history."""

    line: Line
    position: int

    @property
    def record(self) -> VersionRecord:
        """What its manifest says."""
        return self.line.history.records[self.position]


@dataclass(frozen=True, slots=True)
class VersionPath:
    """The kept commits between two versions, as positions in a history.

    Attributes
    ----------
    undone : tuple of int
        Those that only the first version has, latest first.
    done : tuple of int
        Those that only the second version has, earliest first.
    common : int
        The last kept one that both have, or EMPTY.
    """

    undone: tuple[int, ...]
    done: tuple[int, ...]
    common: int

    @property
    def steps(self) -> tuple[int, ...]:
        """All commits on the way."""
        return self.undone + self.done


def commit_at(history: History, position: int) -> Commit:
    """Return the commit of a version in the graph of its branch."""
    return Commit("", history.records[position].version)


def path_between(history: History, begin: int, end: int) -> VersionPath:
    """Return the path between two versions, given by their positions or EMPTY."""
    ends = [None if at == EMPTY else commit_at(history, at) for at in (begin, end)]
    path = history.graph.path(*ends)
    undone, done = [_positions(history, some) for some in (path.undone, path.done)]
    return VersionPath(undone, done, _last_kept(history, path.common))


def parent_position(history: History, position: int) -> int:
    """Return the last kept content parent of a version; for a restore, the restored one.

    EMPTY if there is none.
    """
    return _last_kept(history, history.graph.content_parent(commit_at(history, position)))


def restores_unseen(history: History, position: int) -> bool:
    """Whether a version is a Restore of a version outside the history."""
    record = history.records[position]
    if record.operation != OperationName.RESTORE:
        return False
    parents = history.graph.parents(commit_at(history, position))
    is_told = bool(parents) and parents[0].kind is EdgeKind.RESTORES
    return not (is_told and history.graph.can_be_read(parents[0].parent))


def _positions(history: History, commits: Iterable[Commit]) -> tuple[int, ...]:
    return tuple([history.position(c.version) for c in commits if c.version in history])


def _last_kept(history: History, commit: Commit | None) -> int:
    for one in history.graph.ancestors(commit):
        if one.version in history:
            return history.position(one.version)
    return EMPTY
