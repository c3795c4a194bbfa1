"""The colours of commits, encodings and bytes, the same everywhere; and one style for all figures.

Everything is readable on light and on dark pages, and distinct for people with any common colour
blindness.
"""

import plotly.graph_objects as go

__all__ = [
    "ACCENT",
    "CHANGE_COLORS",
    "COVERAGE_COLORS",
    "DISK_COLORS",
    "ENCODING_COLORS",
    "FAINT",
    "KIND_COLORS",
    "MUTED",
    "PALE",
    "PART_COLORS",
    "STATUS_COLORS",
    "WARNING",
    "apply_look",
]

KIND_COLORS = {
    "create": "#7A3FD0",
    "append": "#4477AA",
    "overwrite": "#B70589",
    "update": "#EE9A3A",
    "delete": "#CC3311",
    "compact": "#44AA77",
    "restore": "#33BBEE",
    "index": "#C8AE5A",
    "schema": "#8C4934",
    "config": "#A6A6A6",
    "branch": "#857A30",
    "other": "#5A5A5A",
}
"""A colour for each kind of commit."""

ENCODING_COLORS = {
    "range": "#E187E1",
    "range_with_holes": "#B478FF",
    "range_with_bitmap": "#784BF0",
    "sorted_array": "#783CA5",
    "array": "#782D69",
}
"""A colour for each form of a row-ID segment, from the cheapest, light, to the dearest, dark.

Shades of violet are only about row IDs: no kind of commit has one of them.
"""

ACCENT = "#6994BF"
"""The content of a table: rows, data files, and their metadata in manifests."""

WARNING = "#D87756"
"""What needs attention."""

PART_COLORS = {
    "fragments": ACCENT,
    "row IDs": "#965AFF",
    "row versions": "#A5748C",
    "indices": KIND_COLORS["index"],
    "schema": KIND_COLORS["schema"],
    "transaction": "#94BF85",
    "rest": KIND_COLORS["other"],
}
"""A colour for each part of a manifest; a kind of commit has it only if it is about the part."""

CHANGE_COLORS = {
    "added": KIND_COLORS["append"],
    "renamed": "#A5748C",
    "cast": WARNING,
    "altered": "#94BF85",
    "dropped": KIND_COLORS["delete"],
}
"""A colour for each change of a column."""

MUTED = "#808080"
"""Text and lines: the one grey with enough contrast on white and on black."""

FAINT = "rgba(128, 128, 128, 0.25)"
"""Grid lines, and the background."""

DISK_COLORS = {
    "data": ACCENT,
    "deletion": KIND_COLORS["delete"],
    "index": KIND_COLORS["index"],
    "manifest": MUTED,
    "other": KIND_COLORS["other"],
}
"""A colour for each kind of file in sizes."""

COVERAGE_COLORS = {
    "covered": ACCENT,
    "masked": "#547250",
    "not_covered": WARNING,
    "removed": "#A50014",
    "unknown": KIND_COLORS["other"],
    "no_index": MUTED,
}
"""A colour for the coverage of a fragment by an index."""

STATUS_COLORS = {
    "live": "#2D7250",
    "pinned": "#85B0BF",
    "old": MUTED,
    "in_flight": WARNING,
    "orphan": "#A50014",
    "wrong_size": "#BF4CB0",
    "unknown": FAINT,
}
"""A colour for each status of a file on disk; missing files take no space."""

PALE = 0.4
"""Opacity of commits that only a ledger contains."""

_NOTE_HEIGHT = 32  # pixels


def apply_look(figure: go.Figure, height: int, note: str = "") -> go.Figure:
    """Give a figure the style of this package: no background of its own, and quiet axes.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        The figure, which is changed and returned.
    height : int
        Height in pixels.
    note : str
        A line above everything, with the words that the picture needs.
    """
    figure.update_layout(
        height=height,
        margin={"l": 70, "r": 20, "t": 60 + 16 * bool(note), "b": 50},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": MUTED, "size": 12},
        hoverlabel={"align": "left"},
    )
    if note:
        figure.update_layout(
            title={
                "text": note,
                "font": {"size": 13},
                "x": 0,
                "xref": "container",
                "xanchor": "left",
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                "pad": {"t": 12, "l": 12},
            },
            # Below the note, so that a long legend pushes the picture down.
            legend={"yref": "container", "y": 1 - _NOTE_HEIGHT / height, "yanchor": "top"},
        )
    figure.update_xaxes(gridcolor=FAINT, zerolinecolor=FAINT, linecolor=FAINT)
    figure.update_yaxes(gridcolor=FAINT, zerolinecolor=FAINT, linecolor=FAINT)
    return figure
