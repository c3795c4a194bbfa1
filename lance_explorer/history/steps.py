"""A step: a version with its kept predecessor, and the changes of their fragments."""

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.operations import Operation
from lance_explorer.format.transactions import Transaction
from lance_explorer.history.file_changes import SchemaPair
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["Step", "same_life", "states_between"]

_GIVES_IDS_AGAIN = frozenset(
    {OperationName.OVERWRITE, OperationName.RESTORE, OperationName.UNKNOWN, None}
)
"""Operations after which a fragment ID may mean another fragment (docs/FORMAT.md 11)."""


class Step:
    """A version, compared with its kept predecessor.

    Parameters
    ----------
    view : HistoryView
        The branch.
    history : History
        Its versions.
    position : int
        The position of the version in ``history``.

    Attributes
    ----------
    before : VersionRecord or None
        The kept predecessor; None if there is none.
    after : VersionRecord
        The version.
    begin_version, version : int
        The numbers of both; 0 if there is none before.
    follows : bool
        Whether all that happened between is known: no version is missing, and none was detached.
    """

    def __init__(self, view: HistoryView, history: History, position: int) -> None:
        self._view = view
        self.history = history
        self.position = position
        self.before: VersionRecord | None = history.records[position - 1] if position else None
        self.after: VersionRecord = history.records[position]
        self.begin_version = self.before.version if self.before else 0
        self.version = self.after.version
        self.follows = bool(history.follows_previous[position])

    @property
    def num_lost(self) -> int:
        """How many version numbers lie between the two."""
        return self.version - self.begin_version - 1

    @cached_property
    def removed(self) -> dict[int, int]:
        """By fragment ID, the states that only the predecessor has."""
        return self.history.by_id(self.history.states_removed(self.position))

    @cached_property
    def added(self) -> dict[int, int]:
        """By fragment ID, the states that only this version has."""
        return self.history.by_id(self.history.states_added(self.position))

    @cached_property
    def changed(self) -> dict[int, tuple[int, int]]:
        """By fragment ID, both states of the fragments that both versions have."""
        removed = self.removed
        return {key: (removed[key], state) for key, state in self.added.items() if key in removed}

    @cached_property
    def new_fragments(self) -> tuple[int, ...]:
        """The IDs of the fragments that the predecessor lacks."""
        return tuple(sorted(self.added.keys() - self.removed.keys()))

    @cached_property
    def gone_fragments(self) -> tuple[int, ...]:
        """The IDs of the fragments of the predecessor that this version lacks."""
        return tuple(sorted(self.removed.keys() - self.added.keys()))

    @cached_property
    def transaction(self) -> Transaction | None:
        """The whole transaction of the commit; None if it is lost."""
        return self._view.transaction(self.after)

    @property
    def operation(self) -> Operation | None:
        """The operation of the commit; None if the transaction is lost."""
        return self.transaction.operation if self.transaction else None

    @cached_property
    def schemas(self) -> SchemaPair:
        """The schemas of both versions."""
        return SchemaPair(self.before.schema if self.before else (), self.after.schema)


def states_between(
    history: History, begin: int, end: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the states that only the first of two versions has, and those of only the second.

    They are given by their positions; EMPTY is before all, and has none.
    """
    old, new = history.intervals.at(begin), history.intervals.at(end)
    return np.setdiff1d(old, new), np.setdiff1d(new, old)


def same_life(before: Fragment, after: Fragment, operation: str | None = None) -> bool:
    """Whether two states with one fragment ID belong to one fragment, not to one that took its ID.

    A common data file proves it, since their names are never used twice. But a cast of all columns
    replaces every file; so if ``operation``, that of the later of two consecutive versions, assigns
    no ID again, the ID is proof enough.
    """
    if operation not in _GIVES_IDS_AGAIN or before.files == after.files:
        return True
    paths = {file.path for file in before.files}
    return any(file.path in paths for file in after.files)
