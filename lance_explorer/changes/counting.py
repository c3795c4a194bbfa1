"""Net changes counted without identifying the rows, where the counts suffice.

That is the case with stable row IDs if there are only appends, deletions, updates, upserts and
compactions: then rows never come back, so a row with an old ID existed before, and the version that
wrote it last shows whether it changed.
"""

from collections.abc import Iterable

import numpy as np

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_comparison import rows_in_states, schemas_at
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.events.unrecorded_writes import unrecorded_writes
from lance_explorer.history.file_changes import InPlace, SchemaPair, in_place
from lance_explorer.history.identity.row_origins import identity_bounds
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import EMPTY
from lance_explorer.history.steps import states_between

__all__ = ["KEEPS_VALUES", "counted"]

KEEPS_VALUES = frozenset(
    {
        OperationName.APPEND,
        OperationName.CREATE_INDEX,
        OperationName.DELETE,
        OperationName.RESERVE_FRAGMENTS,
        OperationName.REWRITE,
        OperationName.UPDATE_CONFIG,
    }
)
"""Operations that neither change values of existing rows nor reuse their IDs."""

_COUNTABLE = {*KEEPS_VALUES, OperationName.UPDATE}

_Counts = dict[RowEvent, int]


def counted(rows: StateRows, begin: int, end: int) -> _Counts | None:
    """Return how many rows were inserted, deleted, updated and moved; None if counts fail.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    begin, end : int
        The positions of the versions, the earlier first.
    """
    if begin == EMPTY or not rows.is_known_by_ids(begin + 1) or not _is_countable(rows, begin, end):
        return None
    if rows.namesakes is not None:
        return None
    states = rows.history.states
    left, entered = [some.tolist() for some in states_between(rows.history, begin, end)]
    rows.load([*left, *entered])
    rows.load_deleted([*left, *entered])
    schemas = schemas_at(rows, begin, end)
    added, removed_rows = {states[state].id: state for state in entered}, 0
    for state in left:
        removed_rows += rows.num_live(state)
        after = added.get(states[state].id)
        if after is not None:
            if not _only_deletes(rows, state, after, schemas):
                return None
            removed_rows -= rows.num_live(added.pop(states[state].id))
    steps = range(begin + 1, end + 1)
    on_the_way = [
        *left,
        *[state for at in steps for state in rows.history.states_added(at).tolist()],
    ]
    if any(states[state].last_updated_at is None for state in on_the_way):
        return None  # a hand-made commit that does not record which versions wrote its rows
    counts = _count_entered(rows, added.values(), begin)
    kept = counts[RowEvent.UPDATED] + counts[RowEvent.MOVED]
    return {**counts, RowEvent.DELETED: removed_rows - kept}


def _is_countable(rows: StateRows, begin: int, end: int) -> bool:
    if not rows.history.follows_previous[begin + 1 : end + 1].all():
        return False
    names = [record.operation for record in rows.history.records[begin + 1 : end + 1]]
    return _COUNTABLE.issuperset(names) and not any(
        unrecorded_writes(rows, StepFacts(rows, position))
        for position, name in enumerate(names, begin + 1)
        if name == OperationName.UPDATE
    )


def _only_deletes(rows: StateRows, before: int, after: int, schemas: SchemaPair) -> bool:
    """Whether two states of one fragment differ only in deletions."""
    states = rows.history.states
    if in_place(states[before], states[after], schemas) is not InPlace.SAME:
        return False
    old, new = rows.origins(before), rows.origins(after)
    return old.ids is new.ids and old.updated is new.updated


def _count_entered(rows: StateRows, states: Iterable[int], begin: int) -> _Counts:
    """Count the rows of new fragments: created rows, and those that moved there."""
    record = rows.history.records[begin]
    counts = {RowEvent.INSERTED: 0, RowEvent.UPDATED: 0, RowEvent.MOVED: 0}
    mixed = list[int]()
    for state in states:
        updated = rows.origins(state).updated
        low, high = identity_bounds(rows.ids(state))
        if low >= record.manifest.next_row_id:
            counts[RowEvent.INSERTED] += rows.num_live(state)
        elif high >= record.manifest.next_row_id or rows.deleted(state) or updated is None:
            mixed.append(state)
        else:
            is_later = updated.versions > record.version
            counts[RowEvent.UPDATED] += int(updated.counts[is_later].sum())
            counts[RowEvent.MOVED] += int(updated.counts[~is_later].sum())
    live = rows_in_states(rows, mixed)
    live = live.cut(live.identity, np.array([record.manifest.next_row_id], dtype=np.uint64))
    is_new = live.identity >= record.manifest.next_row_id
    is_later = ~is_new & (live.updated_after > record.version)
    for change, chosen in (
        (RowEvent.INSERTED, is_new),
        (RowEvent.UPDATED, is_later),
        (RowEvent.MOVED, ~is_new & ~is_later),
    ):
        counts[change] += int(live.length[chosen].sum(dtype=np.uint64))
    return counts
