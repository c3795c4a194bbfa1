"""The fragments of a version: their rows, deleted rows and origins."""

from typing import Any

import plotly.graph_objects as go
import polars as pl

from lance_explorer.figures.fragment_columns import fragment_columns
from lance_explorer.figures.fragment_origins import fragment_origins
from lance_explorer.figures.labels import plural
from lance_explorer.figures.palette import KIND_COLORS, MUTED, apply_look

__all__ = ["fragment_map"]

_FEW_COLUMNS = 60
_LABEL_DISTANCE = 0.045  # as fractions of the width of the picture
_HEIGHT = 270


def fragment_map(
    fragments: pl.DataFrame, all_fragments: pl.DataFrame, versions: pl.DataFrame
) -> go.Figure:
    """Draw the fragments of a version side by side, each as wide as its rows.

    Parameters
    ----------
    fragments : polars.DataFrame
        What ``table.inspect.fragments()`` gives for the version.
    all_fragments : polars.DataFrame
        What ``table.inspect.all_fragments()`` gives.
    versions : polars.DataFrame
        What ``table.versions()`` gives.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.fragment_map` describes.

    Examples
    --------
    >>> frames = table.inspect
    >>> figure = fragment_map(frames.fragments(2), frames.all_fragments(), table.versions())
    >>> [trace.name for trace in figure.data]
    ['create', 'append']
    """
    columns, parts, step = fragment_columns(fragment_origins(fragments, all_fragments, versions))
    columns = columns.with_columns(
        center=pl.col("left") + pl.col("width") / 2,
        hover=pl.concat_str(
            pl.lit("<b>"),
            pl.col("words").list.first(),
            pl.lit("</b><br>"),
            pl.col("words").list.slice(1).list.join("<br>"),
        ),
    )
    parts = parts.join(columns, on="column", maintain_order="left")
    figure = go.Figure()
    for kind, color in (*KIND_COLORS.items(), (None, KIND_COLORS["other"])):
        bars = parts.filter(pl.col("created_by").eq_missing(pl.lit(kind)))
        if len(bars):
            labels = [f"{count:,}" for count in bars["live"]]
            _add_bars(figure, bars, bars["share"], kind or "unknown", {"color": color}, labels)
    deleted = columns.filter(pl.col("deleted") > 0)
    if len(deleted):
        pattern = {"shape": "/", "fillmode": "replace", "size": 5, "solidity": 0.35}
        marker = {"color": MUTED, "pattern": pattern}
        _add_bars(figure, deleted, deleted["deleted"], "deleted", marker, [])
    one = "fragment" if step == 1 else f"first of {step:,} fragments"
    figure.update_xaxes(title_text=f"{one}; columns are as wide as their rows", showgrid=False)
    figure.update_xaxes(zeroline=False, tickangle=0, range=[0, 1], **_labels(columns))
    figure.update_yaxes(title_text="rows", tickformat=".0%", range=[0, 1], dtick=0.5)
    figure.update_layout(
        barmode="stack",
        uniformtext={"minsize": 11, "mode": "hide"},
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom", "traceorder": "normal"},
    )
    return apply_look(figure, _HEIGHT, _note(fragments))


def _add_bars(
    figure: go.Figure,
    bars: pl.DataFrame,
    shares: pl.Series,
    name: str,
    marker: dict[str, Any],
    labels: list[str],
) -> None:
    figure.add_bar(
        x=bars["center"].to_list(),
        y=shares.to_list(),
        width=bars["width"].to_list(),
        name=name,
        marker={"line": {"width": 0}, **marker},
        text=labels if labels and len(bars) <= _FEW_COLUMNS else None,
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        hovertext=bars["hover"].to_list(),
        hoverinfo="text",
    )


def _labels(columns: pl.DataFrame) -> dict[str, list[Any]]:
    """Return ticks with the fragment IDs that fit."""
    shown: list[tuple[float, str]] = []
    for center, fragment in columns.select("center", "first").iter_rows():
        label = f"{fragment:,}"
        distance = _LABEL_DISTANCE * max(1.0, len(label) / 4)
        if not shown or center - shown[-1][0] >= distance:
            shown.append((center, label))
    return {"tickvals": [at for at, _ in shown], "ticktext": [label for _, label in shown]}


def _note(fragments: pl.DataFrame) -> str:
    physical = fragments["physical_rows"]
    rows = "unknown rows" if physical.has_nulls() else plural(int(physical.sum()), "row")
    deleted = fragments["num_deleted_rows"]
    masked = (
        "" if deleted.has_nulls() or not deleted.sum() else f", {deleted.sum():,} of them deleted"
    )
    version = "" if fragments.is_empty() else f"Version {fragments['version'][0]:,}: "
    return f"{version}{plural(len(fragments), 'fragment')}, {rows}{masked}"
