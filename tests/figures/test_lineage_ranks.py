"""Where the nodes of a graph are put: rows go to the right, and no two nodes are in one place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.figures.lineage_ranks import place_nodes


@st.composite
def graphs(draw):
    """Return a number of nodes, and edges from lower to higher ones."""
    count = draw(st.integers(0, 30))
    ends = st.integers(0, max(count - 1, 0))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=40))
    return count, [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]


@given(graphs())
def test_edges_run_to_the_right_and_every_node_has_a_place_of_its_own(graph):
    count, edges = graph
    columns, places = place_nodes(count, edges)
    assert len(columns) == len(places) == count
    assert all(columns[start] < columns[end] for start, end in edges)
    assert len(set(zip(columns.tolist(), places.tolist(), strict=True))) == count
    assert count == 0 or (columns.min(), places.min()) == (0, 0)


@given(graphs())
def test_equal_graphs_have_equal_places(graph):
    count, edges = graph
    for first, second in zip(place_nodes(count, edges), place_nodes(count, edges), strict=True):
        assert np.array_equal(first, second)


def test_parts_stand_beside_one_another_as_far_as_there_is_room():
    pairs = [(0, 1), (2, 3), (4, 5)]
    columns, places = place_nodes(7, pairs, most_columns=4)
    assert columns.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert places.tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_a_part_may_be_longer_than_a_row():
    columns, places = place_nodes(12, [(node, node + 1) for node in range(11)])
    assert columns.tolist() == [*range(12)]
    assert not places.any()
