"""The commits of a table and its branches, one line each: ``git log --graph`` for tables."""

import threading
from contextlib import suppress
from typing import ClassVar

import polars as pl
from msgspec.structs import asdict

from lance_explorer.answers.calls import call
from lance_explorer.errors import LanceExplorerError
from lance_explorer.inspect.log import filter_log
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.log_data import log_data
from lance_explorer.widgets.messages.answer import LogFilters
from lance_explorer.widgets.messages.log import LogAbout, LogAnswer, NewestLog
from lance_explorer.widgets.messages.shared import Problem
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.version_reading import VersionsView, wait_for_versions
from lance_explorer.widgets.view import Request, answers

__all__ = ["Log"]

_MANY = 2_000
"""For a branch with more commits, the newest are shown before the others are read."""

_NEWEST = 200


class Log(VersionsView):
    """Show the commits of all branches, newest first, each branch in a lane.

    A line shows the version, its tags and branches, what the commit did, its message, its author,
    rows and bytes. Commits can be filtered by kind, text, time, and the column that they touch. A
    click chooses one, a click with Shift another one to compare it with.

    Parameters
    ----------
    table : Table
        The table, or a branch of it, whose versions can be chosen.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version`` and ``compared_version``.

    Examples
    --------
    >>> widget = lx.widgets.Log(table)
    >>> widget.show_only(operation=["delete"])
    >>> widget.frame()["words"].to_list()
    ['1 row deleted where `id = 2`; 1 fragment changed.']
    >>> widget.code()
    'table.log(operation=["delete"])'
    """

    _module = "log"
    takes_new_versions = True
    _news: ClassVar = {"filters": LogFilters}

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        super().__init__(state=state)
        self._table = table_of(table)
        self._filters = LogFilters()
        self._reading = threading.Lock()
        self._log: tuple[object, pl.DataFrame] | None = None
        if self.state.version is None:
            self.state.version = table._view.latest_version

    @property
    def filters(self) -> dict[str, str | list[str]]:
        """Which commits are shown: arguments of ``table.log()``; empty if all are."""
        return {name: value for name, value in asdict(self._filters).items() if value}

    def show_only(
        self,
        *,
        since: str | None = None,
        until: str | None = None,
        operation: list[str] | None = None,
        text: str | None = None,
        column: str | None = None,
    ) -> None:
        """Show the commits that ``table.log()`` returns with these arguments; all without any.

        Parameters
        ----------
        since, until : str, optional
            Only commits that were made then or later, or earlier.
        operation : list of str, optional
            Only commits of these operations or kinds.
        text : str, optional
            Only commits that say this.
        column : str, optional
            Only commits that can have changed this column.
        """
        filters = LogFilters(since, until, operation, text, column)
        self._matching(self._every().clear(), filters)
        self._filters = filters
        self.tell("filters", filters)

    def frame(self) -> pl.DataFrame:
        """Return the commits that are shown, as ``table.log()`` does."""
        return self._matching(self._every(), self._filters)

    def code(self) -> str:
        """Return the code for :meth:`frame`, where ``table`` is the table."""
        return call("table.log", **self.filters)

    @described
    def __repr__(self) -> str:
        given = "".join([f", {name}={value!r}" for name, value in self.filters.items()])
        return f"Log(version {self.state.version}{given})"

    @answers("newest", in_background=True)
    def _newest(self, _: Request) -> NewestLog:
        """Return the newest commits if reading all may take long; None otherwise."""
        count = len(self._table._view.listing.versions)
        if count < _MANY or self.filters or self._is_read():
            return NewestLog()
        commits = self._table.log(limit=_NEWEST)
        return NewestLog(log_data(commits, commits, is_part=True), self._table.branch)

    @answers("about", in_background=True)
    def _about(self, request: Request) -> LogAbout:
        """Return the names of columns, by which commits can be filtered."""
        wait_for_versions(self._table, request.progress)
        request.progress("describing commits")
        names: dict[str, None] = {}
        for written in self._every()["columns"].drop_nulls():
            names |= dict.fromkeys(written.split(", "))
        with suppress(LanceExplorerError):  # what commits named is known all the same
            names |= dict.fromkeys(field.name for field in self._table.latest.schema)
        return LogAbout(self._table.branch, sorted(names.keys() - {""}), self._filters)

    @answers("log", in_background=True)
    def _lines(
        self, request: Request, *, filters: LogFilters, refresh: bool = False
    ) -> LogAnswer | Problem:
        """Return the commits that pass the filters; an error in these is part of the answer."""
        if refresh:
            self._table.refresh()
        wait_for_versions(self._table, request.progress)
        request.progress("describing commits")
        every = self._every()
        request.check()
        try:
            commits = self._matching(every, filters)
        except LanceExplorerError as error:
            return Problem(str(error))
        self._filters = filters
        return log_data(commits, every)

    def _matching(self, log: pl.DataFrame, filters: LogFilters) -> pl.DataFrame:
        given = {name: value for name, value in asdict(filters).items() if value}
        return filter_log(self._table._view, log, **given)

    def _is_read(self) -> bool:
        return self._log is not None and self._log[0] is self._table._view.listing

    def _every(self) -> pl.DataFrame:
        """Return the whole log, read once until the table is refreshed."""
        with self._reading:
            if self._log is None or not self._is_read():
                self._log = self._table._view.listing, self._table.log()
            return self._log[1]
