"""The layout of a lineage picture: frames in, positions out, no colours and no I/O.

Versions run along x, in version numbers; y runs down, in pixels. Each fragment is a lane whose
thickness shows its rows; ribbons lead rows from one lane into another.
"""

from dataclasses import dataclass

import polars as pl

from lance_explorer.figures.lineage_ribbons import HALF_VERSION, place_rewrites, place_ribbons
from lance_explorer.figures.lineage_selection import REST, Selection, select
from lance_explorer.figures.lineage_tracks import assign_tracks

__all__ = ["MOST_LANES", "REST", "LineageLayout", "lay_out"]

MOST_LANES = 200
"""With more fragments, the rest are drawn as one lane."""

MOST_RIBBONS = 250

ROWS_HEIGHT = 220
"""Height of all rows that were live at once, in pixels."""

_THINNEST = 2.5
_LABEL_HEIGHT = 15
_GAP = 6
_MOST_LABELLED_TRACKS = 32
_SHARE_OF_RIBBON = 0.014
"""The width of ribbons, as a part of the picture, if versions are too close for it."""


@dataclass(frozen=True, slots=True)
class LineageLayout:
    """Places of lanes and ribbons.

    Attributes
    ----------
    lanes : polars.DataFrame
        One row a lane: the columns of ``lineage().fragments()``, and ``track``, ``x0``, ``x1``,
        ``y`` (its upper edge), ``thickness`` (where it is thickest), ``room`` (versions up to the
        next lane in its track, or the end). The rest is the last, if there is any; of its facts
        only the node is set.
    steps : polars.DataFrame
        How thick each lane is where: ``lane`` (its row in ``lanes``), ``x0``, ``x1``,
        ``thickness``, ``num_rows``, ``num_fragments``, ``begin``, ``end`` (the versions).
    ribbons : polars.DataFrame
        One row a ribbon: ``from_lane``, ``to_lane``, ``kind``, ``version``, ``rows``,
        ``evidence``, ``num_edges``; at its start ``x0``, ``y0`` (upper edge) and ``width0``, at
        its end ``x1``, ``y1`` and ``width1``.
    rewrites : polars.DataFrame
        Where columns were written anew: ``lane``, ``x``, ``y``, ``thickness``, ``version``,
        ``rows``.
    begin, end : int
        The first version and the last.
    x0, x1 : float
        The ends of the picture.
    height : float
        Its height in pixels.
    num_fragments, num_ribbons : int
        How many fragments and ribbons there are, drawn apart or not.
    has_labels : bool
        Whether there is room for a line of text above each lane.
    """

    lanes: pl.DataFrame
    steps: pl.DataFrame
    ribbons: pl.DataFrame
    rewrites: pl.DataFrame
    begin: int
    end: int
    x0: float
    x1: float
    height: float
    num_fragments: int
    num_ribbons: int
    has_labels: bool

    @property
    def shares(self) -> tuple[int, int, int, int]:
        """How many lanes of how many fragments are drawn, and how many ribbons."""
        lanes = len(self.lanes) - int((self.lanes["node"] == REST).any())
        return lanes, self.num_fragments, len(self.ribbons), self.num_ribbons

    def y_at(self, node: str, version: int) -> float | None:
        """Return the middle of a lane at a version; None if it does not exist there."""
        lane = self.lanes.filter(node=node)
        here = self.steps.join(lane.select("lane", "y"), on="lane").filter(
            pl.col("begin") <= version, pl.col("end") >= version
        )
        return None if len(here) == 0 else float(here["y"][0] + here["thickness"][0] / 2)


def lay_out(
    fragments: pl.DataFrame,
    edges: pl.DataFrame,
    states: pl.DataFrame,
    *,
    versions: tuple[int, int] | None = None,
    focus: str | None = None,
    most_lanes: int = MOST_LANES,
    rows_height: float = ROWS_HEIGHT,
) -> LineageLayout:
    """Return where everything is.

    Parameters
    ----------
    fragments, edges, states : polars.DataFrame
        The frames of a lineage.
    versions : tuple of int, optional
        The first version and the last to show; all by default.
    focus : str, optional
        A node of ``fragments``: show only what leads to it, and what comes of it.
    most_lanes : int
        Of more fragments, those with the most rows for the longest time have lanes of their own.
    rows_height : float
        Height of all rows that were live at once, in pixels.
    """
    chosen = select(fragments, edges, states, versions, focus, most_lanes)
    return _Canvas(chosen, rows_height).layout()


class _Canvas:
    """Lanes are cut into steps first, then placed, then joined by ribbons."""

    def __init__(self, chosen: Selection, rows_height: float) -> None:
        self._chosen = chosen
        self._span = chosen.end - chosen.begin
        self._ribbon_length = max(1 - 2 * HALF_VERSION, self._span * _SHARE_OF_RIBBON)
        names = chosen.lanes["node"].to_list()
        if (chosen.steps["node"] == REST).any():
            names.append(REST)
        self._numbers = {name: number for number, name in enumerate(names)}
        self._scale = rows_height / max(_most_rows(chosen.steps), 1)

    def layout(self) -> LineageLayout:
        """Place everything."""
        chosen = self._chosen
        edges = chosen.edges.with_columns(
            [self._lane_of(f"{end}_node").alias(f"{end}_lane") for end in ("from", "to")]
        ).drop_nulls(["from_lane", "to_lane"])
        is_flow = pl.col("kind") != "column_rewrite"
        flows = edges.filter(is_flow)
        steps = self._steps(flows)
        lanes, height, has_labels = self._lanes(steps)
        largest = flows.sort(pl.col("rows").fill_null(0), descending=True, maintain_order=True)
        return LineageLayout(
            lanes=lanes,
            steps=steps,
            ribbons=place_ribbons(largest.head(MOST_RIBBONS), lanes, steps, self._ribbon_length),
            rewrites=place_rewrites(edges.filter(~is_flow), lanes, steps),
            begin=chosen.begin,
            end=chosen.end,
            x0=chosen.begin - 2 * HALF_VERSION,
            x1=chosen.end + 2 * HALF_VERSION,
            height=height,
            num_fragments=chosen.num_fragments,
            num_ribbons=len(flows),
            has_labels=has_labels,
        )

    def _lane_of(self, column: str) -> pl.Expr:
        """Return the lane of each node in a column."""
        lanes = pl.col(column).replace_strict(self._numbers, default=None, return_dtype=pl.Int64)
        return lanes.cast(pl.Int64)  # for no lanes at all Polars leaves text

    # ---------------------------------------------------------------------------- lanes

    def _steps(self, flows: pl.DataFrame) -> pl.DataFrame:
        """Return the steps of all lanes; one ends where the ribbons to its successors depart."""
        departure = self._ribbon_length + HALF_VERSION  # before the version of arrival
        shortest = max(2 * HALF_VERSION, self._span / 300)
        left = (
            flows.filter(pl.col("kind").is_in(["rewrite", "clone"]))
            .group_by(pl.col("from_lane").alias("lane"))
            .agg((pl.col("version").cast(pl.Int64).min() - departure).alias("left"))
        )
        is_cut = pl.col("lane") != len(self._chosen.lanes)  # the rest goes on
        lane_end = pl.col("end").max().over("lane")
        last = (
            pl.when(lane_end == self._chosen.end)
            .then(lane_end + HALF_VERSION)
            .otherwise(lane_end + 1 - departure)
        )
        first = pl.col("begin").min().over("lane") - HALF_VERSION
        return (
            self._chosen.steps.with_columns(
                self._lane_of("node").alias("lane"),
                pl.max_horizontal(pl.lit(_THINNEST), pl.col("num_rows") * self._scale)
                .fill_null(_THINNEST)
                .alias("thickness"),
            )
            .drop("node")
            .join(left, on="lane", how="left")
            .sort("lane", "begin")
            .with_columns(
                lane_x0=first,
                lane_x1=pl.max_horizontal(
                    first + shortest,
                    pl.when(is_cut).then(pl.min_horizontal(last, "left")).otherwise(last),
                ),
                is_first=pl.col("begin") == pl.col("begin").min().over("lane"),
                is_last=pl.col("end") == lane_end,
            )
            .with_columns(
                x0=pl.when("is_first").then("lane_x0").otherwise(pl.col("begin") - departure),
                x1=pl.when("is_last").then("lane_x1").otherwise(pl.col("end") + 1 - departure),
            )
            .with_columns(pl.col("x0", "x1").clip(pl.col("lane_x0"), pl.col("lane_x1")))
            .select("lane", "x0", "x1", "thickness", "num_rows", "num_fragments", "begin", "end")
        )

    def _lanes(self, steps: pl.DataFrame) -> tuple[pl.DataFrame, float, bool]:
        """Return the lanes with their positions, the height of all, and whether labels fit."""
        chosen = self._chosen
        tracks = assign_tracks(chosen.lanes, chosen.edges)
        count = max(tracks.values(), default=-1) + 1
        names = pl.DataFrame({"node": list(self._numbers)}, schema={"node": pl.String})
        extent = steps.group_by("lane", maintain_order=True).agg(
            pl.col("x0").min(), pl.col("x1").max(), pl.col("thickness").max()
        )
        lanes = (
            names.with_row_index("lane")
            .with_columns(
                pl.col("lane").cast(pl.Int64),
                track=pl.col("node").replace_strict({**tracks, REST: count}, return_dtype=pl.Int64),
            )
            .join(extent, on="lane", how="left", maintain_order="left")
            .join(chosen.lanes, on="node", how="left", maintain_order="left")
        )
        has_labels = count <= _MOST_LABELLED_TRACKS
        above, below = (_LABEL_HEIGHT, _GAP) if has_labels else (0, 2)
        heights = (
            lanes.group_by("track")
            .agg(pl.col("thickness").max())
            .sort("track")
            .with_columns(height=pl.col("thickness") + above + below)
            .with_columns(y=pl.col("height").cum_sum() - pl.col("height") + above)
        )
        end = chosen.end + 2 * HALF_VERSION
        placed = lanes.join(
            heights.select("track", "y"), on="track", how="left", maintain_order="left"
        ).with_columns(
            room=pl.col("x0").sort().shift(-1).fill_null(end).over("track", order_by="x0")
            - pl.col("x0")
        )
        return placed, float(heights["height"].sum()), has_labels


def _most_rows(steps: pl.DataFrame) -> int:
    """Return the largest number of rows that were live at once."""
    rows = steps["num_rows"].fill_null(0)
    changes = pl.DataFrame(
        {
            "version": pl.concat([steps["begin"], steps["end"] + 1]),
            "rows": pl.concat([rows, -rows]),
        }
    )
    sums = changes.group_by("version").sum().sort("version").select(pl.col("rows").cum_sum().max())
    return sums.item() or 0
