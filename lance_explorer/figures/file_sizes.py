"""How large data files are, in bytes and in rows, and which of them are small."""

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import count_ticks, number, plural, size
from lance_explorer.figures.palette import ACCENT, WARNING, apply_look

__all__ = ["SMALL_ROWS", "file_sizes"]

SMALL_ROWS = 1024 * 1024
"""The rows of a fragment that a compaction aims at, by default."""

_EDGES = pl.Series([step * 10**decade for decade in range(18) for step in (1, 2, 5)] + [10**18])
_MOST_TICKS = 8
_LEAST_BINS = 8


def file_sizes(
    data_files: pl.DataFrame, fragments: pl.DataFrame, small_rows: int = SMALL_ROWS
) -> go.Figure:
    """Draw how many data files there are of each size, and mark the small ones.

    Parameters
    ----------
    data_files : polars.DataFrame
        What ``table.inspect.data_files()`` gives for a version.
    fragments : polars.DataFrame
        What ``table.inspect.fragments()`` gives for the same version.
    small_rows : int
        A file with fewer rows is small; by default what a compaction with its own defaults takes
        for small.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.file_sizes` describes.

    Examples
    --------
    >>> figure = file_sizes(table.inspect.data_files(), table.inspect.fragments())
    >>> figure.layout.title.text
    '3 files, 3 of them small'
    """
    files = data_files.join(
        fragments.select("fragment_id", "physical_rows"), on="fragment_id", how="left"
    ).with_columns(is_small=(pl.col("physical_rows") < small_rows).fill_null(False))
    figure = make_subplots(rows=2, cols=1, vertical_spacing=0.26)
    for is_small, color, name in (
        (False, ACCENT, "others"),
        (True, WARNING, f"fewer than {small_rows:,} rows"),
    ):
        some = files.filter(pl.col("is_small") == is_small)
        if len(some):
            _add_bars(figure, some["size_bytes"], name, color, row=1)
            _add_bars(figure, some["physical_rows"], name, color, row=2)
    _label_edges(figure, files["size_bytes"], "size of a file", row=1)
    _label_edges(figure, files["physical_rows"], "rows of a file", row=2)
    figure.update_yaxes(title_text="files", rangemode="tozero")
    for row, values in enumerate((files["size_bytes"], files["physical_rows"]), start=1):
        figure.update_yaxes(row=row, **count_ticks(_bins(values).value_counts()["count"]))
    figure.update_layout(
        barmode="stack",
        showlegend=True,
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom", "traceorder": "normal"},
    )
    return apply_look(figure, 440, _note(files))


def _bins(values: pl.Series) -> pl.Series:
    """Return for each value the last of the edges that is not above it; zeros share the first."""
    known = values.drop_nulls()
    return (_EDGES.search_sorted(known, side="right").cast(pl.Int64) - 1).clip(0)


def _add_bars(figure: go.Figure, values: pl.Series, name: str, color: str, row: int) -> None:
    bars = pl.DataFrame({"bin": _bins(values)}).group_by("bin").len().sort("bin")
    spans = [f"{_edge(bin_, row)} to {_edge(bin_ + 1, row)}" for bin_ in bars["bin"]]
    counts = bars["len"].to_list()
    figure.add_bar(
        x=[bin_ + 0.5 for bin_ in bars["bin"]],
        y=counts,
        width=0.94,
        name=name,
        marker={"color": color, "line": {"width": 0}},
        hovertext=[
            f"{plural(count, 'file')} of {span}<br>{name}"
            for count, span in zip(counts, spans, strict=True)
        ],
        hoverinfo="text",
        legendgroup=name,
        showlegend=row == 1,
        row=row,
        col=1,
    )


def _label_edges(figure: go.Figure, values: pl.Series, title: str, row: int) -> None:
    bins = _bins(values).to_list() or [0]
    first, stop = min(bins), max(bins) + 1
    margin = max((_LEAST_BINS - (stop - first)) / 2, 0.2)
    edges = range(first, stop + 1, -(-(stop - first) // _MOST_TICKS))
    figure.update_xaxes(
        title_text=title,
        tickvals=list(edges),
        ticktext=[_edge(edge, row) for edge in edges],
        range=[first - margin, stop + margin],
        showgrid=False,
        zeroline=False,
        row=row,
    )


def _edge(bin_: int, row: int) -> str:
    """Return the lower edge of a bin: bytes in the first row, rows in the second."""
    edge = _EDGES[bin_]
    return size(edge, "%.4g") if row == 1 else number(edge)


def _note(files: pl.DataFrame) -> str:
    parts = [
        f"{plural(len(files), 'file')}, {files['is_small'].sum():,} of them small",
        *(
            f"{count:,} of unknown {what}"
            for what, count in (
                ("size", files["size_bytes"].null_count()),
                ("rows", files["physical_rows"].null_count()),
            )
            if count
        ),
    ]
    return ", ".join(parts)
