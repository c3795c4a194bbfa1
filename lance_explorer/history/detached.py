"""Detached versions that wrote rows: what an unseen restore of one may have brought.

A detached commit assigns the same row IDs and version numbers as ordinary commits, and does not
record its base: ``read_version`` is what its writer was told. So nothing is derived from a restore
of one (docs/EVIDENCE.md): what it brought is uncertain, as after lost versions.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.fragments import Fragment
from lance_explorer.history.history import History
from lance_explorer.history.listing import FIRST_DETACHED, VersionFile
from lance_explorer.history.memories import notes
from lance_explorer.history.update_kinds import writes_rows
from lance_explorer.history.view import HistoryView

__all__ = ["DetachedRows", "maybe_restored"]


@dataclass(frozen=True, slots=True)
class DetachedRows:
    """A detached version that wrote rows.

    Attributes
    ----------
    history : History
        That version alone.
    read_version : int
        The one that its writer said it read.
    files : frozenset of str
        All its data files.
    own : frozenset of int
        Its states with rows that it wrote itself.
    """

    history: History
    read_version: int
    files: frozenset[str]
    own: frozenset[int]


def maybe_restored(view: HistoryView, history: History, position: int) -> list[DetachedRows]:
    """Return the detached versions that lost ones before a version may have restored.

    A fragment that stayed over the gap and that the detached version lacks shows that it was not
    restored, or was abandoned again.
    """
    if not view.listing.detached or position == 0:
        return []
    before, after = [
        _paths([history.states[state] for state in history.states_at(place)])
        for place in (position - 1, position)
    ]
    stayed, version = before & after, history.records[position].version
    return [
        one
        for one in _with_rows(view)
        if stayed <= one.files
        and (one.read_version < version or one.read_version >= FIRST_DETACHED)
    ]


def _with_rows(view: HistoryView) -> tuple[DetachedRows, ...]:
    """Return the readable detached versions that wrote rows, cached."""
    last, listed = _last(view), view.listing.detached
    rows = last.get(listed)
    if rows is None:
        rows = tuple(_read(view))
        last.clear()
        last[listed] = rows
    return rows


_last = notes(dict[tuple[VersionFile, ...], tuple[DetachedRows, ...]], are_carried=True)


def _read(view: HistoryView) -> Iterator[DetachedRows]:
    for file in view.listing.detached:
        with suppress(FormatError, NotFoundError):
            history = view.version(file.version)
            transaction = view.transaction(history.records[0])
            if transaction is None:
                continue
            own = [
                state
                for state, fragment in enumerate(history.states)
                if writes_rows(transaction.operation, fragment)
            ]
            if own:
                files = _paths(history.states)
                yield DetachedRows(history, transaction.read_version, files, frozenset(own))


def _paths(fragments: Iterable[Fragment]) -> frozenset[str]:
    return frozenset([file.path for fragment in fragments for file in fragment.files])
