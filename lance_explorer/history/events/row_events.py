"""What happened to rows in one version, as runs.

``row_events(view, position)`` compares a kept version with the kept one before and says of each
row whose state differs what it was: created, restored, overwritten, deleted, updated, column
rewritten, column added or moved. Versions without such rows have no runs. ``position`` counts the
versions of ``state_rows(view).history``, which leaves out those whose rows cannot be told.

The answer is a ``RowEvents``: columns of runs. A run is ``length`` rows with consecutive identities
at consecutive addresses, both before and after, to which the same happened. The *identity* of a row
is its stable row ID; without those, it is the first address of the row, which compactions keep, and
``update()``, too, if its order is known (:mod:`lance_explorer.history.identity.birth_addresses`).

- ``before`` and ``after`` are the addresses of the first row, NO_ADDRESS (2^64 - 1) where it is not
  live: added rows have no ``before``, removed ones no ``after``.
- ``event`` are the numbers of :class:`RowEvent`, ``evidence`` those of
  :class:`~lance_explorer.history.evidence.Evidence`.
- ``version`` is where it happened: that of the step, or an earlier one, which is gone, if the row
  versions tell it.
- ``is_uncertain`` marks values that may be as they were (columns written in place); the two halves
  of an upsert without row IDs: a row deleted and one created may be one row updated; and rows
  that moved while versions are lost, which may have written them, too.
- ``updated_before``, ``updated_after`` and ``created`` are row versions, as in ``RowRuns``.

Across a gap (``follows`` is false), events that the version alone proves have its number and
evidence ``derived`` or ``recorded``. Everything else that differs is included, too: with an earlier
version if row versions prove it, else with evidence ``lost``. In the first kept version of a table
each live row is ``created`` in the version that its row version names, and ``updated`` if it was
later.

To compare any two sets of states, see
:func:`~lance_explorer.history.events.row_comparison.compare_states`.
"""

from collections.abc import Iterator

from lance_explorer.history.events.event_runs import RowEvent, RowEvents
from lance_explorer.history.events.row_classes import classify
from lance_explorer.history.events.row_comparison import compare_step
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.view import HistoryView

__all__ = ["NO_ADDRESS", "RowEvent", "RowEvents", "all_row_events", "row_events"]


def row_events(view: HistoryView, position: int) -> RowEvents:
    """Return what happened to rows in one version.

    Parameters
    ----------
    view : HistoryView
        The branch.
    position : int
        The position of the version in ``state_rows(view).history``.
    """
    rows = state_rows(view)
    step = StepFacts(rows, position)
    return classify(rows, step, compare_step(rows, step))


def all_row_events(
    view: HistoryView, begin: int = 0, end: int | None = None
) -> Iterator[RowEvents]:
    """Yield what happened to rows in the versions between two positions that changed fragments."""
    rows = state_rows(view)
    stop = len(rows.history) if end is None else end
    changed = rows.history.changed_positions
    positions = changed[(begin <= changed) & (changed < stop)].tolist()
    rows.load_steps(positions)
    for position in positions:
        yield row_events(view, position)
