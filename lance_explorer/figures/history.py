"""Rows, bytes and commits over the versions of a table."""

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.commit_bars import commit_bars
from lance_explorer.figures.labels import byte_ticks, count_ticks, hover, plural, text
from lance_explorer.figures.lineage_axis import legend_key
from lance_explorer.figures.lineage_places import place_tags
from lance_explorer.figures.palette import ACCENT, KIND_COLORS, MUTED, PALE, apply_look
from lance_explorer.figures.version_axis import (
    MOST_BARS,
    MOST_MARKERS,
    bar_width,
    bin_step,
    first_and_last,
    show_versions,
)
from lance_explorer.figures.version_words import version_words
from lance_explorer.frames.sizes import span_words

__all__ = ["history"]

_MOST_TAGS = 12
_MOST_TAG_CHARACTERS = 20
_USUAL_WIDTH = 600  # pixels
_CHARACTER = 6.3
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
        few = versions.head(len(versions) if len(versions) <= MOST_BARS else 0)
        said = [hover(version_words(row)) for row in few.iter_rows(named=True)]
        for row, column in enumerate(("num_rows", "data_bytes", "num_fragments"), start=1):
            _add_line(figure, versions, column, said, row)
        step = _add_commits(figure, versions, said)
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
    facts = (
        {"hovertext": said, "hoverinfo": "text"}
        if said
        else {"hovertemplate": f"version %{{x:,}}: {_SHORT_HOVER[column]}<extra></extra>"}
    )
    has_markers = len(versions) <= MOST_MARKERS
    colors = [KIND_COLORS[kind] for kind in versions["kind"]] if has_markers else None
    figure.add_scatter(
        x=versions["version"].to_list(),
        y=versions[column].to_list(),
        mode="lines+markers" if has_markers else "lines",
        line={"color": ACCENT, "shape": "hv", "width": 2},
        marker={"size": 5, "color": colors},
        showlegend=False,
        **facts,
        row=row,
        col=1,
    )


def _add_commits(figure: go.Figure, versions: pl.DataFrame, said: list[str]) -> int:
    """Add the bars of commits; return how many version numbers one bar stands for."""
    first, last = first_and_last(versions["version"])
    step = bin_step(first, last)
    bins = (versions["version"] - first) // step
    is_live = versions["known_from"] != "ledger"
    parts = commit_bars(bins, versions["kind"], is_live).with_columns(
        begin=pl.col("bin") * step + first
    )
    for kind, color in KIND_COLORS.items():
        bars = parts.filter(pl.col("kind") == kind)
        if len(bars) == 0:
            continue
        figure.add_bar(
            x=(bars["begin"] + (step - 1) / 2).to_list(),
            y=bars["commits"].to_list(),
            width=[bar_width(step)] * len(bars),
            name=kind,
            marker={
                "color": color,
                "line": {"width": 0},
                "opacity": [PALE if is_pale else 1 for is_pale in bars["is_pale"]],
            },
            hovertext=(
                [one for one, of in zip(said, versions["kind"], strict=True) if of == kind]
                if step == 1
                else _bin_hover(bars, kind, step)
            ),
            hoverinfo="text",
            row=4,
            col=1,
        )
    if not is_live.all():
        key = legend_key(MUTED, opacity=PALE)
        figure.add_scatter(**key, name="known from the ledger", row=4, col=1)
    return step


def _bin_hover(bars: pl.DataFrame, kind: str, step: int) -> list[str]:
    return [
        hover(
            [
                f"{plural(commits, 'commit')} of kind {kind}",
                span_words(begin, begin + step - 1),
            ]
        )
        for begin, commits in zip(bars["begin"], bars["commits"], strict=True)
    ]


def _add_tags(figure: go.Figure, versions: pl.DataFrame) -> None:
    """Add a line for each of the last tags, with its name if there is room."""
    tagged = versions.filter(pl.col("tags") != "").tail(_MOST_TAGS)
    tags = [
        (version, text(tags, _MOST_TAG_CHARACTERS))
        for version, tags in tagged.select("version", "tags").iter_rows()
    ]
    first, last = first_and_last(versions["version"])
    unit = _USUAL_WIDTH / max(last - first, 1)
    wanted = [((version - first) * unit, _CHARACTER * len(words)) for version, words in tags]
    for (version, words), (_, row) in zip(
        tags, place_tags(wanted, _USUAL_WIDTH + 50, 1), strict=True
    ):
        figure.add_vline(x=version, line={"color": MUTED, "width": 1, "dash": "dot"})
        if row is None:
            continue
        figure.add_annotation(
            x=version,
            y=1,
            yref="paper",
            yanchor="bottom",
            text=words,
            showarrow=False,
            font={"size": 11},
        )
