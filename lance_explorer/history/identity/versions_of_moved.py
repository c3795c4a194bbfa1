"""Row versions of rows that a Rewrite moved, or a commit kept, if fragments store none.

Hand-made commits may lack them, and a compaction of such fragments makes some up. A Rewrite only
moves rows, so they keep their earlier row versions: else a row would seem older than it is, and
written where it only moved. A later state of a fragment has the rows of the previous one, and those
that it did not write keep their known row versions.
"""

from collections.abc import Callable, Collection

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
from lance_explorer.history.identity.ways import StateRows
from lance_explorer.history.steps import same_life
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.offsets import OffsetRanges, rows_at
from lance_explorer.rowids.runs import RunColumns, Runs, separated
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["MADE_UP", "moved_without_versions", "states_in_order", "with_versions_before"]

MADE_UP = 1
"""The version that Lance reads for rows without row versions, and stores when it moves them."""


def moved_without_versions(
    history: History, first_positions: NDArray[np.int64], are_replayed: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which states store no row versions, or made-up ones, while earlier ones are known.

    Parameters
    ----------
    history : History
        The versions of a branch.
    first_positions : ndarray of int64
        For each state the first position at which it is there.
    are_replayed : ndarray of bool
        The states of which row versions are known though they store none.
    """
    is_moved = np.zeros(len(history.states), dtype=np.bool_)
    lacks = history.states.row_version_storage == SequenceStorage.ABSENT
    ids = history.states.ids
    for position in history.changed_positions.tolist() if lacks.any() else ():
        added, removed = history.states_added(position), history.states_removed(position)
        added = added[first_positions[added] == position]
        if history.records[position].operation == OperationName.REWRITE:
            is_moved[added] = lacks[added] | (lacks | is_moved)[removed].any()
        else:
            is_moved[added] = np.isin(ids[added], ids[removed[is_moved[removed]]])
            known = ids[removed[are_replayed[removed]]]
            is_moved[added] |= lacks[added] & np.isin(ids[added], known)
    return is_moved


def states_in_order(
    rows: StateRows, state: int, are_moved: NDArray[np.bool_], known: Collection[int]
) -> list[int]:
    """Return a state after those that provide its row versions and are not known yet.

    Parameters
    ----------
    rows : StateRows
        The rows of a branch.
    state : int
        The state.
    are_moved : ndarray of bool
        What :func:`moved_without_versions` found.
    known : collection of int
        The states whose origins are known.
    """
    reached, pending = {state}, [state] if are_moved[state] else []
    while pending:
        position = int(rows.first_positions[pending.pop()])
        removed = rows.history.states_removed(position)
        earlier = set(removed[are_moved[removed]].tolist()) - reached
        earlier = {one for one in earlier if one not in known}
        reached |= earlier
        pending += earlier
    return sorted(reached, key=lambda one: int(rows.first_positions[one]))


def with_versions_before(
    rows: StateRows, state: int, stored_origins: Callable[[int], RowOrigins]
) -> RowOrigins:
    """Return the origins of a state, with the earlier versions of its rows.

    They are as stored if the previous version is lost, or the rows are new, and NO_VERSION if a
    compaction made them up and the true ones are unknown.

    Parameters
    ----------
    rows : StateRows
        The rows of a branch with stable row IDs.
    state : int
        One of :func:`moved_without_versions`.
    stored_origins : callable
        Gives what a state stores.
    """
    stored = stored_origins(state)
    history, position = rows.history, int(rows.first_positions[state])
    if position < 1 or not history.follows_previous[position]:
        return stored
    removed = history.states_removed(position).tolist()
    fragment, operation = history.states[state], history.records[position].operation
    if operation != OperationName.REWRITE:
        [same] = [old for old in removed if history.states[old].id == fragment.id]
        if not same_life(history.states[same], fragment, operation):
            return stored
        before, was = rows.origins(same), stored_origins(same)
        return RowOrigins(
            stored.ids,
            _unless_written(before.created, was.created, stored.created),
            _unless_written(before.updated, was.updated, stored.updated),
        )
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
        earlier = VersionsFrom.of(
            [(history.states[old].id, _known(rows, old, runs)) for old, runs in some.items()]
        )
        versions = earlier.along(moved.other_address[order], lengths[order])
        if otherwise is None or NO_VERSION not in versions.versions:
            return versions
        each, theirs = versions.expand(), otherwise.expand()
        is_told = (each == NO_VERSION) & (theirs != MADE_UP)
        return RowVersionRuns.of(np.where(is_told, theirs, each))

    created = along({old: origins.created for old, origins in known.items()}, stored.created)
    updated = along({old: origins.updated for old, origins in known.items()}, stored.updated)
    return RowOrigins(stored.ids, created, updated)


def _unless_written(
    known: RowVersionRuns | None, was: RowVersionRuns | None, stored: RowVersionRuns | None
) -> RowVersionRuns | None:
    """Return the known row versions of a fragment, except where it now stores others."""
    if known is None or stored is None:
        return known if stored is None else stored
    was = was or constant_versions(MADE_UP, len(known))
    if was == stored:
        return known
    if not len(known) == len(was) == len(stored):
        return stored
    old, new = was.expand(), stored.expand()
    return RowVersionRuns.of(np.where(old == new, known.expand(), new))


def _known(rows: StateRows, state: int, versions: RowVersionRuns | None) -> RowVersionRuns:
    return constant_versions(NO_VERSION, rows.num_rows(state)) if versions is None else versions


def _rows_in(rows: StateRows, state: int, deleted: BitMap) -> RunColumns:
    live = OffsetRanges.outside(deleted, rows.num_rows(state))
    return rows_at(rows.ids(state), first_address(rows.history.states[state].id), live)
