"""Distributions of the values of a column: of one set of rows, or before and after."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import polars as pl

from lance_explorer.cells.text import briefs_of, texts_of
from lance_explorer.shown import one_line

__all__ = ["Bars", "Spread", "bars_of", "bars_picture", "spread_of"]

_BINS = 24
_MOST_VALUES = 10
_LONGEST_LABEL = 24
_LONGEST_TITLE = 100

_WIDTH, _HEIGHT, _GAP = 640, 90, 10
_TOP, _LEAST_WIDTH = 20, 140
_WIDEST_PAIR = 56
_LETTER = 6.2
"""The width of a letter of a label."""

_COUNTS = tuple[tuple[str, ...], list[tuple[int, ...]]]
"""Labels, and for each set of rows the count of each bin, or of each value."""


class Bars(NamedTuple):
    """The counts of bins or values, before and after."""

    labels: tuple[str, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


class Spread(NamedTuple):
    """The distribution of the values of one column.

    Attributes
    ----------
    num_rows, num_nulls : int
        How many rows there are, and in how many the value is null.
    labels : tuple of str
        What the bars are: where a bin begins, or a value; values that are there most often first.
    counts : tuple of int
        How many values each bar has.
    has_order : bool
        Whether the bars stand in the order of the values, as a histogram does.
    least, most, middle : str or None
        The least value, the largest and the median, exactly, if they have an order. Of an even
        number of values the median is the lower one of the two in the middle.
    num_distinct : int or None
        How many different values there are; None of lists, structs and bytes.
    """

    num_rows: int
    num_nulls: int
    labels: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    has_order: bool = False
    least: str | None = None
    most: str | None = None
    middle: str | None = None
    num_distinct: int | None = None


def spread_of(values: pl.Series) -> Spread:
    """Return the distribution of the values of a column; of lists, structs and bytes, the nulls.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.figures.distributions import spread_of
    >>> spread_of(pl.Series([7, 2**63, None, 7]))[:4]
    (4, 1, ('7', '9223372036854775808'), (2, 1))
    """
    rows, nulls = len(values), values.null_count()
    if not _is_countable(values.dtype):
        return Spread(rows, nulls)
    known = _known(values)
    distinct = known.n_unique()
    labels, [counts] = _counted_in([known], distinct)
    if not _has_order(values.dtype):
        return Spread(rows, nulls, labels, counts, num_distinct=distinct)
    if known.dtype.is_float():
        known = known.drop_nans()
    ends = known.sort().gather([0, (len(known) - 1) // 2, len(known) - 1] if len(known) else [])
    texts = texts_of(ends).to_list() or [None, None, None]
    least, middle, most = texts
    return Spread(rows, nulls, labels, counts, True, least, most, middle, distinct)


def bars_of(before: pl.Series, after: pl.Series) -> Bars | None:
    """Return the counts of values; None for lists, structs and bytes.

    Nulls are the last bar, if there are any.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.figures.distributions import bars_of
    >>> bars_of(pl.Series(["a", "a", None]), pl.Series(["b", "a"]))
    Bars(labels=('a', 'b', 'null'), before=(2, 0, 1), after=(1, 1, 0))
    """
    if not _is_countable(after.dtype):
        return None
    parts = [before.cast(after.dtype).alias("value"), after.alias("value")]
    distinct = pl.concat(parts, rechunk=True).drop_nulls().n_unique()
    labels, [old, new] = _counted_in(parts, distinct)
    nulls = before.null_count(), after.null_count()
    if not any(nulls):
        return Bars(labels, old, new)
    return Bars((*labels, "null"), (*old, nulls[0]), (*new, nulls[1]))


def bars_picture(name: str, bars: Bars) -> str:
    """Return the bars as SVG: of each pair the left one is before, the right one after."""
    most = max([1, *bars.before, *bars.after])
    texts = [one_line(label, _LONGEST_LABEL) for label in bars.labels]
    letters = max([len(text) for text in texts], default=0)
    pair = min(max(letters * _LETTER + _GAP, _WIDEST_PAIR), _WIDTH / max(len(texts), 1))
    width = max(pair * len(texts), _LEAST_WIDTH)
    bar_width = min(pair * 0.4, _WIDEST_PAIR * 0.4)
    end = -float(_GAP)
    title = f"{one_line(name)}, before and after"
    box = {
        "viewBox": f"0 0 {width:.0f} {_TOP + _HEIGHT + 18}",
        "width": f"{width:.0f}",
        "role": "img",
    }
    svg = Element("svg", {"class": "bars", "aria-label": title, **box})
    for left, style in ((0, "before"), (70, "after")):
        square = {"class": style, "x": f"{left}", "y": "0", "width": "10", "height": "10"}
        SubElement(svg, "rect", square)
        SubElement(svg, "text", {"x": f"{left + 14}", "y": "9"}).text = style
    for number, (label, *counts) in enumerate(zip(*bars, strict=True)):
        middle = (number + 0.5) * pair
        for side, (style, count) in enumerate(zip(("before", "after"), counts, strict=True)):
            height = _HEIGHT * count / most
            bar = SubElement(
                svg,
                "rect",
                {
                    "class": style,
                    "x": f"{middle + (side - 1) * bar_width:.1f}",
                    "y": f"{_TOP + _HEIGHT - height:.1f}",
                    "width": f"{bar_width:.1f}",
                    "height": f"{height:.1f}",
                },
            )
            shown = one_line(label, _LONGEST_TITLE)
            SubElement(bar, "title").text = f"{shown}: {count:,} {style}"
        half = len(texts[number]) * _LETTER / 2
        x = max(half, min(middle, width - half))
        if x - half >= end + _GAP:  # it does not overlap the label before
            place = {"x": f"{x:.1f}", "y": f"{_TOP + _HEIGHT + 14}", "text-anchor": "middle"}
            SubElement(svg, "text", place).text = texts[number]
            end = x + half
    ends = {"x1": "0", "x2": f"{width:.0f}", "y1": f"{_TOP + _HEIGHT}", "y2": f"{_TOP + _HEIGHT}"}
    SubElement(svg, "line", {"class": "axis", **ends})
    return tostring(svg, encoding="unicode")


def _is_countable(dtype: pl.DataType) -> bool:
    return not (dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Object | pl.Null))


def _has_order(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype.is_temporal()


def _counted_in(parts: Sequence[pl.Series], num_distinct: int) -> _COUNTS:
    """Return counts of values that are not null, in sets of rows of one column."""
    if not _has_order(parts[0].dtype):
        return _counted(parts, by_value=False)
    return _binned(parts) if num_distinct > _BINS else _counted(parts, by_value=True)


def _binned(parts: Sequence[pl.Series]) -> _COUNTS:
    """Return counts in bins of equal width over all finite values.

    Whole numbers and times are counted from the least one, so that large ones stay exact.
    """
    dtype = parts[0].dtype
    is_whole = dtype.is_integer() or dtype.is_temporal()
    numbers = [_exact(part) if is_whole else _finite(part) for part in parts]
    least = pl.concat(numbers).min() if is_whole else 0
    assert isinstance(least, int)
    begin = pl.Series([least], dtype=numbers[0].dtype)
    values = [(part - begin).cast(pl.Float64).to_numpy() for part in numbers]
    edges = np.histogram_bin_edges(np.concatenate(values), bins=_BINS)
    counts = [np.histogram(one, edges)[0].tolist() for one in values]
    begins = edges[:-1].tolist()
    if is_whole:
        labels = _texts_of([least + ceil(edge) for edge in begins], dtype)
    else:
        labels = _few_digits(begins)
    others = [
        len(part) - part.null_count() - len(one) for part, one in zip(parts, values, strict=True)
    ]
    if any(others):
        labels.append("not finite")
        counts = [[*own, other] for own, other in zip(counts, others, strict=True)]
    return tuple(labels), [tuple(own) for own in counts]


def _few_digits(numbers: list[float]) -> list[str]:
    """Return numbers with as few digits, four or more, as keep them distinct."""
    for digits in range(4, 18):
        labels = [f"{number:.{digits}g}" for number in numbers]
        if len({*labels}) == len({*numbers}):
            break
    return labels


def _exact(values: pl.Series) -> pl.Series:
    physical = values.to_physical() if values.dtype.is_temporal() else values
    return physical.drop_nulls().cast(pl.Int128)


def _finite(values: pl.Series) -> pl.Series:
    numbers = values.cast(pl.Float64, strict=False).drop_nulls()
    return numbers.filter(numbers.is_finite())


def _texts_of(numbers: list[int], dtype: pl.DataType) -> list[str]:
    if not dtype.is_temporal():
        return [str(number) for number in numbers]
    physical = pl.Series([], dtype=dtype).to_physical().dtype
    times = pl.Series(numbers, dtype=pl.Int64).cast(physical).cast(dtype)
    return texts_of(times).to_list()


def _counted(parts: Sequence[pl.Series], *, by_value: bool) -> _COUNTS:
    """Return counts of all values in their order, or of the most frequent ones."""
    values = [_known(part).alias("value") for part in parts]
    total = pl.concat(values).value_counts(name="total")
    by, falls = (["value"], [False]) if by_value else (["total", "value"], [True, False])
    order = total.sort(by, descending=falls)
    most = len(order) if by_value else _MOST_VALUES
    num_others = max(len(order) - most, 0)
    labels = briefs_of(order["value"].head(most), _LONGEST_TITLE)[0].to_list()
    if num_others:
        labels.append(f"{num_others:,} others")
    counts = [order["total"]] if len(parts) == 1 else [_counts_as(order, own) for own in values]
    return tuple(labels), [
        (*own.head(most).to_list(), *([int(own[most:].sum())] if num_others else []))
        for own in counts
    ]


def _known(values: pl.Series) -> pl.Series:
    return values.drop_nulls() if values.null_count() else values


def _counts_as(order: pl.DataFrame, values: pl.Series) -> pl.Series:
    """Return how often each value of a frame is among some values."""
    counts = values.value_counts(name="count")
    joined = order.join(counts, on="value", how="left", maintain_order="left")
    return joined["count"].fill_null(0)
