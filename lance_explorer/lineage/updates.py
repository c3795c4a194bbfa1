"""Which fragments updates took rows from, and into which fragments they wrote them."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Update
from lance_explorer.history.events.row_events import RowEvent, RowEvents, row_events
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.update_kinds import is_plain_update
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import fragments_of

__all__ = ["UpdateFlow", "UpdateStep", "update_flows"]


@dataclass(frozen=True, slots=True)
class UpdateFlow:
    """Rows that updates took from one fragment and wrote into another.

    Attributes
    ----------
    seen_in : int
        The kept version that has them in the other fragment.
    version : int
        The commit; it is an earlier one if it is not kept.
    old, new : int
        The fragments.
    rows : int or None
        How many rows; None if it is unknown which rows were updated.
    evidence : Evidence
        How well this is known.
    source : str
        What tells it.
    """

    seen_in: int
    version: int
    old: int
    new: int
    rows: int | None
    evidence: Evidence
    source: str


def update_flows(view: HistoryView, last_version: int) -> Iterator[UpdateFlow]:
    """Yield what updates did in the versions of a branch up to a last version, in order.

    With stable row IDs the rows are counted. Without them, the order of rows shows what
    ``update()`` did; for a merge it shows only between which fragments rows moved, not how many.
    """
    rows = state_rows(view)
    follows = rows.history.follows_previous.tolist()
    for position, record in enumerate(rows.history.records):
        if record.version > last_version:
            break
        if position and (record.operation == OperationName.UPDATE or not follows[position]):
            yield from UpdateStep(rows, position).flows()


class UpdateStep(StepFacts):
    """What happened to the fragments of the previous kept version."""

    def flows(self) -> list[UpdateFlow]:
        """Return between which fragments rows moved."""
        if not self.new_fragments or not self.removed:
            return []
        counted = self.by_fragment() if self.follows else None
        if counted is not None:
            return counted
        try:
            flows = self.by_row()
        except (FormatError, StorageError):
            return self._possible_flows()
        is_untold = not flows and self.follows and not self.has_row_ids
        return self._possible_flows() if is_untold else flows

    def by_row(self) -> list[UpdateFlow]:
        """Return the flows found by comparing all rows."""
        return list(_count(row_events(self._rows.view, self.position)))

    def by_fragment(self) -> list[UpdateFlow] | None:
        """Return the flows if counts alone determine them: all moved rows are in one fragment."""
        if len(self.new_fragments) != 1:
            return None
        new = self.new_fragments[0]
        lost, inserted = self._lost(), self._num_inserted()
        written = self.history.states[self.added[new]].physical_rows
        if written is None or inserted is None or None in lost.values():
            return None
        if written - inserted != sum([rows or 0 for rows in lost.values()]):
            return None
        evidence = Evidence.DERIVED if self.has_row_ids else Evidence.INFERRED
        return [self._flow(old, new, rows, evidence) for old, rows in lost.items()]

    def _num_inserted(self) -> int | None:
        """Return how many rows of the new fragments are new; None if that is not known."""
        if self.has_row_ids:
            return self.after.num_new_row_ids
        try:
            update = self.operation
        except FormatError:
            return None
        if isinstance(update, Update) and is_plain_update(update, self.after.schema):
            return 0
        return None

    def _possible_flows(self) -> list[UpdateFlow]:
        """Return flows of unknown size from fragments that lost rows to new fragments."""
        return [
            self._flow(old, new, None, Evidence.INFERRED)
            for old in self._lost()
            for new in self.new_fragments
        ]

    def _lost(self) -> dict[int, int | None]:
        """Return which fragments lost rows, and how many; None where the number is unknown."""
        lost: dict[int, int | None] = {}
        for fragment, state in sorted(self.removed.items()):
            before = self._live(state)
            after = self._live(self.added[fragment]) if fragment in self.added else 0
            rows = None if before is None or after is None else before - after
            if rows != 0:
                lost[fragment] = rows
        return lost

    def _live(self, state: int) -> int | None:
        physical = self.history.states[state].physical_rows
        deleted = int(self.history.num_deleted_rows[state])
        return None if physical is None or deleted < 0 else physical - deleted

    def _flow(self, old: int, new: int, rows: int | None, evidence: Evidence) -> UpdateFlow:
        return UpdateFlow(self.version, self.version, old, new, rows, evidence, self.source)


def _count(events: RowEvents) -> Iterator[UpdateFlow]:
    """Yield how many rows moved from which fragment to which."""
    chosen = (events.event == RowEvent.UPDATED) & (events.before != NO_ADDRESS)
    old, new = fragments_of(events.before), fragments_of(events.after)
    chosen &= (events.after != NO_ADDRESS) & (old != new)
    flows = (
        pl.DataFrame(
            {
                "version": events.version[chosen],
                "old": old[chosen],
                "new": new[chosen],
                "rows": events.length[chosen],
                "evidence": events.evidence[chosen],
            }
        )
        .group_by("version", "old", "new")
        .agg(pl.col("rows").sum(), pl.col("evidence").max())
        .sort("version", "old", "new")
    )
    for version, before, after, rows, evidence in flows.iter_rows():
        yield UpdateFlow(
            seen_in=events.step.version,
            version=version,
            old=before,
            new=after,
            rows=rows,
            evidence=Evidence(evidence),
            source=events.step.source,
        )
