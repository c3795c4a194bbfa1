"""Tooltips of a lineage picture: invisible points with facts."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lance_explorer.figures.labels import hover
from lance_explorer.figures.lineage_layout import REST, LineageLayout
from lance_explorer.figures.lineage_words import (
    WAY_KINDS,
    lane_facts,
    lane_names,
    lane_title,
    rewrite_words,
    ribbon_words,
    step_words,
)
from lance_explorer.figures.palette import KIND_COLORS

__all__ = ["add_hover", "lane_color"]

_MOST_POINTS = 1500
_MOST_RIBBON_POINTS = 300
_REST_COLOR = "rgba(128, 128, 128, 0.45)"

_Point = tuple[float, float, str, str]
"""Place, colour and words."""


def add_hover(figure: go.Figure, layout: LineageLayout, top: float) -> None:
    """Add invisible points with tooltips."""
    points = [*_lane_points(layout), *_ribbon_points(layout), *_rewrite_points(layout)]
    if not points:
        return
    figure.add_scatter(
        x=[x for x, *_ in points],
        y=[round(y + top, 2) for _, y, *_ in points],
        mode="markers",
        marker={"size": 10, "opacity": 0, "color": [color for *_, color, _ in points]},
        hovertext=[words for *_, words in points],
        hoverinfo="text",
        showlegend=False,
    )


def lane_color(lane: Mapping[str, Any]) -> str:
    """Return the colour of a lane: that of the kind of commit that created its fragment."""
    return _REST_COLOR if lane["node"] == REST else KIND_COLORS[lane["kind"]]


def _lane_points(layout: LineageLayout) -> Iterator[_Point]:
    steps = layout.steps
    spread = np.ceil((steps["x1"] - steps["x0"]).to_numpy() / (layout.x1 - layout.x0) * 40)
    counts = np.maximum(spread * min(1, _MOST_POINTS / max(spread.sum(), 1)), 1).astype(int)
    every = -(-len(steps) // _MOST_POINTS)
    lanes = layout.lanes.to_dicts()
    for number, step in enumerate(steps.iter_rows(named=True)):
        if number % every:
            continue
        lane = lanes[step["lane"]]
        words = hover([lane_title(lane), step_words(lane, step), *lane_facts(lane)])
        color = lane_color(lane)
        y = lane["y"] + step["thickness"] / 2
        count = int(counts[number])
        for place in range(count):
            share = (place + 0.5) / count
            yield round(step["x0"] + (step["x1"] - step["x0"]) * share, 3), y, color, words


def _ribbon_points(layout: LineageLayout) -> Iterator[_Point]:
    names = [lane_names(lane, None)[0] for lane in layout.lanes.iter_rows(named=True)]
    widest = layout.ribbons.sort("width1", descending=True).head(_MOST_RIBBON_POINTS)
    for one in widest.iter_rows(named=True):
        x = (one["x0"] + one["x1"]) / 2
        y = (one["y0"] + one["width0"] / 2 + one["y1"] + one["width1"] / 2) / 2
        words = hover(ribbon_words(one, names[one["from_lane"]], names[one["to_lane"]]))
        yield round(x, 3), y, KIND_COLORS[WAY_KINDS[one["kind"]]], words


def _rewrite_points(layout: LineageLayout) -> Iterator[_Point]:
    for mark in layout.rewrites.head(_MOST_RIBBON_POINTS).iter_rows(named=True):
        words = hover(rewrite_words(mark["version"], mark["rows"]))
        yield mark["x"], mark["y"] + mark["thickness"] / 2, KIND_COLORS["schema"], words
