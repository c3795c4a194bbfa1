"""Counts for frames: those that are unknown are null."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["known", "nullable"]

_Counts = NDArray[np.int64]


def known(counts: _Counts) -> list[int | None]:
    """Return counts as a list, with None for those that are unknown."""
    return [None if count < 0 else count for count in counts.tolist()]


def nullable(counts: _Counts) -> pl.Series:
    """Return counts with null for those that are unknown."""
    series = pl.Series(counts)
    return series.set(series < 0, None) if (counts < 0).any() else series
