"""The ages of rows, and of their last updates: rows by version."""

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import plural
from lance_explorer.figures.palette import KIND_COLORS, apply_look
from lance_explorer.figures.version_axis import bar_width, bin_step, first_and_last, show_versions
from lance_explorer.frames.sizes import span_words

__all__ = ["row_ages"]

_PANELS = {"created_at": "created", "last_updated_at": "last updated"}
_UNKNOWN = "other"


def row_ages(version_runs: pl.DataFrame, versions: pl.DataFrame) -> go.Figure:
    """Draw how many rows of a version each version created, and how many it last updated.

    Parameters
    ----------
    version_runs : polars.DataFrame
        What ``table.inspect.version_runs()`` gives for a version.
    versions : polars.DataFrame
        What ``table.versions()`` gives; bars have the colour of the kind of commit.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.row_ages` describes.

    Examples
    --------
    >>> figure = row_ages(table.inspect.version_runs(), table.versions())
    >>> [axis.title.text for axis in figure.select_yaxes()]
    ['rows created', 'rows last updated']
    """
    kinds = versions.select(pl.col("version").alias("row_version"), pl.col("kind").cast(pl.String))
    numbers = pl.concat([version_runs["version"], version_runs["row_version"]])
    first, last = first_and_last(numbers)
    step = bin_step(first, last)
    bars = (
        version_runs.join(kinds, on="row_version", how="left")
        .with_columns(
            pl.col("kind").fill_null(_UNKNOWN),
            pl.col("sequence").cast(pl.String),
            start=(pl.col("row_version") - first) // step * step + first,
        )
        .group_by("sequence", "kind", "start")
        .agg(pl.col("num_rows").sum())
        .sort("start")
    )
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08)
    named: set[str] = set()
    for row, (sequence, title) in enumerate(_PANELS.items(), start=1):
        for kind, color in KIND_COLORS.items():
            some = bars.filter((pl.col("sequence") == sequence) & (pl.col("kind") == kind))
            if len(some):
                _add_bars(figure, some, kind, color, step, row, showlegend=kind not in named)
                named.add(kind)
        figure.update_yaxes(title_text=f"rows {title}", tickformat=",d", row=row)
    figure.update_yaxes(rangemode="tozero")
    show_versions(figure, numbers, row=2)
    figure.update_layout(
        barmode="stack",
        showlegend=True,
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom", "traceorder": "normal"},
    )
    return apply_look(figure, 420, _note(version_runs, step))


def _add_bars(
    figure: go.Figure,
    bars: pl.DataFrame,
    kind: str,
    color: str,
    step: int,
    row: int,
    *,
    showlegend: bool,
) -> None:
    name = "unknown" if kind == _UNKNOWN else kind
    figure.add_bar(
        x=(bars["start"] + (step - 1) / 2).to_list(),
        y=bars["num_rows"].to_list(),
        width=[bar_width(step)] * len(bars),
        name=name,
        marker={"color": color, "line": {"width": 0}},
        hovertext=[
            f"<b>{span_words(start, start + step - 1)}</b> {name}<br>{plural(count, 'row')}"
            for start, count in bars.select("start", "num_rows").iter_rows()
        ],
        hoverinfo="text",
        legendgroup=kind,
        showlegend=showlegend,
        row=row,
        col=1,
    )


def _note(version_runs: pl.DataFrame, step: int) -> str:
    if version_runs.is_empty():
        return "No row versions are stored"
    version = version_runs["version"][0]
    rows = int(version_runs.filter(pl.col("sequence") == "created_at")["num_rows"].sum())
    per = "" if step == 1 else f"; a bar stands for {step:,} versions"
    return f"Version {version:,}: {plural(rows, 'row')}, deleted ones too{per}"
