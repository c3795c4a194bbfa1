"""Rows of a fragment grouped by the versions in which they are live.

Three versions of a fragment of six rows; version 2 deleted row 1, version 3 rows 4 and 5::

    row         0  1  2  3  4  5
    version 1   x  x  x  x  x  x       cohort 0: rows 0, 2, 3, live in versions 1 to 3
    version 2   x     x  x  x  x       cohort 1: row 1, live in version 1
    version 3   x     x  x             cohort 2: rows 4, 5, live in versions 1 and 2

A summary of each cohort is made once; merging them gives a summary of every version.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.lineage.stored_rows import Piece, StoredRows

__all__ = ["NOT_READ", "Cohort", "FragmentCohorts", "Runs", "cohorts_of", "read_in"]

Runs = tuple[tuple[int, int], ...]
"""Stretches of positions, both ends included, in order; no two are adjacent."""

NOT_READ = -1


class Cohort(NamedTuple):
    """Rows of a fragment that are live in the same versions.

    Attributes
    ----------
    offsets : BitMap or None
        The rows; None is every row that no version deleted.
    runs : tuple
        The versions.
    """

    offsets: BitMap | None
    runs: Runs


@dataclass(frozen=True, slots=True)
class FragmentCohorts:
    """The cohorts of a fragment, and the piece in which each is read.

    Attributes
    ----------
    cohorts : tuple of Cohort
        The cohorts; that of rows which no version deleted comes first.
    deleted : BitMap
        The rows that any version deleted.
    reads : mapping of Piece to tuple of int
        The pieces that are read, and of which cohorts.
    """

    cohorts: tuple[Cohort, ...]
    deleted: BitMap
    reads: tuple[tuple[Piece, tuple[int, ...]], ...]


def cohorts_of(rows: StateRows, stored: StoredRows) -> FragmentCohorts:
    """Return the cohorts of the rows of a fragment."""
    states = stored.states()
    rows.load_deleted(states)
    deleted = {state: rows.deleted(state) for state in states}
    parts = _split([*deleted.values()])
    cohorts, dead_in = list[Cohort](), list[frozenset[int]]()
    for offsets, dead in parts:
        gone = frozenset([states[place] for place in dead])
        live = [piece for piece in stored.pieces if piece.state not in gone]
        if live:
            cohorts.append(Cohort(offsets, _runs(live)))
            dead_in.append(gone)
    reads, waiting = list[tuple[Piece, tuple[int, ...]]](), {*range(len(cohorts))}
    for piece in stored.to_read(rows):
        here = tuple(sorted([n for n in waiting if piece.state not in dead_in[n]]))
        waiting.difference_update(here)
        reads.append((piece, here))
    return FragmentCohorts(tuple(cohorts), BitMap.union(BitMap(), *deleted.values()), tuple(reads))


def read_in(fragment: FragmentCohorts, wanted: Iterable[int], num_rows: int) -> NDArray[np.int32]:
    """Return the cohort of each offset of a fragment, among the given cohorts; else NOT_READ."""
    numbers = {*wanted}
    at = np.full(num_rows, NOT_READ, dtype=np.int32)
    for number, cohort in enumerate(fragment.cohorts):
        if number in numbers and cohort.offsets is None:
            at[:] = number
            at[np.array(fragment.deleted.to_array(), dtype=np.int64)] = NOT_READ
    for number, cohort in enumerate(fragment.cohorts):
        if number in numbers and cohort.offsets is not None:
            at[np.array(cohort.offsets.to_array(), dtype=np.int64)] = number
    return at


def _split(deleted: Sequence[BitMap]) -> list[tuple[BitMap | None, tuple[int, ...]]]:
    """Return rows grouped by which of the states deleted them; None for rows that none did."""
    parts: list[tuple[BitMap, tuple[int, ...]]] = []
    every = BitMap.union(BitMap(), *deleted)
    if every:
        parts = [(every, ())]
    for place in sorted(range(len(deleted)), key=lambda place: len(deleted[place])):
        gone, later = deleted[place], list[tuple[BitMap, tuple[int, ...]]]()
        for offsets, dead in parts:
            both = offsets & gone if gone else gone
            if len(both) == len(offsets):
                later.append((offsets, (*dead, place)))
            elif both:
                later += [(both, (*dead, place)), (offsets - both, dead)]
            else:
                later.append((offsets, dead))
        parts = later
    return [(None, ()), *parts]


def _runs(pieces: Sequence[Piece]) -> Runs:
    runs = list[tuple[int, int]]()
    for first, last in sorted([(piece.first, piece.last) for piece in pieces]):
        if runs and first <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], max(runs[-1][1], last)
        else:
            runs.append((first, last))
    return tuple(runs)
