"""The values of columns over versions: bands of quantiles, shares of values, nulls; and drift."""

import itertools
from collections.abc import Sequence
from datetime import datetime
from math import isfinite

import numpy as np
import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import hover, plural, text
from lance_explorer.figures.palette import ACCENT, WARNING, apply_look
from lance_explorer.figures.version_axis import MOST_MARKERS, show_versions
from lance_explorer.frames.sizes import percent

__all__ = ["drift", "profile"]

_MOST_PANELS = 8
_PANEL, _GAP = 150, 34
_MOST_SHARES = 6
_REPEATS = 4
"""Texts are shown by their shares if each is there so often on average, else by their lengths."""

_MOVED = 0.02
"""A smaller shift is not marked."""

_MARKS = 3

_SAME_LENGTH = 1e-3
"""Vectors whose lengths differ by less, as a part of the mean, are taken for equally long."""

_SHARE_COLORS = ("#4477AA", "#EE9A3A", "#44AA77", "#B70589", "#C8AE5A", "#7A3FD0")

_UNITS = {
    "seconds": "",
    "characters": "characters",
    "bytes": "bytes",
    "items": "items",
    "length": "length of vectors",
}


def profile(lines: pl.DataFrame, shifts: pl.DataFrame) -> go.Figure:
    """Draw the values of columns over versions.

    Parameters
    ----------
    lines : polars.DataFrame
        What ``table.profile().to_polars()`` gives.
    shifts : polars.DataFrame
        What ``table.profile().shifts()`` gives: the furthest are marked.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.profile` describes.

    Examples
    --------
    >>> found = table.profile("id")
    >>> figure = profile(found.to_polars(), found.shifts())
    >>> [axis.title.text for axis in figure.select_yaxes()]
    ['id']
    """
    shown = _chosen(lines)
    every = lines.filter(pl.col("measure") != "nothing")["column"].n_unique()
    figure = make_subplots(
        rows=max(len(shown), 1),
        cols=1,
        shared_xaxes=True,
        vertical_spacing=min(0.3, _GAP / (_PANEL * max(len(shown), 2))),
    )
    for row, column in enumerate(shown, start=1):
        some = lines.filter(pl.col("column") == column)
        title = _add_shares(figure, some, row) or _add_centroids(figure, some, row)
        if title is None:
            title = _add_bands(figure, some, row)
        marked = shifts.filter(pl.col("column") == column, pl.col("shift") >= _MOVED)
        _add_marks(figure, marked.head(_MARKS), row)
        unit = f"<br><sub>{title}</sub>" if title else ""
        figure.update_yaxes(title_text=text(column, 24) + unit, row=row)
    show_versions(figure, lines["version"], row=max(len(shown), 1))
    figure.update_layout(showlegend=False, hovermode="closest")
    height = 120 + _PANEL * max(len(shown), 1)
    return apply_look(figure, height, _note(lines, shown, every))


def drift(column: str, moved: pl.DataFrame, summary: pl.DataFrame) -> go.Figure:
    """Draw how far values of rows moved.

    Parameters
    ----------
    column : str
        The name of the column.
    moved : polars.DataFrame
        What ``changes.drift(column).to_polars()`` gives.
    summary : polars.DataFrame
        What ``changes.drift(column).summary()`` gives.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.drift` describes.

    Examples
    --------
    >>> found = table.changes(2, 3).drift("id")
    >>> figure = drift("id", found.to_polars(), found.summary())
    >>> figure.layout.title.text
    'id: 0 of 6 rows moved'
    """
    away = moved.filter(pl.col("l2") > 0)
    panels = ["l2", *(["cosine"] if away["cosine"].count() else [])]
    figure = make_subplots(rows=1, cols=len(panels), horizontal_spacing=0.12)
    titles = {"l2": "distance (L2)", "cosine": "cosine between before and after"}
    for place, name in enumerate(panels, start=1):
        counts, edges = _histogram(away[name])
        figure.add_bar(
            x=[(a + b) / 2 for a, b in itertools.pairwise(edges)],
            y=counts,
            width=[b - a for a, b in itertools.pairwise(edges)],
            marker={"color": ACCENT, "line": {"width": 1, "color": "rgba(128,128,128,0.4)"}},
            hovertext=[
                hover([f"{a:.3g} to {b:.3g}", plural(count, "row")])
                for a, b, count in zip(edges, edges[1:], counts, strict=False)
            ],
            hoverinfo="text",
            showlegend=False,
            row=1,
            col=place,
        )
        figure.update_xaxes(title_text=titles[name], row=1, col=place)
        figure.update_yaxes(rangemode="tozero", tickformat=",d", row=1, col=place)
    figure.update_yaxes(title_text="rows", row=1, col=1)
    facts = summary.row(0, named=True)
    note = f"{text(column, 40)}: {facts['num_moved']:,} of {plural(facts['num_rows'], 'row')} moved"
    return apply_look(figure, 320, note)


def _histogram(values: pl.Series) -> tuple[list[int], list[float]]:
    known = values.drop_nulls().to_numpy()
    counts, edges = np.histogram(known[np.isfinite(known)], bins=40 if len(known) else 1)
    return counts.tolist(), edges.tolist()


def _chosen(lines: pl.DataFrame) -> list[str]:
    """Return the columns that are shown: those that moved furthest, in the order of the table."""
    measured = lines.filter(pl.col("measure") != "nothing", pl.col("num_rows") > 0)
    order = measured["column"].unique(maintain_order=True).to_list()
    if len(order) <= _MOST_PANELS:
        return order
    furthest = measured.group_by("column", maintain_order=True).agg(pl.col("shift").max())
    chosen = furthest.sort("shift", descending=True, nulls_last=True, maintain_order=True)
    kept = {*chosen["column"].head(_MOST_PANELS)}
    return [column for column in order if column in kept]


def _add_centroids(figure: go.Figure, lines: pl.DataFrame, row: int) -> str | None:
    """Add how near the centroid of vectors is to the first one, if their lengths tell nothing."""
    known = lines.filter(pl.col("centroid").is_not_null())
    if not len(known) or (known["std"] > _SAME_LENGTH * known["mean"]).any():
        return None
    centroids = [np.array(one) for one in known["centroid"].to_list()]
    if len({len(one) for one in centroids}) > 1:
        return None
    lengths = [float(np.linalg.norm(one)) for one in centroids]
    cosines = [
        float(one @ centroids[0]) / (length * lengths[0]) if length * lengths[0] else None
        for one, length in zip(centroids, lengths, strict=True)
    ]
    versions = known["version"].to_list()
    figure.add_scatter(
        x=versions,
        y=cosines,
        mode="lines+markers" if len(versions) <= MOST_MARKERS else "lines",
        line={"width": 2, "shape": "hv", "color": ACCENT},
        marker={"size": 4, "color": ACCENT},
        hovertext=[
            hover([_version_words(line), f"cosine with the first centroid {_short(cosine)}"])
            for line, cosine in zip(known.iter_rows(named=True), cosines, strict=True)
        ],
        hoverinfo="text",
        row=row,
        col=1,
    )
    figure.update_yaxes(
        range=[min([0.0, *[c for c in cosines if c is not None]]) - 0.08, 1.08], row=row
    )
    return "centroid: cosine with the first"


def _version_words(line: dict[str, object]) -> str:
    when = line["timestamp"]
    date = f", {when:%Y-%m-%d %H:%M}" if isinstance(when, datetime) else ""
    return f"Version {line['version']:,}{date}"


def _add_bands(figure: go.Figure, lines: pl.DataFrame, row: int) -> str:
    """Add the median, and bands of the middle half, and of nine tenths."""
    known = lines.filter(pl.col("quantiles").list.len() > 0)
    quantiles = known["quantiles"]
    versions = known["version"].to_list()
    for low, high, opacity in ((2, 6, 0.18), (3, 5, 0.32)):
        for place, fill in ((low, None), (high, "tonexty")):
            figure.add_scatter(
                x=versions,
                y=_finite(quantiles.list.get(place)),
                mode="lines",
                line={"width": 0, "shape": "hv", "color": ACCENT},
                fill=fill,
                fillcolor=f"rgba(105,148,191,{opacity})",
                hoverinfo="skip",
                row=row,
                col=1,
            )
    mode = "lines+markers" if len(versions) <= MOST_MARKERS else "lines"
    figure.add_scatter(
        x=versions,
        y=_finite(quantiles.list.get(4)),
        mode=mode,
        line={"width": 2, "shape": "hv", "color": ACCENT},
        marker={"size": 4, "color": ACCENT},
        hovertext=[_band_words(line) for line in known.iter_rows(named=True)],
        hoverinfo="text",
        row=row,
        col=1,
    )
    if len(known) and known["measure"][-1] == "seconds":
        ticks = [
            one
            for one in _finite(quantiles.list.get(0)) + _finite(quantiles.list.get(8))
            if one is not None
        ]
        figure.update_yaxes(**_time_ticks(ticks, known["type"][-1]), row=row)
    return _UNITS.get(lines["measure"][-1], "")


def _band_words(line: dict[str, object]) -> str:
    quantiles = line["quantiles"]
    assert isinstance(quantiles, list)
    unit = _UNITS.get(str(line["measure"]), "")
    words = [
        _version_words(line),
        f"{line['num_rows']:,} rows",
        f"{unit or 'values'} {_short(quantiles[0])} to {_short(quantiles[8])}"
        if line["measure"] != "seconds"
        else f"{line['min']} to {line['max']}",
    ]
    if line["measure"] != "seconds":
        words += [
            (
                f"median {_short(quantiles[4])}, half within {_short(quantiles[3])} to "
                f"{_short(quantiles[5])}"
            ),
            f"mean {_short(line['mean'])}, deviation {_short(line['std'])}",
        ]
    if line["num_nulls"]:
        words.append(f"{line['num_nulls']:,} nulls")
    return hover(words)


def _add_shares(figure: go.Figure, lines: pl.DataFrame, row: int) -> str | None:
    """Add the shares of frequent values; None if values do not come again."""
    known = lines.filter(pl.col("num_rows") > pl.col("num_nulls"))
    if not len(known) or known["measure"][-1] not in ("characters", "value"):
        return None
    is_text = known["measure"][-1] == "characters" or known["type"][-1] == "Boolean"
    repeats = known["num_rows"] >= _REPEATS * known["num_distinct"]
    if not is_text or not repeats.all() or known["num_distinct"].max() == 0:
        return None
    counts = known.select("version", "num_rows", "top_values").explode("top_values")
    counts = counts.unnest("top_values").with_columns(share=pl.col("count") / pl.col("num_rows"))
    largest = counts.group_by("value").agg(pl.col("share").max())
    top = largest.sort("share", "value", descending=[True, False])["value"].head(_MOST_SHARES)
    versions = known["version"].to_list()
    for value, color in zip(top.to_list(), _SHARE_COLORS, strict=False):
        own = dict(counts.filter(pl.col("value") == value).select("version", "share").iter_rows())
        shares = [own.get(version, 0.0) for version in versions]
        figure.add_scatter(
            x=versions,
            y=shares,
            mode="lines",
            stackgroup=f"shares {row}",
            line={"width": 0.5, "shape": "hv", "color": color},
            fillcolor=color,
            opacity=0.8,
            name=text(value, 30),
            hovertext=[
                hover([f"{value}", f"{percent(share)} of version {version:,}"])
                for version, share in zip(versions, shares, strict=True)
            ],
            hoverinfo="text",
            row=row,
            col=1,
        )
    _name_shares(figure, counts, top.to_list(), versions[-1], row)
    figure.update_yaxes(range=[0, 1], tickformat=".0%", row=row)
    return "shares of values"


def _name_shares(
    figure: go.Figure, counts: pl.DataFrame, top: Sequence[str], version: int, row: int
) -> None:
    """Write the names of the values into their areas, at the last version."""
    last = dict(counts.filter(pl.col("version") == version).select("value", "share").iter_rows())
    base = 0.0
    for value in top:
        share = last.get(value, 0.0)
        if share >= 0.12:
            figure.add_annotation(
                x=version,
                y=base + share / 2,
                text=text(value, 18),
                showarrow=False,
                xanchor="right",
                font={"size": 11, "color": "#FFFFFF"},
                row=row,
                col=1,
            )
        base += share


def _add_marks(figure: go.Figure, shifts: pl.DataFrame, row: int) -> None:
    """Mark the versions in which values moved furthest."""
    if shifts.is_empty():
        return
    for version in shifts["version"].to_list():
        figure.add_vline(
            x=version, line={"color": WARNING, "width": 1, "dash": "dot"}, row=row, col=1
        )
    ends = [
        value
        for trace in figure.select_traces(row=row, col=1)
        for value in ([1.0] if trace.stackgroup else trace.y)
        if value is not None
    ]
    figure.add_scatter(
        x=shifts["version"].to_list(),
        y=[max(ends, default=1.0)] * len(shifts),
        mode="markers",
        marker={"symbol": "triangle-down", "size": 9, "color": WARNING},
        cliponaxis=False,
        hovertext=[
            hover([f"Version {version:,}: moved by {percent(shift)}", what])
            for version, shift, what in shifts.select("version", "shift", "what").iter_rows()
        ],
        hoverinfo="text",
        row=row,
        col=1,
    )


def _finite(values: pl.Series) -> list[float | None]:
    return [one if one is not None and isfinite(one) else None for one in values.to_list()]


def _short(number: object) -> str:
    return f"{number:,.4g}" if isinstance(number, int | float) else "none"


def _time_ticks(seconds: Sequence[float], dtype: str) -> dict[str, list[object]]:
    """Return ticks of an axis of seconds since 1970, written as dates, or of a length of time."""
    if not seconds or not dtype.startswith(("Date", "Datetime")):
        return {}
    low, high = min(seconds), max(seconds)
    places = [low + (high - low) * part / 3 for part in range(4)] if high > low else [low]
    shown = pl.from_epoch(pl.Series([int(place) for place in places]), time_unit="s")
    pattern = "%Y-%m-%d" if high - low > 4 * 86_400 else "%m-%d %H:%M"
    return {"tickvals": [*places], "ticktext": shown.dt.strftime(pattern).to_list()}


def _note(lines: pl.DataFrame, shown: Sequence[str], every: int) -> str:
    versions = lines["version"].n_unique()
    if not shown:
        return f"No values in {plural(versions, 'version')}"
    which = f"{len(shown)} of {plural(every, 'column')}, those that moved furthest"
    said = which if every > len(shown) else plural(every, "column")
    return f"{said}, in {plural(versions, 'version')}"
