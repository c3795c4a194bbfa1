"""The record of what became of rows, between two versions or in one commit, as columns of runs."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.events.event_runs import RowEvent, RowEvents
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.evidence import Evidence
from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = ["ChangeRuns"]


@dataclass(frozen=True, slots=True, eq=False)
class ChangeRuns:
    """Runs of rows that are not as they were, in no particular order.

    Attributes
    ----------
    change : ndarray of uint8
        The RowEvent of each run.
    identity : ndarray of uint64
        The first identity of each run: a row ID or, in a table without, an address of birth.
    old_identity : ndarray of uint64
        The same in the first version: another one where rows were matched by a key.
    before, after : ndarray of uint64
        The addresses of the first row in both versions; NO_ADDRESS where it is not live.
    length : ndarray of uint64
        How many rows the run has.
    version : ndarray of uint64
        Which version gave the rows the values that they have; NO_VERSION where nothing tells.
    evidence : ndarray of uint8
        How well it is known: numbers of Evidence.
    is_uncertain : ndarray of bool
        Whether it may have been less: a value that is as it was, half of an update.
    """

    change: NDArray[np.uint8]
    identity: Uint64Array
    old_identity: Uint64Array
    before: Uint64Array
    after: Uint64Array
    length: Uint64Array
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
    def concatenated(cls, several: Iterable["ChangeRuns"]) -> "ChangeRuns":
        """Return the runs of all, one after the other."""
        some = [runs for runs in several if len(runs)]
        if len(some) == 1:
            return some[0]
        some.append(cls.alike(RowRuns.concatenated([]), RowEvent.MOVED, Evidence.RECORDED))
        return cls(*[np.concatenate([getattr(runs, name) for runs in some]) for name in _names()])

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

    def __len__(self) -> int:
        return len(self.change)

    def count(self, change: RowEvent) -> int:
        """Return how many rows are of a class."""
        return int(self.length[self.change == change].sum(dtype=np.uint64))

    def where(self, chosen: NDArray[np.bool_] | Positions) -> "ChangeRuns":
        """Return some of the runs."""
        return ChangeRuns(*[getattr(self, name)[chosen] for name in _names()])

    def only(self, *changes: RowEvent) -> "ChangeRuns":
        """Return the runs of some classes."""
        return self.where(np.isin(self.change, changes))

    def rows(self) -> "ChangeRuns":
        """Return the same with a run for each row."""
        if (self.length == 1).all():
            return self
        owner = np.repeat(np.arange(len(self)), self.length.astype(np.int64))
        begins = np.cumsum(self.length) - self.length
        shift = np.arange(len(owner), dtype=np.uint64) - begins[owner]
        return self.pieces(owner, shift, np.ones(len(owner), dtype=np.uint64))

    def pieces(self, owner: Positions, shift: Uint64Array, length: Uint64Array) -> "ChangeRuns":
        """Return pieces of runs: for each the run, where in it the piece begins, its length."""
        runs = self.where(owner)
        return replace(
            runs,
            identity=runs.identity + shift,
            old_identity=runs.old_identity + shift,
            before=_shifted(runs.before, shift),
            after=_shifted(runs.after, shift),
            length=length,
        )


def _shifted(addresses: Uint64Array, shift: Uint64Array) -> Uint64Array:
    return np.where(addresses == NO_ADDRESS, NO_ADDRESS, addresses + shift)


def _names() -> list[str]:
    return [field.name for field in fields(ChangeRuns)]
