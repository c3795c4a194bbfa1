"""The values of changed rows, before and after: read for these rows only."""

from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.changed_cells import changed_columns
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES, Block
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.changes.shared_reads import Take, WantedRows
from lance_explorer.changes.steps import ChangeStep
from lance_explorer.history.columns.value_columns import ValueColumns
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import EMPTY
from lance_explorer.history.values.later_values import values_at
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["Images", "empty_feed"]

_NAMES = pl.List(pl.String())


def empty_feed(columns: ValueColumns | None, *, both_images: bool) -> pl.DataFrame:
    """Return no lines of a feed, with all its columns."""
    frames = [CHANGES.polars_schema.to_frame()]
    if both_images:
        frames.append(pl.DataFrame(schema={CHANGED_COLUMNS: _NAMES}))
    if columns is not None:
        frames.append(columns.empty())
    return pl.concat(frames, how="horizontal")


class _Pair(NamedTuple):
    """Both images of some updated rows."""

    places: Uint64Array
    before: pl.DataFrame
    after: pl.DataFrame
    changed: pl.Series


class Images:
    """The values of the rows of one step.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    columns : ValueColumns
        Which columns.
    step : ChangeStep
        Between which versions.
    tolerance : float, optional
        With it both images are wanted, and which cells differ: how far floats may be apart to be
        equal. By default only rows as they are after the step.
    rows_before : StateRows, optional
        The rows of the branch of the first version, if that is another one.
    lost : LostValues, optional
        With it values that are lost are null, and noted there, and rows that are no more have the
        values that they had. Without it, every failure is raised.
    """

    def __init__(
        self,
        rows: StateRows,
        columns: ValueColumns,
        step: ChangeStep,
        tolerance: float | None = None,
        rows_before: StateRows | None = None,
        lost: LostValues | None = None,
    ) -> None:
        self._rows = rows
        self._rows_before = rows_before or rows
        self._columns = columns
        self._step = step
        self._tolerance = tolerance
        self._lost = lost
        self._last: _Pair | None = None
        self._reading_pair = Lock()

    def before(self, runs: ChangeRuns, take: Take | None = None) -> pl.DataFrame:
        """Return rows before the step, one a run; nulls if that version is not kept."""
        if self._step.before is None or self._step.before == EMPTY:
            return self._columns.nulls(len(runs))
        return self._read(
            self._rows_before, self._step.before, runs.before, runs.old_identity, take
        )

    def after(self, runs: ChangeRuns, take: Take | None = None) -> pl.DataFrame:
        """Return rows after the step, one a run."""
        return self._read(self._rows, self._step.after, runs.after, runs.identity, take)

    def wanted(self, block: Block, runs: ChangeRuns) -> Iterator[WantedRows]:
        """Yield the rows that :meth:`beside` will read."""
        both, before = block.is_update and self._tolerance is not None, self._step.before
        is_asked = both or (block.is_before and self._has_before)
        if is_asked and before is not None and before != EMPTY:
            some = runs.where(runs.was_live)
            yield WantedRows(before, some.before, some.old_identity)
        if not block.is_lost and (not block.is_before or both):
            some = runs.where(runs.is_live)
            yield WantedRows(self._step.after, some.after, some.identity)

    def beside(
        self, head: pl.DataFrame, block: Block, runs: ChangeRuns, take: Take | None = None
    ) -> pl.DataFrame:
        """Return lines of a feed with the values of their rows.

        Rows that ``take`` returns are not read again.
        """
        changed = pl.repeat(None, len(runs), dtype=_NAMES, eager=True)
        both = self._both_known(runs) if block.is_update else np.zeros(len(runs), dtype=np.bool_)
        if both.any():
            pair = self._pair(runs.where(both), take)
            place = pl.Series(np.cumsum(both) - 1)
            changed = pair.changed.gather(place.set(pl.Series(~both), None))
        if both.all() and len(runs):
            values = pair.before if block.is_before else pair.after
        elif block.is_lost or (block.is_before and not self._has_before):
            values = self._columns.nulls(len(runs))
            if block.is_lost and self._lost is not None and self._step.before is not None:
                self._lost.gap(self._rows, self._step.after)
        else:
            values = self.before(runs, take) if block.is_before else self.after(runs, take)
        if self._tolerance is not None:
            head = head.with_columns(changed.alias(CHANGED_COLUMNS))
        return head.hstack(values.get_columns())

    @property
    def _has_before(self) -> bool:
        """Whether deleted rows have values."""
        return self._tolerance is not None or self._lost is not None

    def _both_known(self, runs: ChangeRuns) -> NDArray[np.bool_]:
        """Return which rows have both images, and need them."""
        if self._tolerance is None or self._step.before is None:
            return np.zeros(len(runs), dtype=np.bool_)
        known: NDArray[np.bool_] = runs.before != NO_ADDRESS
        return known

    def _pair(self, runs: ChangeRuns, take: Take | None) -> _Pair:
        """Return both images in turn: those before and after of the same rows."""
        with self._reading_pair:
            last = self._last
            if last is None or not np.array_equal(last.places, runs.before):
                before, after = self.before(runs, take), self.after(runs, take)
                changed = pl.repeat([], len(runs), dtype=_NAMES, eager=True)
                if before.columns:
                    changed = changed_columns(before, after, self._tolerance or 0.0)
                last = self._last = _Pair(runs.before, before, after, changed)
            return last

    def _read(
        self,
        rows: StateRows,
        position: int,
        addresses: Uint64Array,
        ids: Uint64Array,
        take: Take | None,
    ) -> pl.DataFrame:
        from lance_explorer.changes.known_values import known_values

        view, record = rows.view, rows.history.records[position]
        names = self._columns.own_names(view, record.version)
        if not names:
            return self._columns.nulls(len(addresses))
        asked = rows, position, addresses, ids, names
        values = take(position, addresses, names) if take else None
        if values is None:
            values = values_at(*asked) if self._lost is None else known_values(*asked, self._lost)
        return self._columns.filled(values, view, record.version)
