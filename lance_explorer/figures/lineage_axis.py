"""What surrounds a lineage picture: versions with their times, commits by name, and tags."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go
import polars as pl

from lance_explorer.figures.labels import plural, text
from lance_explorer.figures.palette import FAINT, KIND_COLORS, MUTED

__all__ = ["Surroundings"]

_NAME_SIZE = 10
_NAMES_HEIGHT = 62
_LINE_HEIGHT = 18
_WIDEST_NAME = 64  # pixels
_MARK_HEIGHT = 16
_TAG_HEIGHT = 17
_MOST_TAG_ROWS = 3
_MOST_TAG_CHARACTERS = 18
_CHARACTER = 6.3
_NARROWEST_NAME = 11.5  # pixels between names that stand upright
_TICK_WIDTH = 84
_NARROWEST_MARK = 3  # pixels
_MOST_BINS = 140


class Surroundings:
    """What stands above and below the lanes.

    Parameters
    ----------
    versions : polars.DataFrame
        The versions that are shown, of ``table.versions()``.
    begin, end : float
        The ends of the picture, in versions.
    width : float
        Its width in pixels.
    """

    def __init__(self, versions: pl.DataFrame, begin: float, end: float, width: float) -> None:
        self._versions = versions.sort("version")
        self._per_pixel = (end - begin) / width
        self._ends = begin, end
        self._named = self._choose_names()
        self._tags, self._num_tag_rows = self._place_tags()

    @property
    def height(self) -> float:
        """Height of what stands above the lanes, in pixels."""
        names = self._names_height
        marks = _MARK_HEIGHT if len(self._versions) else 0
        return names + marks + _TAG_HEIGHT * self._num_tag_rows

    def draw(self, figure: go.Figure, bottom: float) -> Iterator[dict[str, Any]]:
        """Add all but words, and yield these; y runs down in pixels, from 0 to ``bottom``."""
        figure.update_xaxes(range=list(self._ends), showgrid=False, zeroline=False, **self._ticks())
        figure.update_xaxes(title_text=self._axis_title())
        figure.update_layout(shapes=[*self._tag_lines(bottom)])
        if self._is_crowded:
            self._draw_shares(figure)
        else:
            self._draw_commits(figure)
        yield from self._names()
        yield from self._tag_names()

    # ---------------------------------------------------------------------------- commits

    def _choose_names(self) -> pl.DataFrame:
        """Return the commits that are named: all of a kind, the rarest kinds first."""
        named = _with_names(self._versions)
        chosen = named.clear()
        if self._is_crowded:
            return chosen
        for kind in named["name"].value_counts(sort=True).reverse()["name"]:
            more = pl.concat([chosen, named.filter(name=kind)]).sort("version")
            gaps = more["version"].cast(pl.Int64).diff().drop_nulls().to_list()
            if min(gaps, default=1) / self._per_pixel >= _NARROWEST_NAME:
                chosen = more
        return chosen

    @property
    def _is_crowded(self) -> bool:
        """Whether commits are too many for a mark each."""
        begin, end = self._ends
        return len(self._versions) * _NARROWEST_MARK * self._per_pixel > end - begin

    def _draw_shares(self, figure: go.Figure) -> None:
        """Draw which share of the commits was of which kind, for some commits at a time."""
        begin, end = self._ends
        bins = _MOST_BINS / (end - begin)
        counts = (
            self._versions.group_by(
                ((pl.col("version") - begin) * bins).floor().alias("bin"), "kind"
            )
            .len("commits")
            .sort("bin", "kind")
            .with_columns((pl.col("commits") / pl.col("commits").sum().over("bin")).alias("share"))
            .with_columns((pl.col("share").cum_sum().over("bin") - pl.col("share")).alias("start"))
        )
        for kind, color in KIND_COLORS.items():
            bars = counts.filter(pl.col("kind") == kind)
            if len(bars) == 0:
                continue
            figure.add_bar(
                x=((bars["bin"] + 0.5) / bins + begin).to_list(),
                y=(bars["share"] * (_MARK_HEIGHT - 3)).to_list(),
                base=(bars["start"] * (_MARK_HEIGHT - 3)).to_list(),
                width=[1 / bins] * len(bars),
                marker={"color": color, "line": {"width": 0}},
                name=kind,
                hovertext=[
                    f"<b>{plural(count, 'commit')}</b> of kind {kind}<br>"
                    f"about version {(number + 0.5) / bins + begin:,.0f}"
                    for number, count in bars.select("bin", "commits").iter_rows()
                ],
                hoverinfo="text",
            )
        figure.update_layout(barmode="overlay")

    @property
    def _names_height(self) -> float:
        if len(self._named) == 0:
            return 0
        return _LINE_HEIGHT if self._is_airy else _NAMES_HEIGHT

    @property
    def _is_airy(self) -> bool:
        """Whether names have room side by side."""
        gaps = self._named["version"].cast(pl.Int64).diff().drop_nulls().to_list()
        return min(gaps, default=_WIDEST_NAME) / self._per_pixel > _WIDEST_NAME

    def _names(self) -> Iterator[dict[str, Any]]:
        for version, name in self._named.select("version", "name").iter_rows():
            yield {
                "x": version,
                "y": self._names_height,
                "text": name,
                "textangle": 0 if self._is_airy else -90,
                "xanchor": "center",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": _NAME_SIZE},
            }

    def _draw_commits(self, figure: go.Figure) -> None:
        top = self._names_height
        for kind, color in KIND_COLORS.items():
            commits = self._versions.filter(pl.col("kind") == kind)
            if len(commits) == 0:
                continue
            figure.add_scatter(
                x=commits["version"].to_list(),
                y=[top + _MARK_HEIGHT / 2] * len(commits),
                mode="markers",
                marker={"symbol": "square", "size": self._mark_size(), "color": color},
                name=kind,
                hovertext=[_commit_facts(row) for row in commits.iter_rows(named=True)],
                hoverinfo="text",
            )

    def _mark_size(self) -> float:
        return min(max(0.8 / self._per_pixel, 2.5), 9)

    # ------------------------------------------------------------------------------- tags

    def _place_tags(self) -> tuple[list[tuple[int, str, int | None]], int]:
        """Return version, words and row of each tag; the row is None where there is no room."""
        placed: list[tuple[int, str, int | None]] = []
        taken: list[float] = []
        tagged = self._versions.filter(pl.col("tags").list.len() > 0)
        for version, tags in tagged.select("version", "tags").iter_rows():
            words = text(", ".join(tags), _MOST_TAG_CHARACTERS)
            half = (len(words) * _CHARACTER / 2 + 6) * self._per_pixel
            left = min(max(version - half, self._ends[0]), self._ends[1] - 2 * half)
            row = next((row for row, end in enumerate(taken) if end <= left), None)
            if row is None and len(taken) < _MOST_TAG_ROWS:
                row = len(taken)
                taken.append(left)
            if row is not None:
                taken[row] = left + 2 * half
            placed.append((version, words, row))
        return placed, len(taken)

    def _tag_lines(self, bottom: float) -> Iterator[dict[str, Any]]:
        for version, _, row in self._tags:
            yield {
                "type": "line",
                "x0": version,
                "x1": version,
                "y0": self._tag_height(row or 0),
                "y1": bottom,
                "line": {"color": MUTED, "width": 1, "dash": "dot"},
                "layer": "below",
            }

    def _tag_names(self) -> Iterator[dict[str, Any]]:
        begin, end = self._ends
        for version, words, row in self._tags:
            if row is None:
                continue
            half = (len(words) * _CHARACTER / 2 + 6) * self._per_pixel
            at_left, at_right = version - half < begin, version + half > end
            yield {
                "x": version,
                "y": self._tag_height(row),
                "text": words,
                "xanchor": "left" if at_left else "right" if at_right else "center",
                "yanchor": "middle",
                "showarrow": False,
                "font": {"size": 11},
                "bgcolor": FAINT,
                "borderpad": 1,
            }

    def _tag_height(self, row: int) -> float:
        """Return where the middle of a row of tags is."""
        return self.height - _TAG_HEIGHT * (self._num_tag_rows - row - 0.5)

    # ------------------------------------------------------------------------------- axis

    def _ticks(self) -> dict[str, Any]:
        """Return ticks at round versions, with the times of these below."""
        numbers = self._tick_versions()
        times = dict(self._versions.select("version", "timestamp").iter_rows())
        form = _time_format(self._versions["timestamp"].drop_nulls())
        words = [f"{time:{form}}" if (time := times.get(number)) else "" for number in numbers]
        return {
            "tickvals": numbers,
            "ticktext": [
                f"{n:,}<br>{w}" if w else f"{n:,}" for n, w in zip(numbers, words, strict=True)
            ],
        }

    def _tick_versions(self) -> list[int]:
        begin, end = self._ends
        most = max(int((end - begin) / self._per_pixel / _TICK_WIDTH), 2)
        step = next(
            unit * factor
            for unit in [10**power for power in range(20)]
            for factor in (1, 2, 5)
            if (end - begin) / (unit * factor) <= most
        )
        first = -(-int(begin + 1) // step) * step
        ticks = list(range(first, int(end) + 1, step))
        lowest = int(begin + 1)
        if not ticks or ticks[0] - lowest >= step * 0.6:
            ticks.insert(0, lowest)
        return ticks

    def _axis_title(self) -> str:
        times = self._versions["timestamp"].drop_nulls()
        if len(times) == 0:
            return "version"
        day = f" on {_day(times[0])}" if _day(times[0]) == _day(times[-1]) else ""
        return f"version and its time{day} (UTC)"


def _with_names(versions: pl.DataFrame) -> pl.DataFrame:
    is_reserve = pl.col("operation") == "ReserveFragments"
    return versions.select(
        "version",
        "kind",
        pl.when(is_reserve.fill_null(False))
        .then(pl.lit("reserve"))
        .otherwise(pl.col("kind").cast(pl.String))
        .alias("name"),
    )


def _commit_facts(version: dict[str, Any]) -> str:
    time = version["timestamp"]
    lines = [
        f"<b>version {version['version']:,}</b> {text(version['operation'] or 'unknown')}",
        *([f"{time:%Y-%m-%d %H:%M:%S} UTC"] if time else []),
        *([f"tagged {text(', '.join(version['tags']))}"] if version["tags"] else []),
        *([text(version["message"])] if version["message"] else []),
    ]
    return "<br>".join(lines)


def _time_format(times: pl.Series) -> str:
    """Return how to write times, so that neighbours differ and no more is said than needed."""
    if len(times) == 0:
        return ""
    span = times[-1] - times[0]
    if _day(times[0]) == _day(times[-1]):
        return "%H:%M:%S" if span < timedelta(hours=1) else "%H:%M"
    return "%-d %b %H:%M" if span < timedelta(days=20) else "%-d %b %Y"


def _day(time: datetime) -> str:
    return f"{time:%-d %b %Y}"
