"""Where fragments came from, as a graph: lives of fragments, and the rows that moved between them.

It answers questions about the graph; ``edges`` finds its edges.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl
from propcache.api import cached_property

from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.arguments import many, text, whole_number
from lance_explorer.errors import FragmentNotFoundError
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.documented import column_table, documented
from lance_explorer.frames.sizes import counted
from lance_explorer.history.collector import collector_paused
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.edges import StretchEdges
from lance_explorer.lineage.export import to_dot, to_graphml, to_json, to_mermaid
from lance_explorer.lineage.graph_frames import (
    LineageFrames,
    edges_frame,
    lives_frame,
    states_frame,
    unseen_frame,
)
from lance_explorer.lineage.nodes import EDGES, FRAGMENTS, STATES, Edge, FragmentNode
from lance_explorer.lineage.openlineage import openlineage_events
from lance_explorer.lineage.rows_in_lives import visits
from lance_explorer.lineage.version_line import line_of
from lance_explorer.storage import check_not_forked

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["FragmentNode", "Lineage", "LineageFrames", "lineage"]

_F = TypeVar("_F", bound=Callable[..., object])


@collector_paused()
def lineage(view: HistoryView) -> "Lineage":
    """Return the lineage of the fragments of a branch, its parents up to the fork with it."""
    stretches = line_of(view)
    edges: list[Edge] = []
    fragments, states = [], []
    parent: StretchEdges | None = None
    for stretch in stretches:
        finder = StretchEdges(stretch, parent)
        edges += sorted(finder.find(), key=lambda edge: edge.version)
        is_latest = stretch is stretches[-1]
        fragments.append(unseen_frame(finder.unseen.values()))
        fragments.append(lives_frame(stretch, finder.nodes, is_latest=is_latest))
        states.append(states_frame(stretch, finder.nodes))
        parent = finder
    frames = LineageFrames(pl.concat(fragments), edges_frame(view, edges), pl.concat(states))
    return Lineage(frames, view)


def _with_attributes(graph: _F) -> _F:
    """Put the attributes of nodes and edges into the docstring of the graph."""
    tables = [
        FrameSchema(schema.name, tuple([c for c in schema.columns if not c.name.endswith("node")]))
        for schema in (FRAGMENTS, EDGES)
    ]
    words = "\n\n".join([column_table(schema) for schema in tables])
    graph.__doc__ = cleandoc(graph.__doc__ or "").format(attributes=words)
    return graph


@dataclass(frozen=True, repr=False)
class Lineage(Answering):
    """Where the rows of each fragment of a table came from, and where they moved to.

    Attributes
    ----------
    frames : LineageFrames
        Nodes, edges and states as frames, for the figures.
    """

    frames: LineageFrames
    _view: HistoryView

    @cached_property
    @_with_attributes
    def graph(self) -> "nx.MultiDiGraph":
        """The graph: a plain networkx graph, with a :class:`FragmentNode` for each life.

        Nodes and edges have these attributes, None where a value is not known:

        {attributes}
        """
        import networkx as nx

        graph = nx.MultiDiGraph()
        nodes = self._nodes
        graph.add_nodes_from(
            zip(nodes.values(), self.frames.fragments.drop("node").to_dicts(), strict=True)
        )
        attributes = self.frames.edges.drop("from_node", "to_node").to_dicts()
        ends = self.frames.edges.select("from_node", "to_node").iter_rows()
        graph.add_edges_from(
            (nodes[start], nodes[end], attribute)
            for (start, end), attribute in zip(ends, attributes, strict=True)
        )
        return graph

    @documented(FRAGMENTS)
    def fragments(self) -> pl.DataFrame:
        """Return the nodes: one row for each life of a fragment, those of parent branches first.

        Examples
        --------
        >>> table.lineage().fragments()["node"].to_list()
        ['0@1', '1@2', '2@3']
        """
        return self.frames.fragments

    @documented(EDGES)
    def edges(self) -> pl.DataFrame:
        """Return the edges: one row for each movement of rows from one fragment into another.

        Examples
        --------
        >>> table.lineage().edges().select("from_node", "to_node", "kind", "rows").rows()
        [('0@1', '2@3', 'update', 1)]
        """
        return self.frames.edges

    @documented(STATES)
    def states(self) -> pl.DataFrame:
        """Return how fragments changed: one row for each interval of each state of a life.

        Examples
        --------
        >>> table.lineage().states().filter(node="0@1").select("first_version", "num_rows").rows()
        [(1, 4), (3, 3), (4, 2)]
        """
        return self.frames.states

    # ---------------------------------------------------------------------- questions

    def node(self, fragment: FragmentNode | int) -> FragmentNode:
        """Return a node; for a fragment ID, that of its latest life.

        Examples
        --------
        >>> str(table.lineage().node(2))
        '2@3'
        """
        if isinstance(fragment, FragmentNode):
            if str(fragment) in self._nodes:
                return fragment
            raise FragmentNotFoundError(f"no fragment {fragment} in {self!r}")
        fragment = whole_number("a fragment", fragment)
        lives = self.frames.fragments.filter(fragment_id=fragment)["node"]
        if len(lives) == 0:
            raise FragmentNotFoundError(f"there never was a fragment {fragment} in {self!r}")
        return self._nodes[lives[-1]]

    def ancestors(self, fragment: FragmentNode | int) -> set[FragmentNode]:
        """Return all fragments that rows of a fragment may have been in before.

        Parameters
        ----------
        fragment : FragmentNode or int
            A node, or a fragment ID for its latest life.

        Examples
        --------
        >>> table.lineage().ancestors(2)
        {FragmentNode(table=None, branch=None, fragment_id=0, first_version=1)}
        """
        import networkx as nx

        return set(nx.ancestors(self.graph, self.node(fragment)))

    def descendants(self, fragment: FragmentNode | int) -> set[FragmentNode]:
        """Return all fragments that rows of a fragment may have moved to later.

        Parameters
        ----------
        fragment : FragmentNode or int
            A node, or a fragment ID for its latest life.

        Examples
        --------
        >>> [str(node) for node in table.lineage().descendants(0)]
        ['2@3']
        """
        import networkx as nx

        return set(nx.descendants(self.graph, self.node(fragment)))

    def between(self, start: FragmentNode | int, end: FragmentNode | int) -> "Lineage":
        """Return the part on the paths from one fragment to another, both included.

        Examples
        --------
        >>> table.lineage().between(0, 2)
        Lineage(people.lance: 2 fragments, 1 edge)
        """
        import networkx as nx

        first, last = self.node(start), self.node(end)
        after = {first, *nx.descendants(self.graph, first)}
        before = {last, *nx.ancestors(self.graph, last)}
        return self._part([str(node) for node in after & before])

    def subgraph(self, nodes: Iterable[FragmentNode]) -> "Lineage":
        """Return the part that consists of some nodes and the edges between them.

        Examples
        --------
        >>> lineage = table.lineage()
        >>> lineage.subgraph([lineage.node(0), lineage.node(1)])
        Lineage(people.lance: 2 fragments, 0 edges)
        """
        some: list[FragmentNode | int] = many(
            "nodes", nodes, (FragmentNode, int), "a list of nodes"
        )
        return self._part([str(self.node(node)) for node in some])

    def _part(self, nodes: Iterable[str]) -> "Lineage":
        names = pl.Series([*nodes], dtype=pl.String)
        kept = pl.col("node").is_in(names.implode())
        edges = pl.col("from_node").is_in(names.implode()) & pl.col("to_node").is_in(
            names.implode()
        )
        fragments, all_edges, states = self.frames
        frames = LineageFrames(fragments.filter(kept), all_edges.filter(edges), states.filter(kept))
        return Lineage(frames, self._view)

    def subgraph_of(self, events: pl.DataFrame) -> "Lineage":
        """Return the part that some rows passed through.

        Parameters
        ----------
        events : polars.DataFrame
            The result of ``table.row(id).history()`` or ``table.follow(ids)``.

        Returns
        -------
        Lineage
            The fragments that the rows were in, and the edges between them.

        Examples
        --------
        >>> from lance_explorer.lineage.following import follow
        >>> story = table.lineage().subgraph_of(follow(table._view, [2]))
        >>> story.fragments()["node"].to_list()
        ['0@1', '2@3']
        """
        passed = visits(self.frames.fragments, events)
        nodes = {*passed["from_node"].drop_nulls(), *passed["to_node"].drop_nulls()}
        clones = self.frames.edges.filter(kind="clone").select("from_node", "to_node")
        last = passed.group_by("_rowid").last()["to_node"].drop_nulls().to_list()
        following = dict(clones.iter_rows())
        while last:
            last = [following[node] for node in last if node in following]
            nodes.update(last)
        part = self._part(nodes)
        steps = passed.select("from_node", "to_node", "version").unique()
        edges = part.frames.edges
        kept = edges.join(steps, on=steps.columns, how="semi", maintain_order="left")
        others = edges.filter(pl.col("kind").is_in(["clone", "restore"]))
        every = pl.concat([kept, others]).unique(maintain_order=True).sort("version")
        return Lineage(part.frames._replace(edges=every), self._view)

    # ------------------------------------------------------------------------- export

    def to_graphml(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the graph as GraphML, and write it to a file if a path is given.

        Nodes are named as in the frames; unknown values are left out. ``networkx.read_graphml``
        with ``force_multigraph=True`` returns the same graph.

        Examples
        --------
        >>> table.lineage().to_graphml().count("<node ")
        3
        """
        return to_graphml(self.graph, path)

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT language.

        Examples
        --------
        >>> table.lineage().to_dot().splitlines()[0]
        'digraph lineage {'
        """
        return to_dot(self.graph)

    def to_json(self) -> str:
        """Return the graph as networkx's node-link JSON.

        ``networkx.node_link_graph(json.loads(text), source="from", target="to", edges="edges")``
        returns the same graph, with names as nodes, and without unknown values.

        Examples
        --------
        >>> import json
        >>> len(json.loads(table.lineage().to_json())["nodes"])
        3
        """
        return to_json(self.graph)

    def to_mermaid(self) -> str:
        """Return the graph as a Mermaid flowchart.

        Examples
        --------
        >>> table.lineage().to_mermaid().splitlines()[0]
        'flowchart LR'
        """
        return to_mermaid(self.graph)

    def to_openlineage(self, namespace: str = "lance") -> list[Any]:
        """Return one OpenLineage event for each kept version of the branch, oldest first.

        Parameters
        ----------
        namespace : str
            Namespace of the jobs.

        Returns
        -------
        list of openlineage.client.event_v2.RunEvent

        Raises
        ------
        MissingDependencyError
            If openlineage-python is not installed: ``pip install 'lance-explorer[openlineage]'``.

        Examples
        --------
        >>> len(table.lineage().to_openlineage())
        7
        """
        check_not_forked()
        fragments, edges, _ = self.frames
        return openlineage_events(self._view, fragments, edges, text("namespace", namespace))

    @property
    def sentence(self) -> str:
        """How many fragments and edges there are."""
        fragments, edges, _ = self.frames
        return f"{counted(len(fragments), 'fragment')}, {counted(len(edges), 'edge')}"

    @property
    def answer(self) -> Answer:
        """How many fragments there are, how many of them now, and how many edges of each kind."""
        check_not_forked()
        fragments, edges, _ = self.frames
        kinds = edges.group_by("kind").agg(pl.len().alias("edges"), pl.col("rows").sum())
        current = f"{fragments['is_current'].sum():,} of {len(fragments):,} fragments are current"
        return Answer(
            f"Lineage of {self._subject}: {self.sentence}; {current}.",
            (Section("kinds", "Edges", kinds.sort("kind")),),
            "table.lineage().edges()",
        )

    @property
    def _subject(self) -> str:
        branch = f" (branch {self._view.branch})" if self._view.branch else ""
        return PurePosixPath(self._view.uri).name + branch

    @cached_property
    def _nodes(self) -> dict[str, FragmentNode]:
        """The nodes by their names in frames."""
        check_not_forked()
        keys = self.frames.fragments.select("node", *FragmentNode._fields)
        return {name: FragmentNode(*key) for name, *key in keys.iter_rows()}
