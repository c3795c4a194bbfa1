"""Histograms of sizes, computed once for figures and for the browser."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from lance_explorer.figures.labels import plural

__all__ = ["SizeBin", "SizeBins", "size_bins"]

_EDGES = [0, *[step * 10**decade for decade in range(18) for step in (1, 2, 5)], 10**18]
_MOST_TICKS = 4


@dataclass(frozen=True, slots=True)
class SizeBin:
    """Objects of ``begin`` up to ``end``: how many, how many are small, and both in words."""

    begin: int
    end: int
    total: int
    small: int
    words: str


@dataclass(frozen=True, slots=True)
class SizeBins:
    """A histogram of sizes, whose edges are 1, 2 and 5 times a power of ten.

    Attributes
    ----------
    bins : list of SizeBin
        From the bin below the smallest thing to the one above the largest.
    edges : list of str
        What stands below the edges of bins, one more than there are bins.
    ticks : list of (int, str)
        Round counts from 0 up to the most things in one bin.
    aim : float or None
        Where the size to aim at stands, counted in bins; None if none is given or it is beyond.
    beyond : str
        What is said of an aim that is beyond the bins, or nothing.
    note : str
        What the bins do not tell: how many things are of unknown size.
    """

    bins: list[SizeBin]
    edges: list[str]
    ticks: list[tuple[int, str]]
    aim: float | None
    beyond: str
    note: str


def size_bins(
    sizes: pl.Series,
    is_small: pl.Series,
    noun: str,
    say: Callable[[int], str],
    aim: int | None = None,
) -> SizeBins:
    """Count sizes in bins; nulls are left out and counted.

    Parameters
    ----------
    sizes : polars.Series
        The size of each thing, in bytes or rows; null where it is not known.
    is_small : polars.Series
        Whether each thing is small (Boolean).
    noun : str
        What one thing is called.
    say : callable
        Says a size.
    aim : int, optional
        A size to aim at.

    Examples
    --------
    >>> found = size_bins(pl.Series([3, 4, 30]), pl.Series([True, False, False]), "file", str)
    >>> [(each.begin, each.total, each.small) for each in found.bins]
    [(1, 0, 0), (2, 2, 1), (5, 0, 0), (10, 0, 0), (20, 1, 0), (50, 0, 0)]
    >>> found.bins[1].words, found.ticks
    ('2 files of 2 to 5, 1 small', [(0, '0'), (1, '1'), (2, '2')])
    """
    is_known = sizes.is_not_null()
    known = sizes.filter(is_known).cast(pl.Int64).to_numpy()
    unknown = len(sizes) - len(known)
    note = f"{plural(unknown, noun)} of unknown size" if unknown else ""
    if not len(known):
        return SizeBins([], [], [], None, "", note or f"no {noun}s")
    edges = np.array(_EDGES)
    place = edges.searchsorted(known, side="right") - 1
    first = max(int(place.min()) - 1, 0)
    stop = min(int(place.max()) + 2, len(edges) - 1)
    place = np.minimum(place, stop - 1) - first
    totals = np.bincount(place, minlength=stop - first)
    small = np.bincount(place[is_small.filter(is_known).to_numpy()], minlength=stop - first)
    shown = _EDGES[first : stop + 1]
    bins = [
        SizeBin(begin, end, int(total), int(few), _words(total, few, noun, say(begin), say(end)))
        for begin, end, total, few in zip(shown[:-1], shown[1:], totals, small, strict=True)
    ]
    is_beyond = aim is not None and aim >= shown[-1]
    at = None if aim is None or is_beyond else float(np.interp(aim, shown, range(len(shown))))
    beyond = f"the aim is {say(aim)} →" if aim is not None and is_beyond else ""
    return SizeBins(bins, [*map(say, shown)], _ticks(int(totals.max())), at, beyond, note)


def _words(total: int, small: int, noun: str, begin: str, end: str) -> str:
    few = f", {small:,} small" if small else ""
    return f"{plural(total, noun)} of {begin} to {end}{few}"


def _ticks(most: int) -> list[tuple[int, str]]:
    step = next(each for each in _EDGES[1:] if most // each < _MOST_TICKS)
    return [(count, f"{count:,}") for count in range(0, most + 1, step)]
