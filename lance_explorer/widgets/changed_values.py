"""How the values of changed columns are spread, before and after, in the rows that differ there."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.figures.distributions import Bars, bars_of
from lance_explorer.frames.sizes import percent
from lance_explorer.profiles.drift import cosines, is_vector
from lance_explorer.profiles.profile import Profile, typical
from lance_explorer.shown import one_line
from lance_explorer.widgets.comparison import Cells, Comparison
from lance_explorer.widgets.messages.changes import ChangedColumn, ValueBar

__all__ = ["changed_values", "whole_columns"]

_MOST_COLUMNS = 12
_MOST_ROWS = 10_000
_BINS = 20
_MOST_MOVERS = 3


def changed_values(
    found: Comparison, cells: Cells, check: Callable[[], None]
) -> list[ChangedColumn]:
    """Return for each column that differs its values before and after; counts as text.

    Of 12 columns at most, those first that differ in most rows, and of each the first 10,000 rows
    that differ in it; no other values are read.

    Parameters
    ----------
    found : Comparison
        The two versions.
    cells : Cells
        Which of their cells differ.
    check : callable
        Called between two columns; may raise to end the work.
    """
    told = []
    for name, count in [*cells.counts().items()][:_MOST_COLUMNS]:
        if not count:
            break
        check()
        rows = np.flatnonzero(cells.differ[:, cells.names.index(name)])[:_MOST_ROWS]
        before, after = found.images.of(cells.rows.where(rows), [name])
        old, new = before.get_column(name), after.get_column(name)
        away = _cosines(old, new)
        bars = bars_of(old, new) if away is None else _cosine_bars(away)
        told.append(
            ChangedColumn(
                name=name,
                num_rows=str(count),
                num_read=str(len(rows)),
                nulls=(old.null_count(), new.null_count()),
                bars=[] if bars is None else [ValueBar(*bar) for bar in zip(*bars, strict=True)],
                words=_spread_words(old, new) if away is None else _cosine_words(away),
                is_cosine=away is not None,
                movers=[] if away is None else _movers(found, cells.rows.where(rows), away),
            )
        )
    return told


def whole_columns(profile: Profile) -> pl.DataFrame:
    """Return what whole columns hold in both versions of a profile, one row a column."""
    lines = profile.to_polars().filter(pl.col("measure") != "nothing")
    sides = [lines.filter(pl.col("version") == version) for version in profile.versions]
    both = sides[0].join(sides[-1], on="column", suffix="_after", maintain_order="left_right")
    rows = [_whole(row) for row in both.iter_rows(named=True)]
    names = ("column", "mean before", "mean after", "nulls", "different", "moved")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String()), orient="row")


def _whole(row: Mapping[str, Any]) -> tuple[str | None, ...]:
    def pair(name: str) -> str | None:
        old, new = row[name], row[f"{name}_after"]
        return None if old is None or new is None else f"{old:,} → {new:,}"

    return (
        one_line(row["column"]),
        typical(row["measure"], row["mean"], row["std"]),
        typical(row["measure_after"], row["mean_after"], row["std_after"]),
        pair("num_nulls"),
        pair("num_distinct"),
        None if row["shift_after"] is None else percent(row["shift_after"]),
    )


def _spread_words(before: pl.Series, after: pl.Series) -> str:
    """Return mean and deviation of numbers, before and after; nothing of other values."""
    if not (before.dtype.is_numeric() and after.dtype.is_numeric()):
        return ""
    old, new = (
        typical("value", one.drop_nulls().cast(pl.Float64).mean(), one.cast(pl.Float64).std())
        for one in (before, after)
    )
    return f"mean {old} → {new}" if old and new else ""


def _cosines(before: pl.Series, after: pl.Series) -> NDArray[np.float64] | None:
    """Return the cosine between the vectors of each row; None of other values."""
    if not (is_vector(before.dtype) and before.dtype == after.dtype):
        return None
    old, new = (one.to_numpy().astype(np.float64) for one in (before, after))
    return cosines(old, new)


def _cosine_bars(away: NDArray[np.float64]) -> Bars:
    known = away[np.isfinite(away)]
    if not len(known):
        return Bars((), (), ())
    counts, edges = np.histogram(known, bins=_BINS)
    labels = tuple([f"{edge:.2f}" for edge in edges[:-1].tolist()])
    return Bars(labels, (0,) * len(labels), tuple(counts.tolist()))


def _cosine_words(away: NDArray[np.float64]) -> str:
    known = away[np.isfinite(away)]
    if not len(known):
        return "no two vectors to compare"
    return f"cosine between before and after: {np.median(known):.2f} in the median"


def _movers(found: Comparison, rows: ChangeRuns, away: NDArray[np.float64]) -> list[str]:
    """Return the row IDs of the vectors that turned furthest."""
    order = np.argsort(np.where(np.isfinite(away), away, np.inf), kind="stable")[:_MOST_MOVERS]
    some = rows.where(order[np.isfinite(away[order])])
    return [str(one) for one in found.row_ids(some).tolist()]
