"""Net changes: what became of each row between two versions, whatever happened on the way.

Both versions are compared as they are; the commits between explain what comparing cannot tell. Rows
of which nothing changed are not there, and cost nothing.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns, RowChange
from lance_explorer.changes.in_place import Traces, replaces_columns, traces
from lance_explorer.changes.passing import written_rows
from lance_explorer.changes.paths import EMPTY, VersionPath, path_between
from lance_explorer.history.events.row_classes import without_strangers
from lance_explorer.history.events.row_comparison import compare_states
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.rows.state_rows import StateRows
from lance_explorer.history.rows.tracks import NO_VERSION
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["net_changes", "net_changes_since"]


def net_changes(rows: StateRows, begin: int, end: int) -> ChangeRuns:
    """Return what became of the rows of two versions of a branch.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    begin, end : int
        The positions of the versions in ``rows.history``, the earlier first; EMPTY for the empty
        table.

    Raises
    ------
    FormatError
        If a transaction, a sequence or a deletion file cannot be understood.
    StorageError
        If a file cannot be read.
    """
    path = path_between(rows, begin, end)
    found = traces(rows, path)
    runs = found.ordered.cut(_compared(rows, path, begin, end))
    kept = _kept(rows, runs.where(runs.was_live & runs.is_live), found, begin)
    if replaces_columns(rows, path, begin, end):
        everywhere = np.ones(len(kept), dtype=np.bool_)
        kept = _at_least(kept, RowChange.COLUMN_REWRITTEN, everywhere)
    parts = [
        _went(rows, runs.where(~runs.is_live), found),
        _came(rows, runs.where(~runs.was_live), found, begin),
        kept.where(kept.change != RowChange.UNCHANGED),
    ]
    if not rows.has_row_ids and (parts[1].evidence == Evidence.LOST).any():
        parts[0] = _doubted(parts[0])
    net = ChangeRuns.concatenated(parts)
    return net if rows.has_row_ids else _known_by_address(rows, net, found, begin, end)


def net_changes_since(rows: StateRows, begin_version: int, end: int) -> ChangeRuns:
    """Return which rows of a version came, or were written, after one that is not kept.

    Row versions tell it; rows that went, and rows that moved, are not known.

    Parameters
    ----------
    rows : StateRows
        The rows of a branch with stable row IDs.
    begin_version : int
        The number of the version that is not kept.
    end : int
        The position of the other version.

    Raises
    ------
    FormatError
        If a sequence or a deletion file cannot be understood.
    StorageError
        If a file cannot be read.
    """
    live = compare_states(rows, [], rows.history.states_at(end))
    is_new = live.created > begin_version
    written = live.where(~is_new & (live.updated_after > begin_version))
    before = np.full(len(written), begin_version, dtype=np.uint64)
    inserted = ChangeRuns.alike(live.where(is_new), RowChange.INSERTED, Evidence.DERIVED)
    return ChangeRuns.concatenated(
        [
            inserted,
            written_rows(
                rows, replace(written, updated_before=before), Evidence.DERIVED, begin_version
            ),
        ]
    )


def _compared(rows: StateRows, path: VersionPath, begin: int, end: int) -> RowRuns:
    old, new = _states(rows, begin), _states(rows, end)
    left, entered = np.setdiff1d(old, new).tolist(), np.setdiff1d(new, old).tolist()
    runs = compare_states(rows, left, entered)
    if replaces_columns(rows, path, begin, end):  # of all rows, those of common states too
        live = compare_states(rows, [], np.intersect1d(old, new).tolist())
        shared = RowRuns.of(live.identity, live.after, live.after, live.length)
        runs = RowRuns.concatenated([runs, shared])
    for position in path.steps:
        if rows.history.records[position].operation == "Restore":
            runs = without_strangers(runs, StepFacts(rows, position).first_new_identity)
    return runs


def _states(rows: StateRows, position: int) -> NDArray[np.int64]:
    nothing = np.empty(0, dtype=np.int64)
    return nothing if position == EMPTY else rows.history.intervals.at(position)


def _evidence(rows: StateRows) -> Evidence:
    """Return how well it is known who a row is."""
    return Evidence.DERIVED if rows.has_row_ids else Evidence.RECORDED


def _went(rows: StateRows, runs: RowRuns, found: Traces) -> ChangeRuns:
    runs = found.unpaired.cut(runs)
    net = ChangeRuns.alike(runs, RowChange.DELETED, _evidence(rows))
    return replace(
        net,
        version=np.full(len(runs), NO_VERSION, dtype=np.uint64),
        maybe=found.unpaired.has(runs.identity),
    )


def _came(rows: StateRows, runs: RowRuns, found: Traces, begin: int) -> ChangeRuns:
    runs = found.unpaired.cut(runs)
    net = ChangeRuns.alike(runs, RowChange.INSERTED, _evidence(rows))
    if rows.has_row_ids or begin == EMPTY:
        return net
    net = replace(net, maybe=found.unpaired.has(runs.identity))
    unknown = runs.created == NO_VERSION
    doubted = _doubted(net)
    return replace(
        net,
        evidence=np.where(unknown, doubted.evidence, net.evidence),
        maybe=net.maybe | unknown,
    )


def _doubted(net: ChangeRuns) -> ChangeRuns:
    """Return rows as what they are if no lost version says otherwise."""
    return replace(
        net,
        evidence=np.full(len(net), Evidence.LOST, dtype=np.uint8),
        maybe=np.ones(len(net), dtype=np.bool_),
    )


def _kept(rows: StateRows, runs: RowRuns, found: Traces, begin: int) -> ChangeRuns:
    """Return the classes of rows that both versions have, UNCHANGED among them."""
    for traced in (found.rewritten, found.extended):
        runs = traced.cut(runs)
    written, runs = _written(rows, runs, begin)
    others = ChangeRuns.alike(runs, RowChange.UNCHANGED, _evidence(rows))
    others = _at_least(others, RowChange.MOVED, runs.before != runs.after)
    kept = ChangeRuns.concatenated([written, others])
    kept = _at_least(kept, RowChange.COLUMN_ADDED, found.extended.has(kept.identity))
    in_place = found.rewritten.has(kept.identity) & (kept.change > RowChange.COLUMN_REWRITTEN)
    kept = _at_least(kept, RowChange.COLUMN_REWRITTEN, in_place)
    inferred = np.maximum(kept.evidence, np.uint8(Evidence.INFERRED))
    return replace(kept, evidence=np.where(in_place, inferred, kept.evidence))


def _written(rows: StateRows, runs: RowRuns, begin: int) -> tuple[ChangeRuns, RowRuns]:
    """Return the rows that were written in between with their classes, and the others."""
    old, new = runs.updated_before, runs.updated_after
    is_told = (old != NO_VERSION) & (new != NO_VERSION)
    differ = is_told & (old != new)
    begin_version = 0 if begin == EMPTY else rows.history.records[begin].version
    since = ~is_told & (new > begin_version)
    before = np.full(int(since.sum()), begin_version, dtype=np.uint64)
    some = replace(runs.where(since), updated_before=before)
    written = [
        written_rows(rows, runs.where(differ), _evidence(rows)),
        written_rows(rows, some, _evidence(rows), begin_version),
    ]
    return ChangeRuns.concatenated(written), runs.where(~differ & ~since)


def _at_least(net: ChangeRuns, change: RowChange, where: NDArray[np.bool_]) -> ChangeRuns:
    """Return runs of which some are of a class, unless they are of one that comes before it."""
    chosen = where & (net.change > change)
    return replace(
        net,
        change=np.where(chosen, np.uint8(change), net.change),
        maybe=net.maybe | (chosen & (change == RowChange.COLUMN_REWRITTEN)),
    )


def _known_by_address(
    rows: StateRows, net: ChangeRuns, found: Traces, begin: int, end: int
) -> ChangeRuns:
    """Return runs with how well it is known, of those that went elsewhere, who they are."""
    was, now = net.before != NO_ADDRESS, net.after != NO_ADDRESS
    in_order = was & found.ordered.has(net.identity)
    evidence = np.where(
        in_order, np.maximum(net.evidence, np.uint8(Evidence.INFERRED)), net.evidence
    )
    elsewhere = (net.before != net.after) & was & now
    if elsewhere.any():
        for addresses, position in ((net.before, begin), (net.after, end)):
            known = _evidence_at(rows, position, addresses[elsewhere])
            evidence[elsewhere] = np.maximum(evidence[elsewhere], known)
    return replace(net, evidence=evidence)


def _evidence_at(rows: StateRows, position: int, addresses: Uint64Array) -> NDArray[np.uint8]:
    states = rows.history.states_at(position)
    fragments = np.array([rows.history.states[state].id for state in states], dtype=np.uint64)
    evidence = np.array([rows.track(state).evidence for state in states], dtype=np.uint8)
    return evidence[np.searchsorted(fragments, fragments_of(addresses))]
