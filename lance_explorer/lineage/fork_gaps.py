"""What became of rows between a fork and the first kept version of the branch, if that is later."""

from dataclasses import replace

import numpy as np

from lance_explorer.history.events.address_identities import addresses_at
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.lineage.ancestors import Fork, identities_in_parent
from lance_explorer.lineage.event_frame import EventColumns, event_columns
from lance_explorer.lineage.follow_rows import trace
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["has_gap", "since_fork"]


def has_gap(rows: StateRows, fork: Fork | None) -> bool:
    """Whether the first versions of a branch are lost."""
    return fork is not None and rows.history.records[0].version > fork.version


def since_fork(rows: StateRows, fork: Fork, row_ids: Uint64Array, step: int) -> EventColumns:
    """Return what happened to rows of the parent up to the first kept version of the branch.

    Without stable row IDs the rows that are known to be those of the parent did not move.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    fork : Fork
        Where it left its parent.
    row_ids : ndarray of uint64
        Rows that the parent had before, ascending. ``row`` of the answer counts them.
    step : int
        The number of the first kept version among the steps.
    """
    if not rows.has_row_ids_at(0):
        return EventColumns.empty()
    inherited = identities_in_parent(rows, fork, row_ids)[0]
    places = addresses_at(fork.parent, fork.position, inherited), addresses_at(rows, 0, row_ids)
    before, after = [np.where(live, addresses, NO_ADDRESS) for addresses, live in places]
    told = [event_columns(step, found) for found in trace(rows, row_ids, range(1))]
    written = EventColumns.concatenated(told)
    written = written.where(written.version > np.uint64(fork.version))
    differs = before != after
    differs[written.row] = False
    row = np.flatnonzero(differs)
    event = np.full(len(row), RowEvent.MOVED, dtype=np.uint8)
    event[before[row] == NO_ADDRESS] = RowEvent.RESTORED
    event[after[row] == NO_ADDRESS] = RowEvent.DELETED
    others = EventColumns(
        row=row,
        step=np.full(len(row), step),
        event=event,
        version=np.full(len(row), rows.history.records[0].version, dtype=np.uint64),
        before=before[row],
        after=after[row],
        is_uncertain=np.zeros(len(row), dtype=np.bool_),
        evidence=np.full(len(row), Evidence.LOST, dtype=np.uint8),
    )
    return EventColumns.concatenated([replace(written, before=before[written.row]), others])
