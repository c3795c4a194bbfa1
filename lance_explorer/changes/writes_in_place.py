"""What commits in between did to rows without new row versions."""

from dataclasses import dataclass

import numpy as np

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.columns.end_fields import EndFields
from lance_explorer.history.events.identity_sets import IdentitySet
from lance_explorer.history.events.row_events import NO_ADDRESS, row_events
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.events.unrecorded_writes import UnrecordedRows, unrecorded_rows
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import VersionPath, restores_unseen

__all__ = ["Traces", "traces"]

_NO_IDENTITIES = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Traces:
    """Rows to which something happened that a comparison of both ends does not show.

    Attributes
    ----------
    unrecorded : UnrecordedRows
        Those with columns written in place, without a new last update.
    unpaired : IdentitySet
        The two halves of upserts in tables without row IDs, and of restores of lost versions: rows
        that went and rows that came.
    ordered : IdentitySet
        Those that an update wrote in tables without row IDs, recognized by their order.
    """

    unrecorded: UnrecordedRows
    unpaired: IdentitySet
    ordered: IdentitySet


def traces(rows: StateRows, path: VersionPath, fields: EndFields) -> Traces:
    """Collect what happened in between to rows of two versions, which have these fields."""
    return Traces(
        unrecorded_rows(rows, path, fields), _unpaired(rows, path), _known_by_order(rows, path)
    )


def _unpaired(rows: StateRows, path: VersionPath) -> IdentitySet:
    start, stop = [_NO_IDENTITIES], [_NO_IDENTITIES]
    for position in path.steps:
        if rows.is_known_by_ids(position):
            continue
        is_open = restores_unseen(rows.history, position)
        if is_open or StepFacts(rows, position).is_unpaired_update:
            events = row_events(rows.view, position)
            is_half = (events.before == NO_ADDRESS) | (events.after == NO_ADDRESS)
            halves = events.where(events.is_uncertain & is_half)
            start.append(halves.identity)
            stop.append(halves.identity + halves.length)
    return IdentitySet.of(np.concatenate(start), np.concatenate(stop))


def _known_by_order(rows: StateRows, path: VersionPath) -> IdentitySet:
    ranges = [
        rows.ids(state).ranges()
        for position in path.steps
        if rows.history.records[position].operation == OperationName.UPDATE
        and not rows.is_known_by_ids(position)
        for state in rows.history.states_added(position).tolist()
        if rows.origins(state).evidence is Evidence.INFERRED
    ]
    start = np.concatenate([_NO_IDENTITIES, *[starts for starts, _ in ranges]])
    stop = np.concatenate([_NO_IDENTITIES, *[stops for _, stops in ranges]])
    return IdentitySet.of(start, stop)
