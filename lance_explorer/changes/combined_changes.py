"""Net changes reversed, and combined."""

from dataclasses import replace
from typing import Literal

import numpy as np

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.offsets import cut_at

__all__ = ["borders", "composed", "cut_at_addresses", "inverted"]

Side = Literal["before", "after"]


def inverted(runs: ChangeRuns) -> ChangeRuns:
    """Return changes from A to B as changes from B to A: inserted rows become deleted ones.

    Which version gave a row its values is unknown for these.
    """
    change = runs.change.copy()
    change[runs.change == RowEvent.INSERTED] = RowEvent.DELETED
    change[runs.change == RowEvent.DELETED] = RowEvent.INSERTED
    return replace(
        runs,
        change=change,
        identity=runs.old_identity,
        old_identity=runs.identity,
        before=runs.after,
        after=runs.before,
        version=np.full(len(runs), NO_VERSION, dtype=np.uint64),
    )


def composed(first: ChangeRuns, second: ChangeRuns) -> ChangeRuns:
    """Return changes from A to C, given those from A to B and from B to C.

    Rows are the same if they have the same address in B. If a row has two classes, the first one
    counts. A row that is neither in A nor in C is left out; so is one that only moved, and has the
    same address in A and C.
    """
    first = cut_at_addresses(first, "after", borders(second, "before"))
    second = cut_at_addresses(second, "before", borders(first, "after"))
    is_there, was_there = first.after != NO_ADDRESS, second.before != NO_ADDRESS
    here, there = np.flatnonzero(is_there), np.flatnonzero(was_there)
    _, one, other = np.intersect1d(first.after[here], second.before[there], return_indices=True)
    one, other = here[one], there[other]
    both = _joined(first.where(one), second.where(other))
    only_first = first.where(np.delete(np.arange(len(first)), one))
    only_second = second.where(np.delete(np.arange(len(second)), other))
    return ChangeRuns.concatenated([only_first, only_second, both])


def cut_at_addresses(runs: ChangeRuns, side: Side, borders: Uint64Array) -> ChangeRuns:
    """Return runs split at sorted borders inside their addresses before, or after."""
    addresses = runs.before if side == "before" else runs.after
    is_there = addresses != NO_ADDRESS
    some = runs.where(is_there)
    owner, shift, length = cut_at(addresses[is_there], some.length, borders)
    if len(owner) == len(some):
        return runs
    return ChangeRuns.concatenated([runs.where(~is_there), some.pieces(owner, shift, length)])


def borders(runs: ChangeRuns, side: Side) -> Uint64Array:
    """Return where runs begin and end, by their addresses before, or after."""
    addresses = runs.before if side == "before" else runs.after
    is_there = addresses != NO_ADDRESS
    starts = addresses[is_there]
    result: Uint64Array = np.union1d(starts, starts + runs.length[is_there])
    return result


def _joined(first: ChangeRuns, second: ChangeRuns) -> ChangeRuns:
    """Return the rows that both have, as pairs of runs."""
    added, removed = first.before == NO_ADDRESS, second.after == NO_ADDRESS
    change = np.minimum(first.change, second.change)  # classes are in the order of their rank
    change = np.where(removed, np.uint8(RowEvent.DELETED), change)
    change = np.where(added, np.uint8(RowEvent.INSERTED), change)
    joined = replace(
        second,
        change=change,
        old_identity=first.old_identity,
        before=first.before,
        evidence=np.maximum(first.evidence, second.evidence),
        is_uncertain=first.is_uncertain | second.is_uncertain,
    )
    came_back = (change == RowEvent.MOVED) & (joined.before == joined.after) & ~joined.is_uncertain
    return joined.where(~(added & removed | came_back))
