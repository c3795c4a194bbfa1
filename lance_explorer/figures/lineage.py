"""The lives of fragments as lanes, with ribbons for the rows that moved."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl
from numpy.typing import NDArray

from lance_explorer.figures.labels import text
from lance_explorer.figures.lineage_axis import Surroundings, legend_key
from lance_explorer.figures.lineage_hover import add_hover, lane_color
from lance_explorer.figures.lineage_layout import LineageLayout, lay_out
from lance_explorer.figures.lineage_path import draw_paths, place_paths
from lance_explorer.figures.lineage_ribbons import CURVE, RISE, with_gaps
from lance_explorer.figures.lineage_selection import node_of, with_origins
from lance_explorer.figures.lineage_words import WAY_KINDS, lane_names, lineage_keys, note
from lance_explorer.figures.palette import KIND_COLORS, MUTED, PALE, apply_look

__all__ = ["lineage"]

_USUAL_WIDTH = 600
_LEFT, _RIGHT, _BOTTOM = 16, 16, 64
_CHARACTER = 6.4
_LABEL_SIZE = 11
_LABEL_HEIGHT = 16

_KEY_LOOKS: dict[str, dict[str, Any]] = {
    "rest": {"opacity": 0.45},
    "ribbon": {"opacity": 0.55},
    "thread": {"symbol": "line-ew-open", "line": {"width": 2}},
    "rewrite": {"symbol": "line-ns-open", "line": {"width": 3}},
    "inherited": {"symbol": "square-open"},
    "recorded": {"opacity": PALE},
}

_Polygon = tuple[NDArray[np.float64], NDArray[np.float64]]


def lineage(
    fragments: pl.DataFrame,
    edges: pl.DataFrame,
    states: pl.DataFrame,
    versions: pl.DataFrame,
    *,
    path: pl.DataFrame | None = None,
    between: tuple[int, int] | None = None,
    fragment: str | int | None = None,
    width: int | None = None,
) -> go.Figure:
    """Draw where the rows of each fragment of a table came from, and where they moved to.

    Parameters
    ----------
    fragments, edges, states : polars.DataFrame
        The frames of a lineage: ``*table.lineage().frames``.
    versions : polars.DataFrame
        What ``table.versions(inherited=True)`` gives; without ``inherited`` a branch has no marks
        for the versions of its parents.
    path : polars.DataFrame, optional
        What ``table.row(id).history()`` gives: the way of the row is drawn; or what
        ``table.follow(ids)`` gives, for the ways of its first 12 rows.
    between : tuple of int, optional
        The first version and the last to show; all by default.
    fragment : str or int, optional
        A node of ``fragments``, or a fragment ID for its latest life: show only what leads to it,
        and what comes of it.
    width : int, optional
        Width in pixels; by default that of the page, of which 600 are counted on.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.lineage` describes.

    Examples
    --------
    >>> figure = lineage(*table.lineage().frames, table.versions())
    >>> figure.layout.title.text
    '3 fragments · versions 1 to 7'
    """
    focus = None if fragment is None else node_of(fragments, fragment)
    layout = lay_out(fragments, edges, states, versions=between, focus=focus)
    shown = versions.filter(pl.col("version").is_between(layout.begin, layout.end))
    plot_width = (width or _USUAL_WIDTH) - _LEFT - _RIGHT
    shown = with_origins(shown, versions["branch"][-1] if len(versions) else None)
    around = Surroundings(shown, layout.x0, layout.x1, plot_width)
    top = around.height
    figure = go.Figure()
    _add_ribbons(figure, layout, top)
    _add_lanes(figure, layout, top)
    _add_rewrites(figure, layout, top)
    add_hover(figure, layout, top)
    if path is not None and len(path):
        draw_paths(figure, place_paths(layout, fragments, edges, path), top)
    bottom = top + layout.height + 6
    notes = [*around.draw(figure, bottom)]
    _add_keys(figure, lineage_keys(layout, shown))
    notes += _labels(layout, top, (layout.x1 - layout.x0) / plot_width)
    figure.update_yaxes(range=[bottom, 0], visible=False, fixedrange=True)
    figure.update_layout(
        annotations=notes,
        hovermode="closest",
        width=width,
        showlegend=True,
        legend={
            "orientation": "h",
            "y": 1,
            "yanchor": "bottom",
            "x": 0,
            "itemclick": False,
            "itemdoubleclick": False,
            "traceorder": "normal",
        },
    )
    margins = {"l": _LEFT, "r": _RIGHT, "t": 70, "b": _BOTTOM}
    words = note(*layout.shares, layout.begin, layout.end)
    figure = apply_look(figure, int(bottom) + margins["t"] + margins["b"], words)
    figure.update_layout(margin=margins)
    return figure


# --------------------------------------------------------------------------------- lanes


def _add_lanes(figure: go.Figure, layout: LineageLayout, top: float) -> None:
    steps = layout.steps.partition_by("lane", maintain_order=True)
    by_color: dict[str, list[_Polygon]] = {}
    for lane, own in zip(layout.lanes.iter_rows(named=True), steps, strict=True):
        by_color.setdefault(lane_color(lane), []).append(_lane_polygon(lane["y"] + top, own))
    for color, polygons in by_color.items():
        _add_polygons(figure, polygons, color, {"width": 0})


def _add_keys(figure: go.Figure, keys: list[tuple[str, str, str]]) -> None:
    """Add a legend of colours and marks."""
    for rank, (mark, kind, words) in enumerate(keys):
        key = legend_key(KIND_COLORS.get(kind, MUTED), **_KEY_LOOKS.get(mark, {}))
        figure.add_scatter(**key, name=text(words), legendrank=rank + 1)


def _lane_polygon(y: float, steps: pl.DataFrame) -> _Polygon:
    """Return the outline of a lane: a straight upper edge, and a lower one in steps."""
    ends = steps.select("x0", "x1").to_numpy()
    lower = np.repeat(steps["thickness"].to_numpy(), 2)
    x = np.concatenate([[ends[0, 0], ends[-1, 1]], ends.ravel()[::-1]])
    return x, y + np.concatenate([[0, 0], lower[::-1]])


def _add_polygons(
    figure: go.Figure, polygons: Iterable[_Polygon], color: str, line: dict[str, Any]
) -> None:
    """Add areas of one colour as one trace."""
    gap = np.array([np.nan])
    parts = [(np.append(x, [x[0], gap[0]]), np.append(y, [y[0], gap[0]])) for x, y in polygons]
    figure.add_scatter(
        x=with_gaps(np.concatenate([x for x, _ in parts])),
        y=with_gaps(np.concatenate([y for _, y in parts])),
        mode="lines",
        fill="toself",
        fillcolor=color,
        line=line,
        hoverinfo="skip",
        showlegend=False,
    )


def _labels(
    layout: LineageLayout, top: float, versions_per_pixel: float
) -> Iterator[dict[str, Any]]:
    """Yield the names of lanes: above each or, if there is no room, inside thick ones."""
    first = layout.steps.group_by("lane", maintain_order=True).first()
    for lane, num_rows, thickness in zip(
        layout.lanes.iter_rows(named=True), first["num_rows"], first["thickness"], strict=True
    ):
        length = lane["room"] if layout.has_labels else lane["x1"] - lane["x0"]
        room = length / versions_per_pixel - 4
        label = next(
            (words for words in lane_names(lane, num_rows) if len(words) * _CHARACTER <= room),
            None,
        )
        if label is None or not (layout.has_labels or thickness > _LABEL_HEIGHT):
            continue
        inside = {} if layout.has_labels else {"color": _readable_on(lane_color(lane))}
        yield {
            "x": lane["x0"],
            "y": lane["y"] + top + (1 if layout.has_labels else _LABEL_HEIGHT),
            "text": text(label),
            "xanchor": "left",
            "yanchor": "bottom",
            "xshift": -2 if layout.has_labels else 1,
            "showarrow": False,
            "font": {"size": _LABEL_SIZE, **inside},
        }


def _readable_on(color: str) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    if not color.startswith("#"):
        return MUTED
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#000000" if 0.3 * red + 0.59 * green + 0.11 * blue > 120 else "#ffffff"


# ------------------------------------------------------------------------------- ribbons


def _add_ribbons(figure: go.Figure, layout: LineageLayout, top: float) -> None:
    for kind, commit in WAY_KINDS.items():
        ribbons = layout.ribbons.filter(kind=kind)
        if len(ribbons) == 0:
            continue
        color = KIND_COLORS[commit]
        if kind == "restore":
            _add_threads(figure, [_curve(one, top) for one in ribbons.iter_rows(named=True)], color)
            continue
        polygons = [_ribbon_polygon(one, top) for one in ribbons.iter_rows(named=True)]
        _add_polygons(
            figure, polygons, _faded(color, 0.42), {"width": 0.8, "color": _faded(color, 0.7)}
        )


def _ribbon_polygon(ribbon: dict[str, Any], top: float) -> _Polygon:
    x, upper = _curve(ribbon, top)
    width = ribbon["width0"] + (ribbon["width1"] - ribbon["width0"]) * RISE
    return np.concatenate([x, x[::-1]]), np.concatenate([upper, (upper + width)[::-1]])


def _curve(ribbon: dict[str, Any], top: float) -> _Polygon:
    x = ribbon["x0"] + (ribbon["x1"] - ribbon["x0"]) * CURVE
    return x, top + ribbon["y0"] + (ribbon["y1"] - ribbon["y0"]) * RISE


def _add_threads(figure: go.Figure, curves: list[_Polygon], color: str) -> None:
    """Add dotted lines to what a restore brought back."""
    gap = np.array([np.nan])
    figure.add_scatter(
        x=with_gaps(np.concatenate([np.append(x, gap) for x, _ in curves])),
        y=with_gaps(np.concatenate([np.append(y, gap) for _, y in curves])),
        mode="lines",
        line={"color": color, "width": 2, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )


def _faded(color: str, opacity: float) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def _add_rewrites(figure: go.Figure, layout: LineageLayout, top: float) -> None:
    """Mark where columns of a lane were rewritten."""
    marks = layout.rewrites
    if len(marks) == 0:
        return
    x = np.repeat(marks["x"].to_numpy(), 3)
    upper, thickness = marks["y"].to_numpy() + top, marks["thickness"].to_numpy()
    y = np.stack([upper, upper + thickness, np.full(len(marks), np.nan)], axis=1).ravel()
    figure.add_scatter(
        x=with_gaps(x),
        y=with_gaps(y),
        mode="lines",
        line={"color": KIND_COLORS["schema"], "width": 3},
        hoverinfo="skip",
        showlegend=False,
    )
