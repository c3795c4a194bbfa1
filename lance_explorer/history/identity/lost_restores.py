"""Restores of detached versions that are lost themselves, and shown by what later versions have.

A clean-up leaves detached versions alone. Data files that one of them wrote rows to are in no other
version but in those that come from it: one that is kept, after lost ones, tells that one of these
restored it.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.history.source import TableSource
from lance_explorer.history.update_kinds import writes_rows

__all__ = ["lost_restores"]


def lost_restores(
    source: TableSource, positions: Iterable[int], new_files: Callable[[int], set[str]]
) -> dict[int, tuple[int, ...]]:
    """Return which detached versions some versions come from, by position, as far as files tell.

    Parameters
    ----------
    source : TableSource
        The branch.
    positions : iterable of int
        The positions of versions that come from lost ones.
    new_files : callable
        Gives the data files of the states that a version is the first one to have.
    """
    positions, written = [*positions], dict[int, set[str]]()
    for file in source.listing.detached if positions else ():
        with suppress(FormatError, NotFoundError):
            written[file.version] = _written(source, file.version)
    found = dict[int, tuple[int, ...]]()
    for position in positions if any(written.values()) else ():
        files = new_files(position)
        detached = [version for version, own in written.items() if not own.isdisjoint(files)]
        if detached:
            found[position] = tuple(detached)
    return found


def _written(source: TableSource, detached: int) -> set[str]:
    """Return the data files with rows that a detached commit wrote."""
    history = source.version(detached)
    transaction = source.transaction(history.records[0])
    operation = transaction.operation if transaction else None
    return {
        file.path
        for fragment in history.states
        if writes_rows(operation, fragment)
        for file in fragment.files
    }
