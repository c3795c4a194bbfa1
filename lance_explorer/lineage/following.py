"""Follow rows through the versions of a table, forwards and backwards, one row or millions.

With stable row IDs a row is its ID on its branch; if an ID was given to several rows, one after the
other, the events of all of them are returned. Without them, it is its address, which compactions
carry along, and ``update()`` too if its order is known (``inferred``). Events before a branch left
its parent are read there.
"""

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from lance_explorer.arguments import row_numbers
from lance_explorer.errors import InvalidArgumentError, RowNotFoundError
from lance_explorer.frames.columns import TEXT
from lance_explorer.frames.commit_facts import facts_of_records
from lance_explorer.frames.documented import documented
from lance_explorer.frames.followed import FOLLOWED, ROW_HISTORY
from lance_explorer.frames.known_from import known_from_branches
from lance_explorer.history.events.address_identities import identities_at
from lance_explorer.history.events.clones import step_facts
from lance_explorer.history.events.doubtful_links import last_links, last_links_at
from lance_explorer.history.events.event_runs import RowEvents
from lance_explorer.history.events.follow_rows import RowsInStep, trace
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.identity.version_positions import check_some, position_of
from lance_explorer.history.reading.row_endings import row_not_found
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.ancestors import fork_of, identities_in_parent
from lance_explorer.lineage.event_frame import EventColumns, event_columns, only
from lance_explorer.lineage.fork_gaps import has_gap, since_fork
from lance_explorer.lineage.row_values import with_values
from lance_explorer.lineage.timeline import timeline
from lance_explorer.rowids.addresses import RowAddress
from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array

__all__ = ["follow", "followed_events", "row_history"]

_Steps = list[tuple[str | None, StepFacts]]


@documented(ROW_HISTORY)
def row_history(
    view: HistoryView, row_id: int, at: int | None = None, *, values: bool = False
) -> pl.DataFrame:
    """Return what happened to one row, one event a row, oldest first.

    Parameters
    ----------
    view : HistoryView
        The branch. What happened before it left its parent is included.
    row_id : int
        The row ID; without stable row IDs, the address of the row in version ``at``.
    at : int, optional
        The version in which the address is meant; by default the last one in which a row lives
        there. Stable row IDs need none; a version from before they were turned on has addresses.
    values : bool
        Whether to read the row's values after each event, before it where it ended: a struct
        ``values``, and ``changed_columns``, the columns that differ from the event before. Both are
        null where files are gone.

    Raises
    ------
    RowNotFoundError
        If no kept version has, or had, the row.
    """
    rows = state_rows(view)
    check_some(rows)
    identities, asked_at = _identities(rows, row_id, at)
    parts, steps = _history(rows, identities, asked_at, None)
    if not parts:
        raise row_not_found(view, view.latest_version, row_id)
    columns = EventColumns.concatenated(parts)
    events = _event_fields(view, columns, steps)
    known_from = events.pop("known_from")
    said = {**events, **_facts(view, columns, steps), "known_from": known_from}
    frame = ROW_HISTORY.build(said)
    return with_values(view, frame, row_id) if values else frame


def _event_fields(view: HistoryView, columns: EventColumns, steps: _Steps) -> dict[str, pl.Series]:
    """Return the columns of a frame of events."""
    fields = columns.frame(steps)
    return {**fields, "known_from": known_from_branches(view, fields["branch"], fields["version"])}


def _facts(view: HistoryView, columns: EventColumns, steps: _Steps) -> dict[str, pl.Series]:
    """Return what the commit of each event records, if that commit is kept."""
    own = np.array([step.version for _, step in steps], dtype=np.uint64)[columns.step]
    said = facts_of_records((view.on_branch(branch), step.after) for branch, step in steps)
    facts = pl.DataFrame(said, schema=dict.fromkeys(said, TEXT))[columns.step]
    is_own = pl.Series(columns.version == own)
    return {name: only(facts[name], is_own) for name in facts.columns}


def _identities(rows: StateRows, row_id: int, at: int | None) -> tuple[list[int], int]:
    """Return the identity of a row given by its address in a version, or of all rows with an ID.

    And the position of the version in which it is meant.
    """
    if not 0 <= row_id < MAX_U64:
        raise RowNotFoundError(f"{row_id} is no row ID: those go from 0 to 2^64 - 2")
    position = None if at is None else position_of(rows, at)
    if rows.has_row_ids_at(rows.ids_from if position is None else position):
        bearers: list[int] = rows.bearers(np.array([row_id], dtype=np.uint64))[0].tolist()
        return bearers, len(rows.history) - 1
    address = np.array([row_id], dtype=np.uint64)
    if position is None:
        position = _last_position(rows, row_id)
    if position is not None:
        identities, live = identities_at(rows, position, address)
        if live[0]:
            return [int(identities[0])], position
    version = rows.view.latest_version if at is None else at
    raise row_not_found(rows.view, version, row_id)


def _last_position(rows: StateRows, address: int) -> int | None:
    """Return the last position at which a row lives at an address."""
    place = RowAddress.of(address)
    intervals, states = rows.history.intervals, rows.history.states
    of_fragment = [number for number, state in enumerate(states) if state.id == place.fragment_id]
    rows.load_deleted(of_fragment)
    own = np.flatnonzero(np.isin(intervals.keys, np.array(of_fragment, dtype=np.int64)))
    for number in own[np.argsort(-intervals.last[own], kind="stable")].tolist():
        state = int(intervals.keys[number])
        if place.offset < rows.num_rows(state) and place.offset not in rows.deleted(state):
            return int(intervals.last[number])
    return None


def _history(
    rows: StateRows, identities: list[int], asked_at: int, last_version: int | None
) -> tuple[list[EventColumns], _Steps]:
    """Return the events of rows with one ID up to a version, also on ancestors, and steps.

    The rows are those of the version at the position ``asked_at``.
    """
    parts, steps = list[EventColumns](), _Steps()
    fork = fork_of(rows.view)
    shared = np.array(identities, dtype=np.uint64)
    inherited = shared[:0]
    if fork is not None:
        inherited, known = identities_in_parent(rows, fork, shared)
        inherited, shared = inherited[known], shared[known]
    is_over_gap = len(inherited) > 0 and has_gap(rows, fork)
    if fork is not None and len(inherited):
        parts, steps = _history(fork.parent, inherited.tolist(), fork.position, fork.version)
        if is_over_gap:
            columns = since_fork(rows, fork, shared, len(steps))
            if len(columns.row):
                parts.append(columns)
                steps.append((rows.view.branch, step_facts(rows, 0)))
        may_be_other = (last_links_at(rows, asked_at, shared) >= 0).any()
        parts = [columns.doubted(np.full(len(columns), may_be_other)) for columns in parts]
    ordered = [events for identity in identities for events in timeline(rows, identity)]
    ordered.sort(key=lambda events: (events.step.position, _comes(events)))
    for events in ordered:
        if is_over_gap and not events.step.position:
            continue
        if not len(events) or (last_version is not None and events.step.version > last_version):
            continue
        one = np.zeros(len(events), dtype=np.int64)
        run = np.arange(len(events))
        in_step = RowsInStep(events, one, run, events.before, events.after)
        columns = event_columns(len(steps), in_step)
        columns = columns.doubted(_may_be_others(rows, in_step, events.identity, asked_at))
        if fork is not None:
            columns = columns.where(columns.version > np.uint64(fork.version))
        if len(columns.row):
            parts.append(columns)
            steps.append((rows.view.branch, events.step))
    return parts, steps


def _comes(events: RowEvents) -> bool:
    """Whether the row was not live: another one with its ID ends first."""
    return bool(len(events)) and bool(events.before[0] == NO_ADDRESS)


@documented(FOLLOWED)
def follow(
    view: HistoryView,
    ids: ArrayLike,
    begin_version: int | None = None,
    end_version: int | None = None,
) -> pl.DataFrame:
    """Return what happened to many rows: one row an ID and event, in input order, then by version.

    Parameters
    ----------
    view : HistoryView
        The branch. What happened before it left its parent is told too.
    ids : array_like
        Row IDs; addresses in ``begin_version`` if that has no stable row IDs; in ``end_version``
        if no first one is given. An ID that is given twice is followed once.
    begin_version : int, optional
        Events after this version; by default from the beginning.
    end_version : int, optional
        Events up to this version; by default the latest.

    Raises
    ------
    InvalidArgumentError
        If ``begin_version`` is the later one.
    """
    asked = row_numbers(ids, "row IDs")
    _, first = np.unique(asked, return_index=True)
    if begin_version is not None and end_version is not None and begin_version > end_version:
        raise InvalidArgumentError(
            f"begin_version {begin_version} is later than end_version {end_version}"
        )
    rows = state_rows(view)
    start = 0 if begin_version is None else position_of(rows, begin_version) + 1
    stop = position_of(rows, view.latest_version if end_version is None else end_version) + 1
    wanted = asked[np.sort(first)]
    named_at = (start or stop) - 1
    if rows.has_row_ids_at(named_at):
        identities, place = rows.bearers(wanted)
        known = np.ones(len(identities), dtype=np.bool_)
    else:
        identities, known = identities_at(rows, named_at, wanted)
        place = np.arange(len(wanted))
    parts, steps = followed_events(rows, identities, known, range(start, stop), named_at)
    columns = EventColumns.concatenated(parts)
    columns = replace(columns, row=place[columns.row])
    if len(identities) > len(wanted):  # of two rows with one ID, the one that ends comes first
        columns = columns.where(np.lexsort((columns.before == NO_ADDRESS, columns.step)))
    columns = columns.by_row(len(wanted))
    return FOLLOWED.build({"_rowid": wanted[columns.row], **_event_fields(view, columns, steps)})


def followed_events(
    rows: StateRows,
    identities: Uint64Array,
    known: NDArray[np.bool_],
    positions: range,
    asked_at: int,
) -> tuple[list[EventColumns], _Steps]:
    """Return the events of rows on a branch, and on its ancestors if it is followed from its start.

    ``row`` counts the given identities, of the rows that have them at the position ``asked_at``.
    """
    parts, steps = list[EventColumns](), _Steps()
    fork = fork_of(rows.view) if positions.start == 0 else None
    if fork is not None:
        inherited, was_there = identities_in_parent(rows, fork, identities)
        before = range(fork.position + 1)
        parts, steps = followed_events(
            fork.parent, inherited, known & was_there, before, fork.position
        )
        if is_over_gap := has_gap(rows, fork):
            shared = _ascending(identities, known & was_there)
            columns = since_fork(rows, fork, identities[shared], len(steps))
            parts.append(replace(columns, row=shared[columns.row]))
            steps.append((rows.view.branch, step_facts(rows, 0)))
        may_be_other = last_links_at(rows, asked_at, identities) >= 0
        parts = [columns.doubted(may_be_other[columns.row]) for columns in parts]
    order = _ascending(identities, known)
    for in_step in trace(rows, identities[order], positions):
        columns = event_columns(len(steps), in_step)
        columns = replace(columns, row=order[columns.row])
        columns = columns.doubted(_may_be_others(rows, in_step, identities[columns.row], asked_at))
        if fork is not None:
            columns = columns.where(columns.version > np.uint64(fork.version))
            if is_over_gap and not in_step.events.step.position:
                columns = columns.where(~was_there[columns.row])
        parts.append(columns)
        steps.append((rows.view.branch, in_step.events.step))
    return parts, steps


def _may_be_others(
    rows: StateRows, in_step: RowsInStep, identities: Uint64Array, asked_at: int
) -> NDArray[np.bool_]:
    """Tell which events may belong to other rows than those with their identities in a version."""
    step, before, after = in_step.events.step, in_step.before, in_step.after
    sides = [(step.removed, before), (step.added, after)]
    if asked_at >= step.position:
        sides.reverse()
    # The nearer side of the event counts, if the row is live there.
    near, far = [last_links(rows, states.values(), identities, at) for states, at in sides]
    own = np.where(sides[0][1] != NO_ADDRESS, near, far)
    others: NDArray[np.bool_] = own != last_links_at(rows, asked_at, identities)
    return others


def _ascending(identities: Uint64Array, chosen: NDArray[np.bool_]) -> Positions:
    """Return the positions of some identities, in rising order of the identities."""
    some = np.flatnonzero(chosen)
    return some[np.argsort(identities[some], kind="stable")]
