"""Rows, bytes and commits over the versions of a table."""

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import byte_ticks, count_ticks, number, size, text
from lance_explorer.figures.lineage_axis import legend_key
from lance_explorer.figures.palette import ACCENT, KIND_COLORS, MUTED, PALE, apply_look
from lance_explorer.figures.version_axis import (
    MOST_BARS,
    MOST_MARKERS,
    bar_width,
    bin_step,
    first_and_last,
    show_versions,
)

__all__ = ["history"]

_MOST_TAGS = 12
_MOST_TAG_CHARACTERS = 20
_SHORT_HOVER = {
    "num_rows": "%{y:,} rows",
    "data_bytes": "%{y:.3s}B of data",
    "num_fragments": "%{y:,} fragments",
}


def history(versions: pl.DataFrame) -> go.Figure:
    """Draw rows, bytes, fragments and commits over versions.

    Parameters
    ----------
    versions : polars.DataFrame
        What ``table.versions()`` gives, or some of its rows.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.history` describes.

    Examples
    --------
    >>> len(history(table.versions().tail(3)).data[0].x)
    3
    """
    figure = make_subplots(
        rows=4,
        cols=1,
        shared_xaxes=True,
        row_heights=[0.32, 0.25, 0.22, 0.21],
        vertical_spacing=0.04,
    )
    step = 1
    if len(versions):
        hover = _hover(versions)
        for row, column in enumerate(("num_rows", "data_bytes", "num_fragments"), start=1):
            _add_line(figure, versions, column, hover, row)
        step = _add_commits(figure, versions, hover)
        _add_tags(figure, versions)
    commits = "commits" if step == 1 else f"per {step:,} versions"
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="rows", row=1, **count_ticks(versions["num_rows"]))
    figure.update_yaxes(title_text="data", row=2, **byte_ticks(versions["data_bytes"]))
    figure.update_yaxes(title_text="fragments", row=3, **count_ticks(versions["num_fragments"]))
    figure.update_yaxes(
        title_text=commits, row=4, showticklabels=step > 1, showgrid=False, dtick=max(step // 2, 1)
    )
    show_versions(figure, versions["version"], row=4)
    figure.update_layout(
        barmode="stack",
        bargap=0.15,
        legend={"orientation": "h", "y": 1.06, "yanchor": "bottom", "traceorder": "normal"},
    )
    return apply_look(figure, 640)


def _add_line(
    figure: go.Figure, versions: pl.DataFrame, column: str, said: list[str], row: int
) -> None:
    hover = (
        {"hovertext": said, "hoverinfo": "text"}
        if len(said) <= MOST_BARS
        else {"hovertemplate": f"version %{{x:,}}: {_SHORT_HOVER[column]}<extra></extra>"}
    )
    mode = "lines+markers" if len(versions) <= MOST_MARKERS else "lines"
    figure.add_scatter(
        x=versions["version"].to_list(),
        y=versions[column].to_list(),
        mode=mode,
        line={"color": ACCENT, "shape": "hv", "width": 2},
        marker={"size": 5, "color": [KIND_COLORS[kind] for kind in versions["kind"]]},
        showlegend=False,
        **hover,
        row=row,
        col=1,
    )


def _add_commits(figure: go.Figure, versions: pl.DataFrame, hover: list[str]) -> int:
    """Add the bars of commits; return how many version numbers one bar stands for."""
    first, last = first_and_last(versions["version"])
    step = bin_step(first, last)
    bins = versions.with_columns(
        start=(pl.col("version") - first) // step * step + first, hover=pl.Series(hover)
    )
    counts = bins.group_by("kind", "start", "known_from", maintain_order=True).agg(
        pl.len().alias("commits"), pl.col("hover").first()
    )
    for kind, color in KIND_COLORS.items():
        bars = counts.filter(pl.col("kind") == kind)
        if len(bars) == 0:
            continue
        figure.add_bar(
            x=(bars["start"] + (step - 1) / 2).to_list(),
            y=bars["commits"].to_list(),
            width=[bar_width(step)] * len(bars),
            name=kind,
            marker={
                "color": color,
                "line": {"width": 0},
                "opacity": [PALE if place == "ledger" else 1 for place in bars["known_from"]],
            },
            hovertext=bars["hover"].to_list() if step == 1 else _bin_hover(bars, kind, step),
            hoverinfo="text",
            row=4,
            col=1,
        )
    if (versions["known_from"] == "ledger").any():
        key = legend_key(MUTED, opacity=PALE)
        figure.add_scatter(**key, name="known from the ledger", row=4, col=1)
    return step


def _bin_hover(bars: pl.DataFrame, kind: str, step: int) -> list[str]:
    return [
        f"versions {start:,} to {start + step - 1:,}<br>{commits:,} of kind {kind}"
        for start, commits in zip(bars["start"], bars["commits"], strict=True)
    ]


def _add_tags(figure: go.Figure, versions: pl.DataFrame) -> None:
    tagged = versions.filter(pl.col("tags") != "").tail(_MOST_TAGS)
    for version, tags in tagged.select("version", "tags").iter_rows():
        figure.add_vline(x=version, line={"color": MUTED, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=version,
            y=1,
            yref="paper",
            yanchor="bottom",
            text=text(tags, _MOST_TAG_CHARACTERS),
            showarrow=False,
            font={"size": 11},
        )


def _hover(versions: pl.DataFrame) -> list[str]:
    """Return what to say about each version when the pointer is on it."""
    return [
        "<br>".join(
            [
                f"<b>version {row['version']:,}</b> {text(row['operation'] or 'unknown')}",
                f"{row['timestamp']:%Y-%m-%d %H:%M:%S} UTC" if row["timestamp"] else "",
                f"rows: {number(row['num_rows'])}, fragments: {number(row['num_fragments'])}",
                f"data: {size(row['data_bytes'])}",
                *([text(row["message"])] if row["message"] else []),
                *(["known from the ledger"] if row["known_from"] == "ledger" else []),
            ]
        )
        for row in versions.iter_rows(named=True)
    ]
