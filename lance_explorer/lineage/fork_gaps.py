"""The fate of rows between a fork and the first kept version of the branch, if that is later."""

from dataclasses import replace

import numpy as np

from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.identity import fields_of_both
from lance_explorer.history.events.address_identities import addresses_at
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.follow_rows import trace
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.file_changes import InPlace, SchemaPair, in_place
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.lineage.ancestors import ForkRows, identities_in_parent
from lance_explorer.lineage.event_frame import EventColumns, event_columns
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["has_gap", "since_fork"]

_NOTHING = 255
"""Number of an event that is none."""


def has_gap(rows: StateRows, fork: ForkRows | None) -> bool:
    """Whether the first versions of a branch are lost."""
    return fork is not None and rows.history.records[0].version > fork.version


def since_fork(rows: StateRows, fork: ForkRows, row_ids: Uint64Array, step: int) -> EventColumns:
    """Return what happened to rows of the parent up to the first kept version of the branch.

    Without stable row IDs, rows that are known to be those of the parent did not move.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    fork : ForkRows
        Where it left its parent.
    row_ids : ndarray of uint64
        Rows that the parent had before, ascending. ``row`` of the answer counts them.
    step : int
        The number of the first kept version among the steps.
    """
    inherited = identities_in_parent(rows, fork, row_ids)[0]
    places = addresses_at(fork.parent, fork.position, inherited), addresses_at(rows, 0, row_ids)
    before, after = [np.where(live, addresses, NO_ADDRESS) for addresses, live in places]
    written = EventColumns.empty()
    if rows.has_row_ids_at(0):
        events = [event_columns(step, in_step) for in_step in trace(rows, row_ids, range(1))]
        written = EventColumns.concatenated(events)
        written = written.where(written.version > np.uint64(fork.version))
    is_told = np.zeros(len(row_ids), dtype=np.bool_)
    is_told[written.row] = True
    event = np.full(len(row_ids), _NOTHING, dtype=np.uint8)
    was_live, is_live = before != NO_ADDRESS, after != NO_ADDRESS
    event[was_live & ~is_live] = RowEvent.DELETED
    event[~was_live & is_live] = RowEvent.RESTORED
    stayed, moved = was_live & (before == after), was_live & is_live & (before != after)
    event[stayed & np.isin(fragments_of(after), _rewritten(rows, fork))] = RowEvent.COLUMN_REWRITTEN
    event[moved] = RowEvent.MOVED
    first = rows.history.records[0].version
    is_uncertain = event == RowEvent.COLUMN_REWRITTEN
    if first - fork.version > 1:  # one commit may have written them, and another one moved them
        is_uncertain |= moved
    row = np.flatnonzero((event != _NOTHING) & ~is_told)
    others = EventColumns(
        row=row,
        step=np.full(len(row), step),
        event=event[row],
        version=np.full(len(row), first, dtype=np.uint64),
        before=before[row],
        after=after[row],
        is_uncertain=is_uncertain[row],
        evidence=np.full(len(row), Evidence.LOST, dtype=np.uint8),
        may_be_other=np.zeros(len(row), dtype=np.bool_),
    )
    return EventColumns.concatenated([replace(written, before=before[written.row]), others])


def _rewritten(rows: StateRows, fork: ForkRows) -> Uint64Array:
    """Return the IDs of fragments with values of a column in other files than at the fork.

    Row versions do not show writes in place by lost commits.
    """
    ends = fork.parent.history.records[fork.position], rows.history.records[0]
    places = (
        BranchVersion(fork.parent.view, fork.version),
        BranchVersion(rows.view, ends[1].version),
    )
    schemas = SchemaPair(ends[0].schema, ends[1].schema, fields_of_both(*places).shared)
    here, there = fork.parent.history, rows.history
    old = {here.states[state].id: here.states[state] for state in here.states_at(fork.position)}
    new = [there.states[state] for state in there.states_at(0)]
    row_ids = [
        fragment.id
        for fragment in new
        if fragment.id in old
        and in_place(old[fragment.id], fragment, schemas) is InPlace.VALUES_DIFFER
    ]
    return np.array(row_ids, dtype=np.uint64)
