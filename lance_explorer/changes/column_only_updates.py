"""Updates that left values unchanged: commits that added columns, skipped over.

A commit that adds a column with values, or rewrites one, is the last update of every row that it
touched, and hides the previous update. The version before that commit still records that update.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.columns.end_fields import EndFields
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_comparison import live_rows
from lance_explorer.history.events.row_runs import RowRuns
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.file_changes import written_fields
from lance_explorer.history.identity.row_origins import NO_VERSION, VersionsFrom, constant_versions
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.runs import RunColumns, Runs

__all__ = ["LOOKED_THROUGH", "last_updates", "written_rows"]

LOOKED_THROUGH = frozenset({OperationName.MERGE, OperationName.DATA_REPLACEMENT})
"""Operations that may have only added columns, without rewriting rows."""


def written_rows(
    rows: StateRows,
    runs: RowRuns,
    evidence: Evidence,
    begin_version: int = NO_VERSION,
    fields: EndFields | None = None,
) -> ChangeRuns:
    """Return the classes of rows whose last updates differ.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    runs : RowRuns
        Rows that both versions have, each with two different last updates that are known.
    evidence : Evidence
        How well it is known that both are the same rows.
    begin_version : int
        If the first version is not kept: its number, which is the last update of all rows that
        were not written after it.
    fields : EndFields, optional
        The fields of both versions, if they are known.

    Returns
    -------
    ChangeRuns
        Rows that are updated; rows of which a column was added, or written anew, and nothing else;
        and rows where nothing is left to tell, with evidence ``lost``.
    """
    finder = _Finder(rows, begin_version, fields)
    pending = [_Looked(runs, rewritten=False), _Looked(RowRuns.empty(), rewritten=True)]
    lost = list[RowRuns]()
    while version := finder.next_version(pending):
        parted = [looked.part(version) for looked in pending]
        here = [some for some, _ in parted]
        if finder.can_tell(version):
            (kept, moved), (others, also) = [finder.look_through(some, version) for some in here]
            (rest, left) = [others for _, others in parted]
            pending = [
                _Looked(RowRuns.concatenated([rest, kept]), rewritten=False),
                _Looked(RowRuns.concatenated([left, moved, others, also]), rewritten=True),
            ]
        else:
            lost.extend(here)
            pending = [
                replace(looked, runs=others)
                for looked, (_, others) in zip(pending, parted, strict=True)
            ]
    lost_runs = RowRuns.concatenated(lost)
    return ChangeRuns.concatenated(
        [
            *[part for looked in pending for part in looked.classes(evidence)],
            ChangeRuns.alike(lost_runs, RowEvent.UPDATED, Evidence.LOST, is_uncertain=True),
        ]
    )


@dataclass(frozen=True, slots=True)
class _Looked:
    """Runs that were traced back, and whether a column was rewritten on the path."""

    runs: RowRuns
    rewritten: bool

    @property
    def latest(self) -> Uint64Array:
        """The later of both updates, NO_VERSION if they are the same."""
        old, new = self.runs.updated_before, self.runs.updated_after
        return np.where(old == new, np.uint64(NO_VERSION), np.maximum(old, new))

    def part(self, version: int) -> tuple[RowRuns, RowRuns]:
        """Return the runs with that latest update, and the others."""
        here = self.latest == version
        return self.runs.where(here), self.runs.where(~here)

    def classes(self, evidence: Evidence) -> Iterator[ChangeRuns]:
        """Yield the runs with their remaining class."""
        old, new = self.runs.updated_before, self.runs.updated_after
        same, is_known = old == new, np.minimum(old, new) != NO_VERSION
        column = RowEvent.COLUMN_REWRITTEN if self.rewritten else RowEvent.COLUMN_ADDED
        yield ChangeRuns.alike(self.runs.where(same), column, evidence, is_uncertain=self.rewritten)
        yield ChangeRuns.alike(self.runs.where(~same & is_known), RowEvent.UPDATED, evidence)
        unknown = self.runs.where(~same & ~is_known)
        yield ChangeRuns.alike(unknown, RowEvent.UPDATED, Evidence.LOST, is_uncertain=True)


class _Finder:
    """What the versions that wrote rows last record."""

    def __init__(self, rows: StateRows, begin_version: int, fields: EndFields | None) -> None:
        self._rows = rows
        self._fields = fields
        self._history = rows.history
        self._begin_version = begin_version
        self._names = {record.version: record.operation for record in rows.history.records}
        self._earliest: dict[int, int] = {}

    def next_version(self, pending: Iterable[_Looked]) -> int:
        """Return the latest version that must be skipped over, 0 if there is none."""
        latest = {version for looked in pending for version in np.unique(looked.latest).tolist()}
        return max([version for version in latest if self._must_look(version)], default=0)

    def _must_look(self, version: int) -> bool:
        if version <= self._begin_version:
            return False
        if version in self._names:
            return self._names[version] in LOOKED_THROUGH
        return self._may_hide_all(version)

    def can_tell(self, version: int) -> bool:
        """Whether the version and its parent are kept."""
        return {version, version - 1} <= self._names.keys()

    def _may_hide_all(self, version: int) -> bool:
        """Whether a lost version wrote all existing rows, as one that adds a column does."""
        after = int(np.searchsorted(self._history.versions, np.uint64(version)))
        if after == len(self._history):
            return False
        if after not in self._earliest:
            self._earliest[after] = int(live_rows(self._rows, after).updated_after.min())
        return version <= self._earliest[after]

    def look_through(self, runs: RowRuns, version: int) -> tuple[RowRuns, RowRuns]:
        """Return runs with the last update before a version instead.

        Runs for which the version may have rewritten a column of both ends come second.
        """
        if not len(runs):
            return runs, runs
        position = self._history.position(version) - 1
        live = live_rows(self._rows, position)
        index = Runs.split(RunColumns(live.identity, live.identity + live.length, live.after))[0]
        runs = runs.cut(runs.identity, np.unique(np.concatenate([index.start, index.stop])))
        updated = last_updates(self._rows, position)
        runs = runs.cut(index.lookup(runs.identity)[0], updated.address)
        addresses, found = index.lookup(runs.identity)
        known = np.where(found, updated.at(addresses), np.uint64(NO_VERSION))
        known = np.maximum(known, np.uint64(self._begin_version))
        runs = replace(
            runs,
            updated_before=np.where(runs.updated_before == version, known, runs.updated_before),
            updated_after=np.where(runs.updated_after == version, known, runs.updated_after),
        )
        fragments = self._rewritten(position + 1)
        rewritten = np.isin(fragments_of(addresses), fragments) & found
        rewritten |= ~found & bool(len(fragments))
        return runs.where(~rewritten), runs.where(rewritten)

    def _rewritten(self, position: int) -> Uint64Array:
        """Return the fragments in which a version rewrote a column that both ends have."""
        step, states = StepFacts(self._rows, position), self._history.states
        fields = self._fields or EndFields.between(self._rows.history, position - 1, position)
        writes = [
            (position, written_fields(states[before], states[after], step.schemas))
            for before, after in step.changed.values()
        ]
        is_written = np.array(fields.have_any(writes), dtype=np.bool_)
        return np.array([*step.changed], dtype=np.uint64)[is_written]


def last_updates(rows: StateRows, position: int) -> VersionsFrom:
    """Return which version wrote each row of a version last; NO_VERSION if unknown."""
    fragments, states = [], rows.history.states_at(position)
    rows.load(states)
    for state in states:
        updated = rows.origins(state).updated
        if updated is None:
            updated = constant_versions(NO_VERSION, rows.num_rows(state))
        fragments.append((rows.history.states[state].id, updated))
    return VersionsFrom.of(fragments)
