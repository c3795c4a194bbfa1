"""The axis above a lineage picture: commits by name and kind, and tags."""

from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go
import polars as pl

from lance_explorer.figures.commit_bars import commit_bars
from lance_explorer.figures.labels import hover, plural, text
from lance_explorer.figures.lineage_places import (
    BAR_WIDTH,
    bar_of,
    is_crowded,
    mark_size,
    named_commits,
    place_tags,
)
from lance_explorer.figures.lineage_ticks import ticks_and_title
from lance_explorer.figures.palette import FAINT, KIND_COLORS, MUTED, PALE
from lance_explorer.figures.version_words import version_words
from lance_explorer.format.operation_names import OperationName

__all__ = ["Surroundings", "commit_names", "legend_key"]

_NAME_SIZE = 10
_NAMES_HEIGHT = 62
_LINE_HEIGHT = 18
_MARK_HEIGHT = 16
_BARS_HEIGHT = 52
_TAG_HEIGHT = 17
_MOST_TAG_ROWS = 2
_MOST_TAG_CHARACTERS = 18
_CHARACTER = 6.3
_HOLLOW = "square-open"


class Surroundings:
    """What is above and below the lanes.

    Parameters
    ----------
    versions : polars.DataFrame
        The versions that are shown, of ``table.versions(inherited=True)``, oldest first, with
        ``is_own``: those of other branches are inherited, their marks hollow.
    begin, end : float
        The ends of the picture, in versions.
    width : float
        Its width in pixels.
    """

    def __init__(self, versions: pl.DataFrame, begin: float, end: float, width: float) -> None:
        self._versions = versions
        self._width = width
        self._ends = begin, end
        self._unit = width / (end - begin)
        self._is_crowded = is_crowded(len(versions), width)
        names = commit_names(versions)
        numbers = versions["version"].to_list()
        named, self._is_airy = (
            ([], True) if self._is_crowded else named_commits(numbers, names, self._unit)
        )
        self._named = [(numbers[place], names[place]) for place in named]
        self._tags = self._place_tags()

    @property
    def height(self) -> float:
        """Height of the area above the lanes, in pixels."""
        marks = _MARK_HEIGHT if len(self._versions) else 0
        commits = _BARS_HEIGHT + 6 if self._is_crowded else self._names_height + marks
        return commits + _TAG_HEIGHT * self._num_tag_rows

    def draw(self, figure: go.Figure, bottom: float) -> Iterator[dict[str, Any]]:
        """Add all but words, and yield these; y runs down in pixels, from 0 to ``bottom``."""
        axis = ticks_and_title(self._versions, *self._ends, self._width)
        figure.update_xaxes(range=list(self._ends), showgrid=False, zeroline=False, **axis)
        figure.update_layout(shapes=[*self._tag_lines(bottom)])
        if self._is_crowded:
            self._draw_bars(figure)
        else:
            self._draw_commits(figure)
        yield from self._names()
        yield from self._tag_names()

    # ---------------------------------------------------------------------------- commits

    def _draw_bars(self, figure: go.Figure) -> None:
        """Draw several commits as one bar, whose height is their number."""
        begin, _ = self._ends
        of = [bar_of(version, begin, self._unit) for version in self._versions["version"]]
        parts = commit_bars(pl.Series(of), self._versions["kind"], self._versions["is_own"])
        wide = BAR_WIDTH / self._unit
        tall = _BARS_HEIGHT / max(parts["total"])
        for kind, color in KIND_COLORS.items():
            bars = parts.filter(kind=kind)
            if len(bars) == 0:
                continue
            figure.add_bar(
                x=((bars["bin"] + 0.5) * wide + begin).to_list(),
                y=[-tall * count for count in bars["commits"]],
                base=[_BARS_HEIGHT - tall * count for count in bars["start"]],
                width=[wide * (BAR_WIDTH - 1) / BAR_WIDTH] * len(bars),
                marker={
                    "color": color,
                    "line": {"width": 0},
                    "opacity": [PALE if is_pale else 1 for is_pale in bars["is_pale"]],
                },
                name=kind,
                showlegend=False,
                hovertext=[
                    hover(
                        [
                            f"{plural(count, 'commit')} of kind {kind}",
                            f"about version {(number + 0.5) * wide + begin:,.0f}",
                        ]
                    )
                    for number, count in bars.select("bin", "commits").iter_rows()
                ],
                hoverinfo="text",
            )
        figure.update_layout(barmode="overlay")

    @property
    def _names_height(self) -> float:
        if not self._named:
            return 0
        return _LINE_HEIGHT if self._is_airy else _NAMES_HEIGHT

    def _names(self) -> Iterator[dict[str, Any]]:
        for version, name in self._named:
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
        for kind in KIND_COLORS:
            commits = self._versions.filter(pl.col("kind") == kind)
            self._draw_marks(figure, commits.filter(~pl.col("is_own")), kind, _HOLLOW)
            self._draw_marks(figure, commits.filter("is_own"), kind, "square")

    def _draw_marks(self, figure: go.Figure, commits: pl.DataFrame, kind: str, symbol: str) -> None:
        if len(commits) == 0:
            return
        size = mark_size(self._unit)
        around = 1.3 if symbol == _HOLLOW else 1  # that of a branch at its fork
        figure.add_scatter(
            x=commits["version"].to_list(),
            y=[self._names_height + _MARK_HEIGHT / 2] * len(commits),
            mode="markers",
            marker={
                "symbol": symbol,
                "size": size * around,
                "color": KIND_COLORS[kind],
                "opacity": [PALE if place == "ledger" else 1 for place in commits["known_from"]],
            },
            name=kind,
            showlegend=False,
            cliponaxis=False,
            hovertext=[_commit_facts(row) for row in commits.iter_rows(named=True)],
            hoverinfo="text",
        )

    # ------------------------------------------------------------------------------- tags

    def _place_tags(self) -> list[tuple[int, str, float, int | None]]:
        """Return version, words, left and row of each tag; the row is None if there is no room."""
        begin, _ = self._ends
        tagged = [
            (version, text(tag, _MOST_TAG_CHARACTERS))
            for version, tags in self._versions.select("version", "tags").iter_rows()
            for tag in tags.split(", ")
            if tag
        ]
        wanted = [
            ((version - begin) * self._unit, len(words) * _CHARACTER + 12)
            for version, words in tagged
        ]
        placed = place_tags(wanted, self._width, _MOST_TAG_ROWS)
        return [
            (version, words, begin + left / self._unit, row)
            for (version, words), (left, row) in zip(tagged, placed, strict=True)
        ]

    @property
    def _num_tag_rows(self) -> int:
        return max([row + 1 for *_, row in self._tags if row is not None], default=0)

    def _tag_lines(self, bottom: float) -> Iterator[dict[str, Any]]:
        for version, _, _, row in self._tags:
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
        for _, words, left, row in self._tags:
            if row is None:
                continue
            yield {
                "x": left,
                "y": self._tag_height(row),
                "text": words,
                "xanchor": "left",
                "yanchor": "middle",
                "showarrow": False,
                "font": {"size": 11},
                "bgcolor": FAINT,
                "borderpad": 1,
            }

    def _tag_height(self, row: int) -> float:
        """Return the middle of a row of tags."""
        return self.height - _TAG_HEIGHT * (self._num_tag_rows - row - 0.5)


def commit_names(versions: pl.DataFrame) -> list[str]:
    """Return the names of commits above the lanes: their kinds, and one for reserved IDs."""
    is_reserve = pl.col("operation") == OperationName.RESERVE_FRAGMENTS.value
    name = (
        pl.when(is_reserve.fill_null(False))
        .then(pl.lit("reserve"))
        .otherwise(pl.col("kind").cast(pl.String))
    )
    return versions.select(name.alias("name"))["name"].to_list()


def legend_key(color: str, **looks: Any) -> dict[str, Any]:
    """Return a scatter that draws nothing, for the legend."""
    marker = {"symbol": "square", "size": 9, "color": color, **looks}
    return {"x": [None], "y": [None], "mode": "markers", "marker": marker}


def _commit_facts(version: dict[str, Any]) -> str:
    facts = {name: version[name] for name in ("version", "operation", "timestamp", "tags")}
    facts |= {"message": version["message"], "known_from": version["known_from"]}
    return hover(version_words(facts, None if version["is_own"] else version["branch"] or "main"))
