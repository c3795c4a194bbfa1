"""Row versions of rows that a Rewrite moved, or a commit left, where fragments store none.

Commits that were made by hand may lack them, and a compaction of such fragments makes some up. A
Rewrite only moves rows, so they keep those that they had before: else a row would seem older than
it is, and written where it only moved. A later state of a fragment has the rows of the one before.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.format.fragment_columns import SequenceStorage
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import History
from lance_explorer.history.identity.row_origins import (
    NO_VERSION,
    RowOrigins,
    VersionsFrom,
    constant_versions,
)
from lance_explorer.history.steps import same_life
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.offsets import OffsetRanges, rows_at
from lance_explorer.rowids.runs import RunColumns, Runs, separated
from lance_explorer.rowids.version_runs import RowVersionRuns

if TYPE_CHECKING:
    from lance_explorer.history.identity.state_rows import StateRows

__all__ = ["moved_without_versions", "with_versions_before"]


def moved_without_versions(history: History, are_replayed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which states store no row versions, or made-up ones, while those of before are known.

    Parameters
    ----------
    history : History
        The versions of a branch.
    are_replayed : ndarray of bool
        The states of which row versions are known though they store none.
    """
    is_moved = np.zeros(len(history.states), dtype=np.bool_)
    lacks = history.states.row_version_storage == SequenceStorage.ABSENT
    for position in history.changed_positions.tolist() if lacks.any() else ():
        if history.records[position].operation == OperationName.REWRITE:
            added = history.states_added(position)
            is_moved[added] |= lacks[added] | lacks[history.states_removed(position)].any()
            lacks[added] |= is_moved[added]
        else:
            added, removed = history.states_added(position), history.states_removed(position)
            known = history.states.ids[removed[(is_moved | are_replayed)[removed]]]
            is_moved[added] |= lacks[added] & np.isin(history.states.ids[added], known)
    return is_moved


def with_versions_before(rows: "StateRows", state: int, stored: RowOrigins) -> RowOrigins:
    """Return the origins of a state, with the versions that its rows had before.

    They are as stored where the version before is lost, or rows of the state were not there.

    Parameters
    ----------
    rows : StateRows
        The rows of a branch with stable row IDs.
    state : int
        One of :func:`moved_without_versions`.
    stored : RowOrigins
        What it stores.
    """
    history, position = rows.history, int(rows.first_positions[state])
    if position < 1 or not history.follows_previous[position]:
        return stored
    removed = history.states_removed(position).tolist()
    fragment, operation = history.states[state], history.records[position].operation
    if operation != OperationName.REWRITE:
        [same] = [old for old in removed if history.states[old].id == fragment.id]
        if not same_life(history.states[same], fragment, operation):
            return stored
        before = rows.origins(same)
        created = before.created if stored.created is None else stored.created
        updated = before.updated if stored.updated is None else stored.updated
        return RowOrigins(stored.ids, created, updated)
    known = {old: rows.origins(old) for old in removed}
    if all(origins.updated is None for origins in known.values()):
        return stored
    left = RunColumns.concatenated([_rows_in(rows, old, rows.deleted(old)) for old in removed])
    after = _rows_in(rows, state, BitMap())
    moved = separated(Runs.split(after)[0].columns, Runs.split(left)[0].columns)[2]
    lengths = moved.stop - moved.start
    if int(lengths.sum()) != rows.num_rows(state):
        return stored
    order = np.argsort(moved.address)

    def along(
        some: dict[int, RowVersionRuns | None], otherwise: RowVersionRuns | None
    ) -> RowVersionRuns:
        found = VersionsFrom.of(
            [(history.states[old].id, _known(rows, old, runs)) for old, runs in some.items()]
        )
        versions = found.along(moved.other_address[order], lengths[order])
        if otherwise is None or NO_VERSION not in versions.versions:
            return versions
        each = versions.expand()
        return RowVersionRuns.of(np.where(each == NO_VERSION, otherwise.expand(), each))

    created = along({old: origins.created for old, origins in known.items()}, stored.created)
    updated = along({old: origins.updated for old, origins in known.items()}, stored.updated)
    return RowOrigins(stored.ids, created, updated)


def _known(rows: "StateRows", state: int, versions: RowVersionRuns | None) -> RowVersionRuns:
    return constant_versions(NO_VERSION, rows.num_rows(state)) if versions is None else versions


def _rows_in(rows: "StateRows", state: int, deleted: BitMap) -> RunColumns:
    live = OffsetRanges.outside(deleted, rows.num_rows(state))
    return rows_at(rows.ids(state), first_address(rows.history.states[state].id), live)
