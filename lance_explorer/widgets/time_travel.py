"""A slider over the versions of a table, and everything about the chosen one."""

import threading

import polars as pl

from lance_explorer.answers.calls import call, literal
from lance_explorer.errors import LanceExplorerError
from lance_explorer.history.version_refs import kept_version
from lance_explorer.rowids.addresses import RowAddress
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.values import ROW_VERSIONS
from lance_explorer.widgets.code_lines import scanned_code
from lance_explorer.widgets.messages.base import Wide
from lance_explorer.widgets.messages.shared import Found
from lance_explorer.widgets.messages.time_travel import Details, ShownVersion
from lance_explorer.widgets.messages.versions import VersionData
from lance_explorer.widgets.row_lookup import row_named
from lance_explorer.widgets.row_sources import FrameRows, VersionRows
from lance_explorer.widgets.rows_view import ArrangedView
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.version_data import version_data
from lance_explorer.widgets.version_details import VersionDetails
from lance_explorer.widgets.version_reading import VersionsView, wait_for_versions
from lance_explorer.widgets.view import Request, answers

__all__ = ["TimeTravel"]


class TimeTravel(VersionsView, ArrangedView):
    """A slider over the kept versions of a table, with the contents of the chosen one.

    Shows what the version's commit did in words, its fragments as a picture, its rows, schema,
    indices and configuration, and what differs from the version before. Arrow keys, Page Up and
    Down, Home and End move the slider; ``Go to`` takes a version as :meth:`Table.at` does. The rows
    can be filtered, by text or an expression, and sorted by the heads of columns.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version`` and ``fragment_id``.

    Examples
    --------
    >>> widget = lx.widgets.TimeTravel(table)
    >>> widget.state.version = 2
    >>> widget.selection
    {'version': 2, 'fragment_id': None}
    """

    _module = "time_travel"
    takes_new_versions = True

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        super().__init__(FrameRows(pl.DataFrame()), state=state)
        self._table = table_of(table)
        self._details: VersionDetails | None = None
        self._showing = threading.Lock()
        if self.state.version is None:
            self.state.version = table._view.latest_version

    @property
    def selection(self) -> dict[str, int | None]:
        """What is chosen: ``version``, and ``fragment_id``, None if no fragment is selected."""
        return {"version": self.state.version, "fragment_id": self.state.fragment_id}

    def frame(self) -> pl.DataFrame:
        """Return the rows that pass a filter, in the order of a sort; without both, fragments.

        These are the fragments of the chosen version, as in ``table.inspect.fragments()``.
        """
        if rows := self._rows_arranged():
            return self._frame_of(rows)
        return self._table.inspect.fragments(version=self.state.version)

    def code(self) -> str:
        """Return the code for :meth:`frame`, where ``table`` is the table.

        Examples
        --------
        >>> widget = lx.widgets.TimeTravel(table)
        >>> widget.state.version = 2
        >>> widget.code()
        'table.inspect.fragments(version=2)'
        >>> widget.filter = "id > 3"
        >>> widget.code()
        'table.at(2).scan().filter(pl.sql_expr("id > 3")).collect().drop(...)'
        """
        if rows := self._rows_arranged():
            scan = call("table.at", rows.version) + ".scan()"
            code = scanned_code(scan, rows.schema, self.filter, self.sort)
            return f"{code}.drop({', '.join(map(literal, ROW_VERSIONS))})"
        return call("table.inspect.fragments", version=self.state.version)

    def _rows_arranged(self) -> VersionRows | None:
        """Return the rows of the chosen version if they are filtered or sorted."""
        version = self.state.version
        if version is None or not (self.filter.strip() or self.sort):
            return None
        if isinstance(self._source, VersionRows) and self._source.version == version:
            return self._source
        return VersionRows(self._table._view, version)

    def take_new_versions(self) -> None:
        """Take in a refresh of the table."""
        self._details = None
        super().take_new_versions()

    def row_ids(self, count: int) -> list[int]:
        """Return the row IDs of the first rows that are shown.

        Without stable row IDs those are addresses of rows of the latest version; other rows have
        none.
        """
        rows = self._source
        if not isinstance(rows, VersionRows):
            return []
        if not rows.has_row_ids and rows.version != self._table._view.latest_version:
            return []
        name = "_rowid" if rows.has_row_ids else "_rowaddr"
        return rows.slice(0, count, [name])[name].to_list()

    @described
    def __repr__(self) -> str:
        return f"TimeTravel(version {self.state.version})"

    @answers("history", in_background=True)
    def _history(self, request: Request, *, refresh: bool = False) -> VersionData:
        if refresh:
            self._table.refresh()
            self._details = None
        wait_for_versions(self._table, request.progress)
        return version_data(self._table)

    @answers("details")
    def _version_details(self, _: Request, *, version: Wide) -> Details:
        if self._details is None:
            self._details = VersionDetails(self._table)
        return self._details.at(version)

    @answers("find")
    def _find(self, _: Request, *, text: str) -> Found:
        """Find the version that a text names; what is wrong with the text is part of the answer."""
        try:
            return Found(version=str(kept_version(self._table._view, text)))
        except LanceExplorerError as error:
            return Found(problem=str(error))

    @answers("show_version", in_background=True)
    def _show_version(self, request: Request, *, version: Wide) -> ShownVersion:
        """Show the rows of a version; an error is part of the answer."""
        try:
            rows = VersionRows(self._table._view, version)
            rows.slice(0, 1, self._shown_of(rows))  # tells whether they can be read
        except LanceExplorerError as error:
            return ShownVersion(problem=str(error))
        with self._showing:  # after an older one, which hears here that it is not wanted any more
            request.check()
            self.show_rows(rows)
        return ShownVersion(has_row_ids=rows.has_row_ids)

    @answers("choose_row", in_background=True)
    def _choose_row(self, request: Request, *, row: int) -> None:
        """Choose one of the shown rows, wherever it is now."""
        shown = self._arrangement
        rows = shown.source
        if isinstance(rows, VersionRows):
            [address] = shown.rows(row, row + 1, ["_rowaddr"])["_rowaddr"]
            place = RowAddress.of(address)
            name = f"{place.fragment_id}:{place.offset}@{rows.version}"
            row_id = row_named(self._table, name)
            request.check()
            self.state.row_id = row_id
