"""The record of what happened to rows in one version, as columns of runs."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.events.row_runs import PlacedRuns, RowRuns
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["COMMIT_EVENTS", "NET_EVENTS", "RowEvent", "RowEvents"]


class RowEvent(IntEnum):
    """The fate of a row, in one commit or between two versions.

    Those that a row can have in one commit come first; among those that leave the row in place, the
    strongest come first: between two versions the first that holds counts.
    """

    CREATED = 0
    """In one commit: the row is new."""
    RESTORED = 1
    """In one commit: a restore brought the row back, or other values of it."""
    OVERWRITTEN = 2
    """In one commit: an overwrite replaced the whole table."""
    DELETED = 3
    UPDATED = 4
    COLUMN_REWRITTEN = 5
    """A column was rewritten for many rows; the row's value may be unchanged."""
    COLUMN_ADDED = 6
    MOVED = 7
    """The row has another address, and the same values."""
    INSERTED = 8
    """Between two versions: only the later one has the row."""
    UNCHANGED = 9
    LOST = 10
    """Unknown: a line of the feed, not a row."""

    @property
    def label(self) -> str:
        """The name in frames."""
        return self.name.lower()


COMMIT_EVENTS = (
    RowEvent.CREATED,
    RowEvent.RESTORED,
    RowEvent.OVERWRITTEN,
    RowEvent.DELETED,
    RowEvent.UPDATED,
    RowEvent.COLUMN_REWRITTEN,
    RowEvent.COLUMN_ADDED,
    RowEvent.MOVED,
)
"""What a commit did to rows."""

NET_EVENTS = (
    RowEvent.INSERTED,
    RowEvent.DELETED,
    RowEvent.UPDATED,
    RowEvent.COLUMN_REWRITTEN,
    RowEvent.COLUMN_ADDED,
    RowEvent.MOVED,
    RowEvent.UNCHANGED,
)
"""The fate of rows between two versions: if several hold for a row, the first counts."""


@dataclass(frozen=True, slots=True, eq=False)
class RowEvents(PlacedRuns):
    """What happened to rows in one version: see :mod:`lance_explorer.history.events.row_events`.

    Attributes
    ----------
    step : StepFacts
        The version: ``step.version``, ``step.name`` (of the operation), ``step.follows``,
        ``step.source`` (what tells), ``step.after``.
    event : ndarray of uint8
        The RowEvent of each run.
    version : ndarray of uint64
        Where it happened.
    evidence : ndarray of uint8
        How well it is known: numbers of Evidence.
    is_uncertain : ndarray of bool
        Whether it may have been less than that; of rows that moved, whether it may have been more.
    updated_before, updated_after, created : ndarray of uint64
        Row versions; NO_VERSION where they are not known.
    """

    step: StepFacts
    event: NDArray[np.uint8]
    version: Uint64Array
    evidence: NDArray[np.uint8]
    is_uncertain: NDArray[np.bool_]
    updated_before: Uint64Array = field(repr=False)
    updated_after: Uint64Array = field(repr=False)
    created: Uint64Array = field(repr=False)

    @classmethod
    def of(
        cls,
        step: StepFacts,
        runs: RowRuns,
        event: NDArray[np.uint8],
        evidence: NDArray[np.uint8],
        is_uncertain: NDArray[np.bool_],
        version: Uint64Array,
    ) -> "RowEvents":
        """Return events of runs."""
        return cls(
            step=step,
            event=event,
            identity=runs.identity,
            before=runs.before,
            after=runs.after,
            length=runs.length,
            version=version,
            evidence=evidence,
            is_uncertain=is_uncertain,
            updated_before=runs.updated_before,
            updated_after=runs.updated_after,
            created=runs.created,
        )

    def count(self, event: RowEvent) -> int:
        """Return how many rows had an event."""
        return int(self.length[self.event == event].sum(dtype=np.uint64))
