"""How much is on disk, and whose it is."""

import plotly.graph_objects as go
import polars as pl

from lance_explorer.disk.usage import PART_WORDS
from lance_explorer.figures.labels import size
from lance_explorer.figures.palette import FAINT, KIND_COLORS, MUTED, PART_COLORS, apply_look

__all__ = ["DISK_COLORS", "STATUS_COLORS", "STATUS_WORDS", "disk_growth", "disk_usage"]

STATUS_COLORS = {
    "live": KIND_COLORS["append"],
    "pinned": KIND_COLORS["branch"],
    "old": MUTED,
    "in_flight": KIND_COLORS["update"],
    "orphan": KIND_COLORS["delete"],
    "wrong_size": KIND_COLORS["overwrite"],
    "unknown": FAINT,
}
"""The colour of each status; what is missing takes no space."""

STATUS_WORDS = {
    "live": "the latest version",
    "pinned": "kept by tags, branches, clones",
    "old": "older versions only",
    "in_flight": "named by none, young",
    "orphan": "named by none, old",
    "wrong_size": "of the wrong size",
    "unknown": "of unknown use",
}


DISK_COLORS = {
    "data": KIND_COLORS["append"],
    "deletion": KIND_COLORS["delete"],
    "index": PART_COLORS["indices"],
    "manifest": MUTED,
    "other": PART_COLORS["transaction"],
}
"""The colour of what sizes are told apart by, over versions."""


def disk_usage(summary: pl.DataFrame) -> go.Figure:
    """Return one bar for each kind of object, in parts by whose they are.

    Parameters
    ----------
    summary : polars.DataFrame
        What ``table.disk_usage().summary()`` gives.
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
            marker_color=color,
            customdata=[size(value) for value in values],
            hovertemplate="%{y}, " + STATUS_WORDS[status] + ": %{customdata}<extra></extra>",
        )
    figure.update_layout(
        barmode="stack", xaxis_title="bytes on disk", legend_traceorder="normal", bargap=0.25
    )
    apply_look(figure, height=120 + 30 * len(kinds))
    return figure


def disk_growth(versions: pl.DataFrame) -> go.Figure:
    """Return what is on disk by the version that wrote it, as areas that add up.

    Parameters
    ----------
    versions : polars.DataFrame
        What ``table.disk_usage().versions()`` gives; what no version of the branch needs is left
        out.
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
        xaxis_title="version", yaxis_title="bytes on disk", hovermode="x unified", showlegend=True
    )
    apply_look(figure, height=260)
    return figure
