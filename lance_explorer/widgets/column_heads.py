"""Distributions for the heads of columns, of as many rows as can be read at once."""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import polars as pl

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.figures.distributions import Spread, spread_of
from lance_explorer.inspect.query import read_expression
from lance_explorer.widgets.arranging import Arrangement
from lance_explorer.widgets.messages.rows import ColumnHead, HeadBar

__all__ = ["column_heads", "rows_within", "sample_of"]

_FEW_ROWS = 20
"""Rows by which the size of rows is estimated."""

_MOST_ROWS, _MOST_BYTES = 1_000, 8 << 20
_MOST_ROWS_HERE = 100_000
"""The most rows if they need not be read."""

_MOST_SHOWN_VALUES = 3

_PLAIN = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_SHORT = re.compile(r"[ -~\w]{0,80}")
_QUOTE = "'"


def sample_of(shown: Arrangement, columns: list[str], check: Callable[[], None]) -> pl.DataFrame:
    """Return the first rows that are shown: all, or as many as can be read at once.

    That is 1,000 rows and about 8 MiB; 100,000 rows if they are in memory.

    Parameters
    ----------
    shown : Arrangement
        The rows.
    columns : list of str
        Which columns are read.
    check : callable
        Called between two reads; may raise to end the work.
    """
    if shown.source.is_in_memory:
        return shown.rows(0, min(_MOST_ROWS_HERE, shown.num_rows), columns)
    most = min(_MOST_ROWS, shown.num_rows)
    return rows_within(lambda count: shown.rows(0, count, columns), most, _MOST_BYTES, check)


def rows_within(
    read: Callable[[int], pl.DataFrame], most_rows: int, most_bytes: int, check: Callable[[], None]
) -> pl.DataFrame:
    """Return the first rows of about this many bytes, estimated from the first few.

    Parameters
    ----------
    read : callable
        Returns a number of first rows.
    most_rows, most_bytes : int
        How many rows, and about how many bytes, at most.
    check : callable
        Called between two reads; may raise to end the work.
    """
    few = read(min(_FEW_ROWS, most_rows))
    if few.height >= most_rows or not few.height:
        return few
    check()
    size = max(1, int(few.estimated_size()) // few.height)
    wanted = min(most_rows, most_bytes // size)
    return few if wanted <= few.height else read(wanted)


def column_heads(rows: pl.DataFrame, check: Callable[[], None]) -> list[ColumnHead]:
    """Return the distribution of each column, for the browser; numbers are text."""
    heads = []
    for column in rows:
        check()
        heads.append(_head(column, spread_of(column)))
    return heads


def _head(column: pl.Series, spread: Spread) -> ColumnHead:
    bars = [
        HeadBar(label, count, where)
        for label, count, where in zip(
            spread.labels, spread.counts, _filters(column, spread), strict=True
        )
    ]
    return ColumnHead(
        has_order=spread.has_order,
        bars=bars if spread.has_order else bars[:_MOST_SHOWN_VALUES],
        num_nulls=spread.num_nulls,
        where_null=f"{_filter_name(column.name)} IS NULL",
        num_distinct=None if spread.num_distinct is None else str(spread.num_distinct),
        least=spread.least,
        middle=spread.middle,
        most=spread.most,
    )


def _filters(column: pl.Series, spread: Spread) -> list[str | None]:
    """Return for each bar a filter that finds its values.

    There is none for values whose text is not an SQL literal: long or odd texts, times.
    """
    name, labels = _filter_name(column.name), spread.labels
    if not spread.has_order:
        if column.dtype == pl.Boolean:
            return [f"{name} = {label}" for label in labels]
        there = {*column.unique().to_list()} if column.dtype == pl.String else set()
        return [
            f"{name} = '{label.replace(_QUOTE, _QUOTE * 2)}'"
            if label in there and _SHORT.fullmatch(label)
            else None
            for label in labels
        ]
    if not column.dtype.is_numeric() or not all(map(_NUMBER.fullmatch, labels)):
        return [None] * len(labels)
    if spread.num_distinct == len(labels):
        return [f"{name} = {label}" for label in labels]
    values = column if column.dtype.is_integer() else column.cast(pl.Float64)
    ends = [*pairwise((*labels, None))]
    ordered = values.drop_nulls().sort()
    begins = pl.Series([_number(label) for label in labels], dtype=values.dtype)
    places = [*ordered.search_sorted(begins), len(ordered)]
    counts = [end - begin for begin, end in pairwise(places)]
    # A label is where a bin begins, rounded: with another count it is another range.
    return [
        f"{name} >= {begin}" + ("" if end is None else f" AND {name} < {end}")
        if count == shown
        else None
        for (begin, end), count, shown in zip(ends, counts, spread.counts, strict=True)
    ]


def _number(label: str | None) -> float:
    text = str(label)
    return int(text) if text.lstrip("-").isdecimal() else float(text)


@lru_cache
def _filter_name(name: str) -> str:
    """Return the name of a column for a filter: quoted only if SQL needs it."""
    in_quotes = '"{}"'.format(name.replace('"', '""'))
    try:
        is_plain = read_expression(name).meta.eq(pl.col(name)) if _PLAIN.fullmatch(name) else False
    except (pl.exceptions.PolarsError, InvalidArgumentError):
        return in_quotes  # a word of SQL
    return name if is_plain else in_quotes
