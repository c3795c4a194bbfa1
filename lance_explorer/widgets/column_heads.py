"""What the head of a column tells of its values, of as many rows as are read in no time."""

from collections.abc import Callable
from typing import Any

import polars as pl

from lance_explorer.figures.distributions import Spread, spread_of
from lance_explorer.widgets.arranging import Arrangement

__all__ = ["column_heads", "sample_of"]

_FEW_ROWS = 20
"""Rows that tell how large rows are."""

_MOST_ROWS, _MOST_BYTES = 1_000, 8 << 20
_MOST_ROWS_HERE = 100_000
"""Of rows that need not be read."""

_MOST_SHOWN_VALUES = 3
_LONGEST_VALUE = 60


def sample_of(
    shown: Arrangement,
    columns: list[str],
    check: Callable[[], None],
    most_rows: int | None = None,
    most_bytes: int = _MOST_BYTES,
) -> pl.DataFrame:
    """Return the first rows that are shown: all, or as many as are read in no time.

    Parameters
    ----------
    shown : Arrangement
        The rows.
    columns : list of str
        Which columns are read.
    check : callable
        Called between two reads; may raise to end the work.
    most_rows : int, optional
        How many rows at most; by default 1,000, of rows that are in memory 100,000.
    most_bytes : int
        About how many bytes at most, judged by the first rows.
    """
    if most_rows is None:
        most_rows = _MOST_ROWS_HERE if shown.source.is_in_memory else _MOST_ROWS
    most_rows = min(most_rows, shown.num_rows)
    few = shown.rows(0, min(_FEW_ROWS, most_rows), columns)
    if few.height == most_rows or not columns:
        return few
    check()
    size = max(1, int(few.estimated_size()) // max(1, few.height))
    wanted = most_rows if shown.source.is_in_memory else min(most_rows, most_bytes // size)
    return few if wanted <= few.height else shown.rows(0, wanted, columns)


def column_heads(rows: pl.DataFrame, check: Callable[[], None]) -> list[dict[str, Any]]:
    """Return how the values of each column are spread, for the browser; numbers as text."""
    heads = []
    for column in rows:
        check()
        heads.append(_head(spread_of(column)))
    return heads


def _head(spread: Spread) -> dict[str, Any]:
    bars = list(zip(spread.labels, spread.counts, strict=True))
    return {
        "has_order": spread.has_order,
        "bars": [
            {"label": label[:_LONGEST_VALUE], "count": count}
            for label, count in (bars if spread.has_order else bars[:_MOST_SHOWN_VALUES])
        ],
        "num_nulls": spread.num_nulls,
        "num_distinct": None if spread.num_distinct is None else str(spread.num_distinct),
        "least": spread.least,
        "middle": spread.middle,
        "most": spread.most,
    }
