"""Conversion of addresses in one version to identities, and back, for many rows at once."""

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.events.row_comparison import live_rows
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.addresses import FRAGMENT_BITS, first_address, fragments_of
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.rowids.runs import RunColumns, Runs

__all__ = ["addresses_at", "identities_at", "rows_of_state"]

_OFFSETS = np.uint64((1 << FRAGMENT_BITS) - 1)


def identities_at(
    rows: StateRows, position: int, addresses: Uint64Array
) -> tuple[Uint64Array, NDArray[np.bool_]]:
    """Return which rows are live at addresses.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of a branch.
    position : int
        The position of the version in ``rows.history``.
    addresses : ndarray of uint64
        Row addresses in any order.

    Returns
    -------
    identities : ndarray of uint64
        For each address the identity of its row, 0 where none lives.
    live : ndarray of bool
        For each address whether a row lives there.
    """
    states = rows.history.by_id(rows.history.intervals.at(position))
    identities = np.zeros(len(addresses), dtype=np.uint64)
    live = np.zeros(len(addresses), dtype=np.bool_)
    order = np.argsort(addresses, kind="stable")
    fragments, begins = np.unique(fragments_of(addresses[order]), return_index=True)
    asked = {
        fragment: order[begin:end]
        for fragment, begin, end in zip(
            fragments.tolist(), begins, np.append(begins, len(order))[1:], strict=True
        )
        if fragment in states
    }
    wanted = [states[fragment] for fragment in asked]
    rows.load(wanted, versions=False)
    rows.load_deleted(wanted)
    for fragment, places in asked.items():
        state = states[fragment]
        offsets = (addresses[places] & _OFFSETS).astype(np.int64)
        there = offsets < rows.num_rows(state)
        there &= ~np.isin(offsets, deleted_offsets(rows.deleted(state)))
        identities[places[there]] = rows.ids(state).at(offsets[there])
        live[places] = there
    return identities, live


def addresses_at(
    rows: StateRows, position: int, identities: Uint64Array
) -> tuple[Uint64Array, NDArray[np.bool_]]:
    """Return the addresses of rows, 0 if they are not live, and whether they are."""
    all_rows = live_rows(rows, position)
    columns = RunColumns(all_rows.identity, all_rows.identity + all_rows.length, all_rows.after)
    return Runs.split(columns)[0].lookup(identities)


def rows_of_state(rows: StateRows, state: int) -> tuple[Uint64Array, Uint64Array]:
    """Return the addresses of the live rows of a state, and their identities."""
    offsets = np.arange(rows.num_rows(state))
    rows.load([state], versions=False)
    rows.load_deleted([state])
    offsets = offsets[~np.isin(offsets, deleted_offsets(rows.deleted(state)))]
    first = np.uint64(first_address(rows.history.states[state].id))
    return offsets.astype(np.uint64) + first, rows.ids(state).at(offsets)
