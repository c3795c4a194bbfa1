"""Which row of a rewrite group became which: runs of old and new addresses.

A range of rows between two deleted ones is a run, whatever its length; rows are not expanded.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
from pyroaring import BitMap64

from lance_explorer.errors import LanceExplorerError, StorageError
from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.format.fragments import Fragment
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.reading.row_reader import FragmentReader
from lance_explorer.history.rewrites.groups import RewriteGroup
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.arrays import Positions, Uint64Array, begins_of
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.rowids.runs import RunColumns
from lance_explorer.storage import FilePart, Storage, reading_ahead

__all__ = ["pair_rows", "reading_deletions"]


class _Ranges(NamedTuple):
    """Ranges of addresses, in the order of the rows."""

    start: Uint64Array
    stop: Uint64Array

    @property
    def ends(self) -> Uint64Array:
        """How many rows there are up to the end of each range."""
        ends: Uint64Array = np.cumsum(self.stop - self.start, dtype=np.uint64)
        return ends


def pair_rows(view: HistoryView, group: RewriteGroup) -> RunColumns | str:
    """Return the old and new addresses of a group's rows, or why they are unknown."""
    if None in [fragment.physical_rows for fragment in (*group.old, *group.new)]:
        return "the numbers of rows of the fragments are unknown"
    try:
        if group.row_map is not None:
            return _partitioned(view, group, group.row_map)
        if not group.in_order:
            return group.note or "the rows are not in order"
        old = _joined([_live(view, group, number) for number in range(len(group.old))])
    except (StorageError, _LostDeletionsError) as error:
        return str(error)
    return _zipped(old, _joined([_all_rows(fragment) for fragment in group.new]))


def reading_deletions(
    view: HistoryView, groups: Iterable[RewriteGroup]
) -> AbstractContextManager[None]:
    """Return a context in which the rows of groups will be paired, best in this order."""
    return reading_ahead([part for group in groups for part in _deletion_parts(view, group)])


def _deletion_parts(view: HistoryView, group: RewriteGroup) -> Iterator[tuple[Storage, FilePart]]:
    if group.row_map is not None or not group.in_order or group.surviving is not None:
        return
    for number, fragment in enumerate(group.old):
        if fragment.num_deleted_rows == 0:
            continue
        try:
            record, state = _state(view, group, number)
            yield from FragmentReader(view, record).deletion_parts(state)
        except (LanceExplorerError, _LostDeletionsError):
            return  # which is reported where the rows are paired


class _LostDeletionsError(Exception):
    """It is unknown which rows of a fragment were deleted when it was rewritten."""


def _zipped(old: _Ranges, new: _Ranges) -> RunColumns | str:
    """Pair rows in order: split the many old ranges where one of the few new ones ends."""
    old_ends, new_ends = old.ends, new.ends
    num_old, num_new = [int(ends[-1]) if len(ends) else 0 for ends in (old_ends, new_ends)]
    if num_old != num_new:
        return f"the counts do not match: {num_old} rows before, {num_new} after"
    cuts = np.unique(new_ends[:-1])
    cuts = cuts[(cuts > 0) & (cuts < num_old)]
    cuts = cuts[old_ends[np.searchsorted(old_ends, cuts)] != cuts]
    place, address = np.searchsorted(old_ends, cuts), _at(cuts, old, old_ends)
    start, stop = np.insert(old.start, place + 1, address), np.insert(old.stop, place, address)
    counts = stop - start
    return RunColumns(start, stop, _at(np.cumsum(counts) - counts, new, new_ends))


def _partitioned(view: HistoryView, group: RewriteGroup, row_map: str) -> RunColumns | str:
    """Pair rows by a map file: each new fragment has its rows in their old order."""
    from lance_explorer.values import read_row_map

    labels = read_row_map(row_map, view.storage.options)
    old = _joined([_all_rows(fragment) for fragment in group.old])
    ends = old.ends
    num_old = int(ends[-1]) if len(ends) else 0
    if len(labels) != num_old or labels.max(initial=-1) >= len(group.new):
        return f"{row_map}: the row map does not fit {num_old} rows in {len(group.new)} fragments"
    borders = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    begins = np.unique(np.concatenate([np.zeros(1, np.int64), borders, ends.astype(np.int64)]))
    begins, counts = begins[:-1], np.diff(begins)
    kept = labels[begins] >= 0
    begins, counts = begins[kept], counts[kept]
    offsets, num_new = _offsets(labels[begins], counts, len(group.new))
    if num_new.tolist() != [fragment.physical_rows for fragment in group.new]:
        return f"{row_map}: the row map does not fit the rows of the new fragments"
    firsts = np.array([first_address(id_) for id_ in group.new_ids], dtype=np.uint64)
    start = _at(begins.astype(np.uint64), old, ends)
    stop = start + counts.astype(np.uint64)
    return RunColumns(start, stop, firsts[labels[begins]] + offsets.astype(np.uint64))


def _offsets(labels: Positions, counts: Positions, num_labels: int) -> tuple[Positions, Positions]:
    """Return how many rows with its label come before each run, and the total of each label."""
    order = np.argsort(labels, kind="stable")
    totals = np.bincount(labels, weights=counts, minlength=num_labels).astype(np.int64)
    offsets = np.empty_like(counts)
    offsets[order] = begins_of(counts[order])
    return offsets - begins_of(totals)[labels], totals


def _at(rows: Uint64Array, ranges: _Ranges, ends: Uint64Array) -> Uint64Array:
    """Return the addresses of rows, which are numbered through all ranges."""
    place = np.searchsorted(ends, rows, side="right")
    addresses: Uint64Array = ranges.stop[place] - (ends[place] - rows)
    return addresses


def _live(view: HistoryView, group: RewriteGroup, number: int) -> _Ranges:
    """Return the rows of an old fragment that were not deleted when it was rewritten."""
    whole = _all_rows(group.old[number])
    deleted = _deleted(view, group, number, whole)
    start = np.concatenate([whole.start, deleted + np.uint64(1)])
    stop = np.concatenate([deleted, whole.stop])
    filled = start < stop
    return _Ranges(start[filled], stop[filled])


def _deleted(view: HistoryView, group: RewriteGroup, number: int, whole: _Ranges) -> Uint64Array:
    """Return the addresses of the deleted rows of an old fragment, ascending."""
    fragment = group.old[number]
    if group.surviving is not None:
        removed = BitMap64(range(int(whole.start[0]), int(whole.stop[0]))) - group.surviving
        return np.frombuffer(removed.to_array(), dtype=np.uint64)
    if fragment.num_deleted_rows == 0:
        return np.empty(0, dtype=np.uint64)
    record, state = _state(view, group, number)
    offsets = deleted_offsets(FragmentReader(view, record).deleted(state))
    addresses: Uint64Array = offsets + whole.start
    return addresses


def _state(view: HistoryView, group: RewriteGroup, number: int) -> tuple[VersionRecord, Fragment]:
    """Return an old fragment with its deletion file, and a version that has the file's place."""
    history, digest = view.history, group.old[number]
    if group.recorded:
        return history.records[history.position(group.version)], group.recorded[number]
    before = int(np.searchsorted(history.versions, np.uint64(group.version))) - 1
    for key in history.states_at(before) if before >= 0 else []:
        state, num_deleted = history.states[key], int(history.num_deleted_rows[key])
        if state.id == digest.id and num_deleted == digest.num_deleted_rows:
            return history.records[before], state
    raise _LostDeletionsError(
        f"it is lost which rows of fragment {digest.id} were deleted when it was rewritten"
    )


def _all_rows(fragment: FragDigest) -> _Ranges:
    start = first_address(fragment.id)
    bounds = np.array([start, start + (fragment.physical_rows or 0)], dtype=np.uint64)
    return _Ranges(bounds[:1], bounds[1:])


def _joined(several: list[_Ranges]) -> _Ranges:
    nothing = np.empty(0, dtype=np.uint64)
    some = [_Ranges(nothing, nothing), *several]
    return _Ranges(*[np.concatenate(bounds) for bounds in zip(*some, strict=True)])
