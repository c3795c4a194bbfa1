"""How row IDs are stored: bytes by encoding and fragment, and their growth over versions."""

from typing import Any

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.encoding_rows import encoding_rows
from lance_explorer.figures.labels import byte_ticks, count_ticks, plural, size
from lance_explorer.figures.palette import (
    ENCODING_COLORS,
    MUTED,
    PART_COLORS,
    apply_look,
)
from lance_explorer.figures.row_id_growth import growth_words, row_id_growth
from lance_explorer.figures.version_axis import MOST_BARS, MOST_MARKERS, show_versions

__all__ = ["encoding_bytes", "encoding_growth"]

_MOST_FRAGMENTS = 25
_BAR = 22  # pixels
_HOVER = {
    "row_ids_bytes": "%{y:.3s}B",
    "best_bytes": "%{y:.3s}B",
    "versions_bytes": "%{y:.3s}B",
    "bytes_per_row": "%{y:.2f} bytes",
    "num_segments": "%{y:,}",
    "num_runs": "%{y:,}",
}


def encoding_bytes(segments: pl.DataFrame, encodings: pl.DataFrame) -> go.Figure:
    """Draw the bytes of the row IDs of each fragment, by encoding, and the least possible bytes.

    Parameters
    ----------
    segments : polars.DataFrame
        What ``table.inspect.row_id_segments()`` gives for a version.
    encodings : polars.DataFrame
        What ``table.inspect.row_id_encodings()`` gives for the same version.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.encoding_bytes` describes.

    Examples
    --------
    >>> frames = table.inspect
    >>> figure = encoding_bytes(frames.row_id_segments(), frames.row_id_encodings())
    >>> figure.layout.yaxis.title.text
    'fragment'
    """
    shown = encodings.sort("saving_bytes", "encoded_bytes", descending=True, nulls_last=True).head(
        _MOST_FRAGMENTS
    )
    if len(encodings) <= _MOST_FRAGMENTS:
        shown = encodings
    rows, parts = encoding_rows(segments, shown)
    rows = rows.with_columns(said=pl.col("words").list.join("<br>"))
    parts = parts.join(rows.select("row", "said"), on="row", maintain_order="left")
    figure = make_subplots(rows=1, cols=1)
    for encoding, color in ENCODING_COLORS.items():
        bars = parts.filter(pl.col("encoding") == encoding)
        if len(bars):
            _add_bars(figure, bars, encoding, color)
    _add_best(figure, rows)
    largest = pl.concat([shown["encoded_bytes"], shown["best_bytes"]])
    figure.update_xaxes(title_text="bytes of row IDs", rangemode="tozero", **byte_ticks(largest))
    figure.update_yaxes(
        title_text="fragment",
        tickvals=list(range(len(shown))),
        ticktext=[f"{fragment:,}" for fragment in shown["fragment_id"]],
        range=[len(shown) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(
        barmode="stack",
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
    )
    return apply_look(figure, 170 + _BAR * max(len(shown), 3), _sizes_note(encodings, len(shown)))


def encoding_growth(totals: pl.DataFrame, all_encodings: pl.DataFrame | None = None) -> go.Figure:
    """Draw how the cost of row identity grew over versions.

    Parameters
    ----------
    totals : polars.DataFrame
        What ``table.inspect.row_id_totals()`` gives, or some of its rows.
    all_encodings : polars.DataFrame, optional
        What ``table.inspect.all_row_id_encodings()`` gives, for a line of what row IDs could take
        at best.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.encoding_growth` describes.

    Examples
    --------
    >>> figure = encoding_growth(table.inspect.row_id_totals())
    >>> [axis.title.text for axis in figure.select_yaxes()]
    ['row IDs', 'row versions', 'bytes a row', 'count']
    """
    figure = make_subplots(
        rows=4, cols=1, shared_xaxes=True, row_heights=[0.3, 0.2, 0.2, 0.3], vertical_spacing=0.05
    )
    stored = totals["row_ids_bytes"]
    color = PART_COLORS["row IDs"]
    growth = row_id_growth(totals, all_encodings)
    _add_line(figure, growth, "row_ids_bytes", "row IDs", color, row=1)
    if all_encodings is not None:
        _add_line(figure, growth, "best_bytes", "row IDs at best", MUTED, row=1, dash="dot")
    versions_color = PART_COLORS["row versions"]
    _add_line(figure, totals, "versions_bytes", "row versions", versions_color, row=2)
    _add_line(figure, growth, "bytes_per_row", "row IDs for each row", color, row=3)
    _add_line(figure, totals, "num_segments", "segments", color, row=4)
    _add_line(figure, totals, "num_runs", "runs", versions_color, row=4)
    figure.update_traces(showlegend=False, selector={"name": "row IDs for each row"})
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title_text="row IDs", row=1, **byte_ticks(stored))
    figure.update_yaxes(title_text="row versions", row=2, **byte_ticks(totals["versions_bytes"]))
    figure.update_yaxes(title_text="bytes a row", row=3)
    counted = pl.concat([totals["num_segments"], totals["num_runs"]])
    figure.update_yaxes(title_text="count", row=4, **count_ticks(counted))
    show_versions(figure, totals["version"], row=4)
    figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.03, "yanchor": "bottom"}
    )
    return apply_look(figure, 560)


def _add_bars(figure: go.Figure, bars: pl.DataFrame, encoding: str, color: str) -> None:
    figure.add_bar(
        y=bars["row"].to_list(),
        x=bars["encoded_bytes"].to_list(),
        orientation="h",
        width=0.62,
        name=encoding.replace("_", " "),
        marker={"color": color, "line": {"width": 0}},
        hovertext=bars["said"].to_list(),
        hoverinfo="text",
        row=1,
        col=1,
    )


def _add_best(figure: go.Figure, rows: pl.DataFrame) -> None:
    figure.add_scatter(
        x=rows["best_bytes"].to_list(),
        y=rows["row"].to_list(),
        mode="markers",
        name="at best",
        marker={
            "symbol": "diamond",
            "size": 10,
            "color": "white",
            "line": {"color": MUTED, "width": 2},
        },
        hovertext=rows["said"].to_list(),
        hoverinfo="text",
        row=1,
        col=1,
    )


def _sizes_note(encodings: pl.DataFrame, num_shown: int) -> str:
    stored, best = encodings["encoded_bytes"], encodings["best_bytes"]
    spilled = stored.null_count()
    known = best.filter(stored.is_not_null())
    version = "" if encodings.is_empty() else f"Version {encodings['version'][0]:,}: "
    parts = [
        (
            f"{version}row IDs of {plural(len(encodings), 'fragment')} take "
            f"{size(int(stored.sum()))}, at best {size(int(known.sum()))}"
        )
    ]
    if spilled:
        parts.append(f"{spilled:,} spilled")
    if num_shown < len(encodings):
        parts.append(f"shown: the {num_shown:,} that would save most")
    return "; ".join(parts)


def _add_line(
    figure: go.Figure,
    frame: pl.DataFrame,
    column: str,
    name: str,
    color: str,
    row: int,
    dash: str = "solid",
) -> None:
    said: dict[str, Any] = {
        "hovertemplate": f"version %{{x:,}}: {_HOVER[column]}<extra>{name}</extra>"
    }
    if "best_bytes" in frame.columns and len(frame) <= MOST_BARS:
        words = [growth_words(row) for row in frame.iter_rows(named=True)]
        said = {"hovertext": words, "hovertemplate": "version %{x:,}: %{hovertext}<extra></extra>"}
    figure.add_scatter(
        x=frame["version"].to_list(),
        y=frame[column].to_list(),
        mode="lines+markers" if len(frame) <= MOST_MARKERS else "lines",
        line={"color": color, "shape": "hv", "width": 2, "dash": dash},
        marker={"size": 4, "color": color},
        name=name,
        **said,
        row=row,
        col=1,
    )
