"""Net changes divided by rows: each share has its own rows, and reads only their fragments.

Rows are named by their identities, which are row IDs, or their first addresses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import History
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.arrays import MAX_U64, Uint64Array

__all__ = ["RowShare", "changed_rows", "row_shares"]

_MOVED_IN_ONE = 8
"""Comparing this many rows that only moved takes about as long as showing one changed row."""

_MOST_STRETCHES = 1024
"""The most ranges of one fragment, so that memory does not grow with its rows."""

_FAR = 4
"""If the range of identities is this many times the number of rows, it is split at large gaps."""


@dataclass(frozen=True)
class RowShare:
    """Some rows of a net comparison.

    Attributes
    ----------
    start, stop : int
        Their identities, half open.
    fragments : tuple of int
        The fragments that can have such rows, ascending.
    is_first : bool
        Whether it has the lines, too, that are of no row.
    """

    start: int
    stop: int
    fragments: tuple[int, ...]
    is_first: bool = False

    def states(self, rows: StateRows, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which of some states can contain such rows."""
        result: NDArray[np.int64] = states[np.isin(rows.history.states.ids[states], self._ids)]
        return result

    @cached_property
    def _ids(self) -> NDArray[np.uint64]:
        return np.array(self.fragments, dtype=np.uint64)


def row_shares(
    rows: StateRows, states: NDArray[np.int64], changed: Mapping[int, int], num_rows: int
) -> list[RowShare]:
    """Return shares of about this many changed rows each; together they have all identities.

    Parameters
    ----------
    rows : StateRows
        The rows of a branch.
    states : ndarray of int64
        The states that are compared.
    changed : mapping of int to int
        How many rows of each of their fragments changed. They are taken to be spread evenly over
        those that it has.
    num_rows : int
        How many rows.
    """
    if sum(changed.values()) <= num_rows:
        return []
    lows, highs = rows.bounds_of(states)
    fragments, place = np.unique(rows.history.states.ids[states], return_inverse=True)
    low = np.full(len(fragments), MAX_U64, dtype=np.uint64)
    high = np.zeros(len(fragments), dtype=np.uint64)
    np.minimum.at(low, place, lows[states])
    np.maximum.at(high, place, highs[states])
    counts = np.array([changed[fragment] for fragment in fragments.tolist()], dtype=np.float64)
    spread = [(low, high, counts)]
    for fragment, state in _scattered(rows, states, place, high - low):
        spread.append(_stretches(*rows.ids(state).ranges(), counts[fragment]))
        counts[fragment] = 0
    begins, lasts, weights = [np.concatenate(some) for some in zip(*spread, strict=True)]
    borders = [0, *_borders(begins, lasts, weights, num_rows), MAX_U64]
    shares = list[RowShare]()
    for begin, end in pairwise(borders):
        has = (low < np.uint64(end)) & (high >= np.uint64(begin)) & (low <= high)
        if has.any():
            shares.append(RowShare(begin, end, tuple(fragments[has].tolist()), not shares))
    return shares


def _scattered(
    rows: StateRows, states: NDArray[np.int64], place: NDArray[np.int64], width: Uint64Array
) -> Iterator[tuple[int, int]]:
    """Yield the fragments whose identities are far apart, by position, with a state of each."""
    for fragment, first in enumerate(np.unique(place, return_index=True)[1].tolist()):
        state = int(states[first])
        physical_rows = rows.history.states[state].physical_rows or 0
        if int(width[fragment]) > _FAR * physical_rows:
            yield fragment, state


def _stretches(
    start: Uint64Array, stop: Uint64Array, count: float
) -> tuple[Uint64Array, Uint64Array, NDArray[np.float64]]:
    """Return the ranges of one fragment, merging near ones, with the number of changes in each.

    These are the lowest and the highest identity of each range, and its part of a count.
    """
    first = np.arange(0, len(start), -(-len(start) // _MOST_STRETCHES) or 1)
    if not len(first):
        return start, stop, np.empty(0)
    sizes = np.add.reduceat(stop - start, first).astype(np.float64)
    last = np.maximum.reduceat(stop, first) - np.uint64(1)
    return np.minimum.reduceat(start, first), last, count * sizes / sizes.sum()


def _borders(
    low: NDArray[np.uint64], high: NDArray[np.uint64], counts: NDArray[np.float64], num_rows: int
) -> list[int]:
    """Return identities with about this many rows between them, for fragments with such counts.

    The largest numbers are rounded, which makes shares larger or smaller, not wrong.
    """
    some = low <= high
    begin, end = low[some].astype(np.float64), high[some].astype(np.float64) + 1
    density = counts[some] / ((high[some] - low[some]).astype(np.float64) + 1)
    at = np.concatenate([begin, end])
    order = np.argsort(at, kind="stable")
    at = at[order]
    slope = np.cumsum(np.concatenate([density, -density])[order])
    total = np.concatenate([[0.0], np.cumsum(np.maximum(slope[:-1], 0) * np.diff(at))])
    wanted = np.arange(num_rows, total[-1], num_rows)
    borders = {int(border) for border in np.interp(wanted, total, at)}
    return sorted(border for border in borders if 0 < border < MAX_U64)


def changed_rows(
    history: History, removed: NDArray[np.int64], added: NDArray[np.int64], commits: range
) -> dict[int, int]:
    """Return the estimated number of changed rows of each fragment between two versions.

    Deletions are counted; other changes are assumed to affect all rows. Most rows that a compaction
    moved are not listed.
    """
    fragments = history.states
    before, after = history.by_id(removed), history.by_id(added)
    names = {history.records[position].operation for position in commits}
    moved_in_one = _MOVED_IN_ONE if before and OperationName.REWRITE in names else 1
    counts = dict[int, int]()
    for fragment in before.keys() | after.keys():
        old, new = before.get(fragment), after.get(fragment)
        if old is not None and new is not None and fragments[old].files == fragments[new].files:
            deleted = history.num_deleted_rows[[old, new]]
            counts[fragment] = int(np.ptp(deleted))
        elif old is not None and new is not None:
            counts[fragment] = max([fragments[s].physical_rows or 0 for s in (old, new)])
        else:
            [state] = [s for s in (old, new) if s is not None]
            counts[fragment] = -(-(fragments[state].physical_rows or 0) // moved_in_one)
    return counts
