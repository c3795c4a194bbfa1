"""How row IDs are stored: bytes by encoding and fragment, and their growth over versions."""

from typing import Literal

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import byte_ticks, count_ticks, number, plural, size
from lance_explorer.figures.palette import (
    ACCENT,
    ENCODING_COLORS,
    MUTED,
    PART_COLORS,
    apply_look,
)
from lance_explorer.figures.version_axis import MOST_MARKERS, show_versions

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
    """Draw what the row IDs of each fragment take, by encoding, beside what they could take.

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
    places = shown.select("fragment_id").with_row_index("place")
    sums = (
        segments.join(places, on="fragment_id")
        .group_by("place", "fragment_id", "encoding")
        .agg(pl.col("encoded_bytes", "num_values").sum(), pl.len().alias("num_segments"))
        .sort("place")
    )
    figure = make_subplots(rows=1, cols=1)
    for encoding, color in ENCODING_COLORS.items():
        bars = sums.filter(pl.col("encoding") == encoding)
        if len(bars):
            _add_bars(figure, bars, encoding, color)
    _add_best(figure, shown)
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
    _add_line(figure, totals, "row_ids_bytes", "row IDs", color, row=1)
    if all_encodings is not None:
        best = _best_by_version(totals, all_encodings)
        _add_line(figure, best, "best_bytes", "row IDs at best", MUTED, row=1, dash="dot")
    versions_color = PART_COLORS["row versions"]
    _add_line(figure, totals, "versions_bytes", "row versions", versions_color, row=2)
    _add_line(figure, totals, "bytes_per_row", "row IDs for each row", color, row=3)
    _add_line(figure, totals, "num_segments", "segments", ACCENT, row=4)
    _add_line(figure, totals, "num_runs", "runs", PART_COLORS["indices"], row=4)
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
    said = [
        f"<b>fragment {fragment:,}</b><br>{plural(count, 'segment')} with the encoding "
        f"{encoding}<br>"
        f"{size(stored)} for {plural(values, 'row ID')}"
        for fragment, count, stored, values in bars.select(
            "fragment_id", "num_segments", "encoded_bytes", "num_values"
        ).iter_rows()
    ]
    figure.add_bar(
        y=bars["place"].to_list(),
        x=bars["encoded_bytes"].to_list(),
        orientation="h",
        width=0.62,
        name=encoding.replace("_", " "),
        marker={"color": color, "line": {"width": 0}},
        hovertext=said,
        hoverinfo="text",
        row=1,
        col=1,
    )


def _add_best(figure: go.Figure, encodings: pl.DataFrame) -> None:
    said = [
        f"<b>fragment {row['fragment_id']:,}</b> at best: {size(row['best_bytes'])}<br>"
        f"stored: {size(row['encoded_bytes'])} in {number(row['num_segments'])} segments<br>"
        f"all in one segment: {size(row['one_segment_bytes'])}<br>"
        f"split where that saves most: {size(row['split_bytes'])}"
        for row in encodings.iter_rows(named=True)
    ]
    figure.add_scatter(
        x=encodings["best_bytes"].to_list(),
        y=list(range(len(encodings))),
        mode="markers",
        name="at best",
        marker={
            "symbol": "diamond",
            "size": 10,
            "color": "white",
            "line": {"color": MUTED, "width": 2},
        },
        hovertext=said,
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
    figure.add_scatter(
        x=frame["version"].to_list(),
        y=frame[column].to_list(),
        mode="lines+markers" if len(frame) <= MOST_MARKERS else "lines",
        line={"color": color, "shape": "hv", "width": 2, "dash": dash},
        marker={"size": 4, "color": color},
        name=name,
        hovertemplate=f"version %{{x:,}}: {_HOVER[column]}<extra>{name}</extra>",
        row=row,
        col=1,
    )


def _best_by_version(totals: pl.DataFrame, all_encodings: pl.DataFrame) -> pl.DataFrame:
    """Return the fewest bytes of all inline row IDs of each version."""
    inline = all_encodings.filter(pl.col("storage") == "inline")
    versions = totals["version"]
    begun = _sum_until(inline, "first_version", versions, "right")
    ended = _sum_until(inline, "last_version", versions, "left")
    return pl.DataFrame({"version": versions, "best_bytes": begun - ended})


def _sum_until(
    encodings: pl.DataFrame, column: str, versions: pl.Series, side: Literal["left", "right"]
) -> pl.Series:
    """Return the best bytes of all rows whose ``column`` is before, or up to, each version."""
    ordered = encodings.sort(column)
    sums = pl.concat([pl.Series([0]), ordered["best_bytes"].cum_sum()])
    return sums.gather(ordered[column].search_sorted(versions, side=side))
