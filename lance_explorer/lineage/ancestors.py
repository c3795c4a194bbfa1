"""The versions of its ancestors that a branch inherits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.ancestors import parent_of
from lance_explorer.history.events.address_identities import addresses_at, identities_at
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.steps import same_life
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["ForkRows", "fork_of", "identities_in_parent"]


@dataclass(frozen=True, slots=True)
class ForkRows:
    """Where a branch left its parent.

    Attributes
    ----------
    parent : StateRows
        The rows of the parent.
    version : int
        The last version that both have.
    position : int
        Its position in ``parent.history``.
    """

    parent: StateRows
    version: int
    position: int


def fork_of(view: HistoryView) -> ForkRows | None:
    """Return the fork of a branch; None if it is not a branch, or its parent is not kept."""
    place = parent_of(view)
    if place is None:
        return None
    parent = state_rows(place.view)
    if place.version not in parent.history:
        return None
    return ForkRows(parent, place.version, parent.history.position(place.version))


def identities_in_parent(
    rows: StateRows, fork: ForkRows, identities: Uint64Array
) -> tuple[Uint64Array, NDArray[np.bool_]]:
    """Return the identities of a branch's rows on its parent, and whether they existed there.

    Stable row IDs below the next one at the fork are shared. Without them, a row of the branch is
    the one at the same address when the branch begins; if its first versions are lost, only in a
    fragment with a data file of the parent.
    """
    if rows.has_row_ids_at(0) and fork.parent.has_row_ids_at(fork.position):
        next_row_id = fork.parent.history.records[fork.position].manifest.next_row_id
        shared = identities < np.uint64(next_row_id)
        if fork.parent.namesakes:
            return fork.parent.namesakes.lines[fork.position].identities(identities), shared
        return identities, shared
    addresses, live = addresses_at(rows, 0, identities)
    inherited, were_live = identities_at(fork.parent, fork.position, addresses)
    there, here = fork.parent.history, rows.history
    old = {there.states[state].id: there.states[state] for state in there.states_at(fork.position)}
    new = [here.states[state] for state in here.states_at(0)]
    same = [one.id for one in new if one.id in old and same_life(old[one.id], one)]
    were_live &= np.isin(fragments_of(addresses), np.array(same, dtype=np.uint64))
    return inherited, live & were_live
