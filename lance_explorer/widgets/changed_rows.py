"""The rows that two versions differ in, a line for each image, read as they come into view."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.changed_cells import changed_cells, changed_columns
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES, Block
from lance_explorer.changes.images import Images
from lance_explorer.changes.steps import ChangeStep, VersionRange
from lance_explorer.changes.value_columns import ValueColumns
from lance_explorer.figures.row_events import EVENT_KINDS
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS

__all__ = ["FIRST_COLUMNS", "LAST_COLUMNS", "WRITTEN", "ChangedRows", "RowImages", "single_rows"]

WRITTEN = (RowEvent.UPDATED, RowEvent.COLUMN_REWRITTEN, RowEvent.COLUMN_ADDED)
"""Rows that both versions have, with values that may differ."""

_ORDER = (*WRITTEN, RowEvent.INSERTED, RowEvent.DELETED, RowEvent.MOVED)

_KINDS = {int(event): EVENT_KINDS[event.label] for event in _ORDER}
"""The kind of commit whose colour a change has."""

FIRST_COLUMNS = ("_change_type", "_rowid")
LAST_COLUMNS = (
    CHANGED_COLUMNS,
    "_event",
    "_commit_version",
    "_rowaddr_before",
    "_rowaddr_after",
    "evidence",
    "is_uncertain",
)
_DELETE, _BEFORE, _AFTER, _INSERT, _MOVE = range(5)
_CHANGE_TYPES = ("delete", "update_preimage", "update_postimage", "insert", None)

_Mask = NDArray[np.bool_]
_Positions = NDArray[np.int64]


class RowImages:
    """Reads the values of changed rows, from both versions.

    Parameters
    ----------
    versions : VersionRange
        Between which versions.
    step : ChangeStep
        What changed between them.
    columns : ValueColumns
        The columns of values.
    """

    def __init__(self, versions: VersionRange, step: ChangeStep, columns: ValueColumns) -> None:
        self.versions = versions
        self.step = step
        self.columns = columns

    def of(
        self, rows: ChangeRuns, names: Sequence[str] | None = None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return rows as they were and as they are, one a run; nulls where they are not."""
        columns = self.columns
        if names is not None:
            columns = replace(columns, schema=pl.Schema({n: columns.schema[n] for n in names}))
        images = Images(self.versions.rows, columns, self.step)
        was, now = rows.before != NO_ADDRESS, rows.after != NO_ADDRESS
        was &= np.isin(rows.change, (RowEvent.DELETED, *WRITTEN))
        before = _spread(images.before(rows.where(was)), was) if was.any() else None
        after = _spread(images.after(rows.where(now)), now) if now.any() else None
        nothing = columns.nulls(len(rows))
        return nothing if before is None else before, nothing if after is None else after


class _Lines(NamedTuple):
    """Some lines: which of ``rows`` each is about, and what it shows of that row."""

    rows: ChangeRuns
    row: _Positions
    kind: NDArray[np.uint8]


class ChangedRows:
    """Lines of the changed rows; a row that was written has two, as it was and as it is.

    Parameters
    ----------
    images : RowImages
        Reads the values.
    runs : ChangeRuns
        Which rows, in runs: they need not be a run each, so that many cost nothing.
    columns : sequence of str
        The columns of values, in the order in which they are shown.
    """

    def __init__(self, images: RowImages, runs: ChangeRuns, columns: Sequence[str]) -> None:
        place = np.where(runs.before != NO_ADDRESS, runs.before, runs.after)
        turn = np.argsort(_ORDER)[np.searchsorted(np.sort(_ORDER), runs.change)]
        self._runs = runs.where(np.lexsort((place, turn)))
        self._images = images
        written = np.isin(self._runs.change, WRITTEN) & (self._runs.before != NO_ADDRESS)
        self._has_two = written & images.versions.begin_is_kept
        lines = self._runs.length.astype(np.int64) * (1 + self._has_two)
        self._ends = np.cumsum(lines)
        self._last: tuple[_Positions, pl.DataFrame, pl.DataFrame] | None = None
        head = CHANGES.polars_schema
        self._schema = pl.Schema(
            {
                **{name: head[name] for name in FIRST_COLUMNS},
                **{name: images.columns.schema[name] for name in columns},
                **{name: head.get(name, pl.List(pl.String())) for name in LAST_COLUMNS},
            }
        )

    @property
    def schema(self) -> pl.Schema:
        """Names and types of the columns: those of a feed, the values in the middle."""
        return self._schema

    @property
    def num_rows(self) -> int:
        """How many lines there are."""
        return int(self._ends[-1]) if len(self._ends) else 0

    def slice(self, start: int, stop: int) -> pl.DataFrame:
        """Return the lines from one position up to another, which is left out."""
        return self._page(np.arange(start, min(stop, self.num_rows)))[0]

    def take(self, positions: pl.Series) -> pl.DataFrame:
        """Return the lines at some positions, in that order."""
        return self._page(positions.to_numpy().astype(np.int64))[0]

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return all values of some columns, and read no others."""
        lines = self._lines(np.arange(self.num_rows))
        values = [name for name in columns if name in self._images.columns.schema]
        if not values and CHANGED_COLUMNS not in columns:
            return self._head(lines).select(columns)
        return self._frame(lines, None if CHANGED_COLUMNS in columns else values)[0].select(columns)

    def marks(self, positions: pl.Series) -> pl.DataFrame:
        """Return how cells are marked: changed ones, and whole rows that were added or removed."""
        return self._page(positions.to_numpy().astype(np.int64))[1]

    def row_ids(self, positions: _Positions) -> list[int | None]:
        """Return the row IDs of some lines, without reading values."""
        return self._head(self._lines(positions))["_rowid"].to_list()

    # ------------------------------------------------------------------------------- private

    def _page(self, positions: _Positions) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return some lines with their marks, which are asked for in turn."""
        last = self._last
        if last is None or not np.array_equal(last[0], positions):
            last = self._last = (positions, *self._frame(self._lines(positions), None))
        return last[1], last[2]

    def _lines(self, positions: _Positions) -> _Lines:
        run = np.searchsorted(self._ends, positions, side="right")
        begins = self._ends - self._runs.length.astype(np.int64) * (1 + self._has_two)
        place = positions - begins[run]
        has_two = self._has_two[run]
        offset = place // (1 + has_two)
        key = np.stack([run, offset], axis=1)
        found, row = np.unique(key, axis=0, return_inverse=True)
        rows = single_rows(self._runs, found[:, 0], found[:, 1])
        change = self._runs.change[run]
        kind = np.full(len(positions), _AFTER, dtype=np.uint8)
        kind[has_two & (place % 2 == 0)] = _BEFORE
        for one, shown in (
            (RowEvent.DELETED, _DELETE),
            (RowEvent.INSERTED, _INSERT),
            (RowEvent.MOVED, _MOVE),
        ):
            kind[change == one] = shown
        return _Lines(rows, row.reshape(-1), kind)

    def _head(self, lines: _Lines) -> pl.DataFrame:
        """Return lines without values."""
        parts, order = [CHANGES.polars_schema.to_frame()], [np.empty(0, np.int64)]
        for kind in np.unique(lines.kind).tolist():
            here = np.flatnonzero(lines.kind == kind)
            rows = lines.rows.where(lines.row[here])
            block = Block(rows, _CHANGE_TYPES[kind], is_before=kind in (_DELETE, _BEFORE))
            parts.append(block.frame(rows, {}, self._images.versions.ids_of))
            order.append(here)
        return pl.concat(parts)[np.argsort(np.concatenate(order))]

    def _frame(
        self, lines: _Lines, names: Sequence[str] | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        head = self._head(lines)
        before, after = self._images.of(lines.rows, names)
        is_old = np.isin(lines.kind, (_DELETE, _BEFORE))
        place = np.where(is_old, lines.row, lines.row + len(lines.rows))
        is_pair, has_values = self._is_pair(lines), bool(before.columns)
        cells = np.zeros((len(lines.row), len(before.columns)), dtype=np.bool_)
        changed = pl.repeat([], len(lines.row), dtype=pl.List(pl.String()), eager=True)
        if has_values:
            cells = changed_cells(before, after, 0.0)[lines.row] & is_pair[:, np.newaxis]
            changed = changed_columns(before, after, 0.0)[lines.row]
        values = pl.concat([before, after])[place] if has_values else before
        beside = pl.DataFrame({CHANGED_COLUMNS: changed, "is_pair": is_pair}).select(
            pl.when("is_pair").then(CHANGED_COLUMNS).alias(CHANGED_COLUMNS)
        )
        frame = pl.concat([head, values, beside], how="horizontal")
        shown = [name for name in self._schema if name in frame.columns]
        return frame.select(shown), _marks(lines, cells, values)

    def _is_pair(self, lines: _Lines) -> _Mask:
        """Which lines are about rows of which both images are known."""
        has_two = (lines.rows.before != NO_ADDRESS) & np.isin(lines.rows.change, WRITTEN)
        is_pair: _Mask = (has_two & self._images.versions.begin_is_kept)[lines.row]
        return is_pair


def single_rows(runs: ChangeRuns, run: _Positions, offset: _Positions) -> ChangeRuns:
    """Return some rows, a run each: which run each is in, and how far from its begin."""
    one = np.ones(len(run), dtype=np.uint64)
    return runs.pieces(run, offset.astype(np.uint64), one)


def _spread(some: pl.DataFrame, where: _Mask) -> pl.DataFrame:
    """Return rows at their places among others, of which nothing is known."""
    if where.all():
        return some
    place = pl.Series(np.cumsum(where) - 1).set(pl.Series(~where), None)
    return some.select(pl.all().gather(place))


def _marks(lines: _Lines, cells: _Mask, values: pl.DataFrame) -> pl.DataFrame:
    """Return the marks of lines: the old and the new value of each changed cell, and what it is."""
    kind = pl.Series(lines.kind)
    names = {_DELETE: "removed", _BEFORE: "removed", _AFTER: "changed", _INSERT: "added"}
    of_kind = kind.replace_strict(names, default=None, return_dtype=pl.String)
    whole = pl.Series(np.isin(lines.kind, (_DELETE, _INSERT)))
    quiet = pl.Series(lines.kind == _BEFORE).replace_strict({True: "quiet"}, default=None)
    marks = {
        name: of_kind.zip_with(whole | pl.Series(cells[:, place]), quiet.cast(pl.String))
        for place, name in enumerate(values.columns)
    }
    change = pl.Series(lines.rows.change[lines.row])
    events = change.replace_strict(_KINDS, default=None, return_dtype=pl.String)
    return pl.DataFrame({"_change_type": events, **marks})
