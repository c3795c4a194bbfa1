"""Net changes shared out by rows: each share has its own row IDs, and the fragments with such rows.

A share is compared without the others, where stable row IDs tell which row is which.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.history import History
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.arrays import MAX_U64

__all__ = ["RowShare", "changed_rows", "row_shares"]


@dataclass(frozen=True)
class RowShare:
    """Some rows of a net comparison.

    Attributes
    ----------
    start, stop : int
        Their identities, half open.
    fragments : tuple of int
        The fragments that can have such rows, ascending.
    """

    start: int
    stop: int
    fragments: tuple[int, ...]

    def states(self, rows: StateRows, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which of some states can have such rows."""
        found: NDArray[np.int64] = states[np.isin(rows.history.states.ids[states], self._ids)]
        return found

    @cached_property
    def _ids(self) -> NDArray[np.uint64]:
        return np.array(self.fragments, dtype=np.uint64)


def row_shares(
    rows: StateRows, removed: NDArray[np.int64], added: NDArray[np.int64], num_rows: int
) -> list[RowShare]:
    """Return shares of about so many changed rows each; together they have all identities.

    Parameters
    ----------
    rows : StateRows
        The rows of a branch with stable row IDs.
    removed, added : ndarray of int64
        The states that only the first of two versions has, and those only of the second.
    num_rows : int
        How many rows. The changed rows of a fragment are taken to be spread evenly over its IDs.
    """
    changed = changed_rows(rows.history, removed, added)
    if sum(changed.values()) <= num_rows:
        return []
    states = np.concatenate([removed, added])
    lows, highs = rows.bounds_of(states)
    fragments, place = np.unique(rows.history.states.ids[states], return_inverse=True)
    low = np.full(len(fragments), MAX_U64, dtype=np.uint64)
    high = np.zeros(len(fragments), dtype=np.uint64)
    np.minimum.at(low, place, lows[states])
    np.maximum.at(high, place, highs[states])
    counts = np.array([changed[fragment] for fragment in fragments.tolist()], dtype=np.float64)
    borders = [0, *_borders(low, high, counts, num_rows), MAX_U64]
    shares = list[RowShare]()
    for start, stop in pairwise(borders):
        has = (low < np.uint64(stop)) & (high >= np.uint64(start)) & (low <= high)
        shares.append(RowShare(start, stop, tuple(fragments[has].tolist())))
    return [share for share in shares if share.fragments]


def _borders(
    low: NDArray[np.uint64], high: NDArray[np.uint64], counts: NDArray[np.float64], num_rows: int
) -> list[int]:
    """Return identities with about so many rows between them, of fragments with such counts.

    Near the largest numbers they are rounded, which makes shares larger or smaller, not wrong.
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
    history: History, removed: NDArray[np.int64], added: NDArray[np.int64]
) -> dict[int, int]:
    """Return about how many rows of each fragment changed between two versions.

    Deletions are counted, other changes are taken to be of all rows.
    """
    fragments = history.states
    before, after = history.by_id(removed), history.by_id(added)
    found = dict[int, int]()
    for fragment in before.keys() | after.keys():
        old, new = before.get(fragment), after.get(fragment)
        if old is not None and new is not None and fragments[old].files == fragments[new].files:
            deleted = history.num_deleted_rows[[old, new]]
            found[fragment] = int(np.ptp(deleted))
        else:
            counts = [fragments[s].physical_rows or 0 for s in (old, new) if s is not None]
            found[fragment] = max(counts)
    return found
