"""The fragments of a version: how many rows each has, how many are deleted, and what made it."""

from typing import Any

import plotly.graph_objects as go
import polars as pl

from lance_explorer.figures.fragment_origins import fragment_origins
from lance_explorer.figures.labels import number, plural, size
from lance_explorer.figures.palette import KIND_COLORS, MUTED, apply_look

__all__ = ["fragment_map"]

_MOST_COLUMNS = 240
_FEW_COLUMNS = 60
_LABEL_DISTANCE = 0.045  # as parts of the width of the picture
_NARROWEST = 0.003
_GAP = 0.003
_OVERLAP = 0.0008  # so that rounding to pixels leaves no gap
_HEIGHT = 270
_UNKNOWN = "other"


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
    step = -(-len(fragments) // _MOST_COLUMNS) or 1
    parts = _parts(fragment_origins(fragments, all_fragments, versions), step)
    columns = _columns(parts)
    figure = go.Figure()
    for kind, color in KIND_COLORS.items():
        bars = parts.filter(pl.col("made_by") == kind).join(columns, on="column")
        if len(bars):
            name = "unknown" if kind == _UNKNOWN else kind
            _add_bars(figure, bars, "live", name, {"color": color})
    deleted = columns.filter(pl.col("deleted") > 0)
    if len(deleted):
        pattern = {"shape": "/", "fillmode": "replace", "size": 5, "solidity": 0.35}
        _add_bars(figure, deleted, "deleted", "deleted", {"color": MUTED, "pattern": pattern})
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


def _parts(origins: pl.DataFrame, step: int) -> pl.DataFrame:
    """Return the rows of each column by what made them, and what to say about them."""
    physical = pl.col("physical_rows")
    live = pl.coalesce("num_rows", physical - pl.col("num_deleted_rows"), physical, pl.lit(1))
    parts = (
        origins.with_columns(
            pl.col("made_by").fill_null(_UNKNOWN),
            column=pl.int_range(pl.len()) // step,
            live=live,
            deleted=pl.coalesce(physical - live, pl.lit(0)),
        )
        .group_by("column", "made_by", maintain_order=True)
        .agg(
            pl.col("live", "deleted", "data_bytes").sum(),
            pl.col("fragment_id", "physical_rows", "num_data_files", "made_in").first(),
            pl.len().alias("fragments"),
        )
    )
    say = _say_fragment if step == 1 else _say_fragments
    said = pl.Series([say(row) for row in parts.iter_rows(named=True)], dtype=pl.String)
    return parts.with_columns(hover=said)


def _columns(parts: pl.DataFrame) -> pl.DataFrame:
    """Return where each column stands, from 0 to 1, and how many rows it has."""
    columns = parts.group_by("column", maintain_order=True).agg(
        pl.col("fragment_id").first(),
        (pl.col("live") + pl.col("deleted")).sum().alias("rows"),
        pl.col("deleted").sum(),
        pl.col("hover").str.join("<br>"),
    )
    least = max(int(columns["rows"].sum()) * _NARROWEST, 1.0)
    width = pl.max_horizontal(pl.col("rows").cast(pl.Float64), pl.lit(least))
    return columns.with_columns(width=width / width.sum()).with_columns(
        center=pl.col("width").cum_sum() - pl.col("width") / 2
    )


def _add_bars(
    figure: go.Figure, bars: pl.DataFrame, rows: str, name: str, marker: dict[str, Any]
) -> None:
    shows_rows = rows == "live" and len(bars) <= _FEW_COLUMNS
    gap = _GAP if len(bars) <= _FEW_COLUMNS else -_OVERLAP
    figure.add_bar(
        x=bars["center"].to_list(),
        y=bars.select(pl.col(rows) / pl.max_horizontal("rows", 1)).to_series().to_list(),
        width=(bars["width"] - gap).clip(_NARROWEST / 2).to_list(),
        name=name,
        marker={"line": {"width": 0}, **marker},
        text=[f"{count:,}" for count in bars[rows]] if shows_rows else None,
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        hovertext=bars["hover"].to_list(),
        hoverinfo="text",
    )


def _say_fragment(part: dict[str, Any]) -> str:
    rows = number(part["physical_rows"])
    made_in = "an unknown version" if part["made_in"] is None else f"version {part['made_in']:,}"
    made_by = "" if part["made_by"] == _UNKNOWN else f" by {part['made_by']}"
    return "<br>".join(
        [
            f"<b>fragment {part['fragment_id']:,}</b> made in {made_in}{made_by}",
            f"rows: {rows}, deleted: {number(part['deleted'])}",
            f"{plural(part['num_data_files'], 'data file')}, {size(part['data_bytes'])}",
        ]
    )


def _say_fragments(part: dict[str, Any]) -> str:
    made_by = "unknown" if part["made_by"] == _UNKNOWN else part["made_by"]
    return (
        f"<b>{plural(part['fragments'], 'fragment')}</b> from {part['fragment_id']:,} on, "
        f"made by: {made_by}<br>live rows: {part['live']:,}, deleted: {part['deleted']:,}"
    )


def _labels(columns: pl.DataFrame) -> dict[str, list[Any]]:
    """Return ticks with the fragment IDs for which there is room."""
    shown: list[tuple[float, str]] = []
    for center, fragment in columns.select("center", "fragment_id").iter_rows():
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
