"""A view with a grid of values: its visible columns and selected rows.

The browser asks for the visible rows and columns, and shows the texts that it gets
(``frontend/src/rows.ts``). Nothing else is read.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
import polars as pl
from msgspec.structs import asdict
from numpy.typing import NDArray

from lance_explorer.answers.html import frame_html
from lance_explorer.arguments import names
from lance_explorer.cells.csv import csv_of
from lance_explorer.cells.text import briefs_of, sizes_of, texts_of, unit_of
from lance_explorer.errors import InvalidArgumentError, RowNotFoundError
from lance_explorer.shown import described
from lance_explorer.widgets.arranging import Arrangement, is_sortable
from lance_explorer.widgets.cell_pieces import kind_of, line_of, media_of, pieces_of
from lance_explorer.widgets.column_heads import column_heads, rows_within, sample_of
from lance_explorer.widgets.messages.rows import (
    AllColumns,
    CellDetail,
    CellPiece,
    ColumnHeads,
    CopiedRows,
    PickedColumn,
    RowColumn,
    RowsAbout,
    RowsPage,
    Selection,
    SelectionWay,
    WholeValue,
)
from lance_explorer.widgets.messages.shared import Failure
from lance_explorer.widgets.row_sources import RowSource
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import Request, View, answers

__all__ = ["GridView", "summaries"]

_FIRST_COLUMNS = 30
"""Columns that are shown until others are chosen."""

_MOST_COLUMNS = 200
"""Columns that can be shown at once."""

_MOST_ROWS_AT_ONCE = 1_000
_MOST_COPIED_ROWS, _MOST_COPIED_BYTES = 100_000, 256 << 20
_STATIC_ROWS = 10
_MOST_IN_DETAIL = {"characters": 100_000, "bytes": 20_000, "items": 10_000}


class GridView(View):
    """A view that shows rows unchanged; ``rows.ts`` draws its grid.

    Parameters
    ----------
    source : RowSource
        The rows.
    state : ExplorerState, optional
        The choices that it shares with other views.
    """

    _module = ""
    _news: ClassVar = {"rows": RowsAbout, "selection": Selection}

    def __init__(self, source: RowSource, *, state: ExplorerState | None = None) -> None:
        self._arrangement = Arrangement(source)
        self._source = source
        self._selected: NDArray[np.int64] = np.empty(0, np.int64)
        self._failure: Failure | None = None
        self._arranged = threading.Lock()
        super().__init__(state=state)

    @property
    def shown_columns(self) -> list[str]:
        """The columns that the grid shows, at most 200; of many the first until some are chosen.

        They stay chosen when other rows with such columns are shown, and may be chosen in advance.

        Examples
        --------
        >>> widget = lx.widgets.TimeTravel(table)
        >>> widget.shown_columns = ["city", "_rowid"]
        >>> widget.shown_columns
        ['city', '_rowid']
        """
        source = self._source
        return self._shown_of(source) if source.schema else list(self._chosen() or ())

    @shown_columns.setter
    def shown_columns(self, columns: Iterable[str]) -> None:
        wanted = names("shown_columns", columns)
        schema = self._source.schema
        if schema and (missing := [name for name in wanted if name not in schema]):
            raise InvalidArgumentError(f"there is no column {missing[0]!r} to show")
        if len(wanted) > _MOST_COLUMNS:
            raise InvalidArgumentError(
                f"{len(wanted):,} columns are too many to show: at most {_MOST_COLUMNS} are"
            )
        self.state.chosen_columns[self._module] = wanted
        with self._arranged:
            self.tell("rows", self._description())

    def static_html(self) -> str:
        """Return the first rows as an HTML table."""
        rows = self._arrangement.rows(0, _STATIC_ROWS, self.shown_columns)
        count = f"{rows.height:,} of {self._arrangement.num_rows:,} rows"
        return f"{frame_html(rows, are_values=True)}<p>{count}</p>"

    @described
    def __repr__(self) -> str:
        shown = self._arrangement
        return f"{type(self).__name__}({shown.num_rows:,} rows, {len(shown.source.schema)} columns)"

    # ------------------------------------------------------------------------------ columns

    def _chosen(self) -> tuple[str, ...] | None:
        return self.state.chosen_columns.get(self._module)

    def _shown_of(self, source: RowSource) -> list[str]:
        chosen = self._chosen()
        if chosen is not None:
            there = [name for name in chosen if name in source.schema]
            if there or not chosen:
                return there
        return source.first_columns(_FIRST_COLUMNS)

    @answers("columns")
    def _columns(self, _: Request) -> AllColumns:
        """Return all columns, and which are shown; the browser chooses among them."""
        source = self._arrangement.source
        shown = {*self._shown_of(source)}
        columns = [
            PickedColumn(name, _type_name(dtype), name in shown)
            for name, dtype in source.schema.items()
        ]
        return AllColumns(columns, _MOST_COLUMNS)

    @answers("show_columns")
    def _show_columns(self, _: Request, *, places: list[int] | None) -> None:
        """Show the columns at some positions of the source; null resets the choice."""
        source = self._arrangement.source
        if places is None:
            self.state.chosen_columns.pop(self._module, None)
        else:
            every = list(source.schema)
            self.state.chosen_columns[self._module] = tuple(
                every[p] for p in places[:_MOST_COLUMNS]
            )
        with self._arranged:
            self.tell("rows", self._description())

    # ------------------------------------------------------------------------------ rows

    def _select(self, positions: NDArray[np.int64]) -> None:
        self._selected = positions
        self.tell("selection", Selection(len(positions)))

    def _description(self) -> RowsAbout:
        """Return what the browser needs to know before it asks for rows."""
        shown = self._arrangement
        schema = shown.source.schema
        places = {name: place for place, name in enumerate(schema)}
        return RowsAbout(
            columns=[
                RowColumn(
                    name=name,
                    place=places[name],
                    dtype=_type_name(schema[name]),
                    kind=kind_of(schema[name]),
                    is_number=schema[name].is_numeric(),
                    is_sortable=is_sortable(schema[name]),
                )
                for name in self._shown_of(shown.source)
            ],
            num_columns=len(schema),
            num_rows=shown.num_rows,
            num_source_rows=shown.source.num_rows,
            num_selected=len(self._selected),
            filter=shown.filter,
            sorts=[(places[sort.column], sort.descending) for sort in shown.sorts],
            failure=self._failure,
            is_expression=shown.is_expression,
        )

    @answers("rows")
    def _describe(self, _: Request) -> RowsAbout:
        return self._description()

    @answers("page", in_background=True)
    def _page(self, request: Request, *, first: int, count: int) -> RowsPage:
        shown = self._arrangement
        columns = self._shown_of(shown.source)
        first = max(0, min(first, shown.num_rows))
        last = first + min(count, _MOST_ROWS_AT_ONCE)
        rows = shown.rows(first, last, columns)
        positions = shown.positions_of(first, last)
        request.check()
        texts = [briefs_of(column) for column in rows]
        marks = shown.source.marks(positions, columns)
        earlier = shown.source.earlier(positions, columns)
        return RowsPage(
            first=first,
            positions=positions.to_list(),
            selected=np.isin(positions.to_numpy(), self._selected).tolist(),
            cells=[text.to_list() for text, _ in texts],
            marks={} if marks is None else _by_column(marks, columns),
            earlier={} if earlier is None else _by_column(summaries(earlier), columns),
            more=[more.to_list() if more.any() else None for _, more in texts],
            pieces=[pieces_of(column) for column in rows],
        )

    @answers("heads", in_background=True)
    def _heads(self, request: Request) -> ColumnHeads:
        """Return the distribution of each column, in rows that can be read at once."""
        shown = self._arrangement
        columns = self._shown_of(shown.source)
        rows = sample_of(shown, columns, request.check)
        return ColumnHeads(column_heads(rows, request.check), rows.height, shown.num_rows)

    @answers("select")
    def _change_selection(self, _: Request, *, row: int, anchor: int, how: SelectionWay) -> None:
        """Select as requested by a click, with Ctrl or Shift, or by a key."""
        shown = self._arrangement
        first, last = sorted((row, anchor))
        chosen = shown.positions_of(first, last + 1).to_numpy().astype(np.int64)
        match how:
            case "only":
                self._select(np.sort(chosen))
            case "toggle":
                self._select(np.setxor1d(self._selected, chosen))
            case "all":
                everything = shown.positions_of(0, shown.num_rows)
                self._select(np.sort(everything.to_numpy().astype(np.int64)))
            case "none":
                self._select(np.empty(0, np.int64))

    @answers("detail", in_background=True)
    def _detail(self, _: Request, *, row: int, column: int) -> CellDetail:
        """Return one value, whole unless it is very long."""
        shown, names = self._arrangement, list(self._arrangement.source.schema)
        if not (0 <= row < shown.num_rows and 0 <= column < len(names)):
            raise RowNotFoundError("this value is not shown any more: choose another one")
        name = names[column]
        value = shown.rows(row, row + 1, [name]).to_series()
        position = shown.positions_of(row, row + 1)
        earlier = shown.source.earlier(position, [name])
        is_changed = earlier is not None and _is_changed(shown.source, position, name)
        piece: CellPiece | None = None
        match kind_of(value.dtype):
            case "binary":
                piece = media_of(value.item())
            case "vector" if value.item() is not None:
                piece = line_of(value.item(), in_detail=True)
        return CellDetail(
            **asdict(_whole(value)),
            name=name,
            dtype=str(value.dtype),
            kind=kind_of(value.dtype),
            position=position[0],
            piece=piece,
            earlier=_whole(earlier.to_series()) if earlier is not None and is_changed else None,
        )

    @answers("csv", in_background=True)
    def _csv(self, request: Request) -> CopiedRows:
        """Return the selected rows as CSV, or all that are shown, up to a limit."""
        shown = self._arrangement
        columns = self._shown_of(shown.source)
        selected = pl.Series(self._selected)
        if len(selected) and shown.positions is not None:
            selected = shown.positions.filter(shown.positions.is_in(selected.implode()))
        is_some = len(self._selected) > 0
        total = len(selected) if is_some else shown.num_rows

        def read(count: int) -> pl.DataFrame:
            if is_some:
                return shown.source.take(selected.head(count), columns)
            return shown.rows(0, count, columns)

        most = min(total, _MOST_COPIED_ROWS)
        rows = rows_within(read, most, _MOST_COPIED_BYTES, request.check)
        request.progress(f"writing {rows.height:,} rows as CSV")
        return CopiedRows(csv_of(rows), rows.height, total)


def _type_name(dtype: pl.DataType) -> str:
    """Return the short form of a type for the head of its column; values show the rest."""
    match dtype:
        case pl.Enum():
            return "Enum"
        case pl.Datetime(time_unit=unit, time_zone=zone):
            return f"Datetime({unit})" if zone is None else f"Datetime({unit}, {zone})"
        case pl.Array(inner=inner, size=size):
            assert isinstance(inner, pl.DataType)
            return f"Array({_type_name(inner)}, {size})"
    return str(dtype)


def _whole(value: pl.Series) -> WholeValue:
    """Return the text of one value with its size, and how much of it is shown."""
    unit = unit_of(value.dtype)
    most = _MOST_IN_DETAIL[unit]
    text = texts_of(value, most)
    size = sizes_of(value)
    if size is None:
        size = text.str.len_chars()
    return WholeValue(
        text=text.str.head(_MOST_IN_DETAIL["characters"])[0],
        size=size[0],
        shown=None if size[0] is None else min(size[0], most),
        unit=unit,
    )


def _is_changed(source: RowSource, position: pl.Series, name: str) -> bool:
    marks = source.marks(position, [name])
    return marks is not None and name in marks.columns and marks[name][0] == "changed"


def summaries(frame: pl.DataFrame) -> pl.DataFrame:
    """Return values in a few words each; for pictures and sounds, their kind."""
    return pl.DataFrame([_summary(column).alias(column.name) for column in frame])


def _summary(column: pl.Series) -> pl.Series:
    text, _ = briefs_of(column)
    pieces = pieces_of(column) if kind_of(column.dtype) == "binary" else None
    if pieces is None:
        return text
    words = pl.Series([None if piece is None else piece.words for piece in pieces])
    return pl.select(pl.coalesce(words.cast(pl.String), text)).to_series()


def _by_column(texts: pl.DataFrame, columns: Sequence[str]) -> dict[int, list[str | None]]:
    """Return the texts of columns by their position among those that are shown."""
    place = {name: number for number, name in enumerate(columns)}
    return {place[column.name]: column.to_list() for column in texts if column.name in place}
