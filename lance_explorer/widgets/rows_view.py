"""A view with a table of rows in it: which rows are shown, in which order, which are selected.

The browser asks for the rows that are visible, and shows what it gets as text
(``frontend/src/rows.ts``). Sorting and filtering happen in the background; until they are done, the
rows stay as they were.
"""

import threading
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.shown import described, one_line
from lance_explorer.widgets.arranging import Arrangement, Sort, arrange, is_sortable
from lance_explorer.widgets.cell_text import csv_of, sizes_of, summary_of, text_of, unit_of
from lance_explorer.widgets.row_sources import RowSource
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import FAILURES, Request, View, answers, failure_of
from lance_explorer.widgets.worker import Cancelled, Job

__all__ = ["RowsView"]

_MOST_COLUMNS = 200
_MOST_ROWS_AT_ONCE = 1_000
_MOST_COPIED_ROWS = 100_000
_STATIC_ROWS = 10
_NULL = "<em>null</em>"
_MOST_IN_DETAIL = {"characters": 100_000, "bytes": 20_000, "items": 10_000}


class RowsView(View):
    """A view that shows rows; ``rows.ts`` has its table.

    Parameters
    ----------
    source : RowSource
        The rows; :meth:`show_rows` changes them.
    state : ExplorerState, optional
        Its ``filter`` says which rows are shown.
    """

    _module = ""

    def __init__(self, source: RowSource, *, state: ExplorerState | None = None) -> None:
        self._arrangement = Arrangement(source)
        self._source = source
        self._sorts: tuple[Sort, ...] = ()
        self._selected: NDArray[np.int64] = np.empty(0, np.int64)
        self._failure: dict[str, str] | None = None
        self._arranged = threading.Lock()
        super().__init__(state=state)
        self.on_state(self._rearrange, "filter")
        if self.state.filter:
            self._rearrange()

    @property
    def filter(self) -> str:
        """Which rows are shown: a Polars SQL expression, or text to look for; empty for all."""
        return self.state.filter

    @filter.setter
    def filter(self, typed: str) -> None:
        self.state.filter = typed

    @property
    def sort(self) -> tuple[Sort, ...]:
        """The columns that the rows are sorted by."""
        return self._sorts

    def sort_by(self, *columns: str, descending: bool = False) -> None:
        """Sort the rows by columns; by none, they get back the order they had.

        Raises
        ------
        InvalidArgumentError
            If the values of the column have no order.
        """
        for name in columns:
            if name not in self._source.schema or not is_sortable(self._source.schema[name]):
                raise InvalidArgumentError(f"there is no column {name!r} to sort by")
        self._sorts = tuple(Sort(name, descending) for name in columns)
        self._rearrange()

    @property
    def selection(self) -> list[int]:
        """The selected rows: their positions in the source, from 0, in rising order."""
        return [int(position) for position in self._selected]

    @selection.setter
    def selection(self, positions: Iterable[int]) -> None:
        wanted = np.unique(np.fromiter(positions, np.int64))
        if len(wanted) and not 0 <= wanted[0] <= wanted[-1] < self._source.num_rows:
            raise InvalidArgumentError(
                f"expected positions from 0 to {self._source.num_rows - 1}, got {wanted[-1]}"
            )
        self._select(wanted)

    def frame(self) -> pl.DataFrame:
        """Return all rows that the filter leaves, in the order of the sort."""
        return self._frame_of(self._source)

    def selected_rows(self) -> pl.DataFrame:
        """Return the rows that are selected."""
        return self._source.take(pl.Series(self._selected))

    def show_rows(self, source: RowSource) -> None:
        """Show other rows; what was selected is not any more, the filter and the sort stay."""
        self._source = source
        self._selected = np.empty(0, np.int64)
        self._sorts = tuple(sort for sort in self._sorts if sort.column in source.schema)
        self._rearrange()

    def static_html(self) -> str:
        """Return the first rows as an HTML table."""
        rows = self._arrangement.rows(0, _STATIC_ROWS)
        names = "".join([f"<th>{escape(one_line(name))}</th>" for name in rows.columns])
        texts = [summary_of(column)[0] for column in rows]
        lines = [
            "".join(
                [f"<td>{_NULL if text is None else escape(one_line(text))}</td>" for text in row]
            )
            for row in zip(*texts, strict=True)
        ]
        body = "".join([f"<tr>{line}</tr>" for line in lines])
        return (
            f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{rows.height:,} of {self._arrangement.num_rows:,} rows</p>"
        )

    @described
    def __repr__(self) -> str:
        shown = self._arrangement
        return f"{type(self).__name__}({shown.num_rows:,} rows, {len(shown.source.schema)} columns)"

    def _frame_of(self, source: RowSource) -> pl.DataFrame:
        """Return all rows of a source that the filter leaves, in the order of the sort."""
        shown = self._arrangement
        if (shown.source, shown.filter, shown.sorts) != (source, self.filter, self._sorts):
            shown = arrange(source, self.filter, self._sorts, lambda: None)
        return shown.frame()

    def _rearrange(self) -> None:
        """Filter and sort the rows anew, in the background."""

        def work(job: Job) -> None:
            source, typed, sorts = self._source, self.filter, self._sorts  # the newest by now
            with self._arranged:
                if (typed or sorts) and not job.is_cancelled:
                    self.tell("busy", {"text": f"arranging {source.num_rows:,} rows"})
            failure = None
            try:
                shown = arrange(source, typed, sorts, job.check)
            except Cancelled:
                return
            except FAILURES as error:
                failure = failure_of(error)
                shown = self._arrangement
                if shown.source is not source:
                    shown = Arrangement(source)
            with self._arranged:
                if not job.is_cancelled:
                    self._arrangement, self._failure = shown, failure
                    self.tell("rows", self._description())

        self._worker.submit("arrange", work)

    def _select(self, positions: NDArray[np.int64]) -> None:
        self._selected = positions
        self.tell("selection", {"num_selected": len(positions)})

    def _description(self) -> dict[str, Any]:
        """Return what the browser has to know about the rows before it asks for any."""
        shown = self._arrangement
        schema = shown.source.schema
        names = list(schema)
        return {
            "columns": [
                {
                    "name": name,
                    "dtype": _type_name(schema[name]),
                    "is_sortable": is_sortable(schema[name]),
                    "is_number": schema[name].is_numeric(),
                }
                for name in names[:_MOST_COLUMNS]
            ],
            "num_columns": len(names),
            "num_rows": shown.num_rows,
            "num_source_rows": shown.source.num_rows,
            "filter": shown.filter,
            "is_expression": shown.is_expression,
            "failure": self._failure,
            "sorts": [[names.index(sort.column), sort.descending] for sort in shown.sorts],
            "num_selected": len(self._selected),
        }

    @answers("rows")
    def _describe(self, _: Request) -> dict[str, Any]:
        return self._description()

    @answers("page", in_background=True)
    def _page(self, request: Request) -> dict[str, Any]:
        shown = self._arrangement
        first = max(0, min(int(request["first"]), shown.num_rows))
        last = first + min(int(request["count"]), _MOST_ROWS_AT_ONCE)
        rows = shown.rows(first, last)
        positions = shown.positions_of(first, last)
        request.check()
        columns = [summary_of(column) for column in rows.get_columns()[:_MOST_COLUMNS]]
        marks = shown.source.marks(positions)
        return {
            "first": first,
            "positions": positions.to_list(),
            "selected": np.isin(positions.to_numpy(), self._selected).tolist(),
            "cells": [texts.to_list() for texts, _ in columns],
            "more": [more.to_list() if more.any() else None for _, more in columns],
            "marks": {} if marks is None else _marks_by_column(marks, rows.columns),
        }

    @answers("sort")
    def _sort(self, request: Request) -> dict[str, Any]:
        names = list(self._source.schema)
        self._sorts = tuple(Sort(names[column], down) for column, down in request["sorts"])
        self._rearrange()
        return {}

    @answers("select")
    def _change_selection(self, request: Request) -> dict[str, Any]:
        """Select as a click, with Ctrl or Shift, or a key asks for."""
        shown = self._arrangement
        first, last = sorted((int(request["row"]), int(request["anchor"])))
        chosen = shown.positions_of(first, last + 1).to_numpy().astype(np.int64)
        match request["how"]:
            case "only":
                self._select(np.sort(chosen))
            case "toggle":
                self._select(np.setxor1d(self._selected, chosen))
            case "all":
                everything = shown.positions_of(0, shown.num_rows)
                self._select(np.sort(everything.to_numpy().astype(np.int64)))
            case "none":
                self._select(np.empty(0, np.int64))
        return {}

    @answers("detail", in_background=True)
    def _detail(self, request: Request) -> dict[str, Any]:
        """Return one value, whole unless it is very long."""
        row, column = int(request["row"]), int(request["column"])
        value = self._arrangement.rows(row, row + 1).to_series(column)
        unit = unit_of(value.dtype)
        most = _MOST_IN_DETAIL[unit]
        text = text_of(value, most)
        size = sizes_of(value)
        if size is None:
            size = text.str.len_chars()
        return {
            "name": value.name,
            "dtype": str(value.dtype),
            "position": self._arrangement.positions_of(row, row + 1)[0],
            "text": text.str.head(_MOST_IN_DETAIL["characters"])[0],
            "size": size[0],
            "shown": None if size[0] is None else min(size[0], most),
            "unit": unit,
        }

    @answers("csv", in_background=True)
    def _csv(self, request: Request) -> dict[str, Any]:
        """Return the selected rows as CSV, or all that are shown, up to a limit."""
        shown = self._arrangement
        selected = pl.Series(self._selected)
        if not len(selected):
            total = shown.num_rows
            rows = shown.rows(0, _MOST_COPIED_ROWS)
        else:
            if shown.positions is not None:
                selected = shown.positions.filter(shown.positions.is_in(selected.implode()))
            total = len(selected)
            rows = shown.source.take(selected.head(_MOST_COPIED_ROWS))
        request.progress(f"writing {rows.height:,} rows as CSV")
        return {"text": csv_of(rows), "num_rows": rows.height, "num_total": total}


def _type_name(dtype: pl.DataType) -> str:
    """Return what is said of a type in the head of its column: short, the values tell the rest."""
    match dtype:
        case pl.Enum():
            return "Enum"
        case pl.Datetime(time_unit=unit, time_zone=zone):
            return f"Datetime({unit})" if zone is None else f"Datetime({unit}, {zone})"
    return str(dtype)


def _marks_by_column(marks: pl.DataFrame, names: list[str]) -> dict[str, list[str | None]]:
    return {str(names.index(column.name)): column.to_list() for column in marks}
