"""What stands above a lineage picture: commits by name and kind, and tags."""

from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go
import polars as pl

from lance_explorer.figures.labels import plural, text
from lance_explorer.figures.lineage_ticks import ticks_and_title
from lance_explorer.figures.palette import FAINT, KIND_COLORS, MUTED, PALE
from lance_explorer.format.operation_names import OperationName

__all__ = ["Surroundings", "legend_key"]

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
_NARROWEST_MARK = 3  # pixels
_MOST_BINS = 140
_HOLLOW = "square-open"
_PALE = 0.45
"""How the marks of a branch's parents differ from its own; as opacity, where they are bars."""


class Surroundings:
    """What stands above and below the lanes.

    Parameters
    ----------
    versions : polars.DataFrame
        The versions that are shown, of ``table.versions(inherited=True)``, oldest first.
    branch : str or None
        The branch of the picture: versions of others are inherited, their marks hollow.
    begin, end : float
        The ends of the picture, in versions.
    width : float
        Its width in pixels.
    """

    def __init__(
        self, versions: pl.DataFrame, branch: str | None, begin: float, end: float, width: float
    ) -> None:
        is_own = pl.col("branch").eq_missing(pl.lit(branch, pl.String))
        self._versions = versions.sort("version", maintain_order=True).with_columns(
            is_own.alias("is_own")
        )
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
        axis = ticks_and_title(self._versions, *self._ends, self._per_pixel)
        figure.update_xaxes(range=list(self._ends), showgrid=False, zeroline=False, **axis)
        figure.update_layout(shapes=[*self._tag_lines(bottom)])
        if self._is_crowded:
            self._draw_shares(figure)
        else:
            self._draw_commits(figure)
        self._add_inherited_key(figure)
        if (self._versions["known_from"] == "ledger").any():
            key = legend_key(MUTED, opacity=PALE)
            figure.add_scatter(**key, name="known from the ledger", legendrank=1901)
        yield from self._names()
        yield from self._tag_names()

    # ---------------------------------------------------------------------------- commits

    def _choose_names(self) -> pl.DataFrame:
        """Return the commits that are named: all of a kind, the rarest kinds first."""
        named = _with_names(self._versions.unique("version", keep="last", maintain_order=True))
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
            .agg(pl.len().alias("commits"), pl.col("is_own").any())
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
                marker={
                    "color": color,
                    "line": {"width": 0},
                    "opacity": [1 if is_own else _PALE for is_own in bars["is_own"]],
                },
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
        for kind, color in KIND_COLORS.items():
            commits = self._versions.filter(pl.col("kind") == kind)
            if len(commits) == 0:
                continue
            self._draw_marks(figure, commits.filter(~pl.col("is_own")), kind, _HOLLOW)
            self._draw_marks(figure, commits.filter("is_own"), kind, "square")
            figure.add_scatter(**legend_key(color), name=kind)

    def _draw_marks(self, figure: go.Figure, commits: pl.DataFrame, kind: str, symbol: str) -> None:
        if len(commits) == 0:
            return
        figure.add_scatter(
            x=commits["version"].to_list(),
            y=[self._names_height + _MARK_HEIGHT / 2] * len(commits),
            mode="markers",
            marker={
                "symbol": symbol,
                "size": self._mark_size(symbol),
                "color": KIND_COLORS[kind],
                "opacity": [PALE if place == "ledger" else 1 for place in commits["known_from"]],
            },
            name=kind,
            showlegend=False,
            cliponaxis=False,
            hovertext=[_commit_facts(row) for row in commits.iter_rows(named=True)],
            hoverinfo="text",
        )

    def _add_inherited_key(self, figure: go.Figure) -> None:
        """Say in the legend whose versions a branch has inherited."""
        inherited = self._versions.filter(~pl.col("is_own"))
        if len(inherited) == 0:
            return
        branches = inherited["branch"].unique(maintain_order=True)
        names = ", ".join([text(branch or "main", 24) for branch in branches])
        looks = {"opacity": _PALE} if self._is_crowded else {"symbol": _HOLLOW}
        figure.add_scatter(
            **legend_key(MUTED, **looks), name=f"inherited from {names}", legendrank=1900
        )

    def _mark_size(self, symbol: str) -> float:
        size = min(max(0.8 / self._per_pixel, 2.5), 9)
        return size * 1.3 if symbol == _HOLLOW else size  # around that of a branch at its fork

    # ------------------------------------------------------------------------------- tags

    def _place_tags(self) -> tuple[list[tuple[int, str, int | None]], int]:
        """Return version, words and row of each tag; the row is None where there is no room."""
        placed: list[tuple[int, str, int | None]] = []
        taken: list[float] = []
        tagged = self._versions.filter(pl.col("tags") != "")
        for version, tags in tagged.select("version", "tags").iter_rows():
            words = text(tags, _MOST_TAG_CHARACTERS)
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


def _with_names(versions: pl.DataFrame) -> pl.DataFrame:
    is_reserve = pl.col("operation") == OperationName.RESERVE_FRAGMENTS.value
    return versions.select(
        "version",
        "kind",
        pl.when(is_reserve.fill_null(False))
        .then(pl.lit("reserve"))
        .otherwise(pl.col("kind").cast(pl.String))
        .alias("name"),
    )


def legend_key(color: str, **looks: Any) -> dict[str, Any]:
    """Return a scatter that draws nothing, and has a mark in the legend."""
    marker = {"symbol": "square", "size": 9, "color": color, **looks}
    return {"x": [None], "y": [None], "mode": "markers", "marker": marker}


def _commit_facts(version: dict[str, Any]) -> str:
    time = version["timestamp"]
    of = "" if version["is_own"] else f" of {text(version['branch'] or 'main', 40)}"
    lines = [
        f"<b>version {version['version']:,}</b>{of} {text(version['operation'] or 'unknown')}",
        *([f"{time:%Y-%m-%d %H:%M:%S} UTC"] if time else []),
        *([f"tagged {text(version['tags'])}"] if version["tags"] else []),
        *([text(version["message"])] if version["message"] else []),
        *(["known from the ledger"] if version["known_from"] == "ledger" else []),
    ]
    return "<br>".join(lines)
