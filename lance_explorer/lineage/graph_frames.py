"""Frames of the nodes and edges of a graph of fragments."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.frames.counts import nullable
from lance_explorer.frames.kinds import kind_of
from lance_explorer.frames.known_from import known_from_branches
from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.nodes import (
    EDGES,
    FRAGMENTS,
    STATES,
    Edge,
    FragmentNode,
    UnseenFragment,
)
from lance_explorer.lineage.version_line import LinePart

__all__ = ["LineageFrames", "edges_frame", "lives_frame", "states_frame", "unseen_frame"]

_Numbers = NDArray[np.int64]


class LineageFrames(NamedTuple):
    """The frames for pictures of a lineage, in order."""

    fragments: pl.DataFrame
    edges: pl.DataFrame
    states: pl.DataFrame


def lives_frame(
    stretch: LinePart, nodes: Sequence[FragmentNode], *, is_latest: bool
) -> pl.DataFrame:
    """Return the lives of a range; ``is_latest`` says whether the line ends with it."""
    lives, history = stretch.lives, stretch.history
    versions = history.versions
    last_position = stretch.num_versions - 1
    operations = _operations(history)
    begun_by = [
        operations[position] if exact else None
        for position, exact in zip(
            lives.first.tolist(), history.begins_exactly[lives.first].tolist(), strict=True
        )
    ]
    first_versions = versions[lives.first].tolist()
    return FRAGMENTS.build(
        {
            **_keys(nodes),
            "first_version_exact": history.begins_exactly[lives.first],
            "last_version": versions[lives.last],
            "is_current": (lives.last == last_position) & is_latest,
            "operation": begun_by,
            "kind": [
                kind_of(operation, version)
                for operation, version in zip(begun_by, first_versions, strict=True)
            ],
            "end_operation": [
                operations[position + 1]
                if position < last_position and history.follows_previous[position + 1]
                else None
                for position in lives.last.tolist()
            ],
            "num_rows_at_first": nullable(history.live_rows[lives.first_states]),
            "num_rows": nullable(history.live_rows[lives.last_states]),
            "physical_rows": nullable(history.states.physical_rows[lives.last_states]),
            "num_deleted_rows": nullable(history.num_deleted_rows[lives.last_states]),
            "data_bytes": nullable(history.states.data_bytes[lives.last_states]),
        }
    )


def unseen_frame(unseen: Collection[UnseenFragment]) -> pl.DataFrame:
    """Return the fragments that no kept version has."""
    nothing = [None] * len(unseen)
    live = [
        None
        if fragment.physical_rows is None or fragment.num_deleted_rows is None
        else fragment.physical_rows - fragment.num_deleted_rows
        for fragment in unseen
    ]
    return FRAGMENTS.build(
        {
            **_keys([fragment.node for fragment in unseen]),
            "first_version_exact": [fragment.is_exact for fragment in unseen],
            "last_version": nothing,
            "is_current": [False] * len(unseen),
            "operation": [fragment.operation for fragment in unseen],
            "kind": [
                kind_of(fragment.operation, fragment.node.first_version) for fragment in unseen
            ],
            "end_operation": nothing,
            "num_rows_at_first": [
                rows if fragment.is_exact else None
                for fragment, rows in zip(unseen, live, strict=True)
            ],
            "num_rows": live,
            "physical_rows": [fragment.physical_rows for fragment in unseen],
            "num_deleted_rows": [fragment.num_deleted_rows for fragment in unseen],
            "data_bytes": nothing,
        }
    )


def states_frame(stretch: LinePart, nodes: Sequence[FragmentNode]) -> pl.DataFrame:
    """Return the states of the fragments of a range, with their versions."""
    lives, history = stretch.lives, stretch.history
    intervals = lives.intervals
    names = np.array([str(node) for node in nodes], dtype=object)
    order = np.lexsort((intervals.first, lives.of_interval))
    keys = intervals.keys[order]
    return STATES.build(
        {
            "node": names[lives.of_interval[order]].tolist(),
            "first_version": history.versions[intervals.first[order]],
            "last_version": history.versions[intervals.last[order]],
            "num_rows": nullable(history.live_rows[keys]),
            "num_deleted_rows": nullable(history.num_deleted_rows[keys]),
            "data_bytes": nullable(history.states.data_bytes[keys]),
        }
    )


def edges_frame(view: HistoryView, edges: Sequence[Edge]) -> pl.DataFrame:
    """Return edges in the order of their versions."""
    return EDGES.build(
        {
            "from_node": [str(edge.start) for edge in edges],
            "to_node": [str(edge.end) for edge in edges],
            "kind": [edge.kind for edge in edges],
            "version": [edge.version for edge in edges],
            "rows": [edge.rows for edge in edges],
            "group": [edge.group for edge in edges],
            "group_rows": [edge.group_rows for edge in edges],
            "is_uncertain": [edge.is_uncertain for edge in edges],
            "evidence": [edge.evidence.label for edge in edges],
            "source": [edge.source for edge in edges],
            "known_from": known_from_branches(
                view,
                [edge.end.branch for edge in edges],
                [None if edge.end.table else edge.version for edge in edges],
            ),
        }
    )


def _keys(nodes: Sequence[FragmentNode]) -> dict[str, Any]:
    return {
        "node": [str(node) for node in nodes],
        "table": [node.table for node in nodes],
        "branch": [node.branch for node in nodes],
        "fragment_id": [node.fragment_id for node in nodes],
        "first_version": [node.first_version for node in nodes],
    }


def _operations(history: History) -> list[str | None]:
    return [record.operation for record in history.records]
