"""Rows that may be others, since only counts and order link them over lost versions.

The last such link of a row distinguishes it from the row that it may be: two states certainly
contain the same row only if both have it through the same link. A restore goes back across links.
"""

from collections.abc import Iterable

import numpy as np

from lance_explorer.history.events.address_identities import addresses_at
from lance_explorer.history.events.identity_sets import IdentitySet
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Positions, Uint64Array, concatenated

__all__ = ["cut_at_links", "last_links", "last_links_at", "links_of"]


def last_links(
    rows: StateRows, states: Iterable[int], identities: Uint64Array, addresses: Uint64Array
) -> Positions:
    """Return the position of the last doubtful link of each row; -1 if it has none.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    states : iterable of int
        States of one version, among them those with the rows.
    identities, addresses : ndarray of uint64
        The rows, and where they are in that version.
    """
    last = np.full(len(identities), -1, dtype=np.int64)
    if not rows.doubtful_links:
        return last
    some = [*states]
    if any(rows.first_positions[state] > rows.ids_from for state in some) and rows.has_row_ids:
        return last_links_at(rows, rows.ids_from, identities)  # row IDs identify rows since then
    for position in sorted(rows.doubtful_links):
        fragments = [
            rows.history.states[state].id for state in some if position in rows.origins(state).links
        ]
        here = np.isin(fragments_of(addresses), np.array(fragments, dtype=np.uint64))
        last[here & _linked(rows, position).has(identities)] = position
    return last


def last_links_at(rows: StateRows, position: int, identities: Uint64Array) -> Positions:
    """Return the same for rows of a version, given by its position."""
    if not rows.doubtful_links:
        return np.full(len(identities), -1, dtype=np.int64)
    if rows.has_row_ids:
        position = min(position, rows.ids_from)
    addresses, live = addresses_at(rows, position, identities)
    addresses = np.where(live, addresses, NO_ADDRESS)
    return last_links(rows, rows.history.states_at(position), identities, addresses)


def links_of(rows: StateRows, states: Iterable[int]) -> frozenset[int]:
    """Return the positions of the doubtful links of the rows of some states."""
    if not rows.doubtful_links:
        return frozenset()
    return frozenset[int]().union(*[rows.origins(state).links for state in states])


def cut_at_links(rows: StateRows, runs: RowRuns) -> RowRuns:
    """Return runs split so that all rows of each have the same links."""
    for position in rows.doubtful_links:
        runs = _linked(rows, position).cut(runs)
    return runs


def _linked(rows: StateRows, position: int) -> IdentitySet:
    ranges = [ids.ranges() for ids in rows.doubtful_links[position]]
    return IdentitySet.of(*[concatenated([both[side] for both in ranges]) for side in (0, 1)])
