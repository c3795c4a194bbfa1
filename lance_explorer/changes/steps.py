"""The comparisons that make up an answer about changes: one, or one for each commit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.needed_versions import needed_versions
from lance_explorer.changes.net import is_never_back, net_changes, net_changes_since
from lance_explorer.changes.row_shares import RowShare
from lance_explorer.changes.writes_in_place import Traces
from lance_explorer.errors import (
    InvalidArgumentError,
    UnsupportedFeatureError,
    VersionNotFoundError,
)
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_classes import classify
from lance_explorer.history.events.row_comparison import compare_states
from lance_explorer.history.events.row_events import row_events
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.identity.version_positions import position_of
from lance_explorer.history.paths import EMPTY, path_between
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import Uint64Array

__all__ = [
    "ChangeStep",
    "VersionRange",
    "commit_step",
    "commit_steps",
    "is_known_by_itself",
    "is_known_by_rows",
    "net_step",
    "version_range",
]


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Two versions of a branch.

    Attributes
    ----------
    rows : StateRows
        The rows of the branch.
    begin_version, end_version : int
        The versions; 0 is the empty table.
    begin, end : int
        Their positions in ``rows.history``, or EMPTY. If the first is not kept, ``begin`` is the
        position of the last kept one before it.
    begin_is_kept : bool
        Whether the first is kept.
    """

    rows: StateRows
    begin_version: int
    end_version: int
    begin: int
    end: int
    begin_is_kept: bool

    def row_ids(self, runs: ChangeRuns) -> Uint64Array:
        """Return the names of rows of the second version: row IDs, or addresses."""
        return runs.after if self.ids_of is None else self.ids_of.row_ids(runs.identity)

    @property
    def ids_of(self) -> StateRows | None:
        """The source of row IDs; None if the second version has none."""
        return self.rows if self.rows.has_row_ids_at(self.end) else None


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """The fate of rows between two versions.

    Attributes
    ----------
    runs : ChangeRuns
        What became of them.
    before, after : int
        The positions of both versions, EMPTY for the empty table; ``before`` is None if that
        version is not kept.
    version : int
        Which version did it; NO_VERSION where that is lost. Of a net step the second one.
    """

    runs: ChangeRuns
    before: int | None
    after: int
    version: int


def version_range(
    view: HistoryView, begin_version: int, end_version: int, *, must_begin: bool = True
) -> VersionRange:
    """Return two versions of a branch.

    Parameters
    ----------
    view : HistoryView
        The branch.
    begin_version, end_version : int
        The versions; 0 is the empty table.
    must_begin : bool
        Whether the first must be kept, or stable row IDs show what came after it.

    Raises
    ------
    InvalidArgumentError
        If the first is the later one.
    VersionNotFoundError
        If the second is not kept, or the first never was, or is not kept and must be.
    """
    if begin_version > end_version:
        raise InvalidArgumentError(
            f"begin_version {begin_version} is later than end_version {end_version}; swap them"
        )
    rows = state_rows(needed_versions(view, begin_version, end_version))
    rows = _on_one_side(rows, begin_version, end_version)
    end = EMPTY if end_version == 0 else position_of(rows, end_version)
    try:
        begin = EMPTY if begin_version == 0 else position_of(rows, begin_version)
    except VersionNotFoundError as error:
        tells = _is_known_since(rows, begin_version) or not must_begin
        if not tells or not _was_lost(rows, begin_version):
            raise error from None
        begin = int(np.searchsorted(rows.history.versions, np.uint64(begin_version))) - 1
        return VersionRange(rows, begin_version, end_version, begin, end, begin_is_kept=False)
    return VersionRange(rows, begin_version, end_version, begin, end, begin_is_kept=True)


def _on_one_side(rows: StateRows, begin_version: int, end_version: int) -> StateRows:
    """Return the rows of the versions on the same side of one that turned stable row IDs off.

    Raises
    ------
    UnsupportedFeatureError
        If it is between the two versions.
    """
    switched = rows.ids_went_at
    if switched is None or begin_version >= switched or end_version == 0:
        return rows
    if end_version >= switched and begin_version == 0:
        return rows  # all its rows are new, whatever their IDs were
    if end_version >= switched:
        raise UnsupportedFeatureError(
            f"version {switched} turned stable row IDs off, and which rows of version "
            f"{begin_version} are which of version {end_version} is not followed across that: ask "
            f"for changes before version {switched}, or from it on"
        )
    earlier = [one for one in rows.view.history.versions.tolist() if one < switched]
    before = state_rows(rows.view.only(earlier[0], earlier[-1]))
    return _on_one_side(before, begin_version, end_version)


def _is_known_since(rows: StateRows, version: int) -> bool:
    """Whether row IDs show what came after a version that is not kept."""
    first = rows.history.records[rows.ids_from].version if rows.ids_from else 0
    return rows.has_row_ids and version >= first


def _was_lost(rows: StateRows, version: int) -> bool:
    """Whether a version was on this branch, and is not kept."""
    branch = rows.view.refs.branches.get(rows.view.branch or "")
    first = branch.parent_version if branch else 1
    return first <= version < rows.view.latest_version


def is_known_by_rows(versions: VersionRange, added: NDArray[np.int64]) -> bool:
    """Whether the fate of a row between two versions can be known without looking at other rows.

    That is the case with stable row IDs. Without them, rows of unknown origin, or that a restore
    brought back, make it uncertain which others are gone.

    Parameters
    ----------
    versions : VersionRange
        The versions.
    added : ndarray of int64
        The states that only the second one has.
    """
    rows, begin, end = versions.rows, versions.begin, versions.end
    if rows.is_known_by_ids(begin + 1) or begin == EMPTY:
        return end != EMPTY
    if end == EMPTY or not is_never_back(rows, path_between(rows.history, begin, end)):
        return False
    created = [rows.origins(state).created for state in added.tolist()]
    return all(some is not None and (some.versions != NO_VERSION).all() for some in created)


def is_known_by_itself(versions: VersionRange, position: int) -> bool:
    """Whether what a commit did to a row can be known without looking at other rows."""
    history = versions.rows.history
    is_fork = position == 0 and history.records[0].operation == OperationName.CLONE
    return bool(history.begins_exactly[position]) and not is_fork


def net_step(
    versions: VersionRange, share: RowShare | None = None, traced: Traces | None = None
) -> ChangeStep:
    """Return the net changes between two versions: of all rows, or of a share.

    If the first version is not kept, an extra line says that removed rows are lost.
    """
    rows, end = versions.rows, versions.end
    if versions.begin_is_kept:
        runs, before = net_changes(rows, versions.begin, end, share, traced), versions.begin
        return ChangeStep(_by_row_id(rows, runs), before, end, versions.end_version)
    runs = _by_row_id(rows, net_changes_since(rows, versions.begin_version, end, share))
    if share is None or share.is_first:
        runs = ChangeRuns.concatenated([runs, _lost_line(NO_VERSION)])
    return ChangeStep(runs, None, end, versions.end_version)


def _by_row_id(rows: StateRows, runs: ChangeRuns) -> ChangeRuns:
    """Return changes of rows that are named by their row IDs."""
    if rows.namesakes is None:
        return runs
    return replace(
        runs, identity=rows.row_ids(runs.identity), old_identity=rows.row_ids(runs.old_identity)
    )


def commit_step(versions: VersionRange, share: RowShare) -> ChangeStep:
    """Return what the one commit between two versions did to a share of the rows."""
    rows, position = versions.rows, versions.end
    step = StepFacts(rows, position)
    states = [
        share.states(rows, some)
        for some in (rows.history.states_removed(position), rows.history.states_added(position))
    ]
    before, after = [some.tolist() for some in states]
    runs = compare_states(rows, before, after, step.schemas, (share.start, share.stop))
    events = ChangeRuns.of_events(classify(rows, step, runs))
    return ChangeStep(_by_row_id(rows, events), position - 1, position, step.version)


def commit_steps(versions: VersionRange) -> Iterator[ChangeStep]:
    """Yield the changes of each commit that changed rows; losses have lines of their own.

    From the empty table, a branch begins with the rows of its parent: they are inserted.
    """
    rows = versions.rows
    intervals = rows.history.intervals
    if (
        versions.begin == EMPTY != versions.end
        and rows.history.records[0].operation == OperationName.CLONE
    ):
        fork = rows.history.records[0].version
        runs = net_changes(rows, EMPTY, 0)
        runs = replace(runs, version=np.full(len(runs), fork, dtype=np.uint64))
        yield ChangeStep(runs, EMPTY, 0, fork)
    gaps = np.flatnonzero(~rows.history.begins_exactly)
    changed = np.unique(np.concatenate([intervals.first, intervals.last + 1, gaps]))
    positions = changed[(versions.begin < changed) & (changed <= versions.end)].tolist()
    rows.load_steps(positions)
    for position in positions:
        runs = _by_row_id(rows, ChangeRuns.of_events(row_events(rows.view, position)))
        if not rows.history.begins_exactly[position]:
            yield from _over_gap(versions, position, runs)
        elif len(runs):
            yield ChangeStep(runs, position - 1, position, rows.history.records[position].version)


def _over_gap(versions: VersionRange, position: int, runs: ChangeRuns) -> Iterator[ChangeStep]:
    """Yield what a kept version proves about lost ones before it, with a line for losses.

    If the range covers all lost versions, it is known that a row ended, but not when.
    """
    history = versions.rows.history
    previous = int(history.versions[position - 1]) if position else 0
    version = history.records[position].version
    if not history.num_lost_before[position]:  # the commit itself brought a detached version
        runs = ChangeRuns.concatenated([runs, _lost_line(version)])
        yield ChangeStep(runs, position - 1, position, version)
        return
    is_lost, ended = runs.evidence == Evidence.LOST, runs.after == NO_ADDRESS
    is_told = ended if previous >= versions.begin_version else np.zeros(len(runs), dtype=np.bool_)
    is_told |= ~is_lost & (runs.version > versions.begin_version)
    runs = replace(runs, version=np.where(is_lost, np.uint64(NO_VERSION), runs.version))
    runs = ChangeRuns.concatenated([runs.where(is_told), _lost_line(version)])
    for version in np.unique(runs.version).tolist():
        yield ChangeStep(runs.where(runs.version == version), position - 1, position, version)


def _lost_line(version: int) -> ChangeRuns:
    nothing, one = np.zeros(1, dtype=np.uint64), np.ones(1, dtype=np.uint64)
    nowhere = np.full(1, NO_ADDRESS)
    line = ChangeRuns.alike(
        RowRuns.of(nothing, nowhere, nowhere, one), RowEvent.LOST, Evidence.LOST, is_uncertain=True
    )
    return replace(line, version=np.full(1, version, dtype=np.uint64))
