"""A view with a grid of rows that can be filtered and sorted.

That happens in the background; until then, the rows stay unchanged.
"""

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
import polars as pl

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.panics import panics_as_errors
from lance_explorer.values.child import time_limit
from lance_explorer.widgets.arranging import Arrangement, Sort, arrange, is_sortable
from lance_explorer.widgets.grid_view import GridView
from lance_explorer.widgets.messages.shared import Busy
from lance_explorer.widgets.row_sources import RowSource
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import FAILURES, Request, answers, failure_of
from lance_explorer.widgets.worker import Cancelled, Job

__all__ = ["ArrangedView", "RowsView"]


class ArrangedView(GridView):
    """A view that shows rows, filtered and sorted.

    Parameters
    ----------
    source : RowSource
        The rows; :meth:`show_rows` changes them.
    state : ExplorerState, optional
        Its ``filter`` says which rows are shown.
    """

    _module = ""
    _news: ClassVar = {"busy": Busy}

    def __init__(self, source: RowSource, *, state: ExplorerState | None = None) -> None:
        super().__init__(source, state=state)
        self.on_state(self._rearrange, "filter")
        if self.state.filter or self.sort:
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
        chosen, schema = self.state.chosen_sorts.get(self._module, ()), self._source.schema
        return tuple([Sort(*one) for one in chosen if is_sortable(schema.get(one[0], pl.Object()))])

    def sort_by(self, *columns: str, descending: bool = False) -> None:
        """Sort the rows by columns; no columns restore their order.

        Raises
        ------
        InvalidArgumentError
            If the values of the column have no order.
        """
        for name in columns:
            if name not in self._source.schema or not is_sortable(self._source.schema[name]):
                raise InvalidArgumentError(f"there is no column {name!r} to sort by")
        self._choose_sorts([(name, descending) for name in columns])

    def _choose_sorts(self, sorts: list[tuple[str, bool]]) -> None:
        self.state.chosen_sorts[self._module] = tuple(sorts)
        self._rearrange()

    def show_rows(self, source: RowSource) -> None:
        """Show other rows; the selection is cleared, filter and sort stay."""
        self._source = source
        self._selected = np.empty(0, np.int64)
        if self.filter or self.sort:
            self._rearrange()
            return
        self._worker.cancel("arrange")
        with self._arranged:
            self._arrangement, self._failure = Arrangement(source), None
            self.tell("rows", self._description())

    def _frame_of(self, source: RowSource) -> pl.DataFrame:
        """Return all rows of a source that pass the filter, in the order of the sort."""
        shown = self._arrangement
        if (shown.source, shown.filter, shown.sorts) != (source, self.filter, self.sort):
            shown = arrange(source, self.filter, self.sort, lambda: None)
        return shown.frame()

    def _rearrange(self) -> None:
        """Filter and sort the rows again, in the background."""

        def work(job: Job) -> None:
            source, typed, sorts = self._source, self.filter, self.sort  # the newest by now
            with self._arranged:
                if (typed or sorts) and not job.is_cancelled:
                    self.tell("busy", Busy(f"arranging {source.num_rows:,} rows"))
            failure = None
            try:
                with time_limit(self.state.time_limit), panics_as_errors():
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

        def late() -> None:
            with self._arranged:
                self._failure = failure_of(self.took_too_long())
                self.tell("rows", self._description())

        self._worker.submit("arrange", work, self.state.time_limit, late)

    @answers("sort")
    def _sort(self, _: Request, *, sorts: list[tuple[int, bool]]) -> None:
        names = list(self._source.schema)
        self._choose_sorts([(names[column], down) for column, down in sorts])


class RowsView(ArrangedView):
    """A view whose content is its rows: they are its frame, and its selection."""

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
        """Return all rows that pass the filter, in the order of the sort."""
        return self._frame_of(self._source)

    def selected_rows(self) -> pl.DataFrame:
        """Return the rows that are selected."""
        return self._source.take(pl.Series(self._selected))
