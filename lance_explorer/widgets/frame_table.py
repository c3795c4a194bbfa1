"""A table that pages through millions of rows, only the visible ones of which leave Python."""

from typing import Any

import polars as pl

from lance_explorer.arguments import of_kind, shown
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.snapshot import Snapshot
from lance_explorer.widgets.row_sources import FrameRows, RowSource, VersionRows
from lance_explorer.widgets.rows_view import RowsView
from lance_explorer.widgets.state import ExplorerState, Whole

__all__ = ["FrameTable"]

_OF_ROWS = (
    "schema",
    "num_rows",
    "first_columns",
    "slice",
    "take",
    "read",
    "parts",
    "marks",
    "earlier",
)


class FrameTable(RowsView):
    """Show rows: sort by the heads of columns, filter, select, and copy as CSV.

    Whole numbers are exact to 64 bits and beyond. Long texts, vectors and blobs are shown in short;
    double-click one, or press Enter on it, to see the whole. In CSV a text that a spreadsheet would
    run as a formula has an apostrophe before it.

    Parameters
    ----------
    rows : polars.DataFrame, Snapshot or RowSource
        The rows; those of a snapshot are read from the table as they come into view.
    height : int
        How many rows are visible at once, at most.
    marks : polars.DataFrame, optional
        For a frame: as many rows, and some of its columns as text, which say how a cell is marked:
        ``changed``, ``added``, ``removed``, ``quiet``, a kind of commit, or null.
    state : ExplorerState, optional
        The choices it shares with other views: its ``filter`` is the filter of this table.

    Raises
    ------
    TypeError
        If there is an option that it does not have.

    Examples
    --------
    >>> rows = FrameTable(table.versions())
    >>> rows.filter = "rows_added > 1"
    >>> rows.frame()["version"].to_list()
    [1, 2, 3]
    """

    _module = "frame_table"

    height = Whole(12, min=1, max=100).tag(sync=True)
    """How many rows are visible at once, at most."""

    def __init__(
        self,
        rows: pl.DataFrame | Snapshot | RowSource,
        *,
        height: int = 12,
        marks: pl.DataFrame | None = None,
        state: ExplorerState | None = None,
    ) -> None:
        super().__init__(_source_of(rows, marks), state=state)
        self.height = height


def _source_of(rows: Any, marks: pl.DataFrame | None) -> RowSource:
    if marks is not None:
        marks = of_kind("marks", marks, pl.DataFrame, "a Polars DataFrame")
    if isinstance(rows, pl.DataFrame):
        return FrameRows(rows, marks)
    if marks is not None:
        raise InvalidArgumentError("marks go with a Polars frame")
    if isinstance(rows, Snapshot):
        return VersionRows(rows._view, rows.version)
    if not isinstance(rows, type) and all(hasattr(rows, name) for name in _OF_ROWS):
        source: RowSource = rows
        return source
    raise InvalidArgumentError(
        f"rows is {shown(rows)}: expected a Polars DataFrame, a Snapshot or a source of rows, got "
        f"{type(rows).__name__}"
    )
