"""Rows that may be others, since nothing but counts and order leads to them over lost versions.

What lies behind such a link, seen from where one asks, may have happened to another row.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.events.identity_sets import IdentitySet
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.arrays import Positions, Uint64Array, concatenated

__all__ = ["linked_in_doubt", "may_be_others"]


def linked_in_doubt(rows: StateRows, positions: Iterable[int]) -> IdentitySet:
    """Return the rows that are linked in doubt in any of some versions."""
    links = rows.doubtful_links
    ranges = [ids.ranges() for position in positions for ids in links.get(position, ())]
    return IdentitySet.of(*[concatenated([both[side] for both in ranges]) for side in (0, 1)])


def may_be_others(
    rows: StateRows, identities: Uint64Array, begin: Positions | int, end: Positions | int
) -> NDArray[np.bool_]:
    """Tell which rows of some versions may be others than those with their identities in others.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    identities : ndarray of uint64
        The rows.
    begin, end : ndarray of int64 or int
        The positions of both versions, in any order; one for all rows, or one for each.
    """
    found = np.zeros(len(identities), dtype=np.bool_)
    earlier, later = np.minimum(begin, end), np.maximum(begin, end)
    for position in rows.doubtful_links:
        is_between = (earlier < position) & (position <= later)
        if np.any(is_between):
            found |= is_between & linked_in_doubt(rows, [position]).has(identities)
    return found
