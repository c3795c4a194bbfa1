"""Physical rows across versions: which states of a fragment hold the same rows in the same files.

Most commits leave most rows in place. So a reader of many versions reads the rows of a fragment
once, in a version that has all of them, and has their values for every version that shares these
rows.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.format.fragments import Fragment
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.values.later_values import position_to_read

__all__ = [
    "Piece",
    "StoredRows",
    "Wanted",
    "bytes_of",
    "files_of",
    "reads_of",
    "stored_rows",
]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read; it distinguishes versions in which the same files have another meaning.

    Attributes
    ----------
    fields : frozenset of int
        The IDs of the fields that are read.
    schema : hashable
        What must be the same in two versions, such as names and types of these fields.
    """

    fields: frozenset[int]
    schema: Hashable


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of versions, given by positions, in which a fragment has one state."""

    state: int
    first: int
    last: int


@dataclass(slots=True)
class StoredRows:
    """The rows of a fragment in certain files, including rows that some versions deleted.

    Attributes
    ----------
    fragment_id : int
        The fragment.
    wanted : Wanted
        What is read of them.
    pieces : list of Piece
        When they were there.
    """

    fragment_id: int
    wanted: Wanted
    pieces: list[Piece] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The last position at which any of the rows may live."""
        return max([piece.last for piece in self.pieces])

    def states(self) -> list[int]:
        """Return the states, the one with the fewest deleted rows first."""
        return [*dict.fromkeys([piece.state for piece in self.pieces])]

    def to_read(self, rows: StateRows) -> list[Piece]:
        """Return pieces with every row that is live in any of the states; usually one piece."""
        counts = rows.history.num_deleted_rows
        ordered = sorted(self.pieces, key=lambda piece: (int(counts[piece.state]), -piece.last))
        chosen = ordered[:1]
        if counts[chosen[0].state] == 0:
            return chosen
        rows.load_deleted(self.states())
        missing = rows.deleted(chosen[0].state)
        for piece in ordered[1:]:
            both = missing & rows.deleted(piece.state)
            if both != missing:
                chosen.append(piece)
                missing = both
        return chosen

    def lives(
        self, rows: StateRows, offsets: NDArray[np.int64]
    ) -> Iterator[tuple[Piece, NDArray[np.bool_]]]:
        """Yield each piece, and which of the given rows are live in it."""
        rows.load_deleted(self.states())
        by_state = dict[int, NDArray[np.bool_]]()
        for piece in self.pieces:
            if piece.state not in by_state:
                by_state[piece.state] = _live(rows.deleted(piece.state), offsets)
            yield piece, by_state[piece.state]


def stored_rows(
    rows: StateRows,
    wanted: Callable[[int], Wanted | None],
    positions: range,
    *,
    by_state: bool = False,
) -> list[StoredRows]:
    """Return the physical rows of some versions; rows that lived last come first.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of a branch.
    wanted : callable
        What is read of a version, given by its position; None if nothing.
    positions : range
        The positions of the versions in ``rows.history``.
    by_state : bool
        Whether rows count as others as soon as anything about their fragment differs.
    """
    history = rows.history
    stretches = [*_stretches([wanted(position) for position in positions], positions.start)]
    by_key = dict[Hashable, StoredRows]()
    intervals = history.intervals
    for begin, end, one in stretches:
        there = (intervals.first <= end) & (intervals.last >= begin)
        columns = [c[there].tolist() for c in (intervals.keys, intervals.first, intervals.last)]
        for state, first, last in zip(*columns, strict=True):
            fragment = history.states[state]
            own = state if by_state else None
            key = fragment.id, one.schema, files_of(fragment, one.fields), own
            stored = by_key.setdefault(key, StoredRows(fragment.id, one))
            stored.pieces.append(Piece(state, max(first, begin), min(last, end)))
    return sorted(by_key.values(), key=lambda stored: (-stored.last, stored.fragment_id))


def _stretches(at: Sequence[Wanted | None], start: int) -> Iterator[tuple[int, int, Wanted]]:
    """Yield the first and the last position of each stretch with the same requested fields."""
    begin = 0
    for place in range(1, len(at) + 1):
        if place == len(at) or at[place] != at[begin]:
            one = at[begin]
            if one is not None:
                yield begin + start, place - 1 + start, one
            begin = place


def files_of(fragment: Fragment, wanted: frozenset[int]) -> Hashable:
    """Return a key that differs where a fragment has other rows or other values."""
    own = [(file.path, tuple([f for f in file.fields if f in wanted])) for file in fragment.files]
    some = tuple([(path, fields) for path, fields in own if fields])
    files: Hashable = some or tuple([file.path for file in fragment.files])
    return files, tuple([overlay.data_file.path for overlay in fragment.overlays])


def bytes_of(fragment: Fragment, wanted: frozenset[int]) -> float:
    """Return about how many bytes some fields take; all columns of a file count the same."""
    return sum(
        (file.size_bytes or 0) * len(wanted.intersection(file.fields)) / max(len(file.fields), 1)
        for file in fragment.files
    )


def _live(deleted: BitMap, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not deleted:
        return np.ones(len(offsets), dtype=np.bool_)
    gone = np.array(deleted.to_array(), dtype=np.int64)
    live: NDArray[np.bool_] = ~np.isin(offsets, gone)
    return live


def reads_of(rows: StateRows, pieces: Sequence[tuple[_T, Piece]]) -> Iterator[tuple[int, list[_T]]]:
    """Yield the few positions at which pieces are read, and what is read at each.

    If a ledger has versions that the table no longer keeps, kept versions are preferred.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of a branch.
    pieces : sequence of tuple
        What is read, each with the piece in which it is.
    """
    waiting = [*pieces]
    while waiting:
        start = max([piece.first for _, piece in waiting])
        here = [(one, piece) for one, piece in waiting if piece.last >= start]
        waiting = [(one, piece) for one, piece in waiting if piece.last < start]
        yield (
            position_to_read(rows, start, min([piece.last for _, piece in here])),
            [one for one, _ in here],
        )
