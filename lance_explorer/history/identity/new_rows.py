"""Rows of a version that may differ from those that had their row IDs before."""

import numpy as np

from lance_explorer.history.detached import maybe_restored
from lance_explorer.history.identity.stored_rows import StoredRows
from lance_explorer.history.readable import have_row_ids, rows_history, since_row_ids_went
from lance_explorer.history.rewrites.all_groups import rewrites
from lance_explorer.rowids.runs import RunColumns, merged_ids, overlaps
from lance_explorer.rowids.sequence import RowIdSequence

__all__ = ["doubtful_ids"]


def doubtful_ids(stored: StoredRows, position: int) -> RunColumns:
    """Return the row IDs of rows of a version that a detached version may have brought.

    They are in data files that no earlier version has. If no restore of a detached version is
    recorded, those count that a detached version has, too, which lost ones may have restored.
    """
    if stored.history.is_uncertain[position]:
        return _written_ids(stored, position)
    hidden = [RunColumns.empty()]
    for one in maybe_restored(stored.view, stored.history, position):
        if not have_row_ids(one.history).any():
            continue  # from before row IDs were turned on: it adds none
        rows = StoredRows(stored.view, since_row_ids_went(rows_history(one.history)))
        if _moved_in_gap(stored, position) <= one.files:
            hidden += [_all_ids(rows.row_ids(state)) for state in one.own]
    others = RunColumns.concatenated(hidden)
    if not len(others.start):
        return others
    return overlaps(_written_ids(stored, position), *merged_ids(others))


def _moved_in_gap(stored: StoredRows, position: int) -> set[str]:
    """Return the data files of the previous kept version, and those read by a later compaction."""
    history = stored.history
    begin, end = [record.version for record in history.records[position - 1 : position + 1]]
    groups = rewrites(stored.view).between(begin, end)
    named = {f.path for group in groups for old in group.recorded for f in old.files}
    states = [history.states[state] for state in history.states_at(position - 1)]
    return named & {file.path for fragment in states for file in fragment.files}


def _written_ids(stored: StoredRows, position: int) -> RunColumns:
    """Return the row IDs in data files that no earlier version has, merged."""
    states, first = stored.history.states, stored.first_positions
    known = np.flatnonzero((first >= 0) & (first < position)).tolist()
    files = {file.path for state in known for file in states[state].files}
    new = [
        _all_ids(stored.row_ids(state))
        for state in stored.new_states(position)
        if files.isdisjoint([file.path for file in states[state].files])
    ]
    ids = RunColumns.concatenated([RunColumns.empty(), *new])
    return RunColumns(*(ranges := merged_ids(ids)), ranges[0]) if new else ids


def _all_ids(row_ids: RowIdSequence) -> RunColumns:
    """Return row IDs as ranges, ignoring their addresses."""
    starts, stops = row_ids.ranges()
    return RunColumns(starts, stops, starts)
