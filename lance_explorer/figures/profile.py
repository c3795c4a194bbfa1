"""The values of columns over versions: bands of quantiles, shares of values, nulls; and drift."""

from collections.abc import Sequence
from datetime import datetime

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.column_values import (
    LEAST_SHIFT,
    MOST_MARKS,
    SHARE_COLORS,
    ColumnValues,
    column_values,
)
from lance_explorer.figures.labels import count_ticks, hover, plural, text
from lance_explorer.figures.palette import ACCENT, WARNING, apply_look
from lance_explorer.figures.version_axis import MOST_MARKERS, show_versions
from lance_explorer.frames.sizes import percent

__all__ = ["drift", "profile"]

_MOST_PANELS = 8
_PANEL, _GAP = 150, 34
_NAMED_SHARE = 0.12
"""Values with a smaller share get no name in the picture."""


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
        values = column_values(lines.filter(pl.col("column") == column))
        if values.shares is not None:
            _add_shares(figure, values, row)
        elif values.cosines is not None:
            _add_line(figure, values, values.cosines, row)
            low, high = values.ends
            figure.update_yaxes(range=[low - 0.08, high + 0.08], row=row)
        else:
            _add_bands(figure, values, row)
        marked = shifts.filter(pl.col("column") == column, pl.col("shift") >= LEAST_SHIFT)
        _add_marks(figure, marked.head(MOST_MARKS), values.ends[1], row)
        unit = f"<br><sub>{values.unit}</sub>" if values.unit else ""
        figure.update_yaxes(title_text=text(column, 24) + unit, row=row)
    show_versions(figure, lines["version"], row=max(len(shown), 1))
    figure.update_layout(showlegend=False, hovermode="closest")
    height = 120 + _PANEL * max(len(shown), 1)
    return apply_look(figure, height, _note(lines, shown, every))


def drift(column: str, l2: pl.DataFrame, cosine: pl.DataFrame, summary: pl.DataFrame) -> go.Figure:
    """Draw how far values of rows moved.

    Parameters
    ----------
    column : str
        The name of the column.
    l2, cosine : polars.DataFrame
        What ``changes.drift(column).histogram()`` gives of distances, and of cosines.
    summary : polars.DataFrame
        What ``changes.drift(column).summary()`` gives.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.drift` describes.

    Examples
    --------
    >>> found = table.changes(2, 3).drift("id")
    >>> figure = drift("id", found.histogram(), found.histogram("cosine"), found.summary())
    >>> figure.layout.title.text
    'id: 0 of 6 rows moved'
    """
    panels = [(l2, "distance (L2)")]
    if len(cosine):
        panels.append((cosine, "cosine between before and after"))
    figure = make_subplots(rows=1, cols=len(panels), horizontal_spacing=0.12)
    for place, (bins, title) in enumerate(panels, start=1):
        figure.add_bar(
            x=(bins["begin"] + bins["end"]) / 2,
            y=bins["num_rows"],
            width=bins["end"] - bins["begin"],
            marker={"color": ACCENT, "line": {"width": 1, "color": "rgba(128,128,128,0.4)"}},
            hovertext=[
                hover([f"{begin:.3g} to {end:.3g}", plural(count, "row")])
                for begin, end, count in bins.iter_rows()
            ],
            hoverinfo="text",
            showlegend=False,
            row=1,
            col=place,
        )
        figure.update_xaxes(title_text=title, row=1, col=place)
        ticks = count_ticks(bins["num_rows"])
        figure.update_yaxes(rangemode="tozero", **ticks, row=1, col=place)
    figure.update_yaxes(title_text="rows", row=1, col=1)
    if not len(l2):  # the line above says that nothing moved
        figure.update_xaxes(visible=False)
        figure.update_yaxes(visible=False)
    facts = summary.row(0, named=True)
    note = f"{text(column, 40)}: {facts['num_moved']:,} of {plural(facts['num_rows'], 'row')} moved"
    return apply_look(figure, 320, note)


def _chosen(lines: pl.DataFrame) -> list[str]:
    """Return the columns to show: those that moved furthest, in the order of the table."""
    measured = lines.filter(pl.col("measure") != "nothing", pl.col("num_rows") > 0)
    order = measured["column"].unique(maintain_order=True).to_list()
    if len(order) <= _MOST_PANELS:
        return order
    furthest = measured.group_by("column", maintain_order=True).agg(pl.col("shift").max())
    chosen = furthest.sort("shift", descending=True, nulls_last=True, maintain_order=True)
    kept = {*chosen["column"].head(_MOST_PANELS)}
    return [column for column in order if column in kept]


def _version_words(line: dict[str, object]) -> str:
    when = line["timestamp"]
    date = f", {when:%Y-%m-%d %H:%M}" if isinstance(when, datetime) else ""
    return f"Version {line['version']:,}{date}"


def _add_bands(figure: go.Figure, values: ColumnValues, row: int) -> None:
    """Add the median, and bands of the middle half, and of nine tenths."""
    for low, high, opacity in ((0, 4, 0.18), (1, 3, 0.32)):
        for place, fill in ((low, None), (high, "tonexty")):
            figure.add_scatter(
                x=values.versions,
                y=values.bands[place],
                mode="lines",
                line={"width": 0, "shape": "hv", "color": ACCENT},
                fill=fill,
                fillcolor=f"rgba(105,148,191,{opacity})",
                hoverinfo="skip",
                row=row,
                col=1,
            )
    _add_line(figure, values, values.bands[2], row)
    if len(values.lines) and values.lines["measure"][-1] == "seconds":
        figure.update_yaxes(**_time_ticks(values), row=row)


def _add_line(
    figure: go.Figure, values: ColumnValues, numbers: Sequence[float | None], row: int
) -> None:
    figure.add_scatter(
        x=values.versions,
        y=numbers,
        mode="lines+markers" if len(numbers) <= MOST_MARKERS else "lines",
        line={"width": 2, "shape": "hv", "color": ACCENT},
        marker={"size": 4, "color": ACCENT},
        hovertext=[
            _band_words(line)
            if values.cosines is None
            else hover([_version_words(line), f"{values.unit} {_short(number)}"])
            for line, number in zip(values.lines.iter_rows(named=True), numbers, strict=True)
        ],
        hoverinfo="text",
        row=row,
        col=1,
    )


def _band_words(line: dict[str, object]) -> str:
    quantiles = line["quantiles"]
    assert isinstance(quantiles, list)
    unit = "" if line["measure"] in ("value", "seconds") else f"{line['measure']} "
    words = [
        _version_words(line),
        f"{line['num_rows']:,} rows",
        f"{unit or 'values '}{_short(quantiles[0])} to {_short(quantiles[8])}"
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


def _add_shares(figure: go.Figure, values: ColumnValues, row: int) -> None:
    """Add the shares of frequent values, with their names at the last version."""
    assert values.shares is not None
    base = 0.0
    for (value, shares), color in zip(values.shares.items(), SHARE_COLORS, strict=False):
        figure.add_scatter(
            x=values.versions,
            y=shares,
            mode="lines",
            stackgroup=f"shares {row}",
            line={"width": 0.5, "shape": "hv", "color": color},
            fillcolor=color,
            opacity=0.8,
            name=text(value, 30),
            hovertext=[
                hover([value, f"{percent(share)} of version {version:,}"])
                for version, share in zip(values.versions, shares, strict=True)
            ],
            hoverinfo="text",
            row=row,
            col=1,
        )
        if shares[-1] >= _NAMED_SHARE:
            figure.add_annotation(
                x=values.versions[-1],
                y=base + shares[-1] / 2,
                text=text(value, 18),
                showarrow=False,
                xanchor="right",
                font={"size": 11, "color": "#FFFFFF"},
                row=row,
                col=1,
            )
        base += shares[-1]
    figure.update_yaxes(range=[0, 1], tickformat=".0%", row=row)


def _add_marks(figure: go.Figure, shifts: pl.DataFrame, top: float, row: int) -> None:
    """Mark the versions in which values moved furthest."""
    if shifts.is_empty():
        return
    for version in shifts["version"].to_list():
        figure.add_vline(
            x=version, line={"color": WARNING, "width": 1, "dash": "dot"}, row=row, col=1
        )
    figure.add_scatter(
        x=shifts["version"].to_list(),
        y=[top] * len(shifts),
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


def _short(number: object) -> str:
    return f"{number:,.4g}" if isinstance(number, int | float) else "none"


def _time_ticks(values: ColumnValues) -> dict[str, list[object]]:
    """Return ticks of an axis of seconds since 1970, written as dates; none for durations."""
    if not values.lines["type"][-1].startswith("Date"):
        return {}
    low, high = values.ends
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
