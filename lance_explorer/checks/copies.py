"""Where else the rows of damaged files are: in whole files of earlier versions of a branch.

A compaction leaves the replaced files until they are cleaned up. So cells of a moved row are lost
only if those files, and the ones before them, are damaged, too.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.disk.named_data_files import NamedDataFile
from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.readable import readable_history
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["Copies", "Fate"]

_Rows = NDArray[np.bool_]
_Fields = frozenset[int]

_WITH_NEW_ROWS = (OperationName.APPEND, OperationName.OVERWRITE)
"""Operations whose files contain new rows."""

_MOST_COMMITS = 20
"""The most commits that wrote damaged files and are compared with the previous version."""


class Fate(NamedTuple):
    """The fate of the cells of some rows in a damaged file.

    Attributes
    ----------
    is_lost : ndarray of bool
        Rows whose cells no kept version of the branch has completely in whole files.
    is_open : ndarray of bool
        Rows for which that is unknown.
    versions : set of int
        The versions that have cells of the other rows in whole files.
    """

    is_lost: _Rows
    is_open: _Rows
    versions: set[int]


class Copies:
    """Finds where else the rows of damaged files are.

    Parameters
    ----------
    view : HistoryView
        The branch.
    damaged : iterable of NamedDataFile
        All damaged data files.
    deletions : collection of str
        The paths of damaged deletion files.
    """

    def __init__(
        self, view: HistoryView, damaged: Iterable[NamedDataFile], deletions: Iterable[str]
    ) -> None:
        self._view = view
        self._history = readable_history(view.history)
        self._begins = {one.file.path: self._history.position(one.versions[0]) for one in damaged}
        self._deletions = frozenset(deletions)
        self._last_restore = max(
            [
                position
                for position, record in enumerate(self._history.records)
                if record.operation == OperationName.RESTORE
            ],
            default=-1,
        )
        self._runs = dict[int, ChangeRuns | None]()
        self._states = dict[int, dict[int, int]]()

    @property
    def is_broken(self) -> _Rows:
        """For each state of a fragment, whether it needs a damaged file."""
        states = self._history.states
        if not self._begins and not self._deletions:
            return np.zeros(len(states), dtype=np.bool_)
        return np.array(
            [bool(self._broken(state)) or self._has_no_deletions(state) for state in states],
            dtype=np.bool_,
        )

    def broken_fields(self, fragment: Fragment) -> frozenset[int] | None:
        """Return the fields of a fragment in damaged files; None if its deletions are lost."""
        if self._has_no_deletions(fragment):
            return None
        return frozenset[int]().union(*self._broken(fragment).values())

    def fate(self, named: NamedDataFile, addresses: Uint64Array) -> Fate:
        """Return the fate of rows of a damaged file, given by their addresses."""
        count = len(addresses)
        fate = Fate(np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_), set())
        begin, fields = self._begins[named.file.path], frozenset(named.file.fields)
        self._look(begin, fields & self._fields_now, addresses, np.arange(count), fate)
        return fate

    @property
    def _fields_now(self) -> _Fields:
        return frozenset([field.id for field in self._history.records[-1].schema])

    def _look(
        self,
        begin: int,
        fields: _Fields,
        addresses: Uint64Array,
        rows: NDArray[np.int64],
        fate: Fate,
    ) -> None:
        """Look in the version before the one that first has a file, for rows that existed then.

        ``addresses`` are those of the rows in that version, and ``rows`` their numbers.
        """
        history = self._history
        follows, record = bool(history.follows_previous[begin]), history.records[begin]
        if (follows and record.operation in _WITH_NEW_ROWS) or not begin:
            (self._lost(fate, begin) if follows else fate.is_open)[rows] = True
            return
        runs = self._changes(begin, addresses)
        if runs is None:
            fate.is_open[rows] = True
            return
        order = np.argsort(runs.after)
        place = np.searchsorted(runs.after, addresses, sorter=order)
        place = order[np.minimum(place, max(len(order) - 1, 0))] if len(order) else place
        is_changed = np.zeros(len(addresses), dtype=np.bool_)
        if len(order):
            is_changed = runs.after[place] == addresses
        before, event = addresses.copy(), np.full(len(addresses), RowEvent.UNCHANGED, np.uint8)
        before[is_changed] = runs.before[place[is_changed]]
        event[is_changed] = runs.change[place[is_changed]]
        doubted = is_changed.copy()
        doubted[is_changed] = runs.is_uncertain[place[is_changed]]
        is_new = before == NO_ADDRESS
        self._lost(fate, begin)[rows[is_new & ~doubted]] = True
        fate.is_open[rows[doubted]] = True
        self._from_before(begin, fields, before, event, ~is_new & ~doubted, rows, fate)

    def _from_before(
        self,
        begin: int,
        fields: _Fields,
        before: Uint64Array,
        event: NDArray[np.uint8],
        chosen: _Rows,
        rows: NDArray[np.int64],
        fate: Fate,
    ) -> None:
        """Look in the earlier fragments of rows, by the events of these rows."""
        states = self._states_at(begin - 1)
        fragments = fragments_of(before)
        is_kept = np.isin(event, (RowEvent.MOVED, RowEvent.COLUMN_ADDED))
        has_all = self._fields_at(begin) <= self._fields_now
        for fragment_id in np.unique(fragments[chosen]).tolist():
            here = chosen & (fragments == fragment_id)
            state = states.get(fragment_id)
            if state is None:
                fate.is_open[rows[here]] = True
                continue
            fragment = self._history.states[state]
            there = frozenset([one for file in fragment.all_files for one in file.fields])
            if fields - there:  # the commit itself wrote them first
                self._lost(fate, begin)[rows[here]] = True
            # What an update wrote exists nowhere else; which columns it wrote is unknown.
            is_updated = here & (event == RowEvent.UPDATED)
            (self._lost(fate, begin) if has_all else fate.is_open)[rows[is_updated]] = True
            others = here & ~is_kept & ~is_updated
            if fields & there:  # written in place: the values may be older ones
                fate.is_open[rows[others]] = True
            moved = here & is_kept
            if not moved.any() or not fields & there:
                continue
            if self._has_no_deletions(fragment):
                fate.is_open[rows[moved]] = True
                continue
            broken = {path: some & fields for path, some in self._broken(fragment).items()}
            needed = {path: some for path, some in broken.items() if some}
            if len(needed) < len(fragment.all_files):
                fate.versions.add(self._history.records[begin - 1].version)
            for path, some in needed.items():
                self._look(self._begins[path], some, before[moved], rows[moved], fate)

    def _lost(self, fate: Fate, begin: int) -> _Rows:
        """Return places with a mark for rows whose cells no earlier version has.

        After a restore, versions that it abandoned may have them, in later files.
        """
        return fate.is_open if begin < self._last_restore else fate.is_lost

    def _changes(self, begin: int, addresses: Uint64Array) -> ChangeRuns | None:
        """Return what a commit did to rows of some fragments, one run each; None if unknown."""
        if begin not in self._runs:
            ends = [self._history.records[at].version for at in (begin - 1, begin)]
            self._runs[begin] = None
            if len(self._runs) <= _MOST_COMMITS:
                try:
                    runs = VersionPair(*[BranchVersion(self._view, end) for end in ends]).runs
                except LanceExplorerError:
                    pass
                else:
                    self._runs[begin] = runs.where(runs.is_live)
        runs_of_commit = self._runs[begin]
        if runs_of_commit is None:
            return None
        wanted = np.unique(fragments_of(addresses))
        return runs_of_commit.where(np.isin(fragments_of(runs_of_commit.after), wanted)).rows()

    def _states_at(self, position: int) -> dict[int, int]:
        if position not in self._states:
            states = self._history.states_at(position)
            ids = self._history.states.ids[states].tolist()
            self._states[position] = dict(zip(ids, states, strict=True))
        return self._states[position]

    def _fields_at(self, position: int) -> _Fields:
        return frozenset([field.id for field in self._history.records[position].schema])

    def _broken(self, fragment: Fragment) -> Mapping[str, _Fields]:
        """Return the damaged data files of a fragment, with the fields of each."""
        files = [file for file in fragment.all_files if file.path in self._begins]
        return {file.path: frozenset(file.fields) for file in files}

    def _has_no_deletions(self, fragment: Fragment) -> bool:
        """Tell whether it is unknown which rows of a fragment are deleted."""
        file = fragment.deletion_file
        return file is not None and file.path(fragment.id) in self._deletions
