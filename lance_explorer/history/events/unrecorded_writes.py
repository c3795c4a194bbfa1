"""Fragments that were written in place, without row versions for the written rows.

Row versions show the rows if the version itself is among those of the fragment: for an update with
named rows, or columns that are rewritten for all rows. Every other row of a fragment with another
file for some column may have other values since.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from lance_explorer.format.fragments import TOMBSTONE, Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Update
from lance_explorer.history.columns.end_fields import EndFields
from lance_explorer.history.events.identity_sets import IdentitySet
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.events.unseen_writes import unseen_writes
from lance_explorer.history.file_changes import (
    InPlace,
    SchemaPair,
    WrittenFields,
    in_place,
    loses_overlays,
    written_fields,
)
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import EMPTY, VersionPath, parent_position, restores_unseen
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.offsets import OffsetRanges, rows_at
from lance_explorer.rowids.runs import RunColumns

__all__ = [
    "UnrecordedRows",
    "UnrecordedWrite",
    "rows_of_states",
    "unrecorded_rows",
    "unrecorded_writes",
]

_Rows = tuple[int, bool]
"""A fragment's state, and whether its deleted rows count, too."""


@dataclass(frozen=True, slots=True)
class UnrecordedWrite:
    """What a version did to the files of one fragment.

    Attributes
    ----------
    state : int
        The fragment afterwards; before, where its rows are elsewhere afterwards.
    change : InPlace
        What that means for its rows.
    written : WrittenFields
        Which fields of both versions have their values from other files.
    has_deleted : bool
        Whether it may be about rows, too, that are deleted in this state.
    """

    state: int
    change: InPlace
    written: WrittenFields
    has_deleted: bool = False


@dataclass(frozen=True, slots=True)
class UnrecordedRows:
    """Rows that commits in between wrote in place, without new row versions.

    Attributes
    ----------
    rewritten : IdentitySet
        Those with possibly other values in a column that both ends have.
    extended : IdentitySet
        Those with another column, or other values in a column of only one end.
    doubtful : IdentitySet
        Those that lost versions moved, and may have written before.
    """

    rewritten: IdentitySet
    extended: IdentitySet
    doubtful: IdentitySet


def unrecorded_writes(rows: StateRows, step: StepFacts) -> list[UnrecordedWrite]:
    """Return the fragments that a version wrote in place, without recording the rows.

    A restore writes nothing: what it undoes are the writes of other versions. Only if the restored
    version is not kept, writes of lost versions count as its own.
    """
    if step.name == OperationName.RESTORE and step.follows:
        if not restores_unseen(rows.history, step.position):
            return []
        return [
            write
            for write in _restored_unseen(rows, step.position)
            if not _is_told(rows, step, write.state)
        ]
    states, schemas = rows.history.states, step.schemas
    pairs = [*step.changed.values()]
    changes = [in_place(states[before], states[after], schemas) for before, after in pairs]
    least = InPlace.COLUMNS_ADDED if step.follows else InPlace.VALUES_DIFFER
    written = [
        (*pair, change) for pair, change in zip(pairs, changes, strict=True) if change >= least
    ]
    rows.load([state for before, after, _ in written for state in (before, after)])
    unseen = unseen_writes(rows, step)
    rows.load([state for state, _ in unseen.written + unseen.written_before])
    return [
        UnrecordedWrite(after, change, written_fields(states[before], states[after], schemas))
        for before, after, change in written
        if (step.has_row_ids or rows.ids(before) is rows.ids(after))
        and not (_is_told(rows, step, after) and not loses_overlays(states[before], states[after]))
    ] + [
        UnrecordedWrite(state, InPlace.VALUES_DIFFER, fields, has_deleted)
        for some, has_deleted in ((unseen.written, False), (unseen.written_before, True))
        for state, fields in some
    ]


def unrecorded_rows(rows: StateRows, path: VersionPath, fields: EndFields) -> UnrecordedRows:
    """Return the rows that were written like that between two versions.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    path : VersionPath
        The way.
    fields : EndFields
        The fields of both ends.
    """
    rewritten, extended, doubtful = list[_Rows](), list[_Rows](), list[_Rows]()
    writes = list[tuple[int, UnrecordedWrite]]()
    for position in path.steps:
        step = StepFacts(rows, position)
        open_states = unseen_writes(rows, step).doubtful
        if step.follows and restores_unseen(rows.history, position):
            open_states += _new_since(rows, parent_position(rows.history, position), position)
        rows.load(open_states)
        doubtful += [(state, False) for state in open_states]
        for write in unrecorded_writes(rows, step):
            if not step.follows or step.name == OperationName.RESTORE:
                rewritten.append((write.state, write.has_deleted))
            else:
                writes.append((position, write))
    of_both = fields.have_any([(position, write.written) for position, write in writes])
    for (_, write), is_of_both in zip(writes, of_both, strict=True):
        (rewritten if is_of_both else extended).append((write.state, write.has_deleted))
    return UnrecordedRows(*[rows_of_states(rows, some) for some in (rewritten, extended, doubtful)])


def _restored_unseen(rows: StateRows, position: int) -> Iterator[UnrecordedWrite]:
    """Yield the fragments to which a restore of a lost version may have given other values.

    Each is compared with that of the version from which the lost one started; if that has none, or
    is lost, with the most similar seen state. If there is none, all its values are doubtful; in a
    table with row IDs only if it was written in place, which row versions need not show.
    """
    history, parent = rows.history, parent_position(rows.history, position)
    by_ids = rows.is_known_by_ids(position)
    states, schema = history.states, history.records[position].schema
    before = [] if parent == EMPTY else history.states_at(parent)
    new = _new_since(rows, parent, position)
    known = (rows.first_positions >= 0) & (rows.first_positions < position)
    seen = dict[int, list[int]]()
    for state in {*np.flatnonzero(known).tolist()} - {*new}:
        seen.setdefault(states[state].id, []).append(state)
    seen |= {states[state].id: [state] for state in before}
    rows.load(new)
    for state in new:
        writes = list[UnrecordedWrite]()
        for other in seen.get(states[state].id, []):
            if by_ids or rows.ids(other) is rows.ids(state):
                was = history.records[int(rows.first_positions[other])].schema
                pair = SchemaPair(was, schema)
                change = in_place(states[other], states[state], pair)
                written = written_fields(states[other], states[state], pair)
                writes.append(UnrecordedWrite(state, change, written))
        if writes:
            nearest = min(writes, key=lambda write: (write.change, len(write.written.kept)))
            if nearest.change > InPlace.SAME:
                yield nearest
        elif not by_ids or _shows_writes(states[state]):
            everything = WrittenFields(frozenset([field.id for field in schema]), frozenset())
            yield UnrecordedWrite(state, InPlace.VALUES_DIFFER, everything)


def _new_since(rows: StateRows, parent: int, position: int) -> list[int]:
    """Return the states of a restore that the restored version lacks.

    If that is lost: those that no earlier version had.
    """
    states = rows.history.states_at(position)
    if parent == EMPTY:
        return [state for state in states if rows.first_positions[state] == position]
    return sorted({*states} - {*rows.history.states_at(parent)})


def _shows_writes(fragment: Fragment) -> bool:
    """Whether a fragment has files that lost a field, or overlays."""
    return bool(fragment.overlays) or any(TOMBSTONE in file.fields for file in fragment.files)


def _is_told(rows: StateRows, step: StepFacts, state: int) -> bool:
    """Whether the row versions of a fragment show which rows a version wrote in place."""
    updated = rows.origins(state).updated
    if not step.follows or step.name == OperationName.RESTORE or updated is None:
        return False
    if (updated.versions == step.version).any():
        return True
    if not isinstance(step.operation, Update):
        return False
    offsets = step.operation.offsets(rows.history.states[state].id)
    return offsets is not None and not offsets


def rows_of_states(rows: StateRows, states: Iterable[_Rows]) -> IdentitySet:
    """Return the rows of some loaded states, of each with or without deleted ones."""
    parts = [RunColumns.empty()]
    for state, has_deleted in states:
        deleted = BitMap() if has_deleted else rows.deleted(state)
        live = OffsetRanges.outside(deleted, rows.num_rows(state))
        base = first_address(rows.history.states[state].id)
        parts.append(rows_at(rows.ids(state), base, live))
    ranges = RunColumns.concatenated(parts)
    return IdentitySet.of(ranges.start, ranges.stop)
