"""The track of each lane, so that rows stay in one place as long as possible."""

from collections import defaultdict
from dataclasses import dataclass

import polars as pl

__all__ = ["assign_tracks"]

_SUCCESSION = ("rewrite", "clone", "restore")
"""Kinds of edges whose end takes the track of their start."""


@dataclass(frozen=True, slots=True)
class _Life:
    node: str
    begin: int
    end: int


def assign_tracks(lanes: pl.DataFrame, edges: pl.DataFrame) -> dict[str, int]:
    """Return the track of each lane, counted from the top; lanes of one track never overlap.

    What a compaction wrote takes the track of the first fragment that it read; so does a clone, and
    what a restore brought back. Other lanes take the first free track.

    Parameters
    ----------
    lanes : polars.DataFrame
        ``node``, ``begin`` and ``end``.
    edges : polars.DataFrame
        ``from_node``, ``to_node``, ``kind`` and ``version``.
    """
    before: dict[str, list[str]] = defaultdict(list)
    ends = dict(lanes.select("node", "end").iter_rows())
    begins = dict(lanes.select("node", "begin").iter_rows())
    followers = edges.filter(pl.col("kind").is_in(_SUCCESSION))
    for start, end in followers.select("from_node", "to_node").iter_rows():
        if start in ends and end in ends:
            before[end].append(start)
            ends[start] = min(ends[start], begins[end] - 1)  # a parent continues; its rows are here
    tracks = _Tracks()
    lives = [_Life(node, begins[node], ends[node]) for node in lanes["node"]]
    for life in sorted(lives, key=lambda life: (life.begin, life.node not in before)):
        places = sorted({tracks.of[node] for node in before[life.node] if node in tracks.of})
        tracks.place(life, places)
    return tracks.of


class _Tracks:
    """The tracks so far, and the last version of each."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}
        self._taken_to: list[int] = []

    def place(self, life: _Life, wanted: list[int]) -> None:
        free = [track for track, taken in enumerate(self._taken_to) if taken < life.begin]
        track = next((track for track in wanted if track in free), None)
        if track is None:
            track = free[0] if free else len(self._taken_to)
        if track == len(self._taken_to):
            self._taken_to.append(life.end)
        self._taken_to[track] = max(life.end, self._taken_to[track])
        self.of[life.node] = track
