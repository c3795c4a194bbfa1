"""How two versions differ: counts at once, rows when they come into view, cells in pieces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.changed_cells import changed_cells
from lance_explorer.changes.feed_columns import check_key, feed_columns
from lance_explorer.changes.images import Images
from lance_explorer.changes.pairing import pair_by_key
from lance_explorer.changes.steps import ChangeStep, VersionRange, net_step, version_range
from lance_explorer.changes.summaries import net_summary
from lance_explorer.history.columns.value_columns import ValueColumns, blob_columns
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.paths import EMPTY, Stop
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.widgets.changed_rows import (
    FIRST_COLUMNS,
    LAST_COLUMNS,
    WRITTEN,
    ChangedRows,
    RowImages,
    single_rows,
)

__all__ = ["LEFT_OUT", "Cells", "Comparison", "compare"]

_ROWS_AT_ONCE = 4_096
_MOST_ROWS_COMPARED, _MOST_CELLS_COMPARED = 100_000, 10_000_000
_FEW_CELLS = 200_000
"""The most cells that are compared without progress."""

LEFT_OUT = (RowEvent.MOVED, RowEvent.COLUMN_ADDED)
"""Rows that are shown only on request: their values did not change."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Which cells of written rows differ.

    Attributes
    ----------
    rows : ChangeRuns
        Rows that both versions have, a run each; at most 100,000, and of many columns 10,000,000
        cells.
    differ : ndarray of bool
        A line a row, a column a column.
    names : tuple of str
        The columns.
    num_rows : int
        How many such rows there are in all.
    """

    rows: ChangeRuns
    differ: NDArray[np.bool_]
    names: tuple[str, ...]
    num_rows: int

    def counts(self) -> dict[str, int]:
        """Return in how many rows each column differs, the largest first."""
        counts = dict(zip(self.names, self.differ.sum(axis=0).tolist(), strict=True))
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    @property
    def num_equal(self) -> int:
        """How many rows have unchanged values."""
        return int((~self.differ.any(axis=1)).sum())


class Comparison:
    """The fate of each row between two versions.

    Made by :func:`compare`. The summary is that of ``table.changes(begin, end, key=key)``.
    """

    def __init__(
        self,
        versions: VersionRange,
        step: ChangeStep,
        columns: ValueColumns,
        key: Sequence[str] = (),
    ) -> None:
        self._versions = versions
        self.wanted = versions.begin_version, versions.end_version, tuple(key)
        self._step = step
        self.runs = step.runs.where(step.runs.change != RowEvent.LOST)
        self.images = RowImages(versions, step, columns)
        self.cells: Cells | None = None

    def row_ids(self, runs: ChangeRuns) -> Uint64Array:
        """Return what names the rows of the later version."""
        return self._versions.row_ids(runs)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """The counts, as ``table.changes(begin, end).summary()`` returns them."""
        return net_summary(self._versions, self._step.runs)

    @property
    def columns(self) -> list[str]:
        """The columns of values."""
        return list(self.images.columns.schema)

    @property
    def left_out(self) -> list[str]:
        """Columns that are not shown, because they are blobs or contain some."""
        every = {name: None for names in self.images.columns.names.values() for name in names}
        return [name for name in every if name not in self.images.columns.schema]

    @property
    def feed_columns(self) -> list[str]:
        """All columns of the rows, those of values in the order of the table."""
        return [*FIRST_COLUMNS, *self.columns, *LAST_COLUMNS]

    def presence(self, column: str) -> str:
        """Return whether a column is in both versions, or was added or dropped in between."""
        versions, columns = self._versions, self.images.columns
        if not versions.begin_is_kept or versions.begin == EMPTY:
            return "both"
        records = versions.rows.history.records
        was, now = (
            column in columns.names_in(versions.rows.view, records[position].version)
            for position in (versions.begin, versions.end)
        )
        return "both" if was and now else "added" if now else "dropped"

    def rows(self, change: str | None = None, column: str | None = None) -> ChangedRows:
        """Return the changed rows of one class, or those in which a column differs.

        ``column`` needs the cells compared.
        """
        runs = self.runs
        if column is not None:
            assert self.cells is not None
            place = self.cells.names.index(column)
            runs = self.cells.rows.where(self.cells.differ[:, place])
        if change is not None:
            runs = runs.only(RowEvent[change.upper()])
        elif column is None:
            runs = runs.where(~np.isin(runs.change, LEFT_OUT))
        return ChangedRows(self.images, runs, self._columns_in_order())

    def _columns_in_order(self) -> list[str]:
        """Return the columns: keys first, then those known to differ, then the others."""
        counts = self.cells.counts() if self.cells else {}
        first = [name for name in self.wanted[2] if name in self.columns] or self.columns[:1]
        differ = [name for name, count in counts.items() if count]
        return list(dict.fromkeys([*first, *differ, *self.columns]))

    def compare_cells(self, tell: Callable[[int, int], None]) -> Cells:
        """Return which cells differ; ``tell`` gets the number of finished rows, and may raise."""
        if self.cells is None:
            self.cells = self._compared(tell)
        return self.cells

    @property
    def is_small(self) -> bool:
        """Whether the cells are few enough to compare at once."""
        num_rows = int(self._written().length.sum(dtype=np.uint64))
        return num_rows <= _ROWS_AT_ONCE and num_rows * len(self.columns) <= _FEW_CELLS

    def _written(self) -> ChangeRuns:
        """Return the rows that have both images."""
        runs = self.runs
        both = np.isin(runs.change, WRITTEN) & (runs.before != NO_ADDRESS)
        return runs.where(both & (runs.after != NO_ADDRESS) & self._versions.begin_is_kept)

    def _compared(self, tell: Callable[[int, int], None]) -> Cells:
        runs = self._written()
        ends = np.cumsum(runs.length.astype(np.int64))
        total = int(ends[-1]) if len(ends) else 0
        names = tuple(self.columns)
        most = min(_MOST_ROWS_COMPARED, max(1, _MOST_CELLS_COMPARED // max(1, len(names))))
        done, differ = min(total, most), [np.empty((0, len(names)), np.bool_)]
        place = np.arange(done)
        run = np.searchsorted(ends, place, side="right")
        rows = single_rows(runs, run, place - (ends - runs.length.astype(np.int64))[run])
        for begin in range(0, done if names else 0, _ROWS_AT_ONCE):
            tell(begin, done)
            some = rows.where(np.arange(begin, min(begin + _ROWS_AT_ONCE, done)))
            differ.append(changed_cells(*self.images.of(some, names), 0.0))
        is_different = np.concatenate(differ) if names else np.zeros((done, 0), dtype=np.bool_)
        return Cells(rows, is_different, names, total)


def compare(
    view: HistoryView, begin_version: int, end_version: int, key: Sequence[str] = ()
) -> Comparison:
    """Compare two versions of a branch; no value is read unless there is a key.

    Raises
    ------
    VersionNotFoundError
        If a version is not kept, and nothing else records it.
    """
    versions = version_range(view, begin_version, end_version)
    step = net_step(versions)
    if key and step.before is not None and step.before != EMPTY:
        columns = _columns(versions, key)
        check_key(columns, key, [Stop(versions.rows, n) for n in (step.before, step.after)])
        images = Images(versions.rows, columns, step)
        step = replace(step, runs=pair_by_key(step.runs, images.before, images.after))
    return Comparison(versions, step, _all_but_blobs(versions), key)


def _all_but_blobs(versions: VersionRange) -> ValueColumns:
    """Return all columns except blobs, which may have any size."""
    everything = _columns(versions, None)
    blobs = _blobs(versions)
    names = [
        name
        for name in everything.schema
        if not any(here.get(name) in blobs[of] for (_, of), here in everything.names.items())
    ]
    return replace(everything, schema=pl.Schema({n: everything.schema[n] for n in names}))


def _blobs(versions: VersionRange) -> dict[int, set[str]]:
    """Return the columns of both versions that are blobs or contain some, by version."""
    records = versions.rows.history.records
    return {
        records[position].version: blob_columns(records[position].schema)
        for position in {max(versions.begin, 0), versions.end}
    }


def _columns(versions: VersionRange, names: Sequence[str] | None) -> ValueColumns:
    has_before = versions.begin_is_kept and versions.begin != EMPTY
    begin = [versions.begin] if has_before else []
    return feed_columns(versions.rows, begin, versions.end, names)
