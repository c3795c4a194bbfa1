"""The graph of fragments in formats of other programs.

These have no tuples and no nulls: nodes are named as in frames, and unknown values are left out.
"""

import json
import os
from typing import TYPE_CHECKING, Any

from lance_explorer.arguments import file_to_write
from lance_explorer.errors import StorageError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["NODE_LINK", "plain_graph", "to_dot", "to_graphml", "to_json", "to_mermaid"]

NODE_LINK = {"source": "from", "target": "to", "edges": "edges"}
"""Networkx's names for the parts of node-link JSON; an attribute of edges is ``source``."""


def plain_graph(graph: "nx.MultiDiGraph") -> "nx.MultiDiGraph":
    """Return the graph with names for nodes, and without unknown attributes."""
    import networkx as nx

    plain = nx.MultiDiGraph()
    plain.add_nodes_from([(str(node), _known(facts)) for node, facts in graph.nodes(data=True)])
    plain.add_edges_from(
        [
            (str(start), str(end), key, _known(facts))
            for start, end, key, facts in graph.edges(keys=True, data=True)
        ]
    )
    return plain


def to_graphml(graph: "nx.MultiDiGraph", path: str | os.PathLike[str] | None = None) -> str:
    """Return a graph as GraphML, and write it to a file if a path is given."""
    import networkx as nx

    target = None if path is None else file_to_write("path", path)
    text = "\n".join(nx.generate_graphml(plain_graph(graph)))
    if target is not None:
        try:
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise StorageError(f"the graph cannot be written: {error}") from error
    return text


def to_json(graph: "nx.MultiDiGraph") -> str:
    """Return a graph as networkx's node-link JSON."""
    import networkx as nx

    return json.dumps(nx.node_link_data(plain_graph(graph), **NODE_LINK))


def to_dot(graph: "nx.MultiDiGraph") -> str:
    """Return a graph in the language of Graphviz, from left to right."""
    nodes = [
        f"  {_quoted(node)} [label={_quoted(_label(facts))}];"
        for node, facts in plain_graph(graph).nodes(data=True)
    ]
    edges = [
        f"  {_quoted(start)} -> {_quoted(end)} [label={_quoted(_way(facts))}];"
        for start, end, facts in plain_graph(graph).edges(data=True)
    ]
    return "\n".join(["digraph lineage {", "  rankdir=LR;", *nodes, *edges, "}"])


def to_mermaid(graph: "nx.MultiDiGraph") -> str:
    """Return a graph as a Mermaid flowchart, from left to right."""
    plain = plain_graph(graph)
    names = {node: f"n{number}" for number, node in enumerate(plain)}
    nodes = [
        f'  {names[node]}["{_escaped(_label(facts))}"]' for node, facts in plain.nodes(data=True)
    ]
    edges = [
        f'  {names[start]} -- "{_escaped(_way(facts))}" --> {names[end]}'
        for start, end, facts in plain.edges(data=True)
    ]
    return "\n".join(["flowchart LR", *nodes, *edges])


def _known(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _label(facts: dict[str, Any]) -> str:
    branch = f"{facts['branch']}: " if "branch" in facts else ""
    rows = f"{facts['num_rows']:,} rows" if "num_rows" in facts else "unknown rows"
    return f"{branch}fragment {facts['fragment_id']}\nfrom version {facts['first_version']}\n{rows}"


def _way(facts: dict[str, Any]) -> str:
    rows = f", {facts['rows']:,} rows" if "rows" in facts else ""
    return f"{facts['kind']} in version {facts['version']}{rows}"


def _quoted(text: str) -> str:
    """Return text as a string of Graphviz."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _escaped(text: str) -> str:
    """Return text for Mermaid: special characters become numbered entities."""
    shown = "".join([c if c.isalnum() or c in " \n,:.-_/" else f"#{ord(c)};" for c in text])
    return shown.replace("\n", "<br>")
