"""The lives of fragments as nodes, and the moves of their rows as edges."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl
from numpy.typing import NDArray

from lance_explorer.figures.labels import hover, plural, text
from lance_explorer.figures.lineage_axis import legend_key
from lance_explorer.figures.lineage_ranks import place_nodes
from lance_explorer.figures.lineage_ribbons import CURVE, RISE, with_gaps
from lance_explorer.figures.lineage_selection import node_of, related
from lance_explorer.figures.lineage_words import (
    WAY_KINDS,
    lane_facts,
    lane_names,
    lane_title,
    rewrite_words,
    ribbon_words,
    step_words,
)
from lance_explorer.figures.palette import KIND_COLORS, MUTED, apply_look

__all__ = ["MOST_NODES", "lineage_graph"]

MOST_NODES = 200
"""With more fragments, the latest are drawn."""

_COLUMN_WIDTH, _ROW_HEIGHT = 120, 54
_USUAL_COLUMNS = 8
_SMALLEST, _LARGEST = 8, 26
_WIDTHS = (1.2, 2.2, 3.6, 5.5)
_DASHES = {"recorded": "solid", "derived": "solid", "inferred": "dash", "lost": "dot"}
_LABEL_SIZE = 10.5


def lineage_graph(
    fragments: pl.DataFrame, edges: pl.DataFrame, *, fragment: str | int | None = None
) -> go.Figure:
    """Draw which fragments' rows moved into which others, as nodes and edges.

    Parameters
    ----------
    fragments, edges : polars.DataFrame
        What ``table.lineage().fragments()`` and ``table.lineage().edges()`` give, or those of a
        part.
    fragment : str or int, optional
        A node of ``fragments``, or a fragment ID for its latest life: show only what leads to it,
        and what comes of it.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.lineage_graph` describes.

    Examples
    --------
    >>> frames = table.lineage().frames
    >>> lineage_graph(frames.fragments, frames.edges).layout.title.text
    '3 fragments · 1 edge'
    """
    lives = fragments
    if fragment is not None:
        wanted = related(edges, node_of(fragments, fragment))
        lives = lives.filter(pl.col("node").is_in(sorted(wanted)))
    nodes = _latest(lives)
    there = lives["node"].implode()
    edges = edges.filter(pl.col("from_node").is_in(there), pl.col("to_node").is_in(there))
    drawn = nodes["node"].implode()
    ways = edges.filter(pl.col("from_node").is_in(drawn), pl.col("to_node").is_in(drawn))
    rewrites = ways.filter(pl.col("from_node") == pl.col("to_node"))
    ways = ways.filter(pl.col("from_node") != pl.col("to_node"))
    note = _note((len(nodes), len(lives)), (len(ways) + len(rewrites), len(edges)))
    return _Picture(nodes, ways, rewrites).draw(note)


def _latest(lives: pl.DataFrame) -> pl.DataFrame:
    """Return the lives that began last, in their order."""
    numbered = lives.with_row_index("place")
    return numbered.sort("first_version", "place").tail(MOST_NODES).sort("place").drop("place")


def _note(nodes: tuple[int, int], edges: tuple[int, int]) -> str:
    if nodes[0] == nodes[1]:
        return f"{plural(nodes[1], 'fragment')} · {plural(edges[1], 'edge')}"
    return (
        f"the latest {nodes[0]:,} of {plural(nodes[1], 'fragment')} · "
        f"{edges[0]:,} of {plural(edges[1], 'edge')} · choose a fragment, or draw a part"
    )


class _Picture:
    """Nodes and edges in their places: ``x`` counts columns, ``y`` places in them, downwards."""

    def __init__(self, nodes: pl.DataFrame, ways: pl.DataFrame, rewrites: pl.DataFrame) -> None:
        self._nodes = nodes
        self._rewrites = rewrites
        number = {node: place for place, node in enumerate(nodes["node"])}
        self._ways = ways.with_columns(
            [
                pl.col(f"{side}_node").replace_strict(number, return_dtype=pl.Int64).alias(side)
                for side in ("from", "to")
            ]
        )
        self.x, self.y = place_nodes(len(nodes), list(self._ways.select("from", "to").iter_rows()))
        self._number = number
        self._sizes = self._node_sizes()

    def draw(self, note: str) -> go.Figure:
        figure = go.Figure()
        self._draw_ways(figure)
        self._draw_rewrites(figure)
        self._draw_nodes(figure)
        self._draw_hover(figure)
        columns, rows = self.x.max(initial=0) + 1, self.y.max(initial=0.0) + 1
        figure.update_xaxes(range=[-0.5, columns - 0.5], visible=False)
        figure.update_yaxes(range=[rows - 0.35, -0.6], visible=False)
        is_wide = columns > _USUAL_COLUMNS
        figure.update_layout(
            annotations=[*self._names()],
            hovermode="closest",
            width=int(columns * _COLUMN_WIDTH) if is_wide else None,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "itemclick": False, "itemdoubleclick": False},
        )
        apply_look(figure, int(rows * _ROW_HEIGHT) + 120, note)
        return figure.update_layout(margin={"l": 16, "r": 16, "t": 100, "b": 10})

    # -------------------------------------------------------------------------------- nodes

    def _node_sizes(self) -> NDArray[np.float64]:
        """Return the diameters, whose squares are proportional to the rows."""
        rows = self._nodes["num_rows"].cast(pl.Float64).fill_null(0).to_numpy()
        most = max(float(rows.max(initial=0)), 1)
        return np.asarray(_SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(rows / most))

    def _draw_nodes(self, figure: go.Figure) -> None:
        kinds = self._nodes["kind"].to_list()
        for kind, color in KIND_COLORS.items():
            some = [place for place, own in enumerate(kinds) if own == kind]
            if not some:
                continue
            lives = self._nodes[some]
            figure.add_scatter(
                x=self.x[some].tolist(),
                y=self.y[some].tolist(),
                mode="markers+text",
                text=[text(lane_names(life, life["num_rows"])[1]) for life in lives.to_dicts()],
                textposition="bottom center",
                textfont={"size": _LABEL_SIZE, "color": MUTED},
                marker={
                    "size": np.round(self._sizes[some], 1).tolist(),
                    "color": color,
                    "opacity": 1,
                    "line": {"width": 0},
                },
                hovertext=[_node_facts(life) for life in lives.iter_rows(named=True)],
                hoverinfo="text",
                cliponaxis=False,
                showlegend=False,
            )
            name = "made by an unknown operation" if kind == "other" else f"made by {kind}"
            figure.add_scatter(**legend_key(color, symbol="circle"), name=name)

    def _draw_rewrites(self, figure: go.Figure) -> None:
        """Draw rings around nodes whose columns were rewritten."""
        if len(self._rewrites) == 0:
            return
        by_node = self._rewrites.group_by("to_node", maintain_order=True).agg("version", "rows")
        places = [self._number[node] for node in by_node["to_node"]]
        figure.add_scatter(
            x=self.x[places].tolist(),
            y=self.y[places].tolist(),
            mode="markers",
            marker={
                "symbol": "circle-open",
                "size": (self._sizes[places] + 8).tolist(),
                "color": KIND_COLORS["schema"],
                "line": {"width": 2},
            },
            hovertext=[
                "<br>".join(
                    [hover(rewrite_words(*one)) for one in zip(versions, rows, strict=True)][:5]
                )
                for versions, rows in by_node.select("version", "rows").iter_rows()
            ],
            hoverinfo="text",
            cliponaxis=False,
            name="columns rewritten",
        )

    def _names(self) -> Iterator[dict[str, Any]]:
        """Yield the operation that made each node, above it."""
        done = self._ways.group_by("to", maintain_order=True).agg("kind", "version")
        for place, kinds, versions in done.iter_rows():
            ways = zip(kinds, versions, strict=True)
            words = dict.fromkeys([f"{WAY_KINDS[kind]} {version:,}" for kind, version in ways])
            yield {
                "x": int(self.x[place]),
                "y": float(self.y[place]),
                "text": ", ".join([*words][:2]),
                "showarrow": False,
                "xanchor": "center",
                "yanchor": "bottom",
                "yshift": float(self._sizes[place]) / 2,
                "font": {"size": _LABEL_SIZE},
            }

    # --------------------------------------------------------------------------------- ways

    def _draw_ways(self, figure: go.Figure) -> None:
        """Draw edges of one colour, width and dash as one trace."""
        rows = self._ways["rows"].cast(pl.Float64).fill_null(0).to_numpy()
        share = np.sqrt(rows / max(float(rows.max(initial=0)), 1))
        level = np.minimum((share * len(_WIDTHS)).astype(np.int64), len(_WIDTHS) - 1)
        looks = self._ways.select("kind", "evidence").with_columns(pl.Series("level", level))
        for (kind, evidence, width), own in looks.with_row_index("place").group_by(
            "kind", "evidence", "level", maintain_order=True
        ):
            x, y = self._curves(own["place"].to_numpy())
            figure.add_scatter(
                x=x,
                y=y,
                mode="lines",
                line={
                    "color": KIND_COLORS[WAY_KINDS[str(kind)]],
                    "width": _WIDTHS[int(str(width))],
                    "dash": _DASHES[str(evidence)],
                },
                opacity=0.75,
                hoverinfo="skip",
                showlegend=False,
            )
        if not self._ways.filter(pl.col("evidence").is_in(["inferred", "lost"])).is_empty():
            figure.add_scatter(
                x=[None],
                y=[None],
                mode="lines",
                line={"color": MUTED, "width": 2, "dash": "dash"},
                name="inferred, not recorded",
                legendrank=2000,
            )

    def _curves(self, ways: NDArray[np.uint32]) -> tuple[list[float | None], list[float | None]]:
        """Return edges as one line with gaps."""
        some = self._ways[ways]
        start, end = some["from"].to_numpy(), some["to"].to_numpy()
        gap = np.full((len(some), 1), np.nan)
        x = self.x[start][:, None] + (self.x[end] - self.x[start])[:, None] * CURVE
        y = self.y[start][:, None] + (self.y[end] - self.y[start])[:, None] * RISE
        return with_gaps(np.hstack([x, gap])), with_gaps(np.hstack([y, gap]))

    def _draw_hover(self, figure: go.Figure) -> None:
        """Add invisible points in the middle of edges, for tooltips."""
        if len(self._ways) == 0:
            return
        labels = [lane_names(life, None)[0] for life in self._nodes.iter_rows(named=True)]
        start, end = self._ways["from"].to_numpy(), self._ways["to"].to_numpy()
        figure.add_scatter(
            x=((self.x[start] + self.x[end]) / 2).tolist(),
            y=((self.y[start] + self.y[end]) / 2).tolist(),
            mode="markers",
            marker={"size": 12, "opacity": 0, "color": MUTED},
            hovertext=[
                hover(ribbon_words({**way, "num_edges": 1}, labels[way["from"]], labels[way["to"]]))
                for way in self._ways.iter_rows(named=True)
            ],
            hoverinfo="text",
            showlegend=False,
        )


def _node_facts(life: dict[str, Any]) -> str:
    last = life["last_version"] or life["first_version"]
    step = {"begin": last, "end": last, "num_rows": life["num_rows"]}
    return hover([lane_title(life), step_words(life, step), *lane_facts(life)])
