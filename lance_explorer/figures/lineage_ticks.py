"""The axis of a lineage picture: versions at round numbers, with their times below."""

from datetime import datetime, timedelta
from typing import Any

import polars as pl

__all__ = ["ticks_and_title"]

_TICK_WIDTH = 84  # pixels


def ticks_and_title(
    versions: pl.DataFrame, begin: float, end: float, per_pixel: float
) -> dict[str, Any]:
    """Return ticks and title of an axis of versions.

    Parameters
    ----------
    versions : polars.DataFrame
        The versions that are shown, of ``table.versions()``.
    begin, end : float
        The ends of the axis, in versions.
    per_pixel : float
        How many versions there are to a pixel.
    """
    numbers = _tick_versions(begin, end, per_pixel)
    times = dict(versions.select("version", "timestamp").iter_rows())
    form = _time_format(versions["timestamp"].drop_nulls())
    words = [f"{time:{form}}" if (time := times.get(number)) else "" for number in numbers]
    return {
        "tickvals": numbers,
        "ticktext": [
            f"{n:,}<br>{w}" if w else f"{n:,}" for n, w in zip(numbers, words, strict=True)
        ],
        "title_text": _title(versions["timestamp"].drop_nulls()),
    }


def _tick_versions(begin: float, end: float, per_pixel: float) -> list[int]:
    most = max(int((end - begin) / per_pixel / _TICK_WIDTH), 2)
    step = next(
        unit * factor
        for unit in [10**power for power in range(20)]
        for factor in (1, 2, 5)
        if (end - begin) / (unit * factor) <= most
    )
    first = -(-int(begin + 1) // step) * step
    ticks = list(range(first, int(end) + 1, step))
    lowest = int(begin + 1)
    if not ticks or ticks[0] - lowest >= step * 0.6:
        ticks.insert(0, lowest)
    return ticks


def _title(times: pl.Series) -> str:
    if len(times) == 0:
        return "version"
    day = f" on {_day(times[0])}" if _day(times[0]) == _day(times[-1]) else ""
    return f"version and its time{day} (UTC)"


def _time_format(times: pl.Series) -> str:
    """Return how to write times, so that neighbours differ and no more is said than needed."""
    if len(times) == 0:
        return ""
    span = times[-1] - times[0]
    if _day(times[0]) == _day(times[-1]):
        return "%H:%M:%S" if span < timedelta(hours=1) else "%H:%M"
    return "%-d %b %H:%M" if span < timedelta(days=20) else "%-d %b %Y"


def _day(time: datetime) -> str:
    return f"{time:%-d %b %Y}"
