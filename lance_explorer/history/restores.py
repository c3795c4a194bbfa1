"""Which version a restore went back to, and which ordinary one a detached version goes back to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.operations import Operation
from lance_explorer.format.table_operations import Restore
from lance_explorer.history.detached import built_on
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.view import HistoryView

__all__ = [
    "DetachedCommit",
    "detached_line",
    "is_restore_of_lost",
    "ordinary_version",
    "restored_commits",
    "restored_version",
]


@dataclass(frozen=True, slots=True)
class DetachedCommit:
    """What a detached commit did, and the fragments of the version that it was built on.

    As far as they are there to be read: the operation is None, and there are no fragments, if not.
    """

    operation: Operation | None
    base: Sequence[Fragment]


def restored_version(view: HistoryView, record: VersionRecord) -> int | None:
    """Return the version that a commit restored, which may be a detached one.

    None if it restored none, or if its transaction is gone.
    """
    if record.operation != OperationName.RESTORE:
        return None
    transaction = view.transaction(record)
    if transaction is None or not isinstance(transaction.operation, Restore):
        return None
    return transaction.operation.version


def is_restore_of_lost(view: HistoryView, history: History, position: int) -> bool:
    """Whether a version is a restore, and what it went back to is not in the history."""
    record = history.records[position]
    if record.operation != OperationName.RESTORE:
        return False
    target = restored_version(view, record)
    return target is None or not np.isin(np.uint64(target), history.versions)


def ordinary_version(view: HistoryView, version: int, before: int | None = None) -> int | None:
    """Return a version or, for a detached one, the ordinary one that it was built on.

    None if that cannot be told. If ``before`` is given, it is an earlier version than that one: the
    version that restored a detached one is like it, and is not what it was built on.
    """
    return detached_line(view, version, before)[1]


def detached_line(
    view: HistoryView, version: int, before: int | None = None
) -> tuple[list[int], int | None]:
    """Return the detached versions that one was built on, itself first, and the ordinary one.

    That is None if it cannot be told; ``before`` is as for :func:`ordinary_version`.
    """
    line = list[int]()
    while version >= FIRST_DETACHED:
        line.append(version)
        base = built_on(view, version, before)
        if base is None:
            base = _said(view, version)
        if base is None or base in line:
            return line, None
        version = base
    return line, version


def restored_commits(
    view: HistoryView, record: VersionRecord
) -> tuple[tuple[DetachedCommit, ...], int | None]:
    """Return the detached commits that a version restored, and what the first was built on.

    That is an ordinary version, kept or not, and None if it cannot be told. A version that restored
    no detached one has no such commits.
    """
    target = restored_version(view, record)
    if target is None or target < FIRST_DETACHED:
        return (), None
    line, base = detached_line(view, target, record.version)
    commits = [
        DetachedCommit(_read(view, version)[0], () if on is None else _read(view, on)[1])
        for version, on in zip(line, [*line[1:], base], strict=True)
    ]
    return tuple(commits), base


def _read(view: HistoryView, version: int) -> tuple[Operation | None, Sequence[Fragment]]:
    """Return the operation and the fragments of a version, as far as it is there to be read."""
    try:
        history = view.version(version)
        transaction = view.transaction(history.records[0])
    except (FormatError, NotFoundError):
        return None, ()
    return transaction.operation if transaction else None, history.states


def _said(view: HistoryView, detached: int) -> int | None:
    """Return the version that a detached commit says it read; it was built on that or another."""
    try:
        stored = view.version(detached).records[0].transaction
    except (FormatError, NotFoundError):
        return None
    return None if stored is None else stored.header.read_version
