"""The columns of a table over its versions: when each was added, changed and dropped."""

from typing import Any

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import middle, plural, text
from lance_explorer.figures.palette import CHANGE_COLORS, MUTED, apply_look
from lance_explorer.figures.version_axis import first_and_last, show_versions
from lance_explorer.frames.sizes import span_words

__all__ = ["schema_history"]

_SYMBOLS = {
    "added": "triangle-right",
    "renamed": "diamond",
    "cast": "square",
    "altered": "circle",
    "dropped": "x",
}
_GOES_ON_AS = ("renamed", "cast", "altered")
_MOST_LANES = 60
_LONGEST_NAME = 28
_LONGEST_TYPE = 40
_LANE = 24  # pixels
_LANE_COLOR = "rgba(68, 119, 170, 0.25)"
_CHARACTERS = 75  # the characters of the type that fit into a narrow picture


def schema_history(all_fields: pl.DataFrame) -> go.Figure:
    """Draw every column as a lane over the versions that have it, with a mark where it changed.

    Parameters
    ----------
    all_fields : polars.DataFrame
        What ``table.inspect.all_fields()`` gives, or some of its rows.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.schema_history` describes.

    Examples
    --------
    >>> figure = schema_history(table.inspect.all_fields().filter(pl.col("path") != "id"))
    >>> list(figure.layout.yaxis.ticktext)
    ['city', 'score']
    """
    lanes = _lanes(all_fields)
    shown = _most_changed(lanes)
    figure = make_subplots(rows=1, cols=1)
    versions = pl.concat([all_fields["first_version"], all_fields["last_version"]])
    first, last = first_and_last(versions)
    _add_states(figure, shown, last - first + 1)
    for change in _SYMBOLS:
        _add_marks(figure, change, shown)
    show_versions(figure, versions, row=1)
    figure.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=[middle(lane[-1]["path"], _LONGEST_NAME) for lane in shown],
        range=[len(shown) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1, "yanchor": "bottom"})
    note = f"{len(shown):,} of " if len(shown) < len(lanes) else ""
    which = ", those that changed most" if note else ""
    return apply_look(
        figure, 150 + _LANE * max(len(shown), 3), f"{note}{plural(len(lanes), 'column')}{which}"
    )


def _lanes(all_fields: pl.DataFrame) -> list[list[dict[str, Any]]]:
    """Return the states of each column, oldest first."""
    lanes: list[list[dict[str, Any]]] = []
    by_id: dict[int, list[dict[str, Any]]] = {}
    by_path: dict[str, list[dict[str, Any]]] = {}
    for state in all_fields.sort("first_version", maintain_order=True).iter_rows(named=True):
        before = (by_path.get(state["path"]), by_id.get(state["field_id"]))
        lane = next((lane for lane in before if lane and _continues(state, lane[-1])), None)
        if lane is None:
            lane = []
            lanes.append(lane)
        lane.append(state)
        by_id[state["field_id"]] = by_path[state["path"]] = lane
    return lanes


def _continues(state: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether two states belong to one column, also if it was absent in between."""
    if before["last_version"] >= state["first_version"]:
        return False
    if state["began_as"] in _GOES_ON_AS:
        return bool(before["ended_as"] == state["began_as"])
    return bool(before["path"] == state["path"])


def _most_changed(lanes: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    changes = sorted(range(len(lanes)), key=lambda i: (-_num_changes(lanes[i]), i))
    return [lanes[i] for i in sorted(changes[:_MOST_LANES])]


def _num_changes(lane: list[dict[str, Any]]) -> int:
    return len(lane) + (lane[-1]["ended_as"] is not None)


def _words(state: dict[str, Any], latest_path: str, num_versions: int) -> str:
    """Return the type of a column, and its other name, if there is room."""
    name = "" if state["path"] == latest_path else f"{state['path']}: "
    shown = text(f"{name}{state['logical_type']}", _LONGEST_TYPE)
    length = state["last_version"] - state["first_version"] + 1
    return f"     {shown}" if length / num_versions * _CHARACTERS > len(shown) + 5 else ""


def _add_states(figure: go.Figure, lanes: list[list[dict[str, Any]]], num_versions: int) -> None:
    placed = [(position, state) for position, lane in enumerate(lanes) for state in lane]
    states = [state for _, state in placed]
    figure.add_bar(
        y=[position for position, _ in placed],
        x=[state["last_version"] - state["first_version"] + 1 for state in states],
        base=[state["first_version"] - 0.5 for state in states],
        orientation="h",
        width=0.62,
        marker={"color": _LANE_COLOR, "line": {"width": 0}},
        text=[_words(state, lanes[i][-1]["path"], num_versions) for i, state in placed],
        textposition="inside",
        insidetextanchor="start",
        constraintext="none",
        textfont={"color": MUTED, "size": 11},
        hovertext=[_hover(state) for state in states],
        hoverinfo="text",
        showlegend=False,
        row=1,
        col=1,
    )


def _add_marks(figure: go.Figure, change: str, lanes: list[list[dict[str, Any]]]) -> None:
    """Mark one sort of change in the versions that made it."""
    first = min([lane[0]["first_version"] for lane in lanes], default=0)
    at = [
        (state["first_version"], position, state)
        for position, lane in enumerate(lanes)
        for state in lane
        if state["began_as"] == change and state["first_version"] > first
    ]
    if change == "dropped":
        at = [
            (state["last_version"] + 1, position, state)
            for position, lane in enumerate(lanes)
            for state in lane
            if state["ended_as"] == change
        ]
    if at:
        figure.add_scatter(
            x=[version for version, _, _ in at],
            y=[position for _, position, _ in at],
            mode="markers",
            name=change,
            marker={"symbol": _SYMBOLS[change], "size": 10, "color": CHANGE_COLORS[change]},
            hovertext=[
                f"<b>{text(state['path'])}</b> {change} in version {version:,}"
                for version, _, state in at
            ],
            hoverinfo="text",
            row=1,
            col=1,
        )


def _hover(state: dict[str, Any]) -> str:
    ended = "" if state["ended_as"] is None else f", then {state['ended_as']}"
    return "<br>".join(
        [
            f"<b>{text(state['path'])}</b> {text(state['logical_type'])}",
            f"field {state['field_id']:,}, {'nullable' if state['nullable'] else 'not null'}",
            span_words(state["first_version"], state["last_version"]),
            f"{state['began_as']}{ended}",
        ]
    )
