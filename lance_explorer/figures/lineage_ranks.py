"""Positions of the nodes of a graph: in columns, with edges to the right and few crossings."""

from collections.abc import Iterator, Sequence

import numpy as np
from fast_sugiyama import from_edges
from numpy.typing import NDArray

__all__ = ["place_nodes"]


def place_nodes(
    num_nodes: int, edges: Sequence[tuple[int, int]], most_columns: int = 8
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the column of each node, and its position in it, from the top; nodes are one apart.

    Unconnected parts of the graph are placed side by side and, when a row is full, below: larger
    ones first, and last the nodes without an edge.

    Parameters
    ----------
    num_nodes : int
        How many nodes there are: they are numbered from 0.
    edges : sequence of tuple of int
        Pairs of nodes; none leads from a node to itself.
    most_columns : int
        Where a row of parts is full; one part may have more columns.

    Examples
    --------
    >>> columns, places = place_nodes(4, [(0, 2), (1, 2)])
    >>> columns.tolist(), places.tolist()
    ([0, 0, 1, 2], [0.0, 1.0, 0.5, 0.0])
    """
    columns = np.zeros(num_nodes, dtype=np.int64)
    places = np.zeros(num_nodes)
    right, top, bottom = 0, 0.0, 0.0
    parts = [*_parts(edges)]
    most_columns = max([most_columns, *[int(own.max()) + 1 for _, own, _ in parts]])
    alone = np.setdiff1d(np.arange(num_nodes), np.array(edges, dtype=np.int64))
    single = [(alone[i : i + 1], np.zeros(1, np.int64), np.zeros(1)) for i in range(len(alone))]
    for nodes, own, across in [*parts, *single]:
        width = int(own.max()) + 1
        if right + width > most_columns:
            right, top = 0, bottom
        columns[nodes], places[nodes] = own + right, across + top
        right, bottom = right + width, max(bottom, top + float(across.max()) + 1)
    return columns, places


def _parts(
    edges: Sequence[tuple[int, int]],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """Yield the nodes of each connected part with columns and positions, large parts first."""
    if not edges:
        return
    # Numbers from 0 without a gap: those above are vertices that only bend long edges.
    ends, dense = np.unique(np.array(edges, dtype=np.int64), return_inverse=True)
    pairs = [(start, end) for start, end in dense.reshape(-1, 2).tolist()]
    laid_out = [
        sorted([(int(node), *place) for node, place in positions if int(node) < len(ends)])
        for positions, *_ in from_edges([*dict.fromkeys(pairs)], vertex_spacing=1)
    ]
    for part in sorted(laid_out, key=lambda part: (-len(part), part[0])):
        number, across, up = np.array(part).T
        nodes = ends[number.astype(np.int64)]
        yield nodes, np.rint(up.max() - up).astype(np.int64), across - across.min()
