"""What the view of columns shows of a profile: paths of pictures, and facts in words."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from lance_explorer.figures.column_values import (
    LEAST_SHIFT,
    MOST_MARKS,
    SHARE_COLORS,
    ColumnValues,
    column_values,
)
from lance_explorer.figures.palette import ACCENT
from lance_explorer.frames.sizes import counted, percent
from lance_explorer.profiles.profile import Profile, typical
from lance_explorer.shown import one_line
from lance_explorer.widgets.messages.columns import (
    ColumnArea,
    ColumnFacts,
    ColumnLine,
    ColumnShift,
)

__all__ = ["column_facts", "column_lines"]

_MOST_POINTS = 500
"""More versions cannot be distinguished in a picture."""

_SHIFTS_READ = 200
_LONGEST_VALUE = 24
_LONGEST_LABEL = 40
_MARGIN = 0.05


def column_lines(profile: Profile, positions: Mapping[int, int]) -> list[ColumnLine]:
    """Return the columns of a profile, with their pictures.

    Parameters
    ----------
    profile : Profile
        The profile.
    positions : mapping of int to int
        The positions of versions, from 0.
    """
    lines, shifts = profile.to_polars(), profile.shifts(_SHIFTS_READ)
    moved = shifts.filter(pl.col("shift") >= LEAST_SHIFT)
    shown = list[ColumnLine]()
    for (name,), own in lines.group_by("column", maintain_order=True):
        values = column_values(own)
        low, high = values.ends
        shown.append(
            ColumnLine(
                name=one_line(str(name)),
                type=own["type"][-1],
                unit=values.unit,
                low=_end(values, low),
                high=_end(values, high),
                areas=_areas(values, positions),
                shifts=[
                    ColumnShift(str(version), percent(share), _who(what, author, job))
                    for version, share, what, author, job in moved.filter(column=name)
                    .head(MOST_MARKS)
                    .select("version", "shift", "what", "author", "job")
                    .iter_rows()
                ],
            )
        )
    return shown


def column_facts(profile: Profile, version: int) -> list[ColumnFacts]:
    """Return the values of columns in a version; none if the profile lacks it."""
    lines = profile.to_polars().filter(pl.col("version") == version)
    return [_facts(line) for line in lines.iter_rows(named=True)]


def _facts(line: Mapping[str, object]) -> ColumnFacts:
    name = one_line(str(line["column"]))
    rows, nulls = line["num_rows"], line["num_nulls"]
    if not isinstance(rows, int) or not isinstance(nulls, int):
        return ColumnFacts(name, "unknown", "", "", "", "", [], [])
    distinct, error = line["num_distinct"], line["distinct_error"]
    ends = [_brief(line[name], str(line["type"])) for name in ("min", "max")]
    bars, words = _bars(line)
    return ColumnFacts(
        name=name,
        num_rows=counted(rows, "row"),
        nulls=f"{percent(nulls / rows)} null" if nulls else "no nulls",
        distinct=""
        if not isinstance(distinct, int)
        else f"{'about ' if error else ''}{distinct:,} different",
        typical=typical(str(line["measure"]), line["mean"], line["std"]) or "",
        ends="" if ends[0] is None else f"{ends[0]} to {ends[1]}",
        bars=bars,
        bar_words=words,
    )


def _bars(line: Mapping[str, object]) -> tuple[list[float], list[str]]:
    """Return bars of numbers, or of frequent values of repeated texts."""
    counts, edges, top = line["bin_counts"], line["bin_edges"], line["top_values"]
    assert isinstance(counts, list)
    assert isinstance(edges, list)
    assert isinstance(top, list)
    bins = zip(pairwise(edges), counts, strict=bool(counts))
    words = [f"{a:,.4g} to {b:,.4g}: {n:,}" for (a, b), n in bins]
    if line["measure"] == "characters" and top and top[0]["count"] > 1:
        counts = [one["count"] for one in top]
        words = [f"{_brief(one['value'])}: {one['count']:,}" for one in top]
    elif line["measure"] == "seconds":
        words = [f"{n:,}" for n in counts]
    most = max(counts, default=0)
    return [count / most if most else 0.0 for count in counts], words


def _areas(values: ColumnValues, positions: Mapping[int, int]) -> list[ColumnArea]:
    low, high = values.ends
    margin = (high - low or 1.0) * _MARGIN

    def y(number: float | None) -> float | None:
        if number is None:
            return None
        return 100 * (1 - (number - low + margin) / (high - low + 2 * margin))

    places = np.array([positions[version] for version in values.versions], dtype=np.int64)
    kept = np.arange(len(places))
    if len(places) > _MOST_POINTS:
        kept = np.unique(np.linspace(0, len(places) - 1, _MOST_POINTS).astype(np.int64))
    x = [*places[kept].tolist(), int(places[-1]) + 1] if len(places) else []

    def line(numbers: Sequence[float | None]) -> list[float | None]:
        return [y(numbers[place]) for place in kept.tolist()]

    if values.shares is not None:
        areas, below = list[ColumnArea](), [0.0] * len(places)
        for (value, shares), color in zip(values.shares.items(), SHARE_COLORS, strict=False):
            above = [a + b for a, b in zip(below, shares, strict=True)]
            edges = [[100 * (1 - one[place]) for place in kept.tolist()] for one in (below, above)]
            label = one_line(value, _LONGEST_LABEL)
            areas.append(ColumnArea(_area(x, *edges), color, 0.85, label))
            below = above
        return areas
    if values.cosines is not None:
        return [ColumnArea(_steps(x, line(values.cosines)), None, 1.0, "")]
    bands = [line(one) for one in values.bands]
    return [
        ColumnArea(_area(x, bands[0], bands[4]), ACCENT, 0.2, ""),
        ColumnArea(_area(x, bands[1], bands[3]), ACCENT, 0.35, ""),
        ColumnArea(_steps(x, bands[2]), None, 1.0, ""),
    ]


def _area(x: Sequence[int], low: Sequence[float | None], high: Sequence[float | None]) -> str:
    """Return the path of an area between two step lines, with gaps for unknown values."""
    parts = list[str]()
    known = [None if a is None or b is None else a for a, b in zip(low, high, strict=True)]
    for begin, end in _stretches(known):
        forth = _points(x, low, begin, end)
        back = _points(x, high, begin, end)[::-1]
        parts.append(f"M{' L'.join([*forth, *back])} Z")
    return " ".join(parts)


def _steps(x: Sequence[int], y: Sequence[float | None]) -> str:
    return " ".join([f"M{' L'.join(_points(x, y, *one))}" for one in _stretches(y)])


def _stretches(numbers: Sequence[float | None]) -> list[tuple[int, int]]:
    """Return ranges of known numbers, the end exclusive."""
    known = np.array([0, *[number is not None for number in numbers], 0], dtype=np.int64)
    changes = np.flatnonzero(np.diff(known))
    return list(zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True))


def _points(x: Sequence[int], y: Sequence[float | None], begin: int, end: int) -> list[str]:
    """Return the corners of a step line, without those inside a level."""
    points = list[str]()
    for place in range(begin, end):
        level = y[place]
        if place == begin or level != y[place - 1]:
            points.append(f"{x[place]},{level:.2f}")
        if place + 1 == end or level != y[place + 1]:
            points.append(f"{x[place + 1]},{level:.2f}")
    return points


def _end(values: ColumnValues, number: float) -> str:
    if values.shares is not None:
        return percent(number)
    if values.cosines is None and len(values.lines) and values.lines["measure"][-1] == "seconds":
        name = "min" if number == values.ends[0] else "max"
        return str(values.lines[name][-1] or "").partition(" ")[0]
    return f"{number:,.4g}"


def _brief(value: object, type_: str = "") -> str | None:
    if value is None:
        return None
    if type_.startswith("Float"):
        return f"{float(str(value)):,.6g}"
    return one_line(str(value), _LONGEST_VALUE)


def _who(what: str, author: str | None, job: str | None) -> str:
    who = ", ".join([one for one in (author, job) if one])
    return f"{what} ({who})" if who else what
