"""What commits on the way did to rows that their row versions do not tell of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.changes.end_fields import EndFields
from lance_explorer.changes.paths import VersionPath
from lance_explorer.history.events.event_runs import RowEvent, RowEvents
from lance_explorer.history.events.row_events import row_events
from lance_explorer.history.events.row_runs import InPlace, RowRuns, in_place
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.rows.state_rows import StateRows
from lance_explorer.history.rows.tracks import NO_VERSION
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.runs import RunColumns, merged_ids

__all__ = ["IdentitySet", "Traces", "traces"]

_NO_IDENTITIES = np.empty(0, dtype=np.uint64)

_WRITE_IN_PLACE = ("Update", "Merge", "DataReplacement", None)


@dataclass(frozen=True, slots=True)
class IdentitySet:
    """Identities as disjoint ascending ranges, half open."""

    start: Uint64Array
    stop: Uint64Array

    @classmethod
    def of(cls, start: Uint64Array, length: Uint64Array) -> "IdentitySet":
        """Return the identities of runs, which may overlap."""
        if not len(start):
            return cls(start, start)
        return cls(*merged_ids(RunColumns(start, start + length, start)))

    def cut(self, runs: RowRuns) -> RowRuns:
        """Return runs cut so that each is wholly in the set or wholly outside."""
        return runs.cut(runs.identity, np.unique(np.concatenate([self.start, self.stop])))

    def has(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Return which identities are in the set."""
        place = np.searchsorted(self.start, identities, side="right")
        inside: NDArray[np.bool_] = identities < np.append(np.uint64(0), self.stop)[place]
        return inside


@dataclass(frozen=True, slots=True)
class Traces:
    """Rows to which something happened on the way that comparing both ends does not show.

    Attributes
    ----------
    rewritten : IdentitySet
        Those of which a column was written anew in place, and their last update stayed.
    extended : IdentitySet
        Those that got another column in place, and their last update stayed.
    unpaired : IdentitySet
        The two halves of upserts in tables without row IDs: rows that went and rows that came.
    ordered : IdentitySet
        Those that an update wrote in tables without row IDs, told by their order.
    """

    rewritten: IdentitySet
    extended: IdentitySet
    unpaired: IdentitySet
    ordered: IdentitySet


def traces(rows: StateRows, path: VersionPath, fields: EndFields) -> Traces:
    """Collect what happened on the way to rows of two versions, which have such fields.

    Raises
    ------
    FormatError
        If a transaction, a sequence or a deletion file cannot be understood.
    StorageError
        If a file cannot be read.
    """
    rewritten, extended, unpaired = list[RowEvents](), list[RowEvents](), list[RowEvents]()
    for position in path.steps:
        if _is_unpaired(rows, position):
            events = row_events(rows.source, position)
            unpaired.append(events.where(events.maybe))
        if _writes_in_place(rows, position):
            events = _untold(row_events(rows.source, position))
            others = rewritten if fields.are_rewritten(rows, position) else extended
            others.append(events.where(events.event == RowEvent.COLUMN_REWRITTEN))
            extended.append(events.where(events.event == RowEvent.COLUMN_ADDED))
    return Traces(
        _identities(rewritten),
        _identities(extended),
        _identities(unpaired),
        _told_by_order(rows, path),
    )


def _told_by_order(rows: StateRows, path: VersionPath) -> IdentitySet:
    if rows.has_row_ids:
        return IdentitySet.of(_NO_IDENTITIES, _NO_IDENTITIES)
    ranges = [
        rows.ids(state).ranges()
        for position in path.steps
        if rows.history.records[position].operation == "Update"
        for state in rows.states_come(position).tolist()
        if rows.track(state).evidence is Evidence.INFERRED
    ]
    start = np.concatenate([_NO_IDENTITIES, *[starts for starts, _ in ranges]])
    stop = np.concatenate([_NO_IDENTITIES, *[stops for _, stops in ranges]])
    return IdentitySet.of(start, stop - start)


def _is_unpaired(rows: StateRows, position: int) -> bool:
    if rows.has_row_ids or rows.history.records[position].operation != "Update":
        return False
    return StepFacts(rows, position).is_unpaired_update


def _writes_in_place(rows: StateRows, position: int) -> bool:
    """Whether a commit may have written other files into fragments that were there."""
    follows = bool(rows.history.follows_previous[position])
    if follows and rows.history.records[position].operation not in _WRITE_IN_PLACE:
        return False
    states = rows.history.states
    before = {states[state].id: states[state] for state in rows.states_gone(position).tolist()}
    return any(
        fragment.id in before and in_place(before[fragment.id], fragment) is not InPlace.SAME
        for fragment in (states[state] for state in rows.states_come(position).tolist())
    )


def _untold(events: RowEvents) -> RowEvents:
    """Return what happened to rows whose last update is the same as before, or not known."""
    old, new = events.updated_before, events.updated_after
    return events.where((old == new) | (old == NO_VERSION) | (new == NO_VERSION))


def _identities(several: list[RowEvents]) -> IdentitySet:
    start = np.concatenate([_NO_IDENTITIES, *[events.identity for events in several]])
    length = np.concatenate([_NO_IDENTITIES, *[events.length for events in several]])
    return IdentitySet.of(start, length)
