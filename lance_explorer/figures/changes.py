"""What commits changed: rows by class over versions, and rows added and removed by fragment."""

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import plural
from lance_explorer.figures.palette import KIND_COLORS, MUTED, apply_look
from lance_explorer.figures.row_events import EVENT_KINDS, event_name
from lance_explorer.figures.version_axis import bar_width, bin_step, first_and_last, show_versions
from lance_explorer.frames.sizes import span_words
from lance_explorer.rowids.addresses import FRAGMENT_BITS

__all__ = ["changes_over_time", "churn"]

_CAME = ("created", "inserted", "restored", "updated", "column_rewritten")
_WENT = ("deleted", "overwritten")
_SAME = ("column_added", "moved")
_MOST_FRAGMENTS = 60
_MOST_GAPS = 60
_NAMES = {"restored": "restored or set back"}
_COLORS = {
    **{event: KIND_COLORS[kind] for event, kind in EVENT_KINDS.items()},
    "column_added": "#B08050",
}


def changes_over_time(summary: pl.DataFrame) -> go.Figure:
    """Draw how many rows each commit changed, by what happened to them.

    Parameters
    ----------
    summary : polars.DataFrame
        What ``table.changes(begin, end, mode="per_commit").summary()`` gives: one row a commit that
        changed rows.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.changes_over_time` describes.

    Examples
    --------
    >>> summary = table.changes(0, mode="per_commit").summary()
    >>> changes_over_time(summary.tail(1)).layout.title.text
    '1 commit changed rows'
    """
    known = summary.filter(pl.col("version").is_not_null())
    first, last = first_and_last(known["version"])
    step = bin_step(first, last)
    counts = (
        known.unpivot(
            [name for name in (*_CAME, *_WENT, *_SAME) if name in known.columns],
            index="version",
            variable_name="event",
            value_name="num_rows",
        )
        .filter(pl.col("num_rows") > 0)
        .with_columns(start=(pl.col("version") - first) // step * step + first)
        .group_by("event", "start")
        .agg(pl.col("num_rows").sum(), pl.len().alias("commits"))
        .sort("start")
    )
    panels = 2 if counts["event"].is_in(_SAME).any() else 1
    figure = make_subplots(
        rows=panels,
        cols=1,
        shared_xaxes=True,
        row_heights=[0.7, 0.3][:panels],
        vertical_spacing=0.06,
    )
    for event in (*_CAME, *_WENT, *_SAME):
        bars = counts.filter(event=event)
        if len(bars):
            _add_bars(figure, bars, event, step)
    lost = summary.filter(pl.col("versions_lost") > 0, pl.col("version").is_not_null())
    for version in lost["version"].tail(_MOST_GAPS):
        figure.add_vline(x=version - 0.5, line={"color": MUTED, "width": 1, "dash": "dot"})
    show_versions(figure, known["version"], row=panels)
    figure.update_yaxes(title_text="rows changed", row=1)
    if panels > 1:
        figure.update_yaxes(title_text="same values", row=2)
    _finish(figure)
    return apply_look(figure, 440, _commit_note(summary, step))


def churn(changes: pl.DataFrame) -> go.Figure:
    """Draw how many rows were added to each fragment and how many were removed from it.

    Parameters
    ----------
    changes : polars.DataFrame
        What ``table.changes(begin, end, mode=...).to_polars()`` gives, with or without values. With
        ``include=("moved",)`` rows that a compaction moved count too. Images before an update are
        left out: their rows are counted by the images after it.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.churn` describes.

    Examples
    --------
    >>> churn(table.changes(0, mode="per_commit").to_polars()).layout.xaxis.title.text
    'fragment'
    """
    counts = _by_fragment(changes)
    total = counts["fragment_id"].n_unique()
    most = counts.group_by("fragment_id").agg(pl.col("num_rows").sum())
    shown = most.sort("num_rows", "fragment_id", descending=[True, False]).head(_MOST_FRAGMENTS)
    order = [f"{fragment}" for fragment in shown["fragment_id"].sort()]
    counts = counts.join(shown.select("fragment_id"), on="fragment_id", how="semi")
    figure = make_subplots(rows=1, cols=1)
    for event in (*_CAME, *_WENT, *_SAME):
        for added in (True, False):
            bars = counts.filter(pl.col("event") == event, pl.col("is_added") == added)
            if len(bars):
                _add_churn(figure, bars.sort("fragment_id"), event, added=added)
    figure.update_xaxes(
        title_text="fragment", type="category", categoryorder="array", categoryarray=order
    )
    figure.update_yaxes(title_text="rows: added ↑, removed ↓")
    _finish(figure)
    return apply_look(figure, 380, _churn_note(len(order), total))


def _by_fragment(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the rows added to fragments and removed from them, by class."""
    lines = changes.filter(
        pl.col("_change_type").cast(pl.String).ne_missing("update_preimage")
    ).select(
        pl.col("_event").cast(pl.String).alias("event"),
        before=pl.col("_rowaddr_before") // 2**FRAGMENT_BITS,
        after=pl.col("_rowaddr_after") // 2**FRAGMENT_BITS,
    )
    pairs = lines.group_by("event", "before", "after").agg(pl.len().alias("num_rows"))
    stayed = pl.col("before").eq_missing(pl.col("after"))
    added = pairs.filter(pl.col("after").is_not_null())
    removed = pairs.filter(pl.col("before").is_not_null() & ~stayed)
    return (
        pl.concat(
            [
                added.select(
                    "event", pl.col("after").alias("fragment_id"), "num_rows", is_added=True
                ),
                removed.select(
                    "event", pl.col("before").alias("fragment_id"), "num_rows", is_added=False
                ),
            ]
        )
        .group_by("event", "fragment_id", "is_added")
        .agg(pl.col("num_rows").sum())
    )


def _add_bars(figure: go.Figure, bars: pl.DataFrame, event: str, step: int) -> None:
    sign = -1 if event in _WENT else 1
    name = _NAMES.get(event, event_name(event))
    figure.add_bar(
        x=(bars["start"] + (step - 1) / 2).to_list(),
        y=(bars["num_rows"].cast(pl.Int64) * sign).to_list(),
        width=[bar_width(step)] * len(bars),
        name=name,
        marker={"color": _COLORS[event], "line": {"width": 0}},
        hovertext=[
            f"<b>{span_words(start, start + step - 1)}</b><br>{plural(rows, 'row')} {name}"
            + (f", in {plural(commits, 'commit')}" if step > 1 else "")
            for start, rows, commits in bars.select("start", "num_rows", "commits").iter_rows()
        ],
        hoverinfo="text",
        row=2 if event in _SAME else 1,
        col=1,
    )


def _add_churn(figure: go.Figure, bars: pl.DataFrame, event: str, *, added: bool) -> None:
    name = event_name(event)
    sign, where = (1, "added to, or updated in") if added else (-1, "removed from")
    figure.add_bar(
        x=[f"{fragment}" for fragment in bars["fragment_id"]],
        y=(bars["num_rows"].cast(pl.Int64) * sign).to_list(),
        name=name,
        legendgroup=event,
        showlegend=all(trace.legendgroup != event for trace in figure.data),
        marker={"color": _COLORS[event], "line": {"width": 0}},
        hovertext=[
            f"<b>fragment {fragment:,}</b><br>{plural(rows, 'row')} {name}, {where} it"
            for fragment, rows in bars.select("fragment_id", "num_rows").iter_rows()
        ],
        hoverinfo="text",
    )


def _finish(figure: go.Figure) -> None:
    figure.update_yaxes(tickformat=",d")
    figure.update_layout(
        barmode="relative",
        bargap=0.15,
        showlegend=True,
        legend={"orientation": "h", "y": 1.05, "yanchor": "bottom", "traceorder": "normal"},
    )


def _commit_note(summary: pl.DataFrame, step: int) -> str:
    known = summary.filter(pl.col("version").is_not_null())
    parts = [f"{plural(len(known), 'commit')} changed rows"]
    if step > 1:
        parts.append(f"a bar stands for {step:,} versions")
    if lost := int(summary["versions_lost"].sum()):
        parts.append(
            f"what {plural(lost, 'lost version')} did is not known, except what later versions "
            "still show"
        )
    if uncertain := int(summary["uncertain"].sum()):
        parts.append(f"uncertain for {plural(uncertain, 'row')}")
    return "; ".join(parts)


def _churn_note(shown: int, total: int) -> str:
    if shown == total:
        return f"{plural(total, 'fragment')} with rows added or removed"
    return f"{shown:,} of {plural(total, 'fragment')}: those with the most rows added or removed"
