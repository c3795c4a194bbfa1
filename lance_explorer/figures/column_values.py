"""What figures and views draw of the values of a column over versions.

Repeated texts and booleans are drawn by the shares of the most frequent ones. Vectors of one length
are drawn by the cosine between their centroid and the first one. Everything else is drawn by bands
of quantiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import polars as pl

from lance_explorer.profiles.shift import LEAST_REPEATS

__all__ = ["LEAST_SHIFT", "MOST_MARKS", "SHARE_COLORS", "ColumnValues", "column_values"]

SHARE_COLORS = ("#4477AA", "#EE9A3A", "#44AA77", "#B70589", "#C8AE5A", "#7A3FD0")

LEAST_SHIFT, MOST_MARKS = 0.02, 3
"""The least shift that is marked, and the most marks of one column: the largest shifts."""

_SAME_LENGTH = 1e-3
"""Vectors count as equally long if their lengths differ by less than this part of the mean."""

_UNITS = {
    "value": "",
    "seconds": "",
    "characters": "characters",
    "bytes": "bytes",
    "items": "items",
    "length": "length of vectors",
}

_BANDS = (2, 3, 4, 5, 6)
"""Of the quantiles of a profile: 5 %, 25 %, the median, 75 %, 95 %."""


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The values of a column over versions, ready to draw.

    Attributes
    ----------
    lines : polars.DataFrame
        The lines of the profile that are drawn, one for each version.
    unit : str
        What is drawn: a unit, "shares of values", or so; empty for numbers.
    bands : tuple of list
        Five quantiles in all versions, the least first; None where a number is not finite.
    shares : dict
        The shares of the most frequent values in all versions.
    cosines : list
        The cosine between the centroid and the first one.
    """

    lines: pl.DataFrame
    unit: str
    bands: tuple[list[float | None], ...] = ()
    shares: dict[str, list[float]] | None = None
    cosines: list[float | None] | None = None

    @property
    def versions(self) -> list[int]:
        """The versions."""
        return self.lines["version"].to_list()

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number that is drawn."""
        if self.shares is not None:
            return 0.0, 1.0
        drawn = [self.cosines] if self.cosines is not None else [self.bands[0], self.bands[-1]]
        known = [number for numbers in drawn for number in numbers if number is not None]
        if self.cosines is not None:
            return min([0.0, *known]), 1.0
        return (min(known), max(known)) if known else (0.0, 0.0)


def column_values(lines: pl.DataFrame) -> ColumnValues:
    """Return what to draw for one column.

    Examples
    --------
    >>> found = column_values(table.profile("id").to_polars())
    >>> found.versions, found.bands[2]
    ([1, 2, 3, 4, 5, 6, 7], [2.0, 3.0, 5.0, 6.0, 6.0, 6.0, 6.0])
    """
    known = lines.filter(pl.col("num_rows") > pl.col("num_nulls"))
    return _shares(known) or _cosines(known) or _bands(lines)


def _shares(lines: pl.DataFrame) -> ColumnValues | None:
    if not len(lines):
        return None
    is_text = lines["measure"][-1] == "characters" or lines["type"][-1] == "Boolean"
    if not is_text or not (lines["num_rows"] >= LEAST_REPEATS * lines["num_distinct"]).all():
        return None
    counts = lines.select("version", "num_rows", "top_values").explode("top_values")
    counts = counts.filter(pl.col("top_values").is_not_null()).unnest("top_values")
    counts = counts.with_columns(share=pl.col("count") / pl.col("num_rows"))
    largest = counts.group_by("value").agg(pl.col("share").max())
    top = largest.sort("share", "value", descending=[True, False])["value"]
    if not len(top):
        return None
    shares = dict[str, list[float]]()
    for value in top.head(len(SHARE_COLORS)).to_list():
        own = dict(counts.filter(pl.col("value") == value).select("version", "share").iter_rows())
        shares[value] = [own.get(version, 0.0) for version in lines["version"].to_list()]
    return ColumnValues(lines, "shares of values", shares=shares)


def _cosines(lines: pl.DataFrame) -> ColumnValues | None:
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
    return ColumnValues(known, "centroid: cosine with the first", cosines=cosines)


def _bands(lines: pl.DataFrame) -> ColumnValues:
    known = lines.filter(pl.col("quantiles").list.len() > 0)
    bands = tuple([_finite(known["quantiles"].list.get(place).to_list()) for place in _BANDS])
    unit = _UNITS.get(lines["measure"][-1], "") if len(lines) else ""
    return ColumnValues(known, unit, bands=bands)


def _finite(numbers: Sequence[float | None]) -> list[float | None]:
    return [one if one is not None and isfinite(one) else None for one in numbers]
