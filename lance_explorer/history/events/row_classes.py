"""The classes of rows that differ between a version and its kept predecessor."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.columns.end_fields import EndFields
from lance_explorer.history.events.ambiguous_rows import Births, births_at
from lance_explorer.history.events.doubtful_links import cut_at_links, last_links, links_of
from lance_explorer.history.events.event_runs import RowEvent, RowEvents
from lance_explorer.history.events.row_runs import RowRuns
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.events.unrecorded_writes import unrecorded_rows, unrecorded_writes
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.file_changes import InPlace
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.paths import VersionPath, path_between
from lance_explorer.history.rewrites.all_groups import rewrites
from lance_explorer.rowids.addresses import fragments_of

__all__ = ["classify"]

_Mask = NDArray[np.bool_]

_WRITE_ROWS = (OperationName.APPEND, OperationName.OVERWRITE)
_WRITE_COLUMNS = (OperationName.MERGE, OperationName.DATA_REPLACEMENT)
_NOTHING = 255
"""The number for no event."""


def classify(rows: StateRows, step: StepFacts, runs: RowRuns) -> RowEvents:
    """Classify the rows of a version.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of the branch.
    step : StepFacts
        The version.
    runs : RowRuns
        Rows that differ between the kept version before and this one.
    """
    if step.name == OperationName.CLONE:
        return _Classes(step, runs.where(np.zeros(len(runs), dtype=np.bool_))).events()
    runs = step.cut_open(runs)
    removed_rows, added_rows = (
        _removed_rows(step, runs.where(~runs.is_live)),
        _added_rows(step, runs.where(~runs.was_live)),
    )
    stayed = _stayed(rows, step, runs.where(runs.was_live & runs.is_live))
    removed_rows, added_rows = _with_doubts(rows, step, removed_rows, added_rows)
    parts = [removed_rows, added_rows, stayed]
    if not step.follows:
        parts.append(_written_later(step, added_rows))
    return RowEvents.concatenated(parts)


def _with_doubts(
    rows: StateRows, step: StepFacts, removed_rows: RowEvents, added_rows: RowEvents
) -> tuple[RowEvents, RowEvents]:
    """Mark removed and added rows that may be the same."""
    if step.is_unpaired_update:
        old, new = np.ones(len(removed_rows), np.bool_), np.ones(len(added_rows), np.bool_)
    elif step.follows and step.name == OperationName.RESTORE and not step.has_row_ids:
        all_removed, all_added = births_at(rows, step)
        old = Births.of(rows, step.removed.values(), removed_rows.before).may_be(all_added)
        new = Births.of(rows, step.added.values(), added_rows.after).may_be(all_removed)
        if links_of(rows, step.removed.values()) != links_of(rows, step.added.values()):
            old[:], new[:] = True, True  # rows that are assumed to be the same may be others
    else:
        old, new = step.are_open(removed_rows.identity), step.are_open(added_rows.identity)
    return replace(removed_rows, is_uncertain=removed_rows.is_uncertain | old), replace(
        added_rows, is_uncertain=added_rows.is_uncertain | new
    )


class _Classes:
    """Classes of runs, given rule by rule: if several rules match a run, the first one counts."""

    def __init__(self, step: StepFacts, runs: RowRuns) -> None:
        self._step = step
        self._runs = runs
        count = len(runs)
        self._event = np.full(count, _NOTHING, dtype=np.uint8)
        self._evidence = np.zeros(count, dtype=np.uint8)
        self._is_uncertain = np.zeros(count, dtype=np.bool_)
        self._version = np.full(count, step.version, dtype=np.uint64)

    def set(
        self,
        event: RowEvent,
        evidence: Evidence,
        where: _Mask | bool = True,
        *,
        is_uncertain: bool = False,
        version: NDArray[np.uint64] | None = None,
    ) -> None:
        """Set the class of runs that have none."""
        chosen = (self._event == _NOTHING) & where
        self._event[chosen] = event
        self._evidence[chosen] = evidence
        self._is_uncertain[chosen] = is_uncertain
        if version is not None:
            self._version[chosen] = version[chosen]

    def weaken(self, evidence: NDArray[np.uint8]) -> None:
        """Take the weaker of the given and the existing evidence."""
        np.maximum(self._evidence, evidence, out=self._evidence)

    def doubt(self, where: _Mask) -> None:
        """Mark the identity of some runs as inferred and uncertain."""
        self.weaken(np.where(where, np.uint8(Evidence.INFERRED), np.uint8(0)))
        self._is_uncertain |= where

    def events(self) -> RowEvents:
        """Return the runs that have a class."""
        events = RowEvents.of(
            self._step, self._runs, self._event, self._evidence, self._is_uncertain, self._version
        )
        some = self._event != _NOTHING
        return events if some.all() else events.where(some)


def _removed_rows(step: StepFacts, runs: RowRuns) -> RowEvents:
    classes = _Classes(step, runs)
    may_live = not step.has_row_ids  # at another address, without proof that it is the row
    if not step.follows:
        classes.set(RowEvent.DELETED, Evidence.LOST, is_uncertain=may_live)
    elif step.name == OperationName.OVERWRITE:
        classes.set(RowEvent.OVERWRITTEN, Evidence.RECORDED)
    elif step.name == OperationName.REWRITE:  # it moved them, but their new place is unknown
        classes.set(RowEvent.DELETED, Evidence.LOST, is_uncertain=may_live)
    else:
        classes.set(RowEvent.DELETED, Evidence.RECORDED if step.name else Evidence.DERIVED)
    return classes.events()


def _added_rows(step: StepFacts, runs: RowRuns) -> RowEvents:
    classes = _Classes(step, runs)
    evidence = Evidence.RECORDED if step.name in _WRITE_ROWS else Evidence.DERIVED
    may_be_old = not step.has_row_ids
    if step.follows:
        if step.name == OperationName.RESTORE:
            classes.set(RowEvent.RESTORED, Evidence.DERIVED)
        elif step.name == OperationName.REWRITE:
            classes.set(RowEvent.CREATED, Evidence.LOST, is_uncertain=may_be_old)
        elif step.name is None and not step.has_row_ids:
            evidence = Evidence.INFERRED
        classes.set(RowEvent.CREATED, evidence)
        return classes.events()
    classes.set(RowEvent.CREATED, evidence, runs.created == step.version)
    own = np.isin(fragments_of(runs.after), np.array(step.own_fragments, dtype=np.uint64))
    classes.set(RowEvent.CREATED, Evidence.RECORDED, own)
    is_unknown = runs.created == NO_VERSION
    classes.set(RowEvent.CREATED, Evidence.LOST, is_unknown, is_uncertain=may_be_old)
    recent = (runs.created > step.begin_version) & (runs.created < FIRST_DETACHED)
    classes.set(RowEvent.CREATED, Evidence.DERIVED, recent, version=runs.created)
    if step.has_row_ids and step.before is not None:
        row_ids = step.row_ids(runs.identity)
        is_new = row_ids >= np.uint64(step.before.manifest.next_row_id)
        classes.set(RowEvent.CREATED, Evidence.LOST, is_new)
    classes.set(RowEvent.RESTORED, Evidence.LOST, is_uncertain=True)
    return classes.events()


def _written_later(step: StepFacts, added_rows: RowEvents) -> RowEvents:
    """Return the last updates of rows added across a gap."""
    is_new = (added_rows.event == RowEvent.CREATED) & (added_rows.evidence != Evidence.LOST)
    is_new &= added_rows.created != NO_VERSION
    is_new &= (added_rows.updated_after > added_rows.created) & (
        added_rows.updated_after < FIRST_DETACHED
    )
    some = added_rows.where(is_new)
    runs = RowRuns.of(some.identity, some.before, some.after, some.length)
    runs = replace(runs, updated_after=some.updated_after, created=some.created)
    classes = _Classes(step, runs)
    _set_written_now(classes, step, runs.updated_after == step.version, runs)
    classes.set(RowEvent.UPDATED, Evidence.DERIVED, is_uncertain=True, version=runs.updated_after)
    return classes.events()


def _stayed(rows: StateRows, step: StepFacts, runs: RowRuns) -> RowEvents:
    runs, unseen, doubtful = _unseen(rows, step, cut_at_links(rows, runs))
    classes = _Classes(step, runs)
    old, new = runs.updated_before, runs.updated_after
    is_told = (old != NO_VERSION) & (new != NO_VERSION)
    # An unknown version counts as earlier than all known ones.
    written, elsewhere = old != new, runs.before != runs.after
    if step.follows and step.name == OperationName.RESTORE:
        may_be_same = written & _may_be_same(rows, step, runs)
        classes.set(RowEvent.RESTORED, Evidence.DERIVED, written & ~may_be_same)
        classes.set(RowEvent.RESTORED, Evidence.INFERRED, may_be_same, is_uncertain=True)
        classes.set(RowEvent.RESTORED, Evidence.INFERRED, unseen, is_uncertain=True)
    else:
        now = written & (new == step.version)
        _set_written_now(classes, step, now, runs)
        _set_written_before(classes, step, written, runs)
        if (runs.in_place != InPlace.SAME).any():
            _set_written_in_place(classes, rows, step, runs)
    if step.name == OperationName.UPDATE and step.follows:
        classes.set(RowEvent.UPDATED, Evidence.DERIVED, elsewhere & ~is_told)
    # Without row IDs it is unknown whether a lost version wrote moved rows, too.
    is_open = not (step.follows or step.has_row_ids)
    if is_open:
        _set_rewritten(classes, rows, step, runs)
    elif not step.follows:
        classes.set(RowEvent.COLUMN_REWRITTEN, Evidence.LOST, unseen, is_uncertain=True)
    classes.set(RowEvent.MOVED, _evidence_of_moves(step), elsewhere & doubtful, is_uncertain=True)
    classes.set(RowEvent.MOVED, _evidence_of_moves(step), elsewhere, is_uncertain=is_open)
    if not step.has_row_ids:
        classes.weaken(_evidence_of_identity(rows, step, runs))
    was, is_now = [
        last_links(rows, states.values(), runs.identity, addresses)
        for states, addresses in ((step.removed, runs.before), (step.added, runs.after))
    ]
    classes.doubt(was != is_now)
    return classes.events()


def _may_be_same(rows: StateRows, step: StepFacts, runs: RowRuns) -> _Mask:
    """Tell which rows may have kept their values, since one of two fragments has no last updates.

    A row changed if the other fragment's update is later than the first sight of this one.
    """
    # Commits by hand may leave out last-updated-at, and Lance stores none then (docs/FORMAT.md 11).
    # The version that first had the fragment wrote its rows at the latest: a row that the other
    # fragment marks as written later certainly has other values.
    may_be_same = np.zeros(len(runs), dtype=np.bool_)
    if not step.has_row_ids:
        return may_be_same
    for unknown, known, addresses, states in (
        (runs.updated_before, runs.updated_after, runs.before, step.removed),
        (runs.updated_after, runs.updated_before, runs.after, step.added),
    ):
        some = np.flatnonzero((unknown == NO_VERSION) & (known != NO_VERSION))
        if not len(some):
            continue
        first = {
            fragment: rows.history.records[int(rows.first_positions[state])].version
            for fragment, state in states.items()
        }
        seen = [first[fragment] for fragment in fragments_of(addresses[some]).tolist()]
        later = (known[some] > np.array(seen, dtype=np.uint64)) & (known[some] < FIRST_DETACHED)
        may_be_same[some] = ~later
    return may_be_same


def _unseen(rows: StateRows, step: StepFacts, runs: RowRuns) -> tuple[RowRuns, _Mask, _Mask]:
    """Return rows split so that each either may have got other values unseen, or has not.

    A restore may have given them if it undoes, or repeats, a write in place without row versions;
    lost versions may have written so. For the last rows the only sign is that lost versions moved
    them.
    """
    nothing = np.zeros(len(runs), dtype=np.bool_)
    if step.follows and step.name != OperationName.RESTORE:
        return runs, nothing, nothing
    if not step.follows and step.before is None:
        return runs, nothing, nothing
    path = VersionPath((), (step.position,), step.position - 1)
    if step.follows:
        path = path_between(rows.history, step.position - 1, step.position)
    fields = EndFields.between(rows.history, step.position - 1, step.position)
    unrecorded = unrecorded_rows(rows, path, fields)
    runs = unrecorded.doubtful.cut(unrecorded.rewritten.cut(runs))
    differs = (runs.before != runs.after) | (runs.in_place == InPlace.VALUES_DIFFER)
    unseen = differs & unrecorded.rewritten.has(runs.identity)
    return runs, unseen, unrecorded.doubtful.has(runs.identity)


def _set_written_now(classes: _Classes, step: StepFacts, now: _Mask, runs: RowRuns) -> None:
    """Classify rows whose last update is the version itself."""
    if step.name in (OperationName.UPDATE, OperationName.DATA_OVERLAY):
        classes.set(RowEvent.UPDATED, Evidence.DERIVED, now)
        return
    stayed = now & (runs.before == runs.after)
    added = stayed & (runs.in_place == InPlace.COLUMNS_ADDED)
    if step.name == OperationName.MERGE:
        added |= stayed & (runs.in_place == InPlace.SAME)
    classes.set(RowEvent.COLUMN_ADDED, Evidence.DERIVED, added)
    if step.name not in _WRITE_COLUMNS:
        classes.set(RowEvent.UPDATED, Evidence.DERIVED, now & ~stayed)
    classes.set(RowEvent.COLUMN_REWRITTEN, Evidence.DERIVED, now, is_uncertain=True)


def _set_written_before(classes: _Classes, step: StepFacts, written: _Mask, runs: RowRuns) -> None:
    """Classify rows whose last update changed, but is not the version itself."""
    new = runs.updated_after
    if step.follows:
        if step.name is None:  # only a restore does that
            classes.set(RowEvent.RESTORED, Evidence.DERIVED, written, is_uncertain=True)
        return
    recent = written & (new > step.begin_version) & (new < FIRST_DETACHED)
    classes.set(RowEvent.UPDATED, Evidence.DERIVED, recent, is_uncertain=True, version=new)
    was_written = written & (new != NO_VERSION)
    classes.set(RowEvent.RESTORED, Evidence.LOST, was_written, is_uncertain=True)


def _set_written_in_place(
    classes: _Classes, rows: StateRows, step: StepFacts, runs: RowRuns
) -> None:
    """Classify rows without new row versions, whose values are in other files."""
    values = runs.in_place == InPlace.VALUES_DIFFER
    if not step.follows:
        classes.set(RowEvent.COLUMN_REWRITTEN, Evidence.LOST, values, is_uncertain=True)
        return
    unrecorded = [rows.history.states[write.state].id for write in unrecorded_writes(rows, step)]
    here = np.isin(fragments_of(runs.after), np.array(unrecorded, dtype=np.uint64))
    evidence = Evidence.DERIVED if step.name in _WRITE_COLUMNS else Evidence.INFERRED
    classes.set(RowEvent.COLUMN_REWRITTEN, evidence, here & values, is_uncertain=True)
    classes.set(
        RowEvent.COLUMN_ADDED, Evidence.DERIVED, here & (runs.in_place == InPlace.COLUMNS_ADDED)
    )


def _set_rewritten(classes: _Classes, rows: StateRows, step: StepFacts, runs: RowRuns) -> None:
    """Classify rows that a rewrite moved, across a gap in which it may have happened earlier."""
    versions = {
        new: group.version
        for group in rewrites(rows.view).between(step.begin_version, step.version)
        for new in group.new_ids
    }
    fragments, inverse = np.unique(fragments_of(runs.after), return_inverse=True)
    known = [versions.get(fragment, NO_VERSION) for fragment in fragments.tolist()]
    version = np.array(known, dtype=np.uint64)[inverse]
    moved = (runs.before != runs.after) & (version != NO_VERSION)
    classes.set(RowEvent.MOVED, Evidence.RECORDED, moved, is_uncertain=True, version=version)


def _evidence_of_moves(step: StepFacts) -> Evidence:
    if not step.follows:
        return Evidence.LOST
    if not step.has_row_ids:
        return Evidence.RECORDED if step.name != OperationName.RESTORE else Evidence.DERIVED
    return Evidence.RECORDED if step.name == OperationName.REWRITE else Evidence.DERIVED


def _evidence_of_identity(rows: StateRows, step: StepFacts, runs: RowRuns) -> NDArray[np.uint8]:
    """Return the evidence that moved runs are the same rows."""
    elsewhere = runs.before != runs.after
    evidence = np.zeros(len(runs), dtype=np.uint8)
    sides = [(runs.after, step.added)]
    if step.name == OperationName.RESTORE:
        sides.append((runs.before, step.removed))
    for addresses, states in sides:
        weak = [
            (fragment_id, rows.origins(state).evidence)
            for fragment_id, state in states.items()
            if rows.origins(state).evidence != Evidence.RECORDED
        ]
        for fragment_id, weaker in weak:
            here = elsewhere & (fragments_of(addresses) == np.uint64(fragment_id))
            evidence[here] = np.maximum(evidence[here], np.uint8(weaker))
    return evidence
