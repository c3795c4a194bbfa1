"""The axis of a lineage picture: versions at round numbers, with their times below.

``lineage_places.ts`` does the same in the browser, where the picture is zoomed; what
``tests/figures/from_python.py`` writes is what the tests of both compare.
"""

from datetime import datetime, timedelta
from math import ceil, floor
from typing import Any

import polars as pl

__all__ = ["tick_versions", "ticks_and_title", "time_format", "time_title"]

_TICK_WIDTH = 84  # pixels


def ticks_and_title(
    versions: pl.DataFrame, begin: float, end: float, width: float
) -> dict[str, Any]:
    """Return ticks and title of an axis of versions.

    Parameters
    ----------
    versions : polars.DataFrame
        The versions that are shown, of ``table.versions()``.
    begin, end : float
        The ends of the axis, in versions.
    width : float
        Its width in pixels.
    """
    numbers = tick_versions(begin, end, width)
    times = dict(versions.select("version", "timestamp").iter_rows())
    known = versions["timestamp"].drop_nulls()
    ends = (known[0], known[-1]) if len(known) else None
    words = [
        f"{time:{time_format(*ends)}}" if ends and (time := times.get(number)) else ""
        for number in numbers
    ]
    return {
        "tickvals": numbers,
        "ticktext": [
            f"{n:,}<br>{w}" if w else f"{n:,}" for n, w in zip(numbers, words, strict=True)
        ],
        "title_text": f"version and its time{time_title(*ends)}" if ends else "version",
    }


def tick_versions(begin: float, end: float, width: float) -> list[int]:
    """Return the versions that have a tick: round numbers, and the first if it is not 1.

    Examples
    --------
    >>> tick_versions(0.7, 45.3, 600), tick_versions(0.7, 3.3, 600)
    ([1, 10, 20, 30, 40], [1, 2, 3])
    """
    low, high = ceil(begin), floor(end)
    most = max(2, floor(width / _TICK_WIDTH))
    steps = (unit * 10**power for power in range(20) for unit in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= most)
    ticks = [*range(-(-low // step) * step, high + 1, step)]
    if not ticks or ticks[0] - low > 0.6 * step:
        ticks.insert(0, low)
    return ticks


def time_title(first: datetime, last: datetime) -> str:
    """Return what all times between two have in common: the day, if it is one, and the zone."""
    day = f" on {_day(first)}" if _day(first) == _day(last) else ""
    return f"{day} (UTC)"


def time_format(first: datetime, last: datetime) -> str:
    """Return a format for times, so that neighbours differ and nothing is repeated."""
    span = last - first
    if _day(first) == _day(last):
        return "%H:%M:%S" if span < timedelta(hours=1) else "%H:%M"
    return "%-d %b %H:%M" if span < timedelta(days=20) else "%-d %b %Y"


def _day(time: datetime) -> str:
    return f"{time:%-d %b %Y}"
