"""How far the values of a column moved from one version to another.

===================== ============================================================ ==============
what is compared      distance                                                     ``shift_of``
===================== ============================================================ ==============
measured numbers      largest difference of the parts of all that are at or below  numbers
                      any number (Kolmogorov and Smirnov)
values, if all are    half the sum of all differences of their shares              values
counted and repeat    (total variation)
nulls                 difference of their shares                                   nulls
vectors               distance of the centroids, as a part of the root mean square centroid
                      of the vectors' lengths
===================== ============================================================ ==============

Each measure is 0 if nothing moved, at most 1; the largest counts.
"""

import math
from typing import NamedTuple

import numpy as np
import polars as pl

from lance_explorer.profiles.digests import Digest

__all__ = ["LEAST_REPEATS", "NO_SHIFT", "SHIFTED", "Shift", "shift_between"]

SHIFTED = pl.Enum(["numbers", "values", "nulls", "centroid"])

LEAST_REPEATS = 4
"""Shares of values are compared if each value occurs at least so often on average."""

_POINTS = np.linspace(0.0, 1.0, 65).tolist()


class Shift(NamedTuple):
    """How far values moved, by which measure, and the cosine between vector centroids."""

    distance: float | None
    of: str | None
    cosine: float | None


NO_SHIFT = Shift(None, None, None)


def shift_between(before: Digest, now: Digest) -> Shift:
    """Return how far values moved; nothing if one of the versions has no values."""
    if before is now:
        return Shift(0.0, None, None if _centre(now) is None else 1.0)
    if not before.num_rows or not now.num_rows:
        return NO_SHIFT
    measures = {"nulls": abs(now.num_nulls / now.num_rows - before.num_nulls / before.num_rows)}
    if before.count and now.count:
        measures["numbers"] = _of_numbers(before, now)
    if _repeat(before) and _repeat(now):
        measures["values"] = _of_values(before, now)
    cosine = None
    old, new = _centre(before), _centre(now)
    if old is not None and new is not None:
        size = math.sqrt((_mean_square(before) + _mean_square(now)) / 2)
        measures["centroid"] = min(1.0, float(np.linalg.norm(new - old)) / size) if size else 0.0
        lengths = float(np.linalg.norm(old) * np.linalg.norm(new))
        cosine = float(old @ new) / lengths if lengths else None
    what = max(measures, key=lambda name: (measures[name], name != "nulls"))
    return Shift(measures[what], what if measures[what] else None, cosine)


def _repeat(digest: Digest) -> bool:
    """Tell whether all values are counted and repeat: the values of a key say nothing."""
    rows = sum(digest.values.values())
    return bool(rows) and not digest.missed and rows >= LEAST_REPEATS * len(digest.values)


def _of_numbers(before: Digest, now: Digest) -> float:
    points = np.unique(np.array(before.quantiles(_POINTS) + now.quantiles(_POINTS)))
    return float(np.abs(before.shares_below(points) - now.shares_below(points)).max())


def _of_values(before: Digest, now: Digest) -> float:
    old, new = sum(before.values.values()), sum(now.values.values())
    values = before.values.keys() | now.values.keys()
    parts = [abs(before.values.get(v, 0) / old - now.values.get(v, 0) / new) for v in values]
    return min(1.0, sum(parts) / 2)


def _centre(digest: Digest) -> np.ndarray | None:
    if digest.centre is None or not digest.count:
        return None
    return digest.centre / digest.count


def _mean_square(digest: Digest) -> float:
    mean = digest.total / digest.count
    return mean * mean + digest.square / digest.count
