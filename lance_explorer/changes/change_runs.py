"""The record of the fate of rows, between two versions or in one commit, as columns of runs."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.events.event_runs import RowEvent, RowEvents
from lance_explorer.history.events.row_runs import PlacedRuns, RowRuns
from lance_explorer.history.evidence import Evidence
from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = ["ChangeRuns"]


@dataclass(frozen=True, slots=True, eq=False)
class ChangeRuns(PlacedRuns):
    """Runs of rows that changed.

    Attributes
    ----------
    change : ndarray of uint8
        The RowEvent of each run.
    old_identity : ndarray of uint64
        The identity in the first version: another one where rows were matched by a key.
    version : ndarray of uint64
        Which version gave the rows the values that they have; NO_VERSION where nothing tells.
    evidence : ndarray of uint8
        How well it is known: numbers of Evidence.
    is_uncertain : ndarray of bool
        Whether it may have been less: a value that is as it was, half of an update.
    """

    change: NDArray[np.uint8]
    old_identity: Uint64Array
    version: Uint64Array
    evidence: NDArray[np.uint8]
    is_uncertain: NDArray[np.bool_]

    @classmethod
    def alike(
        cls, runs: RowRuns, change: RowEvent, evidence: Evidence, *, is_uncertain: bool = False
    ) -> "ChangeRuns":
        """Return runs of one class."""
        count = len(runs)
        return cls(
            change=np.full(count, change, dtype=np.uint8),
            identity=runs.identity,
            old_identity=runs.identity,
            before=runs.before,
            after=runs.after,
            length=runs.length,
            version=runs.updated_after,
            evidence=np.full(count, evidence, dtype=np.uint8),
            is_uncertain=np.full(count, is_uncertain, dtype=np.bool_),
        )

    @classmethod
    def empty(cls) -> "ChangeRuns":
        """Return no runs."""
        return cls.alike(RowRuns.empty(), RowEvent.MOVED, Evidence.RECORDED)

    def at_least(self, change: RowEvent, where: NDArray[np.bool_]) -> "ChangeRuns":
        """Return runs in which some belong to a class, unless they belong to an earlier class."""
        chosen = where & (self.change > change)
        return replace(
            self,
            change=np.where(chosen, np.uint8(change), self.change),
            is_uncertain=self.is_uncertain | (chosen & (change == RowEvent.COLUMN_REWRITTEN)),
        )

    @classmethod
    def of_events(cls, events: RowEvents) -> "ChangeRuns":
        """Return what happened in one commit."""
        return cls(
            change=events.event,
            identity=events.identity,
            old_identity=events.identity,
            before=events.before,
            after=events.after,
            length=events.length,
            version=events.version,
            evidence=events.evidence,
            is_uncertain=events.is_uncertain,
        )

    def count(self, change: RowEvent) -> int:
        """Return how many rows are of a class."""
        return int(self.length[self.change == change].sum(dtype=np.uint64))

    def only(self, *changes: RowEvent) -> "ChangeRuns":
        """Return the runs of some classes."""
        return self.where(np.isin(self.change, changes))

    def pieces(self, owner: Positions, shift: Uint64Array, length: Uint64Array) -> "ChangeRuns":
        """Return pieces of runs: for each the run, its begin within the run, its length."""
        runs = PlacedRuns.pieces(self, owner, shift, length)
        return replace(runs, old_identity=runs.old_identity + shift)
