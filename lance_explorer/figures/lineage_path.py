"""The paths of rows through a lineage picture."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import polars as pl

from lance_explorer.figures.labels import hover
from lance_explorer.figures.lineage_layout import REST, LineageLayout
from lance_explorer.figures.lineage_ribbons import CURVE, HALF_VERSION, RISE
from lance_explorer.figures.row_events import event_title
from lance_explorer.lineage.rows_in_lives import visits

__all__ = ["RowPath", "Stay", "draw_paths", "place_paths"]

_MOST_PATHS = 12
_LINES = (("#ffffff", 5.5), ("#111111", 2))
"""A dark line with a light edge is visible on lanes, and on light and on dark pages."""


@dataclass(frozen=True, slots=True)
class Stay:
    """A row in one lane: from ``x0`` to ``x1`` at height ``y``, since an event in ``version``."""

    x0: float
    x1: float
    y: float
    version: int
    event: str


@dataclass(frozen=True, slots=True)
class RowPath:
    """The path of one row, and the version and event that removed it from the table, if any."""

    row_id: int | None
    stays: tuple[Stay, ...]
    end: tuple[int, str] | None


def place_paths(
    layout: LineageLayout, fragments: pl.DataFrame, edges: pl.DataFrame, events: pl.DataFrame
) -> list[RowPath]:
    """Return the paths of the first rows of ``events`` through a picture.

    Parameters
    ----------
    layout : LineageLayout
        The picture.
    fragments, edges : polars.DataFrame
        The nodes and edges of the lineage.
    events : polars.DataFrame
        What ``table.row(id).history()`` or ``table.follow(ids)`` gives.
    """
    if "is_uncertain" in events.columns:
        event = pl.col("event").cast(pl.String)
        possibly = pl.when("is_uncertain").then("possibly " + event).otherwise(event)
        events = events.with_columns(possibly.alias("event"))
    walker = _Walker(layout, fragments, edges)
    rows = visits(fragments, events).partition_by("_rowid", maintain_order=True)
    return [walker.path(row) for row in rows[:_MOST_PATHS]]


class _Walker:
    """Goes from event to event."""

    def __init__(self, layout: LineageLayout, fragments: pl.DataFrame, edges: pl.DataFrame) -> None:
        self._layout = layout
        self._known = set(fragments["node"])
        self._lanes = {name: number for number, name in enumerate(layout.lanes["node"])}
        self._y: list[float] = layout.lanes["y"].to_list()
        self._steps: dict[int, list[tuple[int, int, float]]] = {}
        columns = layout.steps.select("lane", "begin", "end", "thickness")
        for lane, begin, end, thickness in columns.iter_rows():
            self._steps.setdefault(lane, []).append((begin, end, thickness))
        clones = edges.filter(kind="clone").select("from_node", "to_node", "version")
        self._clones = {start: (end, version) for start, end, version in clones.iter_rows()}

    def path(self, row: pl.DataFrame) -> RowPath:
        stays: list[Stay] = []
        facts = row.select("version", "event", "to_node").rows()
        nexts = [version for version, *_ in facts[1:]] + [self._layout.end + 1]
        for (version, event, node), until in zip(facts, nexts, strict=True):
            if node is not None:
                stays += self._stays(node, version, until, event)
        version, event, last = facts[-1]
        inside = self._layout.begin <= version <= self._layout.end
        return RowPath(
            row["_rowid"][0], tuple(stays), (version, event) if last is None and inside else None
        )

    def _stays(self, node: str, version: int, until: int, event: str) -> Iterator[Stay]:
        """Yield where a row is between two events; a branch inherits it on the way."""
        while True:
            following = self._clones.get(node)
            end = until if following is None else min(until, following[1])
            stay = self._stay(node, version, end, event)
            if stay is not None:
                yield stay
            if following is None or following[1] > until:
                return
            node, version = following
            event = "taken over by the branch"

    def _stay(self, node: str, version: int, until: int, event: str) -> Stay | None:
        begin, end = max(version, self._layout.begin), min(until - 1, self._layout.end)
        lane = self._lanes.get(node, self._lanes.get(REST))
        if lane is None or begin > end or node not in self._known:
            return None
        crossed = [
            thickness
            for first, last, thickness in self._steps[lane]
            if first <= end and last >= begin
        ]
        y = self._y[lane] + min(crossed, default=0) / 2
        return Stay(begin - HALF_VERSION, end + HALF_VERSION, y, version, event)


def draw_paths(figure: go.Figure, paths: list[RowPath], top: float) -> None:
    """Add the paths of rows to a figure, ``top`` pixels below its upper edge."""
    for row in paths:
        if not row.stays:
            continue
        x, y = _points(row)
        name = "the row" if row.row_id is None else f"row {row.row_id}"
        for color, width in _LINES:
            figure.add_scatter(
                x=x.round(4).tolist(),
                y=(y + top).round(2).tolist(),
                mode="lines",
                line={"color": color, "width": width},
                name=name,
                hoverinfo="skip",
                showlegend=False,
            )
        marks = [(stay.x0, stay.y, stay.version, stay.event, "circle") for stay in row.stays]
        if row.end is not None:
            last = row.stays[-1]
            marks.append((last.x1, last.y, *row.end, "x"))
        figure.add_scatter(
            x=[round(x, 4) for x, *_ in marks],
            y=[round(y + top, 2) for _, y, *_ in marks],
            mode="markers",
            marker={
                "symbol": [symbol for *_, symbol in marks],
                "size": 8,
                "color": _LINES[-1][0],
                "line": {"color": _LINES[0][0], "width": 1.5},
            },
            hovertext=[
                hover([event_title(row.row_id, event, version)])
                for _, _, version, event, _ in marks
            ],
            hoverinfo="text",
            name=name,
        )


def _points(row: RowPath) -> tuple[np.typing.NDArray[np.float64], np.typing.NDArray[np.float64]]:
    """Return the line of a row: straight in lanes, and curved between them."""
    x = [np.array([row.stays[0].x0, row.stays[0].x1])]
    y = [np.array([row.stays[0].y, row.stays[0].y])]
    for before, after in pairwise(row.stays):
        x.append(before.x1 + (after.x0 - before.x1) * CURVE)
        y.append(before.y + (after.y - before.y) * RISE)
        x.append(np.array([after.x0, after.x1]))
        y.append(np.array([after.y, after.y]))
    return np.concatenate(x), np.concatenate(y)
