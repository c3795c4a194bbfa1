"""Changes from a common version to one of a branch, if some versions in between are lost.

With stable row IDs, IDs that the common version had assigned mean the same rows; without them, so
do addresses in fragments with a common data file, as long as no lost version moved the rows.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.column_only_updates import last_updates, written_rows
from lance_explorer.changes.combined_changes import composed
from lance_explorer.changes.steps import net_step, version_range
from lance_explorer.changes.version_rows import PlaceRows, place_rows
from lance_explorer.errors import RefNotFoundError
from lance_explorer.format.fragments import Fragment
from lance_explorer.history.ancestors import Ancestry, BranchVersion, Stretch
from lance_explorer.history.columns.end_fields import EndFields
from lance_explorer.history.columns.identity import fields_of_both
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.identity_sets import IdentitySet
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.events.unrecorded_writes import rows_of_states, unrecorded_rows
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.file_changes import InPlace, SchemaPair, in_place
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.history.paths import path_between
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.runs import RunColumns, Runs, outside, paired

__all__ = ["changes_over_a_gap"]


def changes_over_a_gap(common: Ancestry, last: Stretch) -> ChangeRuns:
    """Return the changes from the common version to the end of a stretch.

    Raises
    ------
    RefNotFoundError
        If the branch of the common version is gone.
    """
    assert last.view is not None
    base = _common_rows(common)
    if base.has_row_ids:
        return _by_row_ids(base, place_rows(BranchVersion(last.view, last.end)))
    return _by_addresses(base, last.view, last)


def _common_rows(common: Ancestry) -> PlaceRows:
    """Return the rows of the common version; a branch that was created there begins with them."""
    parent = common.branch
    if parent is None or common.version not in parent.history:
        for way in (common.to_first, common.to_second):
            child = way[0].view if way else None
            if child is not None and child is not parent and common.version in child.history:
                return place_rows(BranchVersion(child, common.version))
    if parent is None:
        raise RefNotFoundError(
            f"rows cannot be matched: the branch of their common version {common.version} was "
            "deleted"
        )
    return place_rows(BranchVersion(parent, common.version))


def _by_row_ids(base: PlaceRows, end: PlaceRows) -> ChangeRuns:
    next_row_id = base.record.manifest.next_row_id
    before, after = base.live(), end.live()
    after = after.cut(after.identity, np.array([next_row_id], dtype=np.uint64))
    is_shared = after.identity < np.uint64(next_row_id)
    shared = after.where(is_shared)
    row_ids = base.rows.row_ids(before.identity)
    removed_rows, returned, kept = _matched(before, row_ids, shared, shared.identity)
    return ChangeRuns.concatenated(
        [
            ChangeRuns.alike(removed_rows, RowEvent.DELETED, Evidence.DERIVED),
            ChangeRuns.alike(returned, RowEvent.INSERTED, Evidence.DERIVED),
            ChangeRuns.alike(after.where(~is_shared), RowEvent.INSERTED, Evidence.DERIVED),
            *_kept(base, end, kept),
        ]
    )


def _matched(
    before: RowRuns, old_keys: Uint64Array, after: RowRuns, new_keys: Uint64Array
) -> tuple[RowRuns, RowRuns, RowRuns]:
    """Return the removed rows, the added rows, and the common ones, by their keys."""
    old = Runs.split(RunColumns(old_keys, old_keys + before.length, before.after))[0].columns
    new = Runs.split(RunColumns(new_keys, new_keys + after.length, after.after))[0].columns
    removed, added_rows, both = (
        outside(old, new.start, new.stop),
        outside(new, *old[:2]),
        paired(new, old),
    )
    rows = (
        RowRuns.of(removed.start, removed.address, NO_ADDRESS, removed.stop - removed.start),
        RowRuns.of(
            added_rows.start, NO_ADDRESS, added_rows.address, added_rows.stop - added_rows.start
        ),
        RowRuns.of(both.start, both.other_address, both.address, both.stop - both.start),
    )
    removed_rows, returned, kept = (runs.where(runs.length > 0) for runs in rows)
    return removed_rows, returned, kept


def _kept(base: PlaceRows, end: PlaceRows, kept: RowRuns) -> list[ChangeRuns]:
    """Return the classes of rows that both versions have, by their last updates."""
    fields = EndFields(end.rows.history, end.position, _shared_fields(base, end).values())
    later = unrecorded_rows(end.rows, path_between(end.rows.history, 0, end.position), fields)
    written_first, new_first = _lost_before(base, PlaceRows(end.rows, 0))
    unseen = later.rewritten.joined(written_first)
    doubtful = later.doubtful.joined(new_first)
    kept = doubtful.cut(unseen.cut(kept))
    old, new = last_updates(base.rows, base.position), last_updates(end.rows, end.position)
    runs = kept.cut(kept.before, old.address)
    runs = runs.cut(runs.after, new.address)
    was, now = old.at(runs.before), new.at(runs.after)
    since = now > base.version
    written = replace(
        runs.where(since),
        updated_before=np.full(int(since.sum()), base.version, dtype=np.uint64),
        updated_after=now[since],
    )
    is_reverted = ~since & (was != now)
    is_rewritten = (
        ~since & (was == now) & (unseen.has(runs.identity) | _is_written(base, end, runs))
    )
    is_moved = ~since & (was == now) & ~is_rewritten & (runs.before != runs.after)
    rewritten = runs.where(is_rewritten)
    moved = ChangeRuns.alike(runs.where(is_moved), RowEvent.MOVED, Evidence.DERIVED)
    wrote = written_rows(end.rows, written, Evidence.DERIVED, base.version, fields)
    # A known write does not cancel an unknown one before it.
    also_in_place = unseen.has(wrote.identity) | _is_written(base, end, wrote)
    return [
        wrote.at_least(RowEvent.COLUMN_REWRITTEN, also_in_place),
        ChangeRuns.alike(runs.where(is_reverted), RowEvent.UPDATED, Evidence.DERIVED),
        replace(moved, is_uncertain=doubtful.has(moved.identity)),
        ChangeRuns.alike(
            rewritten, RowEvent.COLUMN_REWRITTEN, Evidence.INFERRED, is_uncertain=True
        ),
    ]


def _lost_before(base: PlaceRows, first: PlaceRows) -> tuple[IdentitySet, IdentitySet]:
    """Return what the lost versions before the first kept one did to rows that may move later.

    That is the rows that they wrote in place, and those in their own fragments: they moved there,
    and may have been written in place before.
    """
    changes = _common_fragments(base, first)
    states_there = np.array(first.rows.history.states_at(first.position), dtype=np.int64)
    states = first.rows.history.by_id(states_there)
    written = [states[key] for key, change in changes.items() if change is InPlace.VALUES_DIFFER]
    new = [state for key, state in states.items() if key not in changes]
    first.rows.load([*written, *new])
    sets = [rows_of_states(first.rows, [(one, False) for one in some]) for some in (written, new)]
    return sets[0], sets[1]


def _is_written(base: PlaceRows, end: PlaceRows, runs: RowRuns | ChangeRuns) -> NDArray[np.bool_]:
    """Return which rows did not move, in fragments whose values are in other files."""
    changes = _common_fragments(base, end)
    written = [key for key, change in changes.items() if change is InPlace.VALUES_DIFFER]
    here = np.isin(fragments_of(runs.after), np.array(written, dtype=np.uint64))
    stayed: NDArray[np.bool_] = here & (runs.before == runs.after)
    return stayed


def _by_addresses(base: PlaceRows, view: HistoryView, last: Stretch) -> ChangeRuns:
    """Return what the first kept version proves about the lost ones, and then the later changes."""
    kept = view.history.versions
    first = int(kept[kept > np.uint64(last.begin)][0])
    runs = _in_common_fragments(base, place_rows(BranchVersion(view, first)))
    if first == last.end:
        return runs
    return composed(runs, net_step(version_range(view, first, last.end)).runs)


def _in_common_fragments(base: PlaceRows, end: PlaceRows) -> ChangeRuns:
    """Return rows of common fragments with their fate, and other rows as unknown.

    The origin of rows that lost versions wrote is unknown, so it is also unknown whether missing
    rows are among them.
    """
    changes = _common_fragments(base, end)
    fragments = np.array(sorted(changes), dtype=np.uint64)
    before, after = base.live(), end.live()
    was, now = (np.isin(fragments_of(rows.after), fragments) for rows in (before, after))
    old, new = before.where(was), after.where(now)
    removed_rows, returned, kept = _matched(old, old.after, new, new.after)
    others = after.where(~now)
    removed = before.where(~was)
    removed = replace(removed, before=removed.after, after=np.full(len(removed), NO_ADDRESS))
    unknown = others.created == NO_VERSION
    return ChangeRuns.concatenated(
        [
            _doubted([removed_rows, removed], RowEvent.DELETED, is_doubted=bool(unknown.any())),
            _doubted([others.where(unknown)], RowEvent.INSERTED, is_doubted=True),
            _doubted([returned, others.where(~unknown)], RowEvent.INSERTED, is_doubted=False),
            *_written_in_place(kept, fragments, [changes[key] for key in fragments.tolist()]),
        ]
    )


def _common_fragments(base: PlaceRows, end: PlaceRows) -> dict[int, InPlace]:
    """Return the changes in the files of fragments that have a common data file."""
    after = {fragment.id: _based_nowhere(fragment) for fragment in end.fragments}
    before = [_based_nowhere(fragment) for fragment in base.fragments]
    pairs = [(old, after[old.id]) for old in before if old.id in after]
    schemas = SchemaPair(base.record.schema, end.record.schema, _shared_fields(base, end))
    return {old.id: in_place(old, new, schemas) for old, new in pairs if _paths(old) & _paths(new)}


def _shared_fields(base: PlaceRows, end: PlaceRows) -> dict[int, int]:
    """Return the field IDs at the end, by the IDs of the same fields in the common version."""
    before, after = [BranchVersion(one.rows.view, one.version) for one in (base, end)]
    return dict(fields_of_both(before, after).shared)


def _based_nowhere(fragment: Fragment) -> Fragment:
    """Return a fragment without the places of its files, which branches express differently."""
    overlays = [
        structs.replace(overlay, data_file=structs.replace(overlay.data_file, base_id=None))
        for overlay in fragment.overlays
    ]
    files = [structs.replace(file, base_id=None) for file in fragment.files]
    return structs.replace(fragment, files=tuple(files), overlays=tuple(overlays))


def _paths(fragment: Fragment) -> set[str]:
    return {file.path for file in fragment.files}


def _doubted(several: list[RowRuns], change: RowEvent, *, is_doubted: bool) -> ChangeRuns:
    evidence = Evidence.LOST if is_doubted else Evidence.RECORDED
    return ChangeRuns.alike(
        RowRuns.concatenated(several), change, evidence, is_uncertain=is_doubted
    )


def _written_in_place(
    kept: RowRuns, fragments: Uint64Array, changes: list[InPlace]
) -> Iterator[ChangeRuns]:
    """Yield the rows that did not move, but have other files."""
    place = np.searchsorted(fragments, fragments_of(kept.after))
    change = np.array(changes, dtype=np.uint8)[place]
    added = kept.where(change == InPlace.COLUMNS_ADDED)
    rewritten = kept.where(change == InPlace.VALUES_DIFFER)
    yield ChangeRuns.alike(added, RowEvent.COLUMN_ADDED, Evidence.DERIVED)
    yield ChangeRuns.alike(
        rewritten, RowEvent.COLUMN_REWRITTEN, Evidence.INFERRED, is_uncertain=True
    )
