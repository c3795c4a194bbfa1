"""How much is on disk, and whose it is."""

import plotly.graph_objects as go
import polars as pl

from lance_explorer.figures.labels import size
from lance_explorer.figures.palette import FAINT, KIND_COLORS, MUTED, apply_look

__all__ = ["STATUS_COLORS", "STATUS_WORDS", "disk_usage"]

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
