"""Which event of its row last changed each cell: values are compared, the newest events first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.lineage.ancestors import fork_of
from lance_explorer.lineage.blamed_cells import NEVER, Cells
from lance_explorer.lineage.event_frame import EventColumns
from lance_explorer.lineage.values_before import BranchValues
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["BORN", "CellSearch", "Question", "newest_first"]

_Steps = list[tuple[str | None, StepFacts]]

BORN = -3
"""The commit that made the column, which is younger than the row."""


class Birth(NamedTuple):
    """The first version of a column; ``later`` are branches that left after it."""

    branch: str | None
    position: int
    later: frozenset[str | None]

    def is_until(self, branch: str | None, position: int) -> bool:
        """Tell whether the column exists in a version of the same line."""
        return branch in self.later or (branch == self.branch and position >= self.position)


@dataclass(frozen=True, slots=True)
class Question:
    """The rows whose cells are requested: those of a version that match a filter.

    With ``whole_blobs`` blobs are compared, too.
    """

    where: str | None
    columns: tuple[str, ...]
    version: int
    whole_blobs: bool


def newest_first(events: EventColumns) -> EventColumns:
    """Return the events that can have changed values, grouped by row, newest first."""
    events = events.where((events.event != RowEvent.MOVED) | events.is_uncertain)
    number = np.arange(len(events))
    versions = events.version.astype(np.int64)
    return events.where(np.lexsort((-number, -versions, -events.step, events.row)))


@dataclass
class CellSearch:
    """The events of rows, newest first, and the cells that they explain.

    Attributes
    ----------
    now : BranchVersion
        The examined version.
    question : Question
        What is asked for.
    steps : list
        The versions of the events, each with its branch.
    events : EventColumns
        The events.
    row_ids : ndarray of uint64
        The rows.
    cells : dict of str to Cells
        The cells of each column.
    born : dict of str to Birth
        Where columns began to exist that were not always there.
    """

    now: BranchVersion
    question: Question
    steps: _Steps
    events: EventColumns
    row_ids: Uint64Array
    cells: dict[str, Cells]
    born: dict[str, Birth] = field(default_factory=dict)
    _values: dict[str | None, BranchValues] = field(default_factory=dict)

    @cached_property
    def commit_of(self) -> NDArray[np.int64]:
        """For each event the number of the first one of the same commit and kind."""
        events = self.events
        if not len(events):
            return np.zeros(1, dtype=np.int64)
        keys = [events.step, events.version.astype(np.int64), events.event, events.evidence]
        numbered = pl.DataFrame({str(n): key for n, key in enumerate(keys)}).with_row_index(
            "number"
        )
        first = pl.col("number").first().over([str(n) for n in range(len(keys))])
        return numbered.select(first.cast(pl.Int64())).to_series().to_numpy()

    def run(self) -> None:
        """Account for all cells."""
        counts = np.bincount(self.events.row, minlength=len(self.row_ids))
        begins = np.cumsum(counts) - counts
        before = [self._before(branch, step) for branch, step in self.steps]
        names = [*dict.fromkeys([branch for branch, _ in before])]
        places = {
            branch: np.array([p if b == branch else -1 for b, p in before], dtype=np.int64)
            for branch in names
        }
        follows = np.array([step.follows for _, step in self.steps], dtype=np.bool_)
        active, number = np.arange(len(self.row_ids)), 0
        while len(active := self._still_open(active)):
            ended = active[counts[active] <= number]
            for cells in self.cells.values():
                cells.close(ended, np.full(len(ended), NEVER), np.ones(len(ended), dtype=np.bool_))
            active = active[counts[active] > number]
            self._look(active, begins[active] + number, places, follows)
            number += 1
        self._find_births()

    def _before(self, branch: str | None, step: StepFacts) -> tuple[str | None, int]:
        """Return the version before a step: its branch and position, -1 if there is none."""
        if step.position:
            return branch, step.position - 1
        fork = fork_of(self.now.view.on_branch(branch))
        return (branch, -1) if fork is None else (fork.parent.view.branch, fork.position)

    def _still_open(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        is_open = np.zeros(len(rows), dtype=np.bool_)
        for cells in self.cells.values():
            is_open |= cells.is_open[rows]
        return rows[is_open]

    def _look(
        self,
        rows: NDArray[np.int64],
        events: NDArray[np.int64],
        places: Mapping[str | None, NDArray[np.int64]],
        follows: NDArray[np.bool_],
    ) -> None:
        """Explain cells by one event of each row.

        Parameters
        ----------
        rows, events : ndarray of int64
            The rows, and the number of the event of each.
        places : mapping of str or None to ndarray of int64
            For each branch and each step the position of the version before it there, or -1.
        follows : ndarray of bool
            For each step whether no version is missing before it.
        """
        some = self.events.where(events)
        is_lost = some.evidence == Evidence.LOST
        begins = some.before == NO_ADDRESS
        starts = begins & np.isin(some.event, [RowEvent.CREATED, RowEvent.RESTORED])
        for cells in self.cells.values():
            cells.is_new[rows[starts & cells.is_open[rows]]] = True
            unsure = some.is_uncertain | is_lost | ~starts
            cells.close(rows[begins], events[begins], unsure[begins])
        # A row that only moved keeps its values, unless it is another row.
        unsure = is_lost | ~follows[some.step] | some.may_be_other | (some.event == RowEvent.MOVED)
        adds = ~begins & (some.event == RowEvent.COLUMN_ADDED) & ~some.is_uncertain & ~unsure
        known = begins | adds
        for branch, positions in places.items():
            here = positions[some.step] >= 0
            for step in np.unique(some.step[adds & here]).tolist():
                mine = np.flatnonzero(adds & (some.step == step))
                there = self._values_of(branch).names_at(int(positions[step]))
                for name in self.cells.keys() - there.keys():
                    self.cells[name].compare(rows[mine], events[mine], None, unsure[mine])
            chosen = np.flatnonzero(here & ~begins & ~adds)
            if not len(chosen):
                continue
            parts = self._values_of(branch).read(
                positions[some.step[chosen]], some.before[chosen], self.row_ids[rows[chosen]]
            )
            for part in parts:
                mine = chosen[part.rows]
                known[mine] = True
                for name, cells in self.cells.items():
                    before = part.values[name] if name in part.values.columns else None
                    perhaps = unsure[mine] | (name in part.in_doubt)
                    cells.compare(rows[mine], events[mine], before, perhaps, part.only_now)
        for cells in self.cells.values():
            none = np.ones(len(rows) - int(known.sum()), dtype=np.bool_)
            cells.close(rows[~known], events[~known], none)

    def _values_of(self, branch: str | None) -> BranchValues:
        if branch not in self._values:
            self._values[branch] = BranchValues(
                state_rows(self.now.view.on_branch(branch)),
                self.now,
                self.question.columns,
                self.question.whole_blobs,
            )
        return self._values[branch]

    def _find_births(self) -> None:
        """Record columns that are younger than the events that explain their cells."""
        for name, cells in self.cells.items():
            birth = self._birth_of(name)
            if birth is None:
                continue
            self.born[name] = birth
            own = [birth.is_until(branch, step.position) for branch, step in self.steps]
            is_known = cells.event >= 0
            steps = self.events.step[cells.event[is_known]]
            older = np.flatnonzero(is_known)[~np.array([*own, False], dtype=np.bool_)[steps]]
            values, born = self._values_of(birth.branch), birth.position
            is_told = values.rows.history.follows_previous[born]
            is_told = is_told and born > 0  # else lost versions of the branch may have added it
            cells.is_uncertain[older] = self.events.may_be_other[cells.event[older]]
            if not is_told or name in values.in_doubt_at(born - 1):
                cells.is_uncertain[older] = True
            cells.event[older] = BORN
            cells.is_new[older] = True

    def _birth_of(self, name: str) -> Birth | None:
        """Return where a column began to exist; None if it is as old as the known history."""
        branch, line = self.now.view.branch, set[str | None]()
        position = self._values_of(branch).rows.history.position(self.now.version)
        while True:
            values = self._values_of(branch)
            while position and name in values.names_at(position - 1):
                position -= 1
            if position:
                return Birth(branch, position, frozenset(line))
            fork = fork_of(self.now.view.on_branch(branch))
            if fork is None or fork.parent.view.branch in line:
                return None
            parent = fork.parent.view.branch
            if name not in self._values_of(parent).names_at(fork.position):
                first = values.rows.history.records[0]
                began_with_it = first.operation == OperationName.CLONE
                return None if began_with_it else Birth(branch, 0, frozenset(line))
            line.add(branch)
            branch, position = parent, fork.position
