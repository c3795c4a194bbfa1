"""Everything about a table in one widget: views that share what is chosen."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import polars as pl
from msgspec.structs import asdict

from lance_explorer.answers import Answer
from lance_explorer.arguments import check_choice, flag
from lance_explorer.errors import LanceExplorerError, RefNotFoundError, VersionNotFoundError
from lance_explorer.lineage.find import Found as FoundRows
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.addresses import Visit, address_of, read_address
from lance_explorer.widgets.answer_view import answer_view, as_choices
from lance_explorer.widgets.changes import Changes
from lance_explorer.widgets.code_lines import opening_code
from lance_explorer.widgets.columns import Columns
from lance_explorer.widgets.disk import Disk
from lance_explorer.widgets.found_lines import found_answer
from lance_explorer.widgets.indices import Indices
from lance_explorer.widgets.lineage_graph import LineageGraph
from lance_explorer.widgets.live import Following
from lance_explorer.widgets.log import Log
from lance_explorer.widgets.messages.answer import LogFilters, SearchAnswer
from lance_explorer.widgets.messages.explorer import (
    About,
    Code,
    Example,
    Examples,
    Live,
    SearchResult,
    Tab,
    Wait,
)
from lance_explorer.widgets.messages.explorer import Place as ShownPlace
from lance_explorer.widgets.messages.parts import Address
from lance_explorer.widgets.overview import Overview
from lance_explorer.widgets.questions import examples
from lance_explorer.widgets.row_history import RowHistory
from lance_explorer.widgets.search import Found, answered, nothing_found, rows_with, search
from lance_explorer.widgets.segment_encodings import SegmentEncodings
from lance_explorer.widgets.state import ExplorerState, change, choices, state_of, table_of
from lance_explorer.widgets.time_travel import TimeTravel
from lance_explorer.widgets.trail import Place, Trail
from lance_explorer.widgets.unavailable import Unavailable
from lance_explorer.widgets.version_reading import wait_if_reading
from lance_explorer.widgets.view import FAILURES, IN_STATIC_PICTURE, Request, View, answers, sent
from lance_explorer.widgets.whole import Whole

__all__ = ["TABS", "Explorer"]


@dataclass(frozen=True, slots=True)
class _Tab:
    """A view of the explorer: its class name in Python, and the name on its tab."""

    name: str
    label: str
    make: Callable[..., Any]
    has_version: bool = True
    """Whether it shows one version, so that a search for another version stays in it."""
    is_advanced: bool = False
    """Whether only experts need it."""

    @property
    def message(self) -> Tab:
        """What the browser needs to know of it."""
        return Tab(self.name, self.label, self.is_advanced)


TABS = {
    tab.name: tab
    for tab in (
        _Tab("overview", "Overview", Overview, has_version=False),
        _Tab("log", "Log", Log),
        _Tab("time_travel", "Time travel", TimeTravel),
        _Tab("changes", "Changes", Changes),
        _Tab("columns", "Columns", Columns),
        _Tab("row", "Row", RowHistory, has_version=False),
        _Tab("lineage", "Lineage", LineageGraph),
        _Tab("indices", "Indices", Indices),
        _Tab("disk", "Disk", Disk),
        _Tab("encodings", "Encodings", SegmentEncodings, is_advanced=True),
    )
}
"""The views of the explorer, by name."""


class Explorer(Whole):
    """Everything about a table: views that share the chosen version, row and fragment.

    Overview, Log, Time travel, Changes, Columns, Row, Lineage, Indices and Disk; behind Advanced,
    Encodings. The box on top takes a version (``v12``), a tag, a date, ``row 42``, ``fragment 7``,
    an address (``3:17``), a filter (``id = 42``), a word, or a question such as
    ``who deleted id = 42``; with Ctrl or Cmd and K it shows some.

    While it is in sight it looks for new versions every few seconds. They come into the Overview,
    the Log, Time travel and Changes, and nothing that is shown moves: the selection stays, and a
    button such as ``3 new versions`` opens the newest. ``Back`` and ``Forward`` go through what was
    shown before; ``Copy as code`` gives the lines of Python for what is shown. A view is made when
    it is first chosen, and works only while it is shown.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    view : str
        The view to begin with: ``"overview"``, ``"log"``, ``"time_travel"``, ``"changes"``,
        ``"columns"``, ``"row"``, ``"lineage"``, ``"encodings"``, ``"indices"`` or ``"disk"``.
    state : ExplorerState, optional
        What is chosen first; other widgets with the same state are linked.
    follow : bool, default True
        Whether to look for new versions; the button ``Live`` turns it on and off. The given table
        itself is not refreshed by that.

    Examples
    --------
    >>> explorer = lx.widgets.Explorer(table, view="time_travel")
    >>> explorer.state.version = 3
    >>> explorer.frame().height
    3
    >>> print(explorer.code().splitlines()[-1])
    table.inspect.fragments(version=3)
    >>> explorer.selection["view"], explorer.selection["version"]
    ('time_travel', 3)
    """

    _module = "explorer"
    _news: ClassVar = {"about": About}

    place = sent(ShownPlace)
    """The view that is shown, and whether there are places to go back or forward to."""

    live = sent(Live)
    """Whether it looks for new versions, how long it waits between two looks, and the notice."""

    def __init__(
        self,
        table: Table,
        view: str = "overview",
        *,
        state: ExplorerState | None = None,
        follow: bool = True,
    ) -> None:
        self._table = Table(table_of(table)._view)  # of its own: it is refreshed at any time
        self._following = Following(self._table._view, flag("follow", follow))
        self.state = state_of(state)
        self._views: dict[str, View] = {}
        self._replaced: list[View] = []  # views that still have to answer
        self._listings: dict[str, object] = {}  # of versions, as each view was made from
        self._filters: dict[str, str] = {}  # of the views: each has other columns
        self._lock = threading.RLock()
        self._rows: FoundRows | None = None  # that were searched for last
        self._moving = 0
        self._view = _known(view)
        if self.state.version is None:
            self.state.version = table._view.latest_version
        self._trail = Trail(self._place())
        super().__init__(state=self.state)
        self.on_open([*TABS], self._open)
        self.state.observe(self._hear)
        self._open(view, {})
        self._trail = Trail(self._place())
        self._show_place()
        self._show_live()

    @property
    def view(self) -> str:
        """The name of the view that is shown.

        Examples
        --------
        >>> explorer = lx.widgets.Explorer(table)
        >>> explorer.view = "lineage"
        >>> explorer
        Explorer(people.lance: lineage)
        """
        return self._view

    @view.setter
    def view(self, name: str) -> None:
        self._open(_known(name), {})

    @property
    def follow(self) -> bool:
        """Whether it looks for new versions while it is in sight.

        Examples
        --------
        >>> explorer = lx.widgets.Explorer(table)
        >>> explorer.follow = False
        """
        return self._following.is_on

    @follow.setter
    def follow(self, follow: bool) -> None:
        self._following.is_on = flag("follow", follow)
        self._show_live()

    @property
    def selection(self) -> dict[str, int | str | None]:
        """What is chosen: ``view``, and the choices that views share, None if there is none.

        These are ``version``, ``compared_version``, ``fragment_id``, ``row_id`` and ``filter``, the
        filter of the view that is shown.
        """
        return {"view": self._view, **choices(self.state)}

    def frame(self) -> pl.DataFrame:
        """Return the frame of the shown view; its errors are raised.

        Examples
        --------
        >>> lx.widgets.Explorer(table).frame().equals(table.versions())
        True
        """
        frame: pl.DataFrame = self._views[self._view].frame()
        return frame

    def code(self) -> str:
        """Return lines of Python for what is shown, beginning with opening the table.

        They never contain keys or passwords: they contain the names of storage options, to be
        filled in.

        Examples
        --------
        >>> lx.widgets.Explorer(table).code().splitlines()[-1]
        'table.versions()'
        """
        return opening_code(self._table, self._views[self._view].code())

    def close(self) -> None:
        """Close the explorer with all of its views; other views with its state stay open."""
        if self.comm is None:  # closed before, or never whole
            return
        self.state.unobserve(self._hear)
        for view in (*self._views.values(), *self._replaced):
            view.close()
        super().close()

    def begin(self) -> None:
        """Ask the shown view for its first answers in advance."""
        self._views[self._view].begin()

    def static_html(self) -> str:
        """Return how the table is shown without a kernel."""
        return self._table._html(last=IN_STATIC_PICTURE)

    @described
    def __repr__(self) -> str:
        return f"Explorer({self._table._view.name}: {self._view})"

    def visit(self, address: str) -> None:
        """Show what a link names.

        Parameters
        ----------
        address : str
            The part of the link after ``#``: what is shown, as :meth:`link` returns it.

        Raises
        ------
        InvalidArgumentError
            If it is not an address, or names a view that does not exist.
        RefNotFoundError
            If the table has no such branch.

        Examples
        --------
        >>> explorer = lx.widgets.Explorer(table)
        >>> explorer.visit("view=changes&version=3&from=2")
        >>> explorer.selection["view"], explorer.selection["compared_version"]
        ('changes', 2)
        """
        place = read_address(address)
        view = _known(place.view or "overview")
        if place.branch != self._table.branch:
            self._show_table(Table(self._table._view.on_branch(place.branch)))
        self._arrange_grid(view, place)
        cleared = dict.fromkeys(["compared_version", "fragment_id", "row_id"])
        self._open(view, {**cleared, "filter": "", **place.choices})

    def link(self) -> str:
        """Return the address of what is shown: the part of a link after ``#``.

        Examples
        --------
        >>> lx.widgets.Explorer(table, "log").link()
        'view=log&version=7'
        """
        module = _module_of(self._view)
        return address_of(
            self._view,
            self._table.branch,
            choices(self.state),
            columns=self.state.chosen_columns.get(module, ()),
            sorts=self.state.chosen_sorts.get(module, ()),
        )

    def _arrange_grid(self, view: str, place: Visit) -> None:
        """Choose the columns of a view and the order of its rows, as an address names them."""
        module = _module_of(view)
        if place.columns:
            self.state.chosen_columns[module] = place.columns
        if place.sorts:
            self.state.chosen_sorts[module] = place.sorts
        if (place.columns or place.sorts) and view in self._views:  # it is made again, with these
            self._views.pop(view).close()

    # --------------------------------------------------------------------- what the bar asks

    @answers("about")
    def _about(self, _: Request) -> About:
        return self._about_table()

    def _about_table(self) -> About:
        return About(
            name=self._table._view.name,
            uri=self._table.uri,
            branch=self._table.branch,
            branches=[*self._table._view.refs.branch_names],
            tabs=[tab.message for tab in TABS.values()],
        )

    @answers("branch")
    def _show_branch(self, _: Request, *, branch: str | None) -> None:
        """Show another branch, in the same view, at its latest version."""
        self._show_table(Table(self._table._view.on_branch(branch)))

    def _show_table(self, table: Table) -> None:
        """Show another branch, or the table that replaced this one."""
        with self._one_step():
            self._table = table
            self._following.begin(table._view)
            while self._views:
                self._views.popitem()[1].close()
            self.parts = {}
            self._filters.clear()
            latest = {"version": table._view.latest_version}
            change(self.state, {**dict.fromkeys(choices(self.state)), "filter": "", **latest})
            self._complete()
            self._built(self._view).is_shown = True
        self._trail = Trail(self._place())
        self._show_place()
        self._show_live()
        self.tell("about", self._about_table())

    @answers("step")
    def _step(self, _: Request, *, by: int) -> None:
        self._go_by(by)

    @answers("search", in_background=True)
    def _search(self, request: Request, *, text: str) -> SearchResult:
        """Return where to find what a text means, or its answer; an error is part of it."""
        request.progress("searching")
        table = self._table
        try:
            if (answer := answered(table, text)) is not None:
                return self._search_result(*answer)
            try:
                result = search(table, text)
            except (RefNotFoundError, VersionNotFoundError) as error:
                if (rows := rows_with(table, text)) is not None:
                    return self._search_result(*rows)
                if isinstance(error, VersionNotFoundError):
                    return SearchResult(problem=f"{error}; no row has {text.strip()} either")
                return SearchResult(problem=nothing_found(table, text))
            view, changes = self._place_of(result)
        except LanceExplorerError as error:
            return SearchResult(problem=str(error))
        return SearchResult(view, as_choices(changes), result.branch)

    @answers("search_on", in_background=True)
    def _search_on(self, request: Request) -> SearchResult:
        """Continue the last search for rows."""
        request.progress("searching")
        if self._rows is None:
            return SearchResult(problem="nothing was searched for")
        try:
            rows = self._rows.go_on()
            return self._search_result(found_answer(self._table, rows), rows)
        except LanceExplorerError as error:
            return SearchResult(problem=str(error))

    @answers("examples", in_background=True)
    def _examples(self, _: Request) -> Examples:
        wait_if_reading(self._table)
        return Examples([Example(text, hint) for text, hint in examples(self._table)])

    @answers("show_log")
    def _show_log(self, _: Request, *, filters: LogFilters) -> None:
        """Show the log with some filters."""
        self._open("log", {})
        log = self._views["log"]
        if isinstance(log, Log):
            log.show_only(**asdict(filters))

    def _search_result(self, answer: Answer, rows: FoundRows | None) -> SearchResult:
        self._rows = rows
        whole = replace(answer, code=opening_code(self._table, answer.code))
        can_go_on = rows is not None and not rows.is_complete
        return SearchResult(answer=answer_view(whole, SearchAnswer, can_go_on=can_go_on))

    @answers("code", in_background=True)
    def _as_code(self, _: Request) -> Code:
        return Code(self.code())

    # ---------------------------------------------------------------------------- new versions

    @answers("follow")
    def _follow(self, _: Request, *, on: bool) -> None:
        self.follow = on

    @answers("look", in_background=True)
    def _look(self, _: Request) -> Wait:
        """Look for new versions; return when to look again, in milliseconds."""
        if self.follow:
            self._look_for_news()
        return Wait(self._following.wait_ms)

    @answers("newest")
    def _show_newest(self, _: Request) -> None:
        """Show the latest version in the shown view, or the table that replaced this one."""
        if self._following.is_replaced:
            self._show_table(Table(self._table._view).refresh())
            return
        if self._is_old(self._view) and not self._views[self._view].takes_new_versions:
            self._views.pop(self._view).close()
        latest = self._table._view.latest_version
        self._open(self._view, {"version": latest, "compared_version": None})

    def _look_for_news(self) -> None:
        """Look once, and let the shown view take in new versions."""
        table = self._table
        has_new_refs = self._following.look(table)
        with self._lock:
            if table is not self._table:  # another branch is shown by now
                return
            self._renew(self._view)
            self._show_live()
        if has_new_refs:
            self.tell("about", self._about_table())

    def _renew(self, name: str) -> None:
        """Let a view that was made before a refresh take in new versions."""
        view = self._views.get(name)
        if view is not None and view.takes_new_versions and self._is_old(name):
            self._listings[name] = self._table._view.listing
            view.take_new_versions()

    def _is_old(self, name: str) -> bool:
        """Tell whether a view was made before the last refresh."""
        return self._listings.get(name) is not self._table._view.listing

    def _show_live(self) -> None:
        """Show new versions in the toolbar."""
        self.live = self._following.message(self._table._view, self.state.version)

    # ------------------------------------------------------------------- from place to place

    def _open(self, name: str, changes: Mapping[str, Any]) -> None:
        """Show a view and change what is chosen, in one step."""
        if name != self._view:
            self._forget_if_old(name)
            self._filters[self._view] = self.state.filter
            changes = {"filter": self._filters.get(name, ""), **changes}
        with self._one_step():
            while self._replaced:
                self._replaced.pop().close()
            for other, view in self._views.items():
                if other != name:
                    view.is_shown = False
            self._view = name
            change(self.state, changes)
            self._complete()
            self._built(name).is_shown = True
            self._show_place()

    def _forget_if_old(self, name: str) -> None:
        """Drop a view that was made before a refresh, or let it take in new versions."""
        if name in self._views and self._is_old(name):
            if self._views[name].takes_new_versions:
                self._renew(name)
            else:
                self._views.pop(name).close()

    def _built(self, name: str) -> Any:
        """Return a view; it is made when it is first shown."""
        if name not in self._views:
            self._listings[name] = self._table._view.listing
            try:
                self._put(name, self._made(name))
            except FAILURES as error:
                again = partial(self._make_again, name)
                self._put(name, self._make_part(Unavailable, error, again, state=self.state))
        return self._views[name]

    def _made(self, name: str) -> Any:
        return self._make_part(TABS[name].make, self._table, state=self.state)

    def _make_again(self, name: str) -> None:
        """Make a view that failed before; errors are raised."""
        with self._one_step():
            self._put(name, self._made(name))

    def _put(self, name: str, view: Any) -> None:
        if name in self._views:
            self._replaced.append(self._views[name])
        view.label = TABS[name].label
        view.on_open([*TABS], self._open)
        self._views[name] = view
        self._show_part(name, view)

    def _go_by(self, by: int) -> None:
        with self._lock:
            place = self._trail.go(by)
            self._open(place.view, place.choices)

    def _place_of(self, result: Found) -> tuple[str, dict[str, int | None]]:
        """Return the view that shows the result of a search, and the choices to set there."""
        match result.what:
            case "version":
                has_version = TABS[self._view].has_version
                return self._view if has_version else "time_travel", {"version": result.number}
            case "row":
                return "row", {"row_id": result.number}
            case "fragment":
                return "lineage", {"fragment_id": result.number}
            case "branch":
                return "time_travel", {"version": result.number}

    def _complete(self) -> None:
        """Set the choices that a view needs: for a comparison, the previous version."""
        state = self.state
        if self._view == "changes" and state.compared_version is None:
            version = self._table._view.latest_version if state.version is None else state.version
            kept = [file.version for file in self._table._view.listing.versions]
            before = [other for other in kept if other < version]
            state.compared_version = before[-1] if before else 0 if version == 1 else version

    @contextmanager
    def _one_step(self) -> Iterator[None]:
        """Treat all changes as one step."""
        with self._lock:
            self._moving += 1
            try:
                yield
            finally:
                self._moving -= 1
        self._note()

    def _hear(self, _: object) -> None:
        self._note()
        with self._lock:
            self._show_live()

    def _note(self) -> None:
        """Record the current place, to come back to."""
        with self._lock:
            if self._moving:
                return
            self._complete()
            self._trail.visit(self._place())
            self._show_place()

    def _place(self) -> Place:
        return Place(self._view, choices(self.state))

    def _show_place(self) -> None:
        trail = self._trail
        self.place = ShownPlace(self._view, trail.can_go_back, trail.can_go_forward)
        if not self._moving:  # a place is an address when it is whole
            text = address_of(self._view, self._table.branch, choices(self.state))
            self.address = Address(text, trail.step)


def _module_of(view: str) -> str:
    """Return the key under which the chosen columns of a view are kept."""
    return str(getattr(TABS[view].make, "_module", view))


def _known(name: str) -> str:
    check_choice("view", name, tuple(TABS))
    return name
