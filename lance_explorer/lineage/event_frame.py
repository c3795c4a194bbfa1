"""The frame of events of rows: declared once, and made for many rows at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.frames.columns import EVIDENCE, ID, TEXT, TIME
from lance_explorer.frames.followed import EVENT
from lance_explorer.history.events.follow_rows import RowsInStep
from lance_explorer.history.events.row_runs import NO_ADDRESS, Columns
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = [
    "EventColumns",
    "enum_series",
    "event_columns",
    "fragments",
    "nulls",
    "only",
]


@dataclass(frozen=True, slots=True, eq=False)
class EventColumns(Columns):
    """The events of rows, one entry for each row and event.

    ``step`` is the number of the version among some steps, ``row`` that of the row among some rows.
    ``may_be_other`` says whether the event may be of another row than the one that is asked for.
    """

    row: Positions
    step: Positions
    event: NDArray[np.uint8]
    version: Uint64Array
    before: Uint64Array
    after: Uint64Array
    is_uncertain: NDArray[np.bool_]
    evidence: NDArray[np.uint8]
    may_be_other: NDArray[np.bool_]

    @classmethod
    def empty(cls) -> "EventColumns":
        """Return no entries."""
        numbers, ids = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
        codes, no = np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.bool_)
        return cls(numbers, numbers, codes, ids, ids, ids, no, codes, no)

    def __len__(self) -> int:
        return len(self.row)

    def doubted(self, where: NDArray[np.bool_]) -> "EventColumns":
        """Return the same, some of which may belong to other rows."""
        weaker = np.where(where, np.uint8(Evidence.INFERRED), np.uint8(0))
        return replace(
            self,
            is_uncertain=self.is_uncertain | where,
            evidence=np.maximum(self.evidence, weaker),
            may_be_other=self.may_be_other | where,
        )

    def by_row(self, num_rows: int) -> "EventColumns":
        """Return the entries grouped by row, in their order."""
        counts = np.bincount(self.row, minlength=num_rows)
        if (counts <= 1).all() and (np.diff(self.row) > 0).all():
            return self
        return self.where(np.argsort(self.row, kind="stable"))

    def frame(self, steps: Sequence[tuple[str | None, StepFacts]]) -> dict[str, pl.Series]:
        """Return the columns of a frame, given the branch and the facts of each step."""
        facts = pl.DataFrame(
            {
                "branch": [branch for branch, _ in steps],
                "own_version": [step.version for _, step in steps],
                "timestamp": [step.after.manifest.timestamp for _, step in steps],
                "operation": [step.after.operation for _, step in steps],
                "source": [step.source for _, step in steps],
            },
            schema={
                "branch": TEXT,
                "own_version": ID,
                "timestamp": TIME,
                "operation": TEXT,
                "source": TEXT,
            },
        )[self.step]
        version = pl.Series("version", self.version)
        is_own = version == facts["own_version"]
        live = np.where(self.after == NO_ADDRESS, self.before, self.after)
        is_known = pl.Series(self.evidence != Evidence.LOST)
        return {
            "branch": facts["branch"],
            "version": version,
            "timestamp": only(facts["timestamp"], is_own),
            "event": enum_series(self.event, EVENT),
            "operation": only(facts["operation"], is_own),
            "_rowaddr_before": nulls(self.before, self.before == NO_ADDRESS),
            "_rowaddr_after": nulls(self.after, self.after == NO_ADDRESS),
            "fragment_id": fragments(live),
            "is_uncertain": pl.Series(self.is_uncertain),
            "evidence": enum_series(self.evidence, EVIDENCE),
            "source": only(facts["source"], is_known),
        }


def event_columns(step: int, in_step: RowsInStep) -> EventColumns:
    """Return the entries of one version, which is the step of that number."""
    events, run = in_step.events, in_step.run
    return EventColumns(
        row=in_step.row,
        step=np.full(len(run), step),
        event=events.event[run],
        version=events.version[run],
        before=in_step.before,
        after=in_step.after,
        is_uncertain=events.is_uncertain[run],
        evidence=events.evidence[run],
        may_be_other=np.zeros(len(run), dtype=np.bool_),
    )


def fragments(addresses: Uint64Array) -> pl.Series:
    """Return the fragment of each address; null where there is none."""
    return nulls(fragments_of(addresses), addresses == NO_ADDRESS)


def nulls(values: Uint64Array, missing: NDArray[np.bool_]) -> pl.Series:
    """Return numbers as a series with nulls."""
    series = pl.Series(values)
    return only(series, pl.Series(~missing)) if missing.any() else series


def only(series: pl.Series, chosen: pl.Series) -> pl.Series:
    """Return a series with null where it is not chosen."""
    return pl.select(pl.when(chosen).then(series)).to_series()


def enum_series(numbers: NDArray[np.uint8], dtype: pl.Enum) -> pl.Series:
    """Return the categories of some numbers."""
    return pl.Series(numbers).cat.to(dtype)
