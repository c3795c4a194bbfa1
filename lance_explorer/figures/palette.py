"""The colours of commits, the same everywhere, and a look that fits light and dark pages."""

import plotly.graph_objects as go

__all__ = ["ACCENT", "KIND_COLORS", "MUTED", "apply_look"]

KIND_COLORS = {
    "create": "#6A5ACD",
    "append": "#4477AA",
    "overwrite": "#D670B8",
    "update": "#EE9A3A",
    "delete": "#CC3311",
    "compact": "#44AA77",
    "restore": "#33BBEE",
    "index": "#999933",
    "schema": "#8C564B",
    "config": "#777777",
    "branch": "#CCBB44",
    "other": "#BBBBBB",
}
"""A colour for each kind of commit; told apart by people with any common colour blindness."""

ACCENT = "#4477AA"

MUTED = "#808080"
"""Text and lines: the one grey with enough contrast on white and on black."""

_GRID = "rgba(128, 128, 128, 0.25)"


def apply_look(figure: go.Figure, height: int) -> go.Figure:
    """Give a figure the look of this package: no background of its own, and quiet axes."""
    figure.update_layout(
        height=height,
        margin={"l": 70, "r": 20, "t": 60, "b": 50},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": MUTED, "size": 12},
        hoverlabel={"align": "left"},
    )
    figure.update_xaxes(gridcolor=_GRID, zerolinecolor=_GRID, linecolor=_GRID)
    figure.update_yaxes(gridcolor=_GRID, zerolinecolor=_GRID, linecolor=_GRID)
    return figure
