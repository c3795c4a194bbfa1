"""Looks at many tables: in several processes where there are many, so that all cores work."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from lance_explorer.database.kept_looks import KeptLooks, listed
from lance_explorer.database.look import Look, look_at
from lance_explorer.database.members import Member
from lance_explorer.errors import LanceExplorerError
from lance_explorer.history.progress import showing_progress, with_progress
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import Options, done_in_order
from lance_explorer.storage.opening import is_remote
from lance_explorer.values.child import called_apart, is_child

__all__ = ["looks_of"]

_FEW = 24
"""The number of tables that are read before another process would have started."""

_BATCH = 8
_MOST_PROCESSES = 8
_BATCH_OF_STORE = 64
_MOST_WAITING = 32
"""Tables in an object store that a process reads at once: it mostly waits for answers."""


def looks_of(members: Sequence[Member], kept: KeptLooks) -> list[Look]:
    """Return a look at each table, in their order, with a progress bar.

    For unchanged tables, the kept look is returned.
    """
    most = _most_waiting(members)
    asked = done_in_order([(1, partial(listed, member)) for member in members], most, most)
    shown = with_progress(members, "Listing tables", "tables", few=2)
    there = {member.name: member_answer for member, member_answer in zip(shown, asked, strict=True)}
    known = {member.name: kept.get(member, there[member.name]) for member in members}
    rest = [member for member in members if known[member.name] is None]
    seen = chain.from_iterable(_batches(rest))
    shown = with_progress(rest, "Looking at tables", "tables", few=2)
    new = {member.name: look for member, look in zip(shown, seen, strict=True)}
    kept.put(there, new.values())
    looks = [known[member.name] or new[member.name] for member in members]
    return _with_clones(members, looks)


def _most_waiting(members: Sequence[Member]) -> int:
    """Return how many tables are asked at a time: only stores make one wait."""
    return _MOST_WAITING if any(is_remote(member.uri) for member in members) else 1


def _batches(members: Sequence[Member]) -> Iterator[list[Look]]:
    """Yield looks at one table after another; several at once if that is faster."""
    most = _most_waiting(members)
    if len(members) < _FEW or not _are_alike(members) or is_child():
        look = _quiet_look if most > 1 or is_child() else look_at
        for seen in done_in_order([(1, partial(look, one)) for one in members], most, most):
            yield [seen]
        return
    processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
    batch = _BATCH if most == 1 else _BATCH_OF_STORE
    parts = [members[start : start + batch] for start in range(0, len(members), batch)]
    yield from done_in_order(
        [(1, partial(_looks_apart, part)) for part in parts], processes, processes
    )


def _quiet_look(member: Member) -> Look:
    """Look at a table without its own progress bar: those of several tables would mix."""
    with showing_progress(lambda *_: None):
        return look_at(member)


def _looks_apart(members: Sequence[Member]) -> list[Look]:
    """Return looks of another process; if a table ends it, of this one."""
    options = members[0].storage_options  # which are sent one by one: nothing else may delay them
    plain = [replace(member, storage_options=None) for member in members]
    try:
        looks: list[Look] = called_apart(_looks_there, [plain, options], {})
    except LanceExplorerError:
        return _looks_here(members)
    return looks


def _are_alike(members: Sequence[Member]) -> bool:
    """Return whether another process can open all of them in the same way."""
    options = members[0].storage_options
    return all(one.is_plain and one.storage_options is options for one in members)


def _looks_there(members: Sequence[Member], options: Options | None) -> list[Look]:
    """Return looks, in the process that was sent the members."""
    return _looks_here([replace(member, storage_options=options) for member in members])


def _looks_here(members: Sequence[Member]) -> list[Look]:
    return [*chain.from_iterable(_batches(members))]


def _with_clones(members: Sequence[Member], looks: list[Look]) -> list[Look]:
    """Return the looks; those at tables with clones are made again, with the clones.

    A file that none of their own versions names is not left over if a clone needs it.
    """
    readers: dict[str, list[Member]] = {}
    for member, look in zip(members, looks, strict=True):
        for uri in look.bases:
            readers.setdefault(uri, []).append(member)
    return [
        look_at(member, _opened(readers[member.uri])) if member.uri in readers else look
        for member, look in zip(members, looks, strict=True)
    ]


def _opened(members: Sequence[Member]) -> Iterator[HistoryView]:
    for member in members:
        try:
            yield member.open()._view
        except LanceExplorerError:
            continue  # which its own look says
