"""The lives of fragments as a picture that can be moved and zoomed, with the paths of rows."""

from typing import ClassVar

import polars as pl
from msgspec.structs import asdict
from propcache.api import cached_property

from lance_explorer.answers.calls import literal
from lance_explorer.errors import InvalidArgumentError, LanceExplorerError
from lance_explorer.figures.lineage_layout import LineageLayout, lay_out
from lance_explorer.figures.lineage_path import place_paths
from lance_explorer.figures.lineage_selection import with_origins
from lance_explorer.lineage.following import row_history
from lance_explorer.lineage.graph import FragmentNode, Lineage
from lance_explorer.table import Table
from lance_explorer.widgets.lineage_data import commits, layout_data, path_data
from lance_explorer.widgets.messages.lineage import (
    Between,
    LineageAbout,
    LineageRow,
    SelectedLane,
)
from lance_explorer.widgets.messages.lineage import LineageLayout as LineagePicture
from lance_explorer.widgets.messages.shared import Found
from lance_explorer.widgets.row_lookup import row_named
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.view import IN_STATIC_PICTURE, Request, View, answers

__all__ = ["LineageGraph"]

_MOST_LAYOUTS = 8
_Span = tuple[int, int]


class LineageGraph(View):
    """Show where the fragments of a table came from, and the path of a row through them.

    Versions run from left to right. A lane is a fragment: its thickness shows its number of rows,
    its colour the kind of commit that created it. Ribbons show rows moving from lane to lane. Drag
    or use the arrow keys to move, the wheel or + and - to zoom, 0 to see everything. A click on a
    lane selects its fragment, with all its ancestors and descendants. The box takes a row ID, or an
    address such as ``3:17`` (in version 5: ``3:17@5``). With more than 200 fragments the smaller
    ones share one lane, until you zoom in.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version``, ``fragment_id`` and ``row_id``.

    Examples
    --------
    >>> widget = lx.widgets.LineageGraph(table)
    >>> widget.state.fragment_id = 2
    >>> widget.selection
    {'version': 7, 'fragment_id': 2, 'node': '2@3', 'row_id': None}
    >>> widget.frame()["node"].to_list()
    ['0@1', '1@2', '2@3']
    """

    _module = "lineage_graph"
    _news: ClassVar = {"between": Between}

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        super().__init__(state=state)
        self._table = table_of(table)
        self._between: _Span | None = None
        self._is_focused = False
        self._chosen_node: str | None = None
        self._layouts: dict[tuple[_Span | None, str | None], LineageLayout] = {}
        self._row: tuple[int, pl.DataFrame] | None = None
        if self.state.version is None:
            self.state.version = table._view.latest_version

    @property
    def between(self) -> tuple[int, int] | None:
        """The first and the last version that are shown; None for all."""
        return self._between

    @between.setter
    def between(self, span: tuple[int, int] | None) -> None:
        if span is not None and not 0 <= span[0] <= span[1]:
            raise InvalidArgumentError(f"{span} is not a first and a last version")
        self._between = span
        self.tell("between", Between(span))

    @property
    def selection(self) -> dict[str, int | str | None]:
        """What is chosen: ``version``, ``fragment_id`` with its ``node``, and ``row_id``."""
        state = self.state
        return {
            "version": state.version,
            "fragment_id": state.fragment_id,
            "node": self._node(),
            "row_id": state.row_id,
        }

    def frame(self) -> pl.DataFrame:
        """Return the fragments that have a lane, as ``table.lineage().fragments()`` does."""
        lanes = self._layout(self._between, self._focus())
        shown = pl.col("node").is_in(lanes.lanes["node"].implode())
        return self._lineage.frames.fragments.filter(shown)

    def code(self) -> str:
        """Return the code for :meth:`frame`, where ``table`` is the table.

        Examples
        --------
        >>> lx.widgets.LineageGraph(table).code()
        'table.lineage().fragments()'
        """
        code = "table.lineage().fragments()"
        shown, fragments = self.frame()["node"], self._lineage.frames.fragments["node"]
        if len(shown) == len(fragments):
            return code
        return f'{code}.filter(pl.col("node").is_in({literal(shown.to_list())}))'

    def edges(self) -> pl.DataFrame:
        """Return the edges between these fragments, as ``table.lineage().edges()`` does."""
        nodes = self.frame()["node"].implode()
        ends = pl.col("from_node").is_in(nodes) & pl.col("to_node").is_in(nodes)
        return self._lineage.frames.edges.filter(ends)

    def static_html(self) -> str:
        """Return the static picture for a page without a kernel."""
        return self._table._html(last=IN_STATIC_PICTURE)

    # -------------------------------------------------------------------------- answers

    @answers("open", in_background=True)
    def _open(self, request: Request, *, refresh: bool = False) -> LineageAbout:
        if refresh:
            self._table.refresh()
            self._forget()
        request.progress("finding where the fragments came from")
        layout = self._layout(None, None)
        return LineageAbout(
            **asdict(commits(self._versions)),
            name=self._table._view.name,
            branch=self._table.branch,
            begin=layout.begin,
            end=layout.end,
            between=self._between,
            has_row_ids=self._table.latest.has_stable_row_ids,
        )

    @answers("picture", in_background=True)
    def _picture(self, request: Request, *, span: _Span | None) -> LineagePicture:
        """Return the lanes of some versions, those related to the chosen one, and a path."""
        layout = self._layout(span, self._focus())
        row, problem = self._way_of_row(request, layout)
        in_sight = pl.col("version").is_between(layout.begin, layout.end)
        versions = with_origins(self._versions.filter(in_sight), self._table.branch)
        return layout_data(layout, versions, self._selected(layout), row, problem)

    @answers("look")
    def _look(self, _: Request, *, span: _Span | None) -> None:
        """Record the visible range."""
        self._between = span

    @answers("select")
    def _select(self, _: Request, *, node: str | None, only: bool = False) -> None:
        """Select a node, or none; and show only related lanes, or all."""
        self._is_focused = only and node is not None
        self._chosen_node = node
        if node is None:
            self.state.fragment_id = None
        else:
            lives = self._lineage.frames.fragments.filter(node=node)
            self.state.fragment_id = lives["fragment_id"][0]

    @answers("find", in_background=True)
    def _find(self, request: Request, *, text: str) -> Found:
        """Choose the row that a text names; an error is part of the answer."""
        request.progress("looking for the row")
        try:
            row_id = row_named(self._table, text)
            self._events(row_id)
        except LanceExplorerError as error:
            return Found(problem=str(error))
        request.check()
        self.state.row_id = row_id
        return Found(row_id=str(row_id))

    # ------------------------------------------------------------------------------ data

    @cached_property
    def _lineage(self) -> Lineage:
        return self._table.lineage()

    @cached_property
    def _versions(self) -> pl.DataFrame:
        return self._table.versions(inherited=True)

    def _forget(self) -> None:
        self.__dict__.pop("_lineage", None)
        self.__dict__.pop("_versions", None)
        self._layouts.clear()
        self._row = None

    def _layout(self, span: _Span | None, focus: str | None) -> LineageLayout:
        key = span, focus
        layout = self._layouts.get(key)
        if layout is None:
            layout = lay_out(*self._lineage.frames, versions=span, focus=focus)
            self._layouts[key] = layout
            for old in [*self._layouts][:-_MOST_LAYOUTS]:
                self._layouts.pop(old, None)
        return layout

    def _focus(self) -> str | None:
        return self._node() if self._is_focused else None

    def _node(self) -> str | None:
        """Return the life of the chosen fragment: the clicked one, or else the current one."""
        chosen = self.state.fragment_id
        if chosen is None:
            return None
        lives = self._lineage.frames.fragments.filter(fragment_id=chosen)
        if self._chosen_node in lives["node"].to_list():
            return self._chosen_node
        version = self.state.version or 0
        now = lives.filter(pl.col("first_version") <= version, pl.col("last_version") >= version)
        nodes = [*lives["node"], *now["node"]]
        return nodes[-1] if nodes else None

    def _selected(self, layout: LineageLayout) -> SelectedLane | None:
        """Return the selected node, with its ancestors and descendants."""
        node = self._node()
        if node is None:
            return None
        facts = self._lineage.frames.fragments.filter(node=node).row(0, named=True)
        key = FragmentNode(*[facts[name] for name in FragmentNode._fields])
        ancestors = {str(one) for one in self._lineage.ancestors(key)}
        descendants = {str(one) for one in self._lineage.descendants(key)}
        related = {node, *ancestors, *descendants}
        lanes = {name: number for number, name in enumerate(layout.lanes["node"])}
        return SelectedLane(
            node=node,
            lane=lanes.get(node),
            lanes=[number for name, number in lanes.items() if name in related],
            fragment_id=str(facts["fragment_id"]),
            num_ancestors=len(ancestors),
            num_descendants=len(descendants),
            only=self._is_focused,
        )

    def _way_of_row(
        self, request: Request, layout: LineageLayout
    ) -> tuple[LineageRow | None, str | None]:
        row_id = self.state.row_id
        if row_id is None:
            return None, None
        try:
            if self._row is None or self._row[0] != row_id:
                request.progress(f"following row {row_id}")
            events = self._events(row_id)
        except LanceExplorerError as error:
            return None, str(error)
        fragments, edges, _ = self._lineage.frames
        [path] = place_paths(layout, fragments, edges, events)
        return path_data(row_id, path, events), None

    def _events(self, row_id: int) -> pl.DataFrame:
        kept = self._row
        if kept is None or kept[0] != row_id:
            self._row = kept = row_id, row_history(self._table._view, row_id)
        return kept[1]
