"""Restores of detached versions that are lost themselves, and shown by what later versions have.

A clean-up leaves detached versions alone. Data files that one of them wrote rows to are in no other
version but in those that come from it: one that is kept, after lost ones, tells that one of these
restored it.
"""

from collections.abc import Callable, Iterable

from lance_explorer.history.detached import with_rows
from lance_explorer.history.view import HistoryView

__all__ = ["lost_restores"]


def lost_restores(
    view: HistoryView, positions: Iterable[int], new_files: Callable[[int], set[str]]
) -> dict[int, tuple[int, ...]]:
    """Return which detached versions some versions come from, by position, as far as files tell.

    Parameters
    ----------
    view : HistoryView
        The branch.
    positions : iterable of int
        The positions of versions that come from lost ones.
    new_files : callable
        Gives the data files of the states that a version is the first one to have.
    """
    positions, found = [*positions], dict[int, tuple[int, ...]]()
    some = with_rows(view) if positions else ()
    for position in positions if some else ():
        files = new_files(position)
        detached = [one.version for one in some if not one.written.isdisjoint(files)]
        if detached:
            found[position] = tuple(detached)
    return found
