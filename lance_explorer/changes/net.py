"""Net changes: what happened to each row between two versions, without the way there.

Both versions are compared directly; the commits between them explain what the comparison cannot
show. Unchanged rows are not listed, and cost nothing.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.column_only_updates import written_rows
from lance_explorer.changes.counting import KEEPS_VALUES
from lance_explorer.changes.replaced_columns import ReplacedColumns
from lance_explorer.changes.row_shares import RowShare
from lance_explorer.changes.writes_in_place import Traces, traces
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.columns.end_fields import EndFields
from lance_explorer.history.events.ambiguous_rows import Births
from lance_explorer.history.events.doubtful_links import cut_at_links, last_links, links_of
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_comparison import (
    compare_states,
    rows_in_states,
    schemas_at,
)
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.events.unrecorded_writes import unrecorded_rows
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import EMPTY, VersionPath, path_between
from lance_explorer.history.steps import states_between
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = [
    "is_never_back",
    "net_changes",
    "net_changes_since",
    "traces_between",
]


def traces_between(rows: StateRows, begin: int, end: int) -> Traces:
    """Return what the commits between two versions did that a comparison does not show."""
    fields = EndFields.between(rows.history, begin, end)
    return traces(rows, path_between(rows.history, begin, end), fields)


def net_changes(
    rows: StateRows,
    begin: int,
    end: int,
    share: RowShare | None = None,
    traced: Traces | None = None,
) -> ChangeRuns:
    """Return the fate of the rows between two versions of a branch.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    begin, end : int
        The positions of the versions in ``rows.history``, the earlier first; EMPTY for the empty
        table.
    share : RowShare, optional
        Which rows, if their fate is known without the others; all by default.
    found : Traces, optional
        The result of :func:`traces_between` for both versions, if it exists.
    """
    path = path_between(rows.history, begin, end)
    by_ids = rows.is_known_by_ids(begin + 1)
    fields = EndFields.between(rows.history, begin, end)
    traced = traced or traces(rows, path, fields)
    replaced = ReplacedColumns.between(rows.history, begin, end)
    runs = traced.ordered.cut(_compared(rows, begin, end, share, everywhere=bool(replaced)))
    runs = cut_at_links(rows, runs)
    if rows.namesakes:
        runs = runs.cut(runs.identity, rows.namesakes.open_borders)
    if is_never_back(rows, path) and not (by_ids and _may_write(rows, path)):
        runs = _without_dropped(runs, by_ids=by_ids)
    evidence = Evidence.DERIVED if rows.has_row_ids_at(end) else Evidence.RECORDED
    stayed = runs.where(runs.was_live & runs.is_live)
    kept = _kept(rows, stayed, traced, begin, fields, evidence)
    if replaced:
        others = replaced.may_differ(rows, begin, end, kept.before, kept.after)
        kept = kept.at_least(RowEvent.COLUMN_REWRITTEN, others)
    parts = [
        _removed(runs.where(~runs.is_live), traced, evidence),
        _added(runs.where(~runs.was_live), traced, evidence, is_certain=by_ids or begin == EMPTY),
        kept.where(kept.change != RowEvent.UNCHANGED),
    ]
    is_told = bool(rows.history.follows_previous[list(path.steps)].all())
    is_lost = parts[1].evidence == Evidence.LOST
    if not by_ids and (is_lost | (parts[1].is_uncertain & (not is_told))).any():
        parts[0] = _doubted(parts[0])  # lost versions may have replaced them
    if not (by_ids or is_never_back(rows, path)) and begin != EMPTY:
        parts[:2] = _doubted_by_birth(rows, parts[0], parts[1], begin, end)
    net = ChangeRuns.concatenated(parts)
    if rows.namesakes:
        only_one = (net.before == NO_ADDRESS) | (net.after == NO_ADDRESS)
        net = replace(
            net, is_uncertain=net.is_uncertain | (only_one & rows.namesakes.are_open(net.identity))
        )
    doubtful = traced.unrecorded.doubtful.has(net.identity) | (not (is_told or by_ids))
    net = replace(net, is_uncertain=net.is_uncertain | (doubtful & _is_elsewhere(net)))
    if by_ids:
        return net
    known = _known_by_address(rows, net, traced, begin, end)
    names = [rows.history.records[step].operation for step in path.steps]
    return _linked(rows, known, begin, end, may_be_back=OperationName.RESTORE in names)


def net_changes_since(
    rows: StateRows, begin_version: int, end: int, share: RowShare | None = None
) -> ChangeRuns:
    """Return which rows of a version were added, or written, after one that is not kept.

    Row versions show it, or kept versions that wrote rows in place; removed and moved rows are
    unknown.

    Parameters
    ----------
    rows : StateRows
        The rows of a branch with stable row IDs.
    begin_version : int
        The number of the version that is not kept.
    end : int
        The position of the other version.
    share : RowShare, optional
        Which rows; all by default.
    """
    live = _compared(rows, EMPTY, end, share, everywhere=False)
    is_open = np.zeros(len(live), dtype=np.bool_)
    if rows.namesakes:  # row versions of rows of a detached version say nothing
        live = live.cut(live.identity, rows.namesakes.open_borders)
        is_open = rows.namesakes.are_open(live.identity)
    doubtful, live = live.where(is_open), live.where(~is_open)
    is_new = live.created > begin_version
    written = live.where(~is_new & (live.updated_after > begin_version))
    before = np.full(len(written), begin_version, dtype=np.uint64)
    inserted = ChangeRuns.alike(live.where(is_new), RowEvent.INSERTED, Evidence.DERIVED)
    return ChangeRuns.concatenated(
        [
            inserted,
            _doubted(ChangeRuns.alike(doubtful, RowEvent.INSERTED, Evidence.LOST)),
            written_rows(
                rows, replace(written, updated_before=before), Evidence.DERIVED, begin_version
            ),
            _unrecorded_since(rows, begin_version, end, live.where(~is_new)),
        ]
    )


def _unrecorded_since(rows: StateRows, begin_version: int, end: int, live: RowRuns) -> ChangeRuns:
    """Return older rows that kept versions may have written in place, without new row versions."""
    first = int(np.searchsorted(rows.history.versions, np.uint64(begin_version), side="right"))
    path = path_between(rows.history, first - 1, end)
    unseen = unrecorded_rows(rows, path, EndFields.between(rows.history, end, end)).rewritten
    runs = unseen.cut(live.where(live.updated_after <= begin_version))
    rewritten = runs.where(unseen.has(runs.identity))
    return ChangeRuns.alike(
        rewritten, RowEvent.COLUMN_REWRITTEN, Evidence.INFERRED, is_uncertain=True
    )


def _compared(
    rows: StateRows, begin: int, end: int, share: RowShare | None, *, everywhere: bool
) -> RowRuns:
    """Return the rows that differ, or all rows, including those of common states."""
    removed, added = states_between(rows.history, begin, end)
    kept = np.setdiff1d(rows.history.intervals.at(end), added)
    between = None
    if share is not None:
        removed, added, kept = [share.states(rows, some) for some in (removed, added, kept)]
        between = share.start, share.stop
    schemas = schemas_at(rows, begin, end)
    runs = compare_states(rows, removed.tolist(), added.tolist(), schemas, between)
    if everywhere:
        live = rows_in_states(rows, kept.tolist(), between)
        shared = RowRuns.of(live.identity, live.after, live.after, live.length)
        runs = RowRuns.concatenated([runs, shared])
    return runs


def is_never_back(rows: StateRows, path: VersionPath) -> bool:
    """Whether there is no restore in between, not even a lost one."""
    history, steps = rows.history, list(path.steps)
    is_told = bool(history.follows_previous[steps].all())
    return is_told and all(
        history.records[step].operation != OperationName.RESTORE for step in steps
    )


def _may_write(rows: StateRows, path: VersionPath) -> bool:
    """Whether a commit in between may have changed values of rows."""
    names = {rows.history.records[step].operation for step in path.steps}
    return not names <= KEEPS_VALUES


def _without_dropped(runs: RowRuns, *, by_ids: bool) -> RowRuns:
    """Return rows whose last update became an earlier one as not written.

    Without row IDs, a fragment from which a column is dropped may return to its state before the
    column was added. With row IDs, a hand-made rewrite may have left out row versions, and the next
    compaction then stores version 1 for such rows.
    """
    old, new = runs.updated_before, runs.updated_after
    if by_ids:
        return replace(runs, updated_before=new)
    return replace(runs, updated_before=np.where(new < old, new, old))


def _removed(runs: RowRuns, traced: Traces, evidence: Evidence) -> ChangeRuns:
    runs = traced.unpaired.cut(runs)
    net = ChangeRuns.alike(runs, RowEvent.DELETED, evidence)
    return replace(
        net,
        version=np.full(len(runs), NO_VERSION, dtype=np.uint64),
        is_uncertain=traced.unpaired.has(runs.identity),
    )


def _added(runs: RowRuns, traced: Traces, evidence: Evidence, *, is_certain: bool) -> ChangeRuns:
    runs = traced.unpaired.cut(runs)
    net = ChangeRuns.alike(runs, RowEvent.INSERTED, evidence)
    if is_certain:
        return net
    net = replace(net, is_uncertain=traced.unpaired.has(runs.identity))
    unknown = runs.created == NO_VERSION
    doubted = _doubted(net)
    return replace(
        net,
        evidence=np.where(unknown, doubted.evidence, net.evidence),
        is_uncertain=net.is_uncertain | unknown,
    )


def _doubted_by_birth(
    rows: StateRows, removed: ChangeRuns, added: ChangeRuns, begin: int, end: int
) -> list[ChangeRuns]:
    """Return removed and added rows, marked as uncertain if lost versions may have moved them.

    That may be one that a restore undid, or a lost restore.
    """
    states = [rows.history.states_at(position) for position in (begin, end)]
    old = Births.of(rows, states[0], removed.before)
    new = Births.of(rows, states[1], added.after)
    sides = ((removed, old.may_be(new)), (added, new.may_be(old)))
    return [
        ChangeRuns.concatenated([net.where(~is_open), _doubted(net.where(is_open))])
        for net, is_open in sides
    ]


def _doubted(net: ChangeRuns) -> ChangeRuns:
    """Return rows with their classes, assuming that lost versions change nothing."""
    return replace(
        net,
        evidence=np.full(len(net), Evidence.LOST, dtype=np.uint8),
        is_uncertain=np.ones(len(net), dtype=np.bool_),
    )


def _kept(
    rows: StateRows,
    runs: RowRuns,
    traces_: Traces,
    begin: int,
    fields: EndFields,
    evidence: Evidence,
) -> ChangeRuns:
    """Return the classes of rows that both versions have, UNCHANGED among them."""
    for traced in (
        traces_.unrecorded.rewritten,
        traces_.unrecorded.extended,
        traces_.unrecorded.doubtful,
    ):
        runs = traced.cut(runs)
    written, runs = _written(rows, runs, begin, fields, evidence)
    others = ChangeRuns.alike(runs, RowEvent.UNCHANGED, evidence)
    others = others.at_least(RowEvent.MOVED, runs.before != runs.after)
    kept = ChangeRuns.concatenated([written, others])
    kept = kept.at_least(RowEvent.COLUMN_ADDED, traces_.unrecorded.extended.has(kept.identity))
    in_place = traces_.unrecorded.rewritten.has(kept.identity) & (
        kept.change > RowEvent.COLUMN_REWRITTEN
    )
    kept = kept.at_least(RowEvent.COLUMN_REWRITTEN, in_place)
    inferred = np.maximum(kept.evidence, np.uint8(Evidence.INFERRED))
    return replace(kept, evidence=np.where(in_place, inferred, kept.evidence))


def _written(
    rows: StateRows, runs: RowRuns, begin: int, fields: EndFields, evidence: Evidence
) -> tuple[ChangeRuns, RowRuns]:
    """Return the rows that were written in between with their classes, and the others."""
    old, new = runs.updated_before, runs.updated_after
    begin_version = 0 if begin == EMPTY else rows.history.records[begin].version
    since = (old == NO_VERSION) & (new > begin_version)
    differ = (old != new) & ~since
    before = np.full(int(since.sum()), begin_version, dtype=np.uint64)
    some = replace(runs.where(since), updated_before=before)
    written = [
        written_rows(rows, runs.where(differ), evidence, fields=fields),
        written_rows(rows, some, evidence, begin_version, fields),
    ]
    return ChangeRuns.concatenated(written), runs.where(~differ & ~since)


def _is_elsewhere(net: ChangeRuns) -> NDArray[np.bool_]:
    """Return which rows only moved, or moved and got a column."""
    elsewhere = (net.before != net.after) & (net.before != NO_ADDRESS) & (net.after != NO_ADDRESS)
    chosen: NDArray[np.bool_] = elsewhere & (
        (net.change == RowEvent.MOVED) | (net.change == RowEvent.COLUMN_ADDED)
    )
    return chosen


def _known_by_address(
    rows: StateRows, net: ChangeRuns, traced: Traces, begin: int, end: int
) -> ChangeRuns:
    """Return runs with the evidence for the identity of rows that moved."""
    was, now = net.before != NO_ADDRESS, net.after != NO_ADDRESS
    in_order = was & traced.ordered.has(net.identity)
    evidence = np.where(
        in_order, np.maximum(net.evidence, np.uint8(Evidence.INFERRED)), net.evidence
    )
    elsewhere = (net.before != net.after) & was & now
    if elsewhere.any():
        for addresses, position in ((net.before, begin), (net.after, end)):
            known = _evidence_at(rows, position, addresses[elsewhere])
            evidence[elsewhere] = np.maximum(evidence[elsewhere], known)
        if rows.has_row_ids_at(end):
            known = rows.evidence_before_ids(net.identity[elsewhere])
            evidence[elsewhere] = np.maximum(evidence[elsewhere], known)
    return replace(net, evidence=evidence)


def _linked(
    rows: StateRows, net: ChangeRuns, begin: int, end: int, *, may_be_back: bool
) -> ChangeRuns:
    """Return runs marked as uncertain where the rows may be others.

    Then a missing row may be one of these, and so may a row that came back.
    """
    states = [rows.history.states_at(one) if one != EMPTY else [] for one in (begin, end)]
    was, is_now = [
        last_links(rows, some, net.identity, addresses)
        for some, addresses in zip(states, (net.before, net.after), strict=True)
    ]
    is_other = (was != is_now) & (net.before != NO_ADDRESS) & (net.after != NO_ADDRESS)
    if links_of(rows, states[0]) != links_of(rows, states[1]):
        is_other |= net.after == NO_ADDRESS
        is_other |= (net.before == NO_ADDRESS) & may_be_back
    inferred = np.maximum(net.evidence, np.uint8(Evidence.INFERRED))
    return replace(
        net,
        evidence=np.where(is_other, inferred, net.evidence),
        is_uncertain=net.is_uncertain | is_other,
    )


def _evidence_at(rows: StateRows, position: int, addresses: Uint64Array) -> NDArray[np.uint8]:
    states = rows.history.states_at(position)
    fragments = np.array([rows.history.states[state].id for state in states], dtype=np.uint64)
    evidence = np.array([rows.origins(state).evidence for state in states], dtype=np.uint8)
    return evidence[np.searchsorted(fragments, fragments_of(addresses))]
