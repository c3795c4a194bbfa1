"""The whole life of one row, computed only from the states that can hold it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lance_explorer.history.events.clones import step_facts
from lance_explorer.history.events.event_runs import RowEvents
from lance_explorer.history.events.row_classes import classify
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.file_changes import InPlace, in_place
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.addresses import RowAddress
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["Stay", "stays", "timeline"]


@dataclass(frozen=True, slots=True)
class Stay:
    """A row in one state of a fragment: live there from position ``first`` to ``last``."""

    first: int
    last: int
    state: int
    offset: int


def stays(rows: StateRows, identity: int) -> list[Stay]:
    """Return where a row lived, in time order."""
    low, high = rows.bounds
    wanted = np.uint64(identity)
    can_hold = np.flatnonzero((low <= wanted) & (wanted <= high))
    offsets: dict[int, int | None] = {}
    places: dict[int, int] = {}
    for state in can_hold.tolist():
        ids = rows.ids(state)
        if id(ids) not in offsets:
            offsets[id(ids)] = ids.position(identity)
        offset = offsets[id(ids)]
        if offset is not None:
            places[state] = offset
    rows.load_deleted(places)
    live_at = {
        state: offset for state, offset in places.items() if offset not in rows.deleted(state)
    }
    intervals = rows.history.intervals
    some = np.flatnonzero(np.isin(intervals.keys, np.array([*live_at], dtype=np.int64)))
    columns = [column[some].tolist() for column in (intervals.first, intervals.last)]
    return [
        Stay(first, last, state, live_at[state])
        for first, last, state in zip(*columns, intervals.keys[some].tolist(), strict=True)
    ]


def timeline(rows: StateRows, identity: int) -> Iterator[RowEvents]:
    """Yield what happened to one row, version by version, as one or more runs of one row."""
    known = stays(rows, identity)
    rows.load([stay.state for stay in known])
    before: Stay | None = None
    for stay in known:
        if before is not None and before.last + 1 < stay.first:
            yield _event(rows, identity, before.last + 1, before, None)
            before = None
        if before is None or not _is_same(rows, before, stay):
            yield _event(rows, identity, stay.first, before, stay)
        before = stay
    if before is not None and before.last + 1 < len(rows.history):
        yield _event(rows, identity, before.last + 1, before, None)


def _is_same(rows: StateRows, before: Stay, after: Stay) -> bool:
    """Whether two states are the same for a row, as far as a cheap comparison can tell."""
    old, new = rows.history.states[before.state], rows.history.states[after.state]
    return (
        old.id == new.id
        and before.offset == after.offset
        and old.files == new.files
        and old.overlays == new.overlays
        and rows.origins(before.state).updated is rows.origins(after.state).updated
    )


def _event(
    rows: StateRows, identity: int, position: int, before: Stay | None, after: Stay | None
) -> RowEvents:
    """Classify what happened to one row at a position."""
    states = rows.history.states
    step = step_facts(rows, position)
    change = InPlace.SAME
    if before is not None and after is not None and _address(rows, before) == _address(rows, after):
        change = in_place(states[before.state], states[after.state], step.schemas)
    old = None if before is None else rows.origins(before.state)
    new = None if after is None else rows.origins(after.state)
    is_new = before is None
    runs = RowRuns(
        identity=np.array([identity], dtype=np.uint64),
        before=np.array([_address(rows, before)], dtype=np.uint64),
        after=np.array([_address(rows, after)], dtype=np.uint64),
        length=np.ones(1, dtype=np.uint64),
        updated_before=_version(old.updated if old and new else None, before),
        updated_after=_version(new.updated if new else None, after),
        created=_version(new.created if new and is_new else None, after),
        in_place=np.array([change], dtype=np.uint8),
    )
    return classify(rows, step, runs)


def _address(rows: StateRows, stay: Stay | None) -> int:
    if stay is None:
        return int(NO_ADDRESS)
    return int(RowAddress(rows.history.states[stay.state].id, stay.offset))


def _version(runs: RowVersionRuns | None, stay: Stay | None) -> np.typing.NDArray[np.uint64]:
    if runs is None or stay is None:
        return np.array([NO_VERSION], dtype=np.uint64)
    return runs.at(np.array([stay.offset]))
