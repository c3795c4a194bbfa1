"""Values before and after, side by side, as small bars that need no script."""

from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.shown import one_line

__all__ = ["Bars", "bars_of", "bars_picture"]

_BINS = 24
_MOST_VALUES = 10
_LONGEST_LABEL = 24
_LONGEST_TITLE = 100

_WIDTH, _HEIGHT, _GAP = 560, 90, 2


class Bars(NamedTuple):
    """How many values are in each of some bins, or are each of some values, before and after."""

    labels: tuple[str, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


def bars_of(before: pl.Series, after: pl.Series) -> Bars | None:
    """Return how often which values are there; None of lists, structs and bytes.

    Nulls are the last bar, if there are any.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.report.distributions import bars_of
    >>> bars_of(pl.Series(["a", "a", None]), pl.Series(["b", "a"]))
    Bars(labels=('a', 'b', 'null'), before=(2, 0, 1), after=(1, 1, 0))
    """
    dtype = after.dtype
    if dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Object | pl.Null):
        return None
    both = pl.concat([before.cast(dtype), after], rechunk=True)
    has_order = dtype.is_numeric() or dtype.is_temporal()
    if has_order and both.n_unique() > _BINS:
        bars = _binned(before.cast(dtype), after)
    else:
        bars = _counted(before.cast(dtype), after, by_value=has_order)
    nulls = before.null_count(), after.null_count()
    if not any(nulls):
        return bars
    return Bars((*bars.labels, "null"), (*bars.before, nulls[0]), (*bars.after, nulls[1]))


def bars_picture(name: str, bars: Bars) -> str:
    """Return the bars as SVG: of each pair the left one is before, the right one after."""
    most = max([1, *bars.before, *bars.after])
    width = _WIDTH / max(len(bars.labels), 1)
    title = f"{one_line(name)}, before and after"
    box = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT + 16}", "width": f"{_WIDTH}", "role": "img"}
    svg = Element("svg", {"class": "bars", "aria-label": title, **box})
    every = max(1, -(-len(bars.labels) // 8))
    for number, (label, *counts) in enumerate(zip(*bars, strict=True)):
        left = number * width
        for side, (style, count) in enumerate(zip(("before", "after"), counts, strict=True)):
            height = _HEIGHT * count / most
            bar = SubElement(
                svg,
                "rect",
                {
                    "class": style,
                    "x": f"{left + side * (width - _GAP) / 2:.1f}",
                    "y": f"{_HEIGHT - height:.1f}",
                    "width": f"{max((width - _GAP) / 2 - 0.5, 0.5):.1f}",
                    "height": f"{height:.1f}",
                },
            )
            shown = one_line(label, _LONGEST_TITLE)
            SubElement(bar, "title").text = f"{shown}: {count:,} {style}"
        if number % every == 0:
            place = {"x": f"{left:.1f}", "y": f"{_HEIGHT + 13}"}
            most_letters = max(3, int(width * every / 7))
            text = one_line(label, min(_LONGEST_LABEL, most_letters))
            SubElement(svg, "text", place).text = text
    return tostring(svg, encoding="unicode")


def _binned(before: pl.Series, after: pl.Series) -> Bars:
    """Return counts in bins of equal width over all finite values."""
    dtype = after.dtype
    values = [_numbers(one) for one in (before, after)]
    every = np.concatenate(values)
    edges = np.histogram_bin_edges(every, bins=_BINS)
    counts = [np.histogram(one, edges)[0].tolist() for one in values]
    labels = [_label(edge, dtype) for edge in edges[:-1]]
    others = [
        len(one) - one.null_count() - len(finite)
        for one, finite in zip((before, after), values, strict=True)
    ]
    if any(others):
        labels.append("not finite")
        counts = [[*own, other] for own, other in zip(counts, others, strict=True)]
    return Bars(tuple(labels), tuple(counts[0]), tuple(counts[1]))


def _numbers(values: pl.Series) -> NDArray[np.float64]:
    physical = values.to_physical() if values.dtype.is_temporal() else values
    numbers = physical.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    finite: NDArray[np.float64] = numbers[np.isfinite(numbers)]
    return finite


def _label(edge: float, dtype: pl.DataType) -> str:
    if dtype.is_temporal():
        physical = pl.Series([], dtype=dtype).to_physical().dtype
        return str(pl.Series([int(edge)], dtype=pl.Int64).cast(physical).cast(dtype).item())
    return f"{edge:.4g}"


def _counted(before: pl.Series, after: pl.Series, *, by_value: bool) -> Bars:
    """Return counts of all values in their order, or of those that are there most often."""
    parts = [
        one.drop_nulls().alias("value").value_counts(name=name)
        for name, one in (("before", before), ("after", after))
    ]
    found = parts[0].join(parts[1], on="value", how="full", coalesce=True)
    found = found.with_columns(pl.col("before", "after").fill_null(0))
    total = pl.col("before") + pl.col("after")
    if by_value:
        shown, others = found.sort("value"), found.clear()
    else:
        order = found.sort(total, "value", descending=[True, False])
        shown, others = order.head(_MOST_VALUES), order[_MOST_VALUES:]
    labels = shown["value"].cast(pl.String).to_list()
    counts = {name: shown[name].to_list() for name in ("before", "after")}
    if len(others):
        labels.append(f"{len(others):,} others")
        for name, column in counts.items():
            column.append(int(others[name].sum()))
    return Bars(tuple(labels), tuple(counts["before"]), tuple(counts["after"]))
