"""Many rows through many versions: one vectorised pass a version."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lance_explorer.history.events.clones import step_facts
from lance_explorer.history.events.event_runs import RowEvents
from lance_explorer.history.events.row_classes import classify
from lance_explorer.history.events.row_comparison import compare_states
from lance_explorer.history.events.row_runs import shifted
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.arrays import Positions, Uint64Array, aranges

__all__ = ["RowsInStep", "of_rows", "trace"]


@dataclass(frozen=True, slots=True, eq=False)
class RowsInStep:
    """What happened in one version to some of many rows, one entry for each row and event.

    Attributes
    ----------
    events : RowEvents
        The events of the version, as runs.
    row : ndarray of int64
        Which row each entry is about: its place among the identities that are traced.
    run : ndarray of int64
        Of which run of ``events`` each row is.
    before, after : ndarray of uint64
        The addresses of the row; NO_ADDRESS where it is not live.
    """

    events: RowEvents
    row: Positions
    run: Positions
    before: Uint64Array
    after: Uint64Array


def trace(
    rows: StateRows, identities: Uint64Array, positions: Sequence[int]
) -> Iterator[RowsInStep]:
    """Yield what happened to rows, version by version, without empty ones.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of a branch.
    identities : ndarray of uint64
        The rows, ascending, each once.
    positions : sequence of int
        The positions of the versions in ``rows.history``, also backwards.
    """
    if not len(identities):
        return
    low, high = rows.bounds
    first = np.searchsorted(identities, low)
    can_hold = first < np.searchsorted(identities, high, side="right")
    rows.load_steps(positions, can_hold)
    for position in positions:
        removed, added = rows.history.states_removed(position), rows.history.states_added(position)
        removed, added = removed[can_hold[removed]], added[can_hold[added]]
        if not len(removed) and not len(added):
            continue
        step = step_facts(rows, position)
        runs = compare_states(rows, removed.tolist(), added.tolist(), step.schemas)
        events = classify(rows, step, runs)
        some = of_rows(events, identities)
        if len(some.row):
            yield some


def of_rows(events: RowEvents, identities: Uint64Array) -> RowsInStep:
    """Return what happened in a version to some rows, given by their identities, ascending."""
    first = np.searchsorted(identities, events.identity)
    counts = np.searchsorted(identities, events.identity + events.length) - first
    run = np.repeat(np.arange(len(events)), counts)
    row = aranges(first, counts)
    shift = identities[row] - events.identity[run]
    return RowsInStep(
        events, row, run, shifted(events.before[run], shift), shifted(events.after[run], shift)
    )
