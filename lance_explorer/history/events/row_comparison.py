"""Two sets of fragment states, row by row: removed, added, moved or rewritten rows.

The work grows with the rows that differ, and with the number of fragments. Rows are kept in runs
wherever possible.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.columns.lives import shared_fields
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.file_changes import InPlace, SchemaPair, in_place
from lance_explorer.history.identity.row_origins import (
    NO_VERSION,
    RowOrigins,
    VersionsFrom,
    constant_versions,
)
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import EMPTY
from lance_explorer.history.steps import Step
from lance_explorer.rowids.addresses import first_address, fragments_of
from lance_explorer.rowids.arrays import Uint64Array, begins_of
from lance_explorer.rowids.offsets import OffsetRanges, few_rows_at, rows_at
from lance_explorer.rowids.runs import RunColumns, Runs, separated
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = [
    "compare_states",
    "compare_step",
    "live_rows",
    "rows_in_states",
    "schemas_at",
]


_FEW_OF = 16
"""Rows are few if there are that many times as many in the fragment."""


def compare_step(rows: StateRows, step: Step) -> RowRuns:
    """Compare a version with its kept predecessor."""
    return compare_states(rows, [*step.removed.values()], [*step.added.values()], step.schemas)


def schemas_at(rows: StateRows, before: int, after: int) -> SchemaPair:
    """Return the schemas of two versions, given by their positions; EMPTY is the empty table."""
    records = rows.history.records
    old, new = [
        () if position == EMPTY else records[position].schema for position in (before, after)
    ]
    if EMPTY in (before, after) or before == after:
        return SchemaPair(old, new)
    if before + 1 == after and records[after].operation != OperationName.RESTORE:
        return SchemaPair(old, new)  # no schema is between
    return SchemaPair(old, new, shared_fields(rows.history, before, after))


def compare_states(
    rows: StateRows,
    before: Sequence[int],
    after: Sequence[int],
    schemas: SchemaPair,
    between: tuple[int, int] | None = None,
) -> RowRuns:
    """Compare the rows of two sets of states without common ones.

    Parameters
    ----------
    rows : StateRows
        The rows of all states.
    before, after : sequence of int
        The states of both versions that the other has not, by number.
    schemas : SchemaPair
        The schemas of both versions.
    between : tuple of int, optional
        The identities of the rows that are compared, half open; all by default.

    Returns
    -------
    RowRuns
        The rows that only one version has, that moved, that another version wrote last, or whose
        fragment has other files.
    """
    rows.load([*before, *after])
    rows.load_deleted([*before, *after])
    states = rows.history.states
    new = {states[state].id: state for state in after}
    left, entered, stayed = list[RunColumns](), list[RunColumns](), list[RowRuns]()
    others = dict[int, InPlace]()
    for old_state in before:
        new_state = new.get(states[old_state].id)
        if new_state is None or rows.ids(new_state) is not rows.ids(old_state):
            left.append(_all_live(rows, old_state))
            if new_state is not None:  # another place of its row IDs does not count
                others[states[old_state].id] = in_place(
                    states[old_state], states[new_state], schemas
                )
            continue
        del new[states[old_state].id]
        masked, was_masked = rows.deleted(new_state), rows.deleted(old_state)
        if masked != was_masked:
            left.append(_rows_in(rows, old_state, masked - was_masked))
            entered.append(_rows_in(rows, old_state, was_masked - masked))
        change = in_place(states[old_state], states[new_state], schemas)
        stayed.append(_written_in_place(rows, old_state, new_state, change, masked | was_masked))
    entered += [_all_live(rows, state) for state in new.values()]
    gone, come = RunColumns.concatenated(left), RunColumns.concatenated(entered)
    if between is not None:
        gone, come = gone.clipped(*between), come.clipped(*between)
        stayed = [_within(runs, *between) for runs in stayed]
    removed, added_rows, moved = _joined(gone, come)
    if len(added_rows):
        added_rows = _with_origin(added_rows, _created(rows, after), _updated(rows, after))
    if len(moved):
        moved = _with_updates(moved, _updated(rows, before), _updated(rows, after))
        moved = _with_changes(moved, others)
    return RowRuns.concatenated([*stayed, removed, added_rows, moved])


def _within(runs: RowRuns, start: int, stop: int) -> RowRuns:
    """Return the rows with identities in a range."""
    runs = runs.cut(runs.identity, np.array([start, stop], dtype=np.uint64))
    return runs.where((runs.identity >= np.uint64(start)) & (runs.identity < np.uint64(stop)))


def live_rows(rows: StateRows, position: int) -> RowRuns:
    """Return all live rows of a version, given by its position, as if they had just been added."""
    return rows_in_states(rows, rows.history.states_at(position))


def rows_in_states(
    rows: StateRows, states: Sequence[int], between: tuple[int, int] | None = None
) -> RowRuns:
    """Return all live rows of some states, or those in a range of identities, as if just added."""
    return compare_states(rows, [], states, SchemaPair((), ()), between)


def _created(rows: StateRows, states: Iterable[int]) -> VersionsFrom:
    return VersionsFrom.of(_versions(rows, states, lambda origins: origins.created))


def _updated(rows: StateRows, states: Iterable[int]) -> VersionsFrom:
    return VersionsFrom.of(_versions(rows, states, lambda origins: origins.updated))


def _versions(
    rows: StateRows, states: Iterable[int], choose: Callable[[RowOrigins], RowVersionRuns | None]
) -> Iterator[tuple[int, RowVersionRuns]]:
    for state in states:
        runs = _runs(choose(rows.origins(state)), rows.num_rows(state))
        yield rows.history.states[state].id, runs


def _with_origin(added_rows: RowRuns, created: VersionsFrom, updated: VersionsFrom) -> RowRuns:
    """Return added rows, split where their row versions change, with these."""
    runs = added_rows.cut(added_rows.after, created.address)
    runs = runs.cut(runs.after, updated.address)
    return replace(runs, created=created.at(runs.after), updated_after=updated.at(runs.after))


def _with_updates(moved: RowRuns, before: VersionsFrom, after: VersionsFrom) -> RowRuns:
    """Return moved rows, split where their last updates change, with these."""
    runs = moved.cut(moved.before, before.address)
    runs = runs.cut(runs.after, after.address)
    return replace(runs, updated_before=before.at(runs.before), updated_after=after.at(runs.after))


def _with_changes(moved: RowRuns, changes: dict[int, InPlace]) -> RowRuns:
    """Return rows that stayed in a fragment, with the changes of its files."""
    fragments = np.array(sorted(changes), dtype=np.uint64)
    change = np.array([changes[key] for key in sorted(changes)], dtype=np.uint8)
    own = fragments_of(moved.after)
    stayed = np.flatnonzero((moved.before == moved.after) & np.isin(own, fragments))
    in_place = moved.in_place.copy()
    in_place[stayed] = change[np.searchsorted(fragments, own[stayed])]
    return replace(moved, in_place=in_place)


def _runs(versions: RowVersionRuns | None, num_rows: int) -> RowVersionRuns:
    if versions is None:
        return constant_versions(NO_VERSION, num_rows)
    if (stored := int(versions.counts.sum())) != num_rows:
        raise CorruptFileError(f"row versions of a fragment: expected {num_rows}, found {stored}")
    return versions


def _all_live(rows: StateRows, state: int) -> RunColumns:
    live = OffsetRanges.outside(rows.deleted(state), rows.num_rows(state))
    return rows_at(rows.ids(state), first_address(rows.history.states[state].id), live)


def _rows_in(rows: StateRows, state: int, offsets: BitMap) -> RunColumns:
    if not offsets:
        return RunColumns.empty()
    base, ids = first_address(rows.history.states[state].id), rows.ids(state)
    if len(offsets) * _FEW_OF < rows.num_rows(state):
        return few_rows_at(ids, base, offsets)
    return rows_at(ids, base, OffsetRanges.of(offsets))


def _joined(left: RunColumns, entered: RunColumns) -> tuple[RowRuns, RowRuns, RowRuns]:
    """Return the rows that only left, only entered, and did both."""
    old, new = Runs.split(left)[0].columns, Runs.split(entered)[0].columns
    added_rows, removed, moved = separated(new, old)
    return (
        RowRuns.of(removed.start, removed.address, NO_ADDRESS, removed.stop - removed.start),
        RowRuns.of(
            added_rows.start, NO_ADDRESS, added_rows.address, added_rows.stop - added_rows.start
        ),
        RowRuns.of(moved.start, moved.other_address, moved.address, moved.stop - moved.start),
    )


# ---------------------------------------------------------------- rows that did not move


def _written_in_place(
    rows: StateRows, before: int, after: int, change: InPlace, masked: BitMap
) -> RowRuns:
    """Return the rows that are live in two states of one fragment and were written in between."""
    fragment, num_rows = rows.history.states[after], rows.num_rows(after)
    old, new = rows.origins(before).updated, rows.origins(after).updated
    if change is InPlace.SAME and old is new:
        return RowRuns.empty()
    pieces = _pieces(old, new, num_rows)
    if change is InPlace.SAME:
        pieces = pieces.where_different()
    if not len(pieces.start):
        return RowRuns.empty()
    live = OffsetRanges.outside(masked, num_rows)
    base = first_address(fragment.id)
    runs = rows_at(rows.ids(after), base, live.within(OffsetRanges(pieces.start, pieces.stop)))
    piece = np.searchsorted(pieces.start, runs.address - np.uint64(base), side="right") - 1
    runs_written = RowRuns.of(
        runs.start, runs.address, runs.address, runs.stop - runs.start, change
    )
    return replace(runs_written, updated_before=pieces.old[piece], updated_after=pieces.new[piece])


class _Pieces(NamedTuple):
    """Offsets split so that each piece has one last update before, and one after."""

    start: Uint64Array
    stop: Uint64Array
    old: Uint64Array
    new: Uint64Array

    def where_different(self) -> "_Pieces":
        chosen = self.old != self.new
        return _Pieces(*[column[chosen] for column in self])


def _pieces(before: RowVersionRuns | None, after: RowVersionRuns | None, num_rows: int) -> _Pieces:
    if before is after:
        before = after = None
    old, new = _runs(before, num_rows), _runs(after, num_rows)
    old_begins, new_begins = begins_of(old.counts), begins_of(new.counts)
    start = np.union1d(old_begins, new_begins)
    return _Pieces(
        start.astype(np.uint64),
        np.append(start, num_rows)[1:].astype(np.uint64),
        old.versions[np.searchsorted(old_begins, start, side="right") - 1],
        new.versions[np.searchsorted(new_begins, start, side="right") - 1],
    )
