"""All tables of a database in one widget: a list, their commits and their size; and each table."""

import threading
import time
from collections.abc import Callable
from copy import copy
from datetime import date, timedelta
from html import escape

import polars as pl

from lance_explorer.arguments import check_choice, flag, of_kind
from lance_explorer.database import Database
from lance_explorer.errors import LanceExplorerError
from lance_explorer.frames.sizes import counted
from lance_explorer.history.version_refs import parsed_time
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.addresses import address_of, read_address
from lance_explorer.widgets.answer_view import answer_view
from lance_explorer.widgets.code_lines import database_code
from lance_explorer.widgets.database_data import log_of, moment_of, tables_of, usage_of
from lance_explorer.widgets.explorer import Explorer
from lance_explorer.widgets.live import Pace, failure_words
from lance_explorer.widgets.messages.answer import Answer, SearchAnswer
from lance_explorer.widgets.messages.base import Wide
from lance_explorer.widgets.messages.database import (
    DatabaseAbout,
    DatabaseLog,
    DatabasePlace,
    DatabaseSearch,
    DatabaseTables,
    DatabaseUsage,
)
from lance_explorer.widgets.messages.explorer import Code, Live, Tab, Wait
from lance_explorer.widgets.messages.parts import Address
from lance_explorer.widgets.view import Request, answers, sent
from lance_explorer.widgets.whole import Whole

__all__ = ["DATABASE_VIEWS", "DatabaseExplorer"]

DATABASE_VIEWS = {"tables": "Tables", "log": "Log", "disk": "Disk"}
"""The views of a database, and the names on their tabs."""

_CODE = {
    "tables": "database.tables()",
    "log": "database.log()",
    "disk": "database.disk_usage().tables()",
}
_TABLE = "table"
_MOST_SEARCHED = 512 << 20
_LEAST_SEARCHED = 4 << 20


class DatabaseExplorer(Whole):
    """All tables of a database: which hurts most, their commits, their size; and each table.

    Tables is a list, what hurts most first; Log has the commits of all tables, each table a lane;
    Disk has what each takes, and the cleanups that free most. A click on a table opens its
    :class:`Explorer` in the same place, and ``All tables`` leads back. The box on top takes a time
    (``yesterday 12:00``) or a tag, for which it shows the version that each table had, or a filter
    (``id = 42``) or word, which it searches in all tables.
    While it is in sight it looks for new versions and new tables.

    Parameters
    ----------
    database : Database
        The database.
    view : {"tables", "log", "disk"}
        The view to begin with.
    follow : bool, default True
        Whether to look for new versions. The given database itself is not refreshed by that.

    Examples
    --------
    >>> explorer = lx.widgets.DatabaseExplorer(database)
    >>> explorer.frame()["name"].to_list()
    ['people']
    >>> explorer.open_table("people", version=3)
    >>> explorer
    DatabaseExplorer(db: people)
    >>> explorer.table.state.version
    3
    """

    _module = "database"

    database_place = sent(DatabasePlace)
    """The view that is shown, or the table whose explorer is shown instead."""

    live = sent(Live)
    """Whether it looks for new versions, and how long it waits between two looks."""

    def __init__(self, database: Database, view: str = "tables", *, follow: bool = True) -> None:
        self._database = copy(of_kind("database", database, Database, "a Database"))
        self._view = _known(view)
        self._follow = flag("follow", follow)
        self._pace = Pace()
        self._problem = ""
        self._looking = threading.Lock()
        self._name: str | None = None
        self._explorer: Explorer | None = None
        super().__init__()
        self._show_place()
        self._show_live()

    @property
    def view(self) -> str:
        """The name of the view that is shown, or that returns when the table is closed.

        Examples
        --------
        >>> explorer = lx.widgets.DatabaseExplorer(database)
        >>> explorer.view = "disk"
        >>> explorer.frame().columns[:2]
        ['name', 'size_bytes']
        """
        return self._view

    @view.setter
    def view(self, name: str) -> None:
        self._view = _known(name)
        self.close_table()

    @property
    def table(self) -> Explorer | None:
        """The explorer of the shown table; None if none is shown."""
        return self._explorer

    def open_table(
        self, name: str, version: int | str | date | None = None, branch: str | None = None
    ) -> None:
        """Show the explorer of a table.

        Parameters
        ----------
        name : str
            The name of the table.
        version : int, str, date or datetime, optional
            The version to choose, as for :meth:`Table.at`; the latest by default.
        branch : str, optional
            The branch; by default main.

        Examples
        --------
        >>> explorer = lx.widgets.DatabaseExplorer(database)
        >>> explorer.open_table("people")
        >>> explorer.frame().height
        7
        """
        table = self._database[name]
        if branch is not None:
            table = Table(table._view.on_branch(branch))
        chosen = None if version is None else table.at(version).version
        view = "overview" if chosen is None else "time_travel"
        explorer = self._make_part(Explorer, table, view, follow=self._follow)
        explorer.label = name
        if chosen is not None:
            explorer.state.version = chosen
        before, self._explorer, self._name = self._explorer, explorer, name
        self._show_part(_TABLE, explorer)
        explorer.observe(self._show_address, "address")
        self._show_place()
        if before is not None:
            before.close()

    def close_table(self) -> None:
        """Show all tables again.

        Examples
        --------
        >>> explorer = lx.widgets.DatabaseExplorer(database)
        >>> explorer.open_table("people")
        >>> explorer.close_table()
        >>> explorer
        DatabaseExplorer(db: tables)
        """
        before, self._explorer, self._name = self._explorer, None, None
        self.parts = {}
        self._show_place()
        if before is not None:
            before.close()

    def visit(self, address: str) -> None:
        """Show what a link names: a view of all tables, or one table.

        Parameters
        ----------
        address : str
            The part of the link after ``#``.

        Examples
        --------
        >>> explorer = lx.widgets.DatabaseExplorer(database)
        >>> explorer.visit("table=people&view=log&version=2")
        >>> explorer.table
        Explorer(people.lance: log)
        """
        place = read_address(address)
        if place.table is None:
            self.view = place.view or "tables"
            return
        if place.table != self._name:
            self.open_table(place.table)
        assert self._explorer is not None
        self._explorer.visit(address)

    def link(self) -> str:
        """Return the address of what is shown: the part of a link after ``#``."""
        if self._explorer is None:
            return address_of(self._view)
        return f"{address_of('', table=self._name)}&{self._explorer.link()}"

    def frame(self) -> pl.DataFrame:
        """Return the frame of the shown view, or of the explorer of a table.

        Examples
        --------
        >>> lx.widgets.DatabaseExplorer(database, "log").frame().equals(database.log())
        True
        """
        if self._explorer is not None:
            return self._explorer.frame()
        shown: dict[str, Callable[[], pl.DataFrame]] = {
            "tables": self._database.tables,
            "log": self._database.log,
            "disk": lambda: self._database.disk_usage().tables(),
        }
        return shown[self._view]()

    def code(self) -> str:
        """Return lines of Python for what is shown.

        They never contain keys or passwords: they contain the names of storage options, to be
        filled in.

        Examples
        --------
        >>> print(lx.widgets.DatabaseExplorer(database).code())
        import lance_explorer as lx
        <BLANKLINE>
        database = lx.open_database("...")
        database.tables()
        """
        if self._explorer is not None:
            return self._explorer.code()
        return database_code(self._database, _CODE[self._view])

    def close(self) -> None:
        """Close it, with the explorer of the table that is shown."""
        if self.comm is None:  # closed before, or never whole
            return
        if self._explorer is not None:
            self._explorer.close()
        super().close()

    def static_html(self) -> str:
        """Return the names of the tables, which are known before any table is read."""
        names = ", ".join([f"<code>{escape(name)}</code>" for name in self._database.names])
        number = counted(len(self._database), "table")
        return f"<p>{escape(self._database.name)}: {number}. {names}</p>"

    @described
    def __repr__(self) -> str:
        return f"DatabaseExplorer({self._database.name}: {self._name or self._view})"

    # ------------------------------------------------------------------------- what is asked

    @answers("about")
    def _about(self, _: Request) -> DatabaseAbout:
        database = self._database
        tabs = [Tab(name, label) for name, label in DATABASE_VIEWS.items()]
        return DatabaseAbout(database.name, database.uri, database.names, tabs)

    @answers("tables", in_background=True)
    def _tables(self, _: Request) -> DatabaseTables:
        with self._looking:  # once for all that is asked of what is seen
            return tables_of(self._database)

    @answers("log", in_background=True)
    def _log(self, _: Request) -> DatabaseLog:
        return log_of(self._database)

    @answers("usage", in_background=True)
    def _usage(self, _: Request) -> DatabaseUsage:
        with self._looking:
            return usage_of(self._database)

    @answers("cleanup", in_background=True)
    def _cleanup(self, _: Request, *, days: int) -> Answer:
        """Return what cleanups of versions of this age would free, with the best calls."""
        preview = self._database.cleanup_preview(older_than=timedelta(days=days))
        return answer_view(preview.answer)

    @answers("search", in_background=True)
    def _search(self, request: Request, *, text: str) -> DatabaseSearch:
        """Return the versions at a time or tag, or the rows that have a value; or an error."""
        request.progress("searching")
        database = self._database
        try:
            if parsed_time(text) is not None or text in database.tags:
                return DatabaseSearch(moment=moment_of(database.at(text)))
            most = max(_MOST_SEARCHED // max(len(database), 1), _LEAST_SEARCHED)
            matches = database.find(text, max_bytes=most)
            return DatabaseSearch(answer=answer_view(matches.answer, SearchAnswer, can_go_on=False))
        except LanceExplorerError as error:
            return DatabaseSearch(problem=str(error))

    @answers("show")
    def _show(self, _: Request, *, view: str) -> None:
        self.view = view

    @answers("open_table")
    def _open_table(
        self, _: Request, *, name: str, version: Wide | None = None, branch: str | None = None
    ) -> None:
        self.open_table(name, version, branch)

    @answers("code")
    def _as_code(self, _: Request) -> Code:
        return Code(self.code())

    # ------------------------------------------------------------------------- new versions

    @answers("follow")
    def _follow_on(self, _: Request, *, on: bool) -> None:
        self._follow = on
        self._show_live()

    @answers("look", in_background=True)
    def _look(self, _: Request) -> Wait:
        """Look for new versions and tables; return when to look again, in milliseconds."""
        if self._follow and self._explorer is None:
            self._look_for_news()
        return Wait(self.live.wait)

    def _look_for_news(self) -> None:
        begun = time.monotonic()
        with self._looking:
            before = self._database
            try:
                newest = copy(before).refresh()
                is_new = not newest.tables().equals(before.tables())
            except LanceExplorerError as error:
                self._pace.failed()
                self._problem = failure_words(error)
                self._show_live()
                return
            self._database = newest
        self._pace.took(time.monotonic() - begun)
        self._problem = ""
        self._show_live()
        if is_new:
            self.take_new_versions()

    def _show_live(self) -> None:
        wait = round(self._pace.wait * 1000)
        self.live = Live(is_on=self._follow, wait=wait, news="", latest="0", note=self._problem)

    def _show_place(self) -> None:
        self.database_place = DatabasePlace(self._view, self._name)
        self._show_address()

    def _show_address(self, _: object = None) -> None:
        """Send the place to the browser; the explorer of a table does so itself."""
        explorer = self._explorer
        if explorer is None:
            text, step = address_of(self._view), 0
        else:
            text = f"{address_of('', table=self._name)}&{explorer.address.text}"
            step = 1 + explorer.address.step
        self.address = Address(text, step)


def _known(name: str) -> str:
    check_choice("view", name, tuple(DATABASE_VIEWS))
    return name
