"""The way from one version to another in the tree of versions.

A restore makes its target the parent of what follows: what was committed between is undone. So a
version has one line of commits that made it, and two versions differ by the commits of their lines
that are not common to both.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lance_explorer.history.history import History
from lance_explorer.history.restores import ordinary_version, restored_version
from lance_explorer.history.view import HistoryView

__all__ = ["EMPTY", "Branch", "Line", "VersionPath", "parent_position", "path_between"]

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
    """All kept versions of a branch, those of which rows cannot be told, too."""

    view: HistoryView
    history: History


@dataclass(frozen=True, slots=True)
class VersionPath:
    """The commits between two versions, as positions in a history.

    Attributes
    ----------
    undone : tuple of int
        Those that only the first version has, latest first.
    done : tuple of int
        Those that only the second version has, earliest first.
    common : int
        The last that both have, or EMPTY.
    """

    undone: tuple[int, ...]
    done: tuple[int, ...]
    common: int

    @property
    def steps(self) -> tuple[int, ...]:
        """All commits on the way."""
        return self.undone + self.done


def path_between(line: Line, begin: int, end: int) -> VersionPath:
    """Return the way between two versions, given by their positions or EMPTY."""
    undone, done = list[int](), list[int]()
    while begin != end:
        if begin > end:
            undone.append(begin)
            begin = parent_position(line, begin)
        else:
            done.append(end)
            end = parent_position(line, end)
    return VersionPath(tuple(undone), tuple(reversed(done)), begin)


def parent_position(line: Line, position: int) -> int:
    """Return the position that a commit went out from; of a restore, that of what it restored.

    If that is a detached version, it is the ordinary one that it was built on. Where it is not
    kept, it is the last kept one before it; EMPTY if there is none.
    """
    record = line.history.records[position]
    restored = restored_version(line.view, record)
    target = None
    if restored is not None:
        target = ordinary_version(line.view, restored, record.version)
    if target is None:
        return position - 1
    known = int(np.searchsorted(line.history.versions, np.uint64(target), side="right")) - 1
    return min(known, position - 1)
