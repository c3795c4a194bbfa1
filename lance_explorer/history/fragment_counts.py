"""How many fragments and rows each version added, removed and changed, for all versions at once.

Each version is compared with the one numbered one lower, never with the version that its
transaction read. If that version is not kept there is nothing to compare with, and every value of
the step is UNKNOWN_COUNT; version 1 is compared with the empty table.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.file_changes import InPlace, SchemaPair, in_place
from lance_explorer.history.history import UNKNOWN_COUNT, History
from lance_explorer.history.steps import same_life

__all__ = ["FragmentCounts", "count_fragments", "totals"]

_Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FragmentCounts:
    """For each record of a history, how its fragments differ from those of the previous version.

    Attributes
    ----------
    added, removed, changed : NDArray[np.int64]
        Fragments that were added, removed, or are in another state.
    rows_in : NDArray[np.int64]
        Live rows of the added fragments.
    rows_out : NDArray[np.int64]
        Rows of the version before that were masked, or whose fragment was removed.
    rows_rewritten_in_place : NDArray[np.int64]
        Live rows of changed fragments that have values from other data files or overlays.
    rows_extended_in_place : NDArray[np.int64]
        Live rows of changed fragments that only got new columns.
    """

    added: _Counts
    removed: _Counts
    changed: _Counts
    rows_in: _Counts
    rows_out: _Counts
    rows_rewritten_in_place: _Counts
    rows_extended_in_place: _Counts


def totals(history: History, of_state: _Counts) -> _Counts:
    """Return, for each record, the sum of a count over its states.

    A negative count is unknown, and makes every sum of it UNKNOWN_COUNT. So does a second fragment
    with one ID.
    """
    known = np.maximum(of_state, 0)
    sums = _running_sum(history, known)
    unknown = _running_sum(history, (of_state < 0).astype(np.int64))
    if history.duplicated:
        unknown += np.isin(history.versions, np.array([*history.duplicated], dtype=np.uint64))
    return np.where(unknown > 0, UNKNOWN_COUNT, sums)


def count_fragments(history: History, live_rows: _Counts) -> FragmentCounts:
    """Compare each version with its predecessor.

    Parameters
    ----------
    history : History
        The versions.
    live_rows : NDArray[np.int64]
        For each state, its rows that are not deleted; UNKNOWN_COUNT where unknown.
    """
    pairs = _pair_states(history)
    deleted = history.num_deleted_rows
    before, after = pairs.changed_from, pairs.changed_to
    unknown = np.minimum(deleted[before], deleted[after]) < 0
    newly_masked = np.where(unknown, UNKNOWN_COUNT, np.maximum(deleted[after] - deleted[before], 0))
    rewritten, extended = [
        np.where(pairs.in_place == kind, live_rows[after], 0)
        for kind in (InPlace.VALUES_DIFFER, InPlace.COLUMNS_ADDED)
    ]
    ones = np.ones(len(history.states), dtype=np.int64)
    # The previous version shows what a restore of a detached one did to fragments.
    is_next = history.is_uncertain & (history.num_lost_before == 0)
    is_next |= history.follows_previous

    def by_version(*parts: tuple[_Counts, _Counts]) -> _Counts:
        sums = _sum_at(len(history), *parts)
        return np.where(is_next, sums, UNKNOWN_COUNT)

    return FragmentCounts(
        added=by_version((pairs.added_at, ones[pairs.added])),
        removed=by_version((pairs.removed_at, ones[pairs.removed])),
        changed=by_version((pairs.changed_at, ones[after])),
        rows_in=by_version((pairs.added_at, live_rows[pairs.added])),
        rows_out=by_version(
            (pairs.removed_at, live_rows[pairs.removed]), (pairs.changed_at, newly_masked)
        ),
        rows_rewritten_in_place=by_version((pairs.changed_at, rewritten)),
        rows_extended_in_place=by_version((pairs.changed_at, extended)),
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The states added and removed at each position, paired by fragment."""

    added: _Counts
    added_at: _Counts
    removed: _Counts
    removed_at: _Counts
    changed_from: _Counts
    changed_to: _Counts
    changed_at: _Counts
    in_place: _Counts


def _pair_states(history: History) -> _Pairs:
    states, intervals = history.states, history.intervals
    begins, ends = _meeting(history)
    ended = {
        (last + 1, int(states.ids[key])): key
        for key, last in zip(
            intervals.keys[ends].tolist(), intervals.last[ends].tolist(), strict=True
        )
    }
    keys, positions = intervals.keys[begins], intervals.first[begins]
    places = [*zip(positions.tolist(), states.ids[keys].tolist(), strict=True)]
    pairs = [ended.get(place, UNKNOWN_COUNT) for place in places]
    same_files = states.show_same_files(np.array(pairs, dtype=np.int64), keys).tolist()
    added: list[tuple[int, ...]] = []
    changed: list[tuple[int, ...]] = []
    for key, place, have_same in zip(keys.tolist(), places, same_files, strict=True):
        before, position = ended.get(place), place[0]
        if before is None:
            added.append((key, position))
        elif have_same and _keeps_schema(history, position):
            changed.append((before, key, position, InPlace.SAME))
            del ended[place]
        elif same_life(states[before], states[key], history.records[position].operation):
            written = _written_in_place(history, position, states[before], states[key])
            changed.append((before, key, position, written))
            del ended[place]
        else:
            added.append((key, position))
    new, new_at = _columns(added, 2)
    old, old_at = _columns([(key, position) for (position, _), key in ended.items()], 2)
    only_begins, only_ends = ~begins, ~ends & (intervals.last + 1 < len(history))
    new = np.concatenate([intervals.keys[only_begins], new])
    new_at = np.concatenate([intervals.first[only_begins], new_at])
    old = np.concatenate([intervals.keys[only_ends], old])
    old_at = np.concatenate([intervals.last[only_ends] + 1, old_at])
    before_keys, after_keys, changed_at, written_in_place = _columns(changed, 4)
    return _Pairs(
        added=new,
        added_at=new_at,
        removed=old,
        removed_at=old_at,
        changed_from=before_keys,
        changed_to=after_keys,
        changed_at=changed_at,
        in_place=written_in_place,
    )


def _meeting(history: History) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which intervals begin where one of the same fragment ID ends, and those ones."""
    intervals = history.intervals
    _, number = np.unique(history.states.ids[intervals.keys], return_inverse=True)
    width = len(history) + 1
    begins = number * width + intervals.first
    ends = number * width + intervals.last + 1
    within = intervals.last + 1 < len(history)
    return np.isin(begins, ends[within]), np.isin(ends, begins) & within


def _keeps_schema(history: History, position: int) -> bool:
    return history.records[position].schema is history.records[position - 1].schema


def _written_in_place(
    history: History, position: int, before: Fragment, after: Fragment
) -> InPlace:
    """Return what rows of a fragment got from other files, or by their row versions.

    As for single rows (history/events/row_classes.py), a Merge that changes no values of a column
    adds columns.
    """
    schemas = SchemaPair(history.records[position - 1].schema, history.records[position].schema)
    kind = in_place(before, after, schemas)
    same_files = before.files == after.files and before.overlays == after.overlays
    if kind is InPlace.SAME and not same_files and before.last_updated_at != after.last_updated_at:
        is_merge = history.records[position].operation == OperationName.MERGE
        return InPlace.COLUMNS_ADDED if is_merge else InPlace.VALUES_DIFFER
    return kind


def _columns(rows: list[tuple[int, ...]], width: int) -> list[_Counts]:
    return list(np.array(rows, dtype=np.int64).reshape(-1, width).T)


def _sum_at(count: int, *parts: tuple[_Counts, _Counts]) -> _Counts:
    """Sum values by position; a negative value is unknown, and makes its sum UNKNOWN_COUNT."""
    sums = np.zeros(count, dtype=np.int64)
    unknown = np.zeros(count, dtype=bool)
    for positions, values in parts:
        np.add.at(sums, positions, np.maximum(values, 0))
        unknown[positions[values < 0]] = True
    return np.where(unknown, UNKNOWN_COUNT, sums)


def _running_sum(history: History, of_state: _Counts) -> _Counts:
    count = len(history)
    values = of_state[history.intervals.keys]
    change = np.zeros(count + 1, dtype=np.int64)
    np.add.at(change, history.intervals.first, values)
    np.subtract.at(change, history.intervals.last + 1, values)
    return np.cumsum(change[:count])
