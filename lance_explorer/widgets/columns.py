"""The values of columns over versions: distributions, and the commits that moved them."""

import threading
from html import escape

import polars as pl

from lance_explorer.answers.calls import call
from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.schema import column_fields
from lance_explorer.frames.sizes import byte_size
from lance_explorer.profiles.profile import Profile
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.columns_data import column_facts, column_lines
from lance_explorer.widgets.messages.base import Wide
from lance_explorer.widgets.messages.columns import Columns as Message
from lance_explorer.widgets.messages.columns import VersionColumns
from lance_explorer.widgets.messages.shared import Problem
from lance_explorer.widgets.messages.versions import VersionData
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.version_data import version_data
from lance_explorer.widgets.version_reading import VersionsView, wait_for_versions
from lance_explorer.widgets.view import Request, answers

__all__ = ["Columns"]

_MOST_COLUMNS = 40
_BYTES_AT_FIRST = 256 << 20
"""More is read on request."""


class Columns(VersionsView):
    """Show the values of each column, over all versions and in the chosen one.

    A line for each column: its histogram in the chosen version, and a picture of its values over
    versions with a mark where a commit moved them. A click on a mark chooses that version; a click
    on the picture any other. At first 256 MiB of values are read, the newest versions first.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version``.

    Examples
    --------
    >>> widget = lx.widgets.Columns(table)
    >>> widget.frame().select("column", "num_rows", "mean").row(0)
    ('id', 9, 5.888888888888889)
    >>> widget.code()
    'table.profile(versions=[7]).to_polars()'
    """

    _module = "columns"

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        super().__init__(state=state)
        self._table = table_of(table)
        self._found: tuple[object, Profile] | None = None
        self._reading = threading.Lock()
        if self.state.version is None:
            self.state.version = table._view.latest_version

    @property
    def selection(self) -> dict[str, int | None]:
        """What is chosen: ``version``."""
        return {"version": self.state.version}

    def frame(self) -> pl.DataFrame:
        """Return the values of the columns in the chosen version, as ``table.profile()`` does.

        One row for each column, and for each nested field.
        """
        version = self._version_shown
        return self._table.profile(self._names_at(version), versions=[version]).to_polars()

    def code(self) -> str:
        """Return the line of Python that gives :meth:`frame`."""
        version = self._version_shown
        names = self._names_at(version)
        asked = () if names is None else (names,)
        return f"{call('table.profile', *asked, versions=[version])}.to_polars()"

    def static_html(self) -> str:
        """Return what a page without a kernel shows: the values of the chosen version."""
        version = self._version_shown
        try:
            profiled = self._table.profile(
                self._names_at(version), versions=[version], max_bytes=_BYTES_AT_FIRST
            )
        except LanceExplorerError as error:
            return f"<p>{escape(str(error))}</p>"
        return profiled.answer.html()

    @described
    def __repr__(self) -> str:
        return f"Columns(version {self._version_shown})"

    @property
    def _version_shown(self) -> int:
        version = self.state.version
        return self._table._view.latest_version if version is None else version

    def _columns_at(self, version: int) -> list[str]:
        [record] = self._table._view.version(version).records
        return [*column_fields(record.schema)]

    def _names_at(self, version: int) -> list[str] | None:
        """Return which columns of a version are shown; None if all are."""
        names = self._columns_at(version)
        return names[:_MOST_COLUMNS] if len(names) > _MOST_COLUMNS else None

    def _profile(self, request: Request, *, everything: bool) -> Profile:
        """Return the profile of the listed versions; read once."""
        with self._reading:
            request.check()
            listing = self._table._view.listing
            if self._found is None or self._found[0] is not listing:
                names = self._names_at(self._table._view.latest_version)
                self._found = listing, self._table.profile(names, max_bytes=_BYTES_AT_FIRST)
            if everything and not self._found[1].is_complete:
                self._found = listing, self._found[1].go_on()
            return self._found[1]

    # -------------------------------------------------------------------------- answers

    @answers("history", in_background=True)
    def _history(self, request: Request, *, refresh: bool = False) -> VersionData:
        if refresh:
            self._table.refresh()
        wait_for_versions(self._table, request.progress)
        return version_data(self._table)

    @answers("columns", in_background=True)
    def _columns(self, request: Request, *, everything: bool = False) -> Message | Problem:
        """Return the columns over versions; an error is part of the answer."""
        request.progress("reading values")
        try:
            names = self._columns_at(self._table._view.latest_version)
            if not names:
                return Problem("The latest version has no columns.")
            profile = self._profile(request, everything=everything)
            versions = self._table._view.history.versions.tolist()
            positions = {version: place for place, version in enumerate(versions)}
            lines = column_lines(profile, positions)
        except LanceExplorerError as error:
            return Problem(str(error))
        problems = profile.findings()["statement"].unique(maintain_order=True).head(5)
        return Message(
            sentence=profile.sentence,
            lines=lines,
            num_columns=len(names),
            unread="" if profile.is_complete else byte_size(profile.bytes_left),
            problems=problems.to_list(),
        )

    @answers("version", in_background=True)
    def _version(self, request: Request, *, version: Wide) -> VersionColumns | Problem:
        """Return the values of the columns in a version."""
        request.progress("reading values")
        try:
            profile = self._profile(request, everything=False)
            return VersionColumns(column_facts(profile, version))
        except LanceExplorerError as error:
            return Problem(str(error))
