"""Where ribbons leave lanes and enter others: side by side, as wide as lanes are thick."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import isnan

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["CURVE", "HALF_VERSION", "RISE", "place_rewrites", "place_ribbons", "with_gaps"]

CURVE = np.linspace(0, 1, 21)
"""How far along a ribbon its points are."""

RISE = CURVE**2 * (3 - 2 * CURVE)
"""How far they have risen, or sunk, there."""

HALF_VERSION = 0.14
"""How far a lane extends before its first version and after its last."""

_RIBBONS = {
    "from_lane": pl.Int64(),
    "to_lane": pl.Int64(),
    "kind": pl.String(),
    "version": pl.Int64(),
    "rows": pl.Int64(),
    "evidence": pl.String(),
    "num_edges": pl.Int64(),
}
_PLACES = ("x0", "y0", "width0", "x1", "y1", "width1")


@dataclass(slots=True)
class _Ribbon:
    start: int
    end: int
    version: int
    x0: float = 0.0
    y0: float = 0.0
    width0: float = 0.0
    x1: float = 0.0
    y1: float = 0.0
    width1: float = 0.0
    continues: bool = False


def place_ribbons(
    flows: pl.DataFrame, lanes: pl.DataFrame, steps: pl.DataFrame, length: float
) -> pl.DataFrame:
    """Return a row for each ribbon, by version.

    A ribbon leaves a lane at its end, or, if the lane continues, at its lower edge, where the lane
    gets thinner. What a restore brought back is a line, since its rows did not move.

    Parameters
    ----------
    flows : polars.DataFrame
        Edges with ``from_lane`` and ``to_lane``.
    lanes, steps : polars.DataFrame
        Those of a layout.
    length : float
        How long a ribbon is, in versions, where nothing else says.
    """
    flows = flows.select(pl.col(name).cast(dtype) for name, dtype in _RIBBONS.items())
    flows = flows.sort("version", maintain_order=True)
    places = _Places(lanes, steps)
    ribbons = [
        places.ribbon(start, end, kind, version, rows, length)
        for start, end, kind, version, rows, *_ in flows.iter_rows()
    ]
    places.stack(ribbons)
    columns = [
        pl.Series(name, [getattr(ribbon, name) for ribbon in ribbons], dtype=pl.Float64)
        for name in _PLACES
    ]
    return flows.with_columns(columns)


def place_rewrites(loops: pl.DataFrame, lanes: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """Return where columns of lanes were rewritten."""
    loops = loops.filter(pl.col("from_lane") == pl.col("to_lane"))
    places = _Places(lanes, steps)
    facts = [
        (lane, version - HALF_VERSION, places.y[lane], places.thickness_at(lane, version), version)
        for lane, version in loops.select("from_lane", "version").iter_rows()
    ]
    schema = {
        "lane": pl.Int64(),
        "x": pl.Float64(),
        "y": pl.Float64(),
        "thickness": pl.Float64(),
        "version": pl.Int64(),
    }
    return pl.DataFrame(facts, schema=schema, orient="row").with_columns(loops["rows"])


def with_gaps(places: NDArray[np.float64]) -> list[float | None]:
    """Return positions along lines for plotly: None, instead of NaN, separates two lines."""
    return [None if isnan(place) else place for place in places.ravel().round(4).tolist()]


class _Places:
    """The places of lanes and steps."""

    def __init__(self, lanes: pl.DataFrame, steps: pl.DataFrame) -> None:
        self.y: list[float] = lanes["y"].to_list()
        self._x0: list[float] = lanes["x0"].to_list()
        self._x1: list[float] = lanes["x1"].to_list()
        self._begin: list[int | None] = lanes["begin"].to_list()
        self._thickness: list[float] = steps["thickness"].to_list()
        self._rows: list[int | None] = steps["num_rows"].to_list()
        self._begins: dict[int, list[int]] = defaultdict(list)
        self._first_step: dict[int, int] = {}
        for number, (lane, begin) in enumerate(steps.select("lane", "begin").iter_rows()):
            self._begins[lane].append(begin)
            self._first_step.setdefault(lane, number)

    def thickness_at(self, lane: int, version: int) -> float:
        return self._thickness[self._step_at(lane, version)]

    def ribbon(
        self, start: int, end: int, kind: str, version: int, rows: int | None, length: float
    ) -> _Ribbon:
        """Return a ribbon with its widths, but not yet its heights."""
        begin = self._begin[end]
        arrives = version - HALF_VERSION if begin is None else self._x0[end]
        continues = self._x1[start] >= arrives
        departs = max(arrives - length, self._x0[start]) if continues else self._x1[start]
        ribbon = _Ribbon(start, end, version, continues=continues, x0=departs, x1=arrives)
        if kind != "restore" and rows is not None:
            ribbon.width0 = self._width(start, version - 1, rows)
            ribbon.width1 = self._width(end, version, rows)
        return ribbon

    def stack(self, ribbons: list[_Ribbon]) -> None:
        """Set the heights: ribbons that depart, or arrive, together are stacked."""
        for together in _grouped(ribbons, [(one.start, one.version) for one in ribbons]):
            together.sort(key=lambda one: self.y[one.end])
            start, total = together[0].start, sum([one.width0 for one in together])
            y = self._edge(start, together[0].version - 1, total, at_bottom=together[0].continues)
            for one in together:
                one.y0, y = y, y + one.width0
        for together in _grouped(ribbons, [(one.end, one.version) for one in ribbons]):
            together.sort(key=lambda one: self.y[one.start])
            end, total = together[0].end, sum([one.width1 for one in together])
            y = self._edge(end, together[0].version, total, at_bottom=self._begin[end] is None)
            for one in together:
                one.y1, y = y, y + one.width1

    def _edge(self, lane: int, version: int, total: float, *, at_bottom: bool) -> float:
        """Return the begin of a stack; one without any width is in the middle."""
        thickness = self.thickness_at(lane, version)
        if total == 0:
            return self.y[lane] + thickness / 2
        return self.y[lane] + (max(thickness - total, 0) if at_bottom else 0)

    def _width(self, lane: int, version: int, rows: int) -> float:
        step = self._step_at(lane, version)
        of = self._rows[step]
        return self._thickness[step] * min(rows / of, 1) if of else 0.0

    def _step_at(self, lane: int, version: int) -> int:
        """Return the step of a lane at a version, or the nearest before, or the first."""
        place = bisect_right(self._begins[lane], version) - 1
        return self._first_step[lane] + max(place, 0)


def _grouped(ribbons: list[_Ribbon], keys: Iterable[Hashable]) -> list[list[_Ribbon]]:
    groups: dict[Hashable, list[_Ribbon]] = defaultdict(list)
    for ribbon, key in zip(ribbons, keys, strict=True):
        groups[key].append(ribbon)
    return list(groups.values())
