"""Rows, bytes and commits over the versions of a table."""

from html import escape
from typing import Any

import humanize
import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.palette import ACCENT, KIND_COLORS, MUTED, apply_look

__all__ = ["history"]

_MOST_BARS = 400
_MOST_MARKERS = 150
_FEW_VERSIONS = 10
_MOST_TAGS = 12
_MOST_CHARACTERS = 60
_TICKS = 5


def history(versions: pl.DataFrame) -> go.Figure:
    """Draw rows, bytes and commits over versions.

    Parameters
    ----------
    versions : polars.DataFrame
        What ``table.versions()`` gives, or some of its rows.

    Returns
    -------
    plotly.graph_objects.Figure
        Three panels over the version number: live rows, size of the data files, and the commits in
        the colour of their kind. Beyond 400 versions a bar stands for several commits, and the
        panel says how many.

    Examples
    --------
    >>> figure = lx.figures.history(table.versions())
    >>> [axis.title.text for axis in figure.select_yaxes()]
    ['rows', 'data', 'commits']
    """
    figure = make_subplots(
        rows=3, cols=1, shared_xaxes=True, row_heights=[0.42, 0.33, 0.25], vertical_spacing=0.05
    )
    step = 1
    if len(versions):
        hover = _hover(versions)
        _add_line(figure, versions, "num_rows", hover, row=1)
        _add_line(figure, versions, "data_bytes", hover, row=2)
        step = _add_commits(figure, versions, hover)
        _add_tags(figure, versions)
    commits = "commits" if step == 1 else f"per {step:,} versions"
    figure.update_yaxes(title_text="rows", rangemode="tozero", tickformat=",d", row=1)
    figure.update_yaxes(title_text="data", rangemode="tozero", row=2, **_byte_ticks(versions))
    figure.update_yaxes(
        title_text=commits, rangemode="tozero", row=3, showticklabels=step > 1, showgrid=False
    )
    figure.update_xaxes(range=_version_range(versions), showline=False)
    figure.update_xaxes(title_text="version", tickformat=",d", row=3)
    if len(versions) < _FEW_VERSIONS:
        figure.update_xaxes(dtick=1)
    figure.update_layout(
        barmode="stack",
        bargap=0.15,
        legend={"orientation": "h", "y": 1.06, "yanchor": "bottom", "traceorder": "normal"},
    )
    return apply_look(figure, 540)


def _version_range(versions: pl.DataFrame) -> list[float]:
    """Return the ends of the version axis, with room for half a bar."""
    numbers = versions["version"].to_list() or [1]
    margin = max((max(numbers) - min(numbers)) * 0.01, 0.7)
    return [min(numbers) - margin, max(numbers) + margin]


def _add_line(
    figure: go.Figure, versions: pl.DataFrame, column: str, hover: list[str], row: int
) -> None:
    mode = "lines+markers" if len(versions) <= _MOST_MARKERS else "lines"
    figure.add_scatter(
        x=versions["version"].to_list(),
        y=versions[column].to_list(),
        mode=mode,
        line={"color": ACCENT, "shape": "hv", "width": 2},
        marker={"size": 5, "color": [KIND_COLORS[kind] for kind in versions["kind"]]},
        hovertext=hover,
        hoverinfo="text",
        showlegend=False,
        row=row,
        col=1,
    )


def _add_commits(figure: go.Figure, versions: pl.DataFrame, hover: list[str]) -> int:
    """Add the bars of commits; return how many version numbers one bar stands for."""
    numbers: list[int] = versions["version"].to_list()
    first, last = min(numbers), max(numbers)
    step = -(-(last - first + 1) // _MOST_BARS)
    bins = versions.with_columns(
        start=(pl.col("version") - first) // step * step + first, hover=pl.Series(hover)
    )
    counts = bins.group_by("kind", "start", maintain_order=True).agg(
        pl.len().alias("commits"), pl.col("hover").first()
    )
    for kind, color in KIND_COLORS.items():
        bars = counts.filter(pl.col("kind") == kind)
        if len(bars) == 0:
            continue
        figure.add_bar(
            x=(bars["start"] + (step - 1) / 2).to_list(),
            y=bars["commits"].to_list(),
            width=[step * 0.85] * len(bars),
            name=kind,
            marker={"color": color, "line": {"width": 0}},
            hovertext=bars["hover"].to_list() if step == 1 else _bin_hover(bars, kind, step),
            hoverinfo="text",
            row=3,
            col=1,
        )
    return step


def _bin_hover(bars: pl.DataFrame, kind: str, step: int) -> list[str]:
    return [
        f"versions {start:,} to {start + step - 1:,}<br>{commits:,} of kind {kind}"
        for start, commits in zip(bars["start"], bars["commits"], strict=True)
    ]


def _add_tags(figure: go.Figure, versions: pl.DataFrame) -> None:
    tagged = versions.filter(pl.col("tags").list.len() > 0).tail(_MOST_TAGS)
    for version, tags in tagged.select("version", "tags").iter_rows():
        figure.add_vline(x=version, line={"color": MUTED, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=version,
            y=1,
            yref="paper",
            yanchor="bottom",
            text=_text(", ".join(tags), 20),
            showarrow=False,
            font={"size": 11},
        )


def _hover(versions: pl.DataFrame) -> list[str]:
    """Return what to say about each version when the pointer is on it."""
    return [
        "<br>".join(
            [
                f"<b>version {row['version']:,}</b> {_text(row['operation'] or 'unknown')}",
                f"{row['timestamp']:%Y-%m-%d %H:%M:%S} UTC" if row["timestamp"] else "",
                f"rows: {_number(row['num_rows'])}, fragments: {row['num_fragments']:,}",
                f"data: {_size(row['data_bytes'])}",
                *([_text(row["message"])] if row["message"] else []),
            ]
        )
        for row in versions.iter_rows(named=True)
    ]


def _number(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"


def _size(size: float | None) -> str:
    return "unknown" if size is None else humanize.naturalsize(size)


def _text(text: str, most: int = _MOST_CHARACTERS) -> str:
    """Return text that plotly shows as it is: cut, and without its markup."""
    shown = text if len(text) <= most else f"{text[:most]}..."
    return escape("".join([c if c.isprintable() else repr(c)[1:-1] for c in shown]), quote=False)


def _byte_ticks(versions: pl.DataFrame) -> dict[str, list[Any]]:
    """Return ticks at round numbers of bytes, written as sizes."""
    largest = versions["data_bytes"].max()
    if not isinstance(largest, int) or largest <= 0:
        return {}
    unit = 10 ** (len(str(largest)) - 1)
    step = next(s for s in (unit // 5, unit // 2, unit, unit * 2) if s and largest / s <= _TICKS)
    values = list(range(0, largest + step, step))
    return {"tickvals": values, "ticktext": [humanize.naturalsize(value) for value in values]}
