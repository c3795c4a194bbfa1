"""The sizes of data files and fragments, and which of them are small."""

from functools import partial

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import plural, short, size
from lance_explorer.figures.palette import ACCENT, MUTED, WARNING, apply_look
from lance_explorer.figures.size_bins import SizeBins, size_bins

__all__ = [
    "LARGE_WORDS",
    "SMALL_ROWS",
    "bins_of_files",
    "bins_of_fragments",
    "file_sizes",
    "small_words",
]

SMALL_ROWS = 1024 * 1024
"""The default number of rows of a fragment that a compaction aims at."""

LARGE_WORDS = "others"

_MOST_LABELS = 12


def file_sizes(
    data_files: pl.DataFrame, fragments: pl.DataFrame, small_rows: int = SMALL_ROWS
) -> go.Figure:
    """Draw how many data files and fragments there are of each size, and mark the small ones.

    Parameters
    ----------
    data_files : polars.DataFrame
        What ``table.inspect.data_files()`` gives for a version.
    fragments : polars.DataFrame
        What ``table.inspect.fragments()`` gives for the same version.
    small_rows : int
        A fragment with fewer rows is small, and its files are; by default what a compaction with
        its own defaults takes for small.

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
    figure = make_subplots(rows=2, cols=1, vertical_spacing=0.26)
    files = bins_of_files(data_files, fragments, small_rows)
    rows = bins_of_fragments(fragments, small_rows)
    for row, what, noun, bins in (
        (1, "size of a file", "files", files),
        (2, "rows of a fragment", "fragments", rows),
    ):
        _add_bars(figure, bins, small_words(small_rows), row)
        step = -(-len(bins.edges) // _MOST_LABELS) or 1
        figure.update_xaxes(
            title_text=what,
            tickvals=list(range(0, len(bins.edges), step)),
            ticktext=bins.edges[::step],
            range=[-0.2, max(len(bins.bins), 1) + 0.2],
            showgrid=False,
            zeroline=False,
            row=row,
        )
        figure.update_yaxes(
            title_text=noun,
            tickvals=[count for count, _ in bins.ticks],
            ticktext=[text for _, text in bins.ticks],
            rangemode="tozero",
            row=row,
        )
    figure.update_layout(
        barmode="stack",
        showlegend=True,
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom", "traceorder": "normal"},
    )
    is_small = _is_small(data_files, fragments, small_rows)
    note = [f"{plural(len(data_files), 'file')}, {is_small.sum():,} of them small"]
    note += [
        bins.note
        for bins, frame in ((files, data_files), (rows, fragments))
        if bins.note and len(frame)
    ]
    return apply_look(figure, 440, "; ".join(note))


def bins_of_files(data_files: pl.DataFrame, fragments: pl.DataFrame, small_rows: int) -> SizeBins:
    """Return the number of files by size in bytes; those of small fragments are small."""
    is_small = _is_small(data_files, fragments, small_rows)
    return size_bins(data_files["size_bytes"], is_small, "file", partial(size, digits="%.4g"))


def bins_of_fragments(fragments: pl.DataFrame, small_rows: int) -> SizeBins:
    """Return the number of fragments by number of rows."""
    rows = fragments["physical_rows"]
    is_small = (rows < small_rows).fill_null(False)
    return size_bins(rows, is_small, "fragment", short, small_rows)


def small_words(small_rows: int) -> str:
    """Return the meaning of the colour of small files and fragments."""
    return f"small: fewer than {plural(small_rows, 'row')}"


def _is_small(data_files: pl.DataFrame, fragments: pl.DataFrame, small_rows: int) -> pl.Series:
    rows = data_files.select("fragment_id").join(
        fragments.select("fragment_id", "physical_rows"),
        on="fragment_id",
        how="left",
        maintain_order="left",
    )["physical_rows"]
    return (rows < small_rows).fill_null(False)


def _add_bars(figure: go.Figure, sizes: SizeBins, small: str, row: int) -> None:
    bins = [(at, each) for at, each in enumerate(sizes.bins) if each.total]
    for name, color, counts in (
        (small, WARNING, [each.small for _, each in bins]),
        (LARGE_WORDS, ACCENT, [each.total - each.small for _, each in bins]),
    ):
        if not any(counts):
            continue
        figure.add_bar(
            x=[at + 0.5 for at, _ in bins],
            y=counts,
            width=0.94,
            name=name,
            marker={"color": color, "line": {"width": 0}},
            hovertext=[each.words for _, each in bins],
            hoverinfo="text",
            legendgroup=name,
            showlegend=row == 1,
            row=row,
            col=1,
        )
    if sizes.aim is not None:
        line = {"color": MUTED, "width": 1, "dash": "dash"}
        figure.add_vline(x=sizes.aim, line=line, row=row, col=1)
    if sizes.beyond:
        at_right = {"x": 1, "xref": "x domain", "xanchor": "right", "yref": "y domain"}
        above = {"y": 1, "yanchor": "bottom", "showarrow": False}
        figure.add_annotation(text=sizes.beyond, **at_right, **above, row=row, col=1)
