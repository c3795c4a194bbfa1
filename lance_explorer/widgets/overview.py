"""A table at a glance: what it is, how it grew, what changed lately, and whether it is healthy."""

import polars as pl

from lance_explorer.checks.advice import NOTHING_TO_DO, advice
from lance_explorer.errors import LanceExplorerError
from lance_explorer.frames.findings import findings_frame
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.advice_data import advice_data
from lance_explorer.widgets.disk_data import (
    disk_answer,
    forget_what_is_on_disk,
    on_disk,
    plans_answer,
)
from lance_explorer.widgets.messages.advice import Advice
from lance_explorer.widgets.messages.answer import AnswerSection
from lance_explorer.widgets.messages.disk import DiskUsage, Plans
from lance_explorer.widgets.messages.overview import Lately, Latest, Sizes, Story
from lance_explorer.widgets.messages.shared import Problem
from lance_explorer.widgets.overview_data import (
    first_rows,
    lately,
    latest_facts,
    size_data,
    table_facts,
)
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.version_data import version_data
from lance_explorer.widgets.version_reading import VersionsView, wait_for_versions
from lance_explorer.widgets.view import Request, answers

__all__ = ["Overview"]


class Overview(VersionsView):
    """Show what a table is, what changed lately, whether it is healthy, and what it takes on disk.

    A sentence first, then the growth of rows, bytes or fragments over versions, each commit in the
    colour of its kind; choose a version there with arrow keys or the mouse. Below, the newest
    commits, what is wrong or worth doing with the call that fixes it, the first rows, facts, the
    versions that wrote most of the current data, operations by kind, and what is on disk, with what
    a cleanup or a compaction would make of it. A click on any of these chooses its version and
    fragment.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version`` and ``fragment_id``.

    Examples
    --------
    >>> widget = lx.widgets.Overview(table)
    >>> widget.frame().height
    7
    >>> widget.code()
    'table.versions()'
    >>> widget.selection
    {'version': 7, 'fragment_id': None}
    """

    _module = "overview"
    takes_new_versions = True

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        super().__init__(state=state)
        self._table = table_of(table)
        if self.state.version is None:
            self.state.version = table._view.latest_version

    @property
    def selection(self) -> dict[str, int | None]:
        """What is chosen: ``version``, and ``fragment_id``, None if no fragment is selected."""
        return {"version": self.state.version, "fragment_id": self.state.fragment_id}

    @property
    def advice(self) -> pl.DataFrame:
        """What is wrong with the table and what should be done, most serious first.

        These are the rows of ``table.check()``, without those on row IDs, which may take long.
        """
        return findings_frame(advice(self._table._view, lambda _: on_disk(self._table)))

    def frame(self) -> pl.DataFrame:
        """Return all kept versions, as ``table.versions()`` does."""
        return self._table.versions()

    def code(self) -> str:
        """Return the code for :meth:`frame`, where ``table`` is the table."""
        return "table.versions()"

    @described
    def __repr__(self) -> str:
        return f"Overview({self._table!r})"

    @answers("latest", in_background=True)
    def _latest(self, _: Request) -> Latest:
        """Return facts of the latest version, from its manifest alone; none if it is unreadable."""
        try:
            latest = self._table.versions(last=1)
            facts = latest_facts(self._table, latest) if len(latest) else None
        except LanceExplorerError:
            facts = None
        view = self._table._view
        return Latest(view.name, self._table.branch, len(view.listing.versions), facts)

    @answers("story", in_background=True)
    def _story(self, request: Request, *, refresh: bool = False) -> Story:
        """Return all versions as arrays, and facts of the latest."""
        if refresh:
            self._table.refresh()
            forget_what_is_on_disk(self._table)
        wait_for_versions(self._table, request.progress)
        versions = self._table.versions()
        facts = table_facts(self._table, versions) if len(versions) else None
        return version_data(self._table, Story, facts=facts)

    @answers("lately", in_background=True)
    def _lately(self, _: Request) -> Lately | Problem:
        """Return the newest commits."""
        try:
            return lately(self._table)
        except LanceExplorerError as error:
            return Problem(str(error))

    @answers("first_rows", in_background=True)
    def _first_rows(self, _: Request) -> AnswerSection | Problem:
        """Return the first rows of the latest version; why they cannot be read is an answer."""
        try:
            return first_rows(self._table)
        except LanceExplorerError as error:
            return Problem(str(error))

    @answers("sizes", in_background=True)
    def _sizes(self, request: Request) -> Sizes:
        """Return what made the latest version big."""
        request.progress("finding what made the table big")
        return size_data(self._table)

    @answers("disk", in_background=True)
    def _disk(self, request: Request) -> DiskUsage | Problem:
        """Return what is on disk."""
        return disk_answer(self._table, request)

    @answers("plans", in_background=True)
    def _plans(self, request: Request) -> Plans:
        """Return what a cleanup and a compaction would make of it."""
        return plans_answer(self._table, request)

    @answers("advice", in_background=True)
    def _advice(self, request: Request) -> Advice:
        """Return what is wrong with the table and what to do, the worst first."""
        request.progress("checking the table")
        return advice_data(
            advice(self._table._view, lambda _: on_disk(self._table)),
            f"{NOTHING_TO_DO}: no check found anything.",
        )
