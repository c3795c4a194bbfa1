"""The commits between two versions that wrote fields of both.

In between, a field may have had another name, and by casts other IDs; and its ID may have belonged
to another field.
"""

from collections.abc import Iterable, Mapping, Sequence

from lance_explorer.history.columns.lives import Lives, column_lives, shared_fields
from lance_explorer.history.file_changes import WrittenFields
from lance_explorer.history.history import History
from lance_explorer.history.paths import EMPTY

__all__ = ["EndFields"]


class EndFields:
    """The fields that both ends of a path have.

    Parameters
    ----------
    history : History
        The versions of the branch that the way ends in.
    end : int
        The position of its end, or EMPTY.
    ids : iterable of int
        The IDs of the fields there.
    """

    def __init__(self, history: History, end: int, ids: Iterable[int]) -> None:
        self._history = history
        self._end = end
        self._ids = frozenset(ids)
        self._lives: Mapping[int, Lives] = {}

    @classmethod
    def between(cls, history: History, begin: int, end: int) -> "EndFields":
        """Return those of two versions of a branch, given by their positions or EMPTY."""
        return cls(history, end, shared_fields(history, begin, end).values())

    def have_any(self, writes: Sequence[tuple[int, WrittenFields]]) -> list[bool]:
        """Tell which writes concern a field that both ends have.

        A column of only one end was added or dropped, whatever else was done to it.

        Parameters
        ----------
        writes : sequence of tuple
            The positions of commits, and the fields that they wrote of the version before and
            kept.
        """
        if not (writes and self._ids):
            return [False] * len(writes)
        self._learn({position - 1 for position, _ in writes})
        ends = self._lives[self._end]
        shared = {ends[id_] for id_ in self._ids}
        return [
            any(self._lives[position - 1].get(id_) in shared for id_ in written.kept | written.cast)
            for position, written in writes
        ]

    def _learn(self, positions: set[int]) -> None:
        """Compute the lives of fields at some positions, and as many more: others follow."""
        if positions <= self._lives.keys():
            return
        first, last = min(positions | {self._end}), max(positions | {self._end})
        wanted = EMPTY, *range(max(2 * first - last, 0), last + 1)
        self._lives = column_lives(self._history, wanted)
