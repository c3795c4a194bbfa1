"""How much is on disk, by owner."""

import plotly.graph_objects as go
import polars as pl

from lance_explorer.disk.usage import PART_WORDS
from lance_explorer.figures.labels import byte_ticks, size
from lance_explorer.figures.palette import DISK_COLORS, STATUS_COLORS, apply_look

__all__ = ["STATUS_WORDS", "disk_growth", "disk_usage"]

STATUS_WORDS = {
    "live": "the latest version",
    "pinned": "kept by tags, branches, clones",
    "old": "older versions only",
    "in_flight": "named by none, young",
    "orphan": "named by none, old",
    "wrong_size": "of the wrong size",
    "unknown": "of unknown use",
}


def disk_usage(summary: pl.DataFrame) -> go.Figure:
    """Draw how much is on disk of each kind of object, in parts by whose they are.

    Parameters
    ----------
    summary : polars.DataFrame
        What ``table.disk_usage().summary()`` gives.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.disk_usage` describes.

    Examples
    --------
    >>> disk_usage(table.disk_usage().summary()).data[0].name
    'the latest version'
    """
    totals = summary.group_by("kind").agg(pl.col("size_bytes").sum()).sort("size_bytes")
    kinds = totals["kind"].cast(pl.String).to_list()
    figure = go.Figure()
    for status, color in STATUS_COLORS.items():
        some = summary.filter(pl.col("status") == status)
        if some.is_empty():
            continue
        sizes = dict(some.select(pl.col("kind").cast(pl.String), "size_bytes").iter_rows())
        values = [sizes.get(kind, 0) for kind in kinds]
        figure.add_bar(
            y=kinds,
            x=values,
            orientation="h",
            name=STATUS_WORDS[status],
            marker={"color": color, "line": {"width": 0}},
            customdata=[size(value) for value in values],
            hovertemplate="%{y}, " + STATUS_WORDS[status] + ": %{customdata}<extra></extra>",
        )
    figure.update_layout(
        barmode="stack",
        bargap=0.25,
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom", "traceorder": "normal"},
    )
    figure.update_xaxes(title_text="on disk", **byte_ticks(totals["size_bytes"]))
    return apply_look(figure, height=130 + 30 * len(kinds))


def disk_growth(versions: pl.DataFrame) -> go.Figure:
    """Draw what is on disk now by the version that wrote it.

    Parameters
    ----------
    versions : polars.DataFrame
        What ``table.disk_usage().versions()`` gives; what no version of the branch needs is left
        out.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.disk_growth` describes.

    Examples
    --------
    >>> disk_growth(table.disk_usage().versions()).data[0].name
    'data files and blobs'
    """
    known = versions.drop_nulls("version")
    figure = go.Figure()
    for part, color in DISK_COLORS.items():
        total = known[f"{part}_bytes"].cum_sum()
        if not total.sum():
            continue
        figure.add_scatter(
            x=known["version"].to_list(),
            y=total.to_list(),
            name=PART_WORDS[part],
            stackgroup="bytes",
            line={"width": 0, "shape": "hv"},
            fillcolor=color,
            marker_color=color,
            customdata=[size(value) for value in total],
            hovertemplate=PART_WORDS[part] + ": %{customdata}<extra></extra>",
        )
    figure.update_layout(
        xaxis_title="version",
        hovermode="x unified",
        showlegend=True,
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom", "traceorder": "normal"},
    )
    whole = known.select(pl.sum_horizontal([f"{part}_bytes" for part in DISK_COLORS]).sum())
    figure.update_yaxes(title_text="on disk", **byte_ticks(whole.to_series()))
    return apply_look(figure, height=300)
