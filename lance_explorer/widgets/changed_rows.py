"""The rows that two versions differ in, read when they come into view, with earlier values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.changed_cells import changed_cells, names_by_row
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES, Block
from lance_explorer.changes.images import Images
from lance_explorer.changes.steps import ChangeStep, VersionRange
from lance_explorer.figures.row_events import EVENT_KINDS
from lance_explorer.history.columns.value_columns import ValueColumns
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.widgets.row_sources import MOST_BYTES_KEPT, begin_within

__all__ = ["FIRST_COLUMNS", "LAST_COLUMNS", "WRITTEN", "ChangedRows", "RowImages", "single_rows"]

WRITTEN = (RowEvent.UPDATED, RowEvent.COLUMN_REWRITTEN, RowEvent.COLUMN_ADDED)
"""Rows that both versions have, with values that may differ."""

_ORDER = (*WRITTEN, RowEvent.INSERTED, RowEvent.DELETED, RowEvent.MOVED)

_KINDS = {int(event): EVENT_KINDS[event.label] for event in _ORDER}
"""The kind of commit whose colour stands for a change."""

_WHOLE = {int(RowEvent.DELETED): "removed", int(RowEvent.INSERTED): "added"}
"""The mark of all cells of a row."""

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
_CHANGE_TYPES = {
    RowEvent.DELETED: "delete",
    RowEvent.INSERTED: "insert",
    RowEvent.MOVED: None,
    **dict.fromkeys(WRITTEN, "update_postimage"),
}

_Mask = NDArray[np.bool_]
_Positions = NDArray[np.int64]


class _Image(NamedTuple):
    """Values of some rows, before or after the step; addresses ascend."""

    side: str
    addresses: Uint64Array
    values: pl.DataFrame

    def of(self, side: str, addresses: Uint64Array, names: Sequence[str]) -> pl.DataFrame | None:
        """Return the values of rows, one a row; None if some have not been read."""
        if side != self.side or not {*names} <= {*self.values.columns}:
            return None
        place = np.searchsorted(self.addresses, addresses)
        place[place == len(self.addresses)] = 0
        if not np.array_equal(self.addresses[place], addresses):
            return None
        return self.values.select(names)[place]


class RowImages:
    """Reads the values of changed rows from both versions; the last ones are kept.

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
        self._last: tuple[_Image, ...] = ()

    def of(
        self, rows: ChangeRuns, names: Sequence[str], *, both: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return rows before and after the change, one a run; nulls where a row does not exist.

        Only the named columns are read. Without ``both``, earlier values are read only of deleted
        rows.
        """
        was, now = rows.before != NO_ADDRESS, rows.after != NO_ADDRESS
        was &= np.isin(rows.change, (RowEvent.DELETED, *(WRITTEN if both else ())))
        return self._image("before", rows, was, names), self._image("after", rows, now, names)

    def _image(
        self, side: str, rows: ChangeRuns, there: _Mask, names: Sequence[str]
    ) -> pl.DataFrame:
        """Return one image of rows; nulls for those that do not exist in it."""
        schema = pl.Schema({name: self.columns.schema[name] for name in names})
        columns = replace(self.columns, schema=schema)
        if not there.any():
            return columns.nulls(len(rows))
        some = rows.where(there)
        addresses = some.before if side == "before" else some.after
        known = [image.of(side, addresses, names) for image in self._last] if names else []
        values = next((one for one in known if one is not None), None)
        if values is None:
            images = Images(self.versions.rows, columns, self.step)
            values = images.before(some) if side == "before" else images.after(some)
            self._keep(side, addresses, values)
        return _spread(values, there)

    def _keep(self, side: str, addresses: Uint64Array, values: pl.DataFrame) -> None:
        """Keep values unless they are too large; the oldest make room."""
        size = values.estimated_size()
        if not values.columns or size > MOST_BYTES_KEPT:
            return
        order = np.argsort(addresses)
        kept = [_Image(side, addresses[order], values[order])]
        for image in self._last:
            size += image.values.estimated_size()
            if size > MOST_BYTES_KEPT:
                break
            kept.append(image)
        self._last = tuple(kept)


class _Page(NamedTuple):
    """Some lines: their values, the marks of cells, and the values before the change."""

    values: pl.DataFrame
    marks: pl.DataFrame
    earlier: pl.DataFrame


class ChangedRows:
    """The changed rows, a line each: values after the change, or before a deletion.

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
        self._lengths = self._runs.length.astype(np.int64)
        self._ends = np.cumsum(self._lengths)
        self._last: tuple[_Positions, list[str], _Page] | None = None
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
        """Names and types of the columns: those of a feed, with the values in the middle."""
        return self._schema

    @property
    def num_rows(self) -> int:
        """How many lines there are."""
        return int(self._ends[-1]) if len(self._ends) else 0

    @property
    def is_in_memory(self) -> bool:
        """Whether all rows are already known."""
        return False

    def first_columns(self, most: int) -> list[str]:
        """Return the columns to show first: of many, those that need no reading of all rows."""
        every = list(self._schema)
        if len(every) <= most:
            return every
        beside = {*FIRST_COLUMNS, *LAST_COLUMNS}
        values = [name for name in every if name not in beside]
        last = [name for name in LAST_COLUMNS if name != CHANGED_COLUMNS]
        return [*FIRST_COLUMNS, *values[: most - len(FIRST_COLUMNS) - len(last)], *last]

    def slice(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the lines from one position up to another, which is left out."""
        return self._page(np.arange(start, min(stop, self.num_rows)), columns).values

    def take(self, positions: pl.Series, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the lines at some positions, in that order."""
        return self._page(positions.to_numpy().astype(np.int64), columns).values

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return all values of some columns, and read no others."""
        rows = self._rows(np.arange(self.num_rows))
        values = [name for name in columns if name in self._images.columns.schema]
        if CHANGED_COLUMNS in columns:
            return self._read(rows, columns)[0]
        before, after = self._images.of(rows, values, both=False)
        series = [*self._head(rows), *(_last_known(rows, before, after) if values else [])]
        return _in_order(series, columns)

    def parts(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield all values at once: the number of compared rows is bounded."""
        yield self.read(columns)

    def marks(self, positions: pl.Series, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the marks of cells: changed ones, and whole rows that were added or removed."""
        return self._page(positions.to_numpy().astype(np.int64), columns).marks

    def earlier(self, positions: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
        """Return the values before the change, of cells that are marked as changed."""
        return self._page(positions.to_numpy().astype(np.int64), columns).earlier

    def row_ids(self, positions: _Positions) -> list[int | None]:
        """Return the row IDs of some lines, without reading values."""
        return self._head(self._rows(positions))["_rowid"].to_list()

    # ------------------------------------------------------------------------------- private

    def _page(self, positions: _Positions, columns: Sequence[str] | None) -> _Page:
        """Return some lines; their values, marks and earlier values are asked for in turn.

        So are the first lines, of which distributions are made, and those on the screen.
        """
        names = list(self._schema) if columns is None else list(columns)
        last = self._last  # which another thread may replace
        if last is not None and last[1] == names:
            begin = begin_within(last[0], positions)
            if begin is not None:
                return _Page(*[part.slice(begin, len(positions)) for part in last[2]])
        rows = self._rows(positions)
        values, before, cells = self._read(rows, names)
        earlier = [_where(column, cells[name]) for name, column in before.items()]
        page = _Page(values, _marks(rows, cells), pl.DataFrame(earlier))
        self._last = positions, names, page
        return page

    def _rows(self, positions: _Positions) -> ChangeRuns:
        """Return the rows of some lines, a run each."""
        run = np.searchsorted(self._ends, positions, side="right")
        return single_rows(self._runs, run, positions - (self._ends - self._lengths)[run])

    def _head(self, rows: ChangeRuns) -> pl.DataFrame:
        """Return lines without values."""
        parts, order = [CHANGES.polars_schema.to_frame()], [np.empty(0, np.int64)]
        for change in np.unique(rows.change).tolist():
            here = np.flatnonzero(rows.change == change)
            some = rows.where(here)
            event = RowEvent(change)
            block = Block(some, _CHANGE_TYPES[event], is_before=event is RowEvent.DELETED)
            parts.append(block.frame(some, {}, self._images.versions.ids_of))
            order.append(here)
        return pl.concat(parts)[np.argsort(np.concatenate(order))]

    def _read(
        self, rows: ChangeRuns, columns: Sequence[str]
    ) -> tuple[pl.DataFrame, dict[str, pl.Series], dict[str, _Mask]]:
        """Return rows with their values before the change, and which cells differ.

        Other columns are read only if the names of all columns that differ are needed.
        """
        known = self._images.columns.schema
        shown = [name for name in columns if name in known]
        read = list(known) if CHANGED_COLUMNS in columns else shown
        before, after = self._images.of(rows, read)
        is_pair = self._is_pair(rows)
        cells = np.zeros((len(rows), len(read)), dtype=np.bool_)
        series = [*self._head(rows)]
        if read:
            cells = changed_cells(before, after, 0.0) & is_pair[:, np.newaxis]
            series += _last_known(rows, before, after)
        if CHANGED_COLUMNS in columns:
            names = names_by_row(cells, read)
            series.append(_where(names.alias(CHANGED_COLUMNS), is_pair))
        differs = {name: cells[:, read.index(name)] for name in shown}
        return _in_order(series, columns), {n: before.get_column(n) for n in shown}, differs

    def _is_pair(self, rows: ChangeRuns) -> _Mask:
        """Which rows have both images."""
        has_two = (rows.before != NO_ADDRESS) & np.isin(rows.change, WRITTEN)
        is_pair: _Mask = has_two & self._images.versions.begin_is_kept
        return is_pair


def single_rows(runs: ChangeRuns, run: _Positions, offset: _Positions) -> ChangeRuns:
    """Return some rows, a run each: the number of the run, and the offset from its begin."""
    one = np.ones(len(run), dtype=np.uint64)
    return runs.pieces(run, offset.astype(np.uint64), one)


def _spread(some: pl.DataFrame, where: _Mask) -> pl.DataFrame:
    """Return rows at their positions among others that are unknown."""
    if where.all():
        return some
    place = pl.Series(np.cumsum(where) - 1).set(pl.Series(~where), None)
    return some.select(pl.all().gather(place))


def _in_order(series: Sequence[pl.Series], columns: Sequence[str]) -> pl.DataFrame:
    by_name = {column.name: column for column in series}
    return pl.DataFrame([by_name[name] for name in columns])


def _last_known(rows: ChangeRuns, before: pl.DataFrame, after: pl.DataFrame) -> list[pl.Series]:
    """Return the values of rows after the change, and of deleted ones before it."""
    number = np.arange(len(rows))
    place = np.where(rows.change == RowEvent.DELETED, number, number + len(rows))
    return pl.concat([before, after])[place].get_columns()


def _where(values: pl.Series, mask: _Mask) -> pl.Series:
    """Return some of the values, with nulls instead of the others."""
    place = pl.Series(np.arange(len(values))).set(pl.Series(~mask), None)
    return values.gather(place)


def _marks(rows: ChangeRuns, cells: Mapping[str, _Mask]) -> pl.DataFrame:
    """Return the marks of lines: changed cells, and rows that were added or removed."""
    change = pl.Series(rows.change)
    whole = change.replace_strict(_WHOLE, default=None, return_dtype=pl.String)
    changed = pl.repeat("changed", len(rows), dtype=pl.String, eager=True)
    marks = {name: changed.zip_with(pl.Series(differ), whole) for name, differ in cells.items()}
    events = change.replace_strict(_KINDS, default=None, return_dtype=pl.String)
    return pl.DataFrame({"_change_type": events, **marks})
