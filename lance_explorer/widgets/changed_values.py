"""Distributions of changed columns, before and after, in the rows that differ."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.answers import Section
from lance_explorer.answers.calls import call
from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.errors import LanceExplorerError
from lance_explorer.figures.distributions import Bars, bars_of
from lance_explorer.frames.sizes import percent
from lance_explorer.profiles.drift import cosines, is_vector
from lance_explorer.profiles.profile import Profile, typical
from lance_explorer.shown import one_line
from lance_explorer.table import Table
from lance_explorer.widgets.comparison import Cells, Comparison
from lance_explorer.widgets.messages.changes import ChangedColumn, ValueBar

__all__ = ["WholeColumns", "changed_values"]

_MOST_COLUMNS = 12
_MOST_ROWS = 10_000
_BINS = 20
_MOST_MOVERS = 3

_MOST_BYTES = 64 << 20
"""Whole columns are read only up to this number of bytes: in two versions, or in all."""


def changed_values(
    comparison: Comparison, cells: Cells, check: Callable[[], None]
) -> list[ChangedColumn]:
    """Return for each column that differs its values before and after; counts are text.

    The 12 columns that differ in most rows, each with the first 10,000 rows in which it differs; no
    other values are read.

    Parameters
    ----------
    found : Comparison
        The two versions.
    cells : Cells
        Which of their cells differ.
    check : callable
        Called between two columns; may raise to end the work.
    """
    changes = []
    for name, count in [*cells.counts().items()][:_MOST_COLUMNS]:
        if not count:
            break
        check()
        rows = np.flatnonzero(cells.differ[:, cells.names.index(name)])[:_MOST_ROWS]
        before, after = comparison.images.of(cells.rows.where(rows), [name])
        old, new = before.get_column(name), after.get_column(name)
        away = _cosines(old, new)
        bars = bars_of(old, new) if away is None else _cosine_bars(away)
        changes.append(
            ChangedColumn(
                name=name,
                num_rows=str(count),
                num_read=str(len(rows)),
                nulls=(old.null_count(), new.null_count()),
                bars=[] if bars is None else [ValueBar(*bar) for bar in zip(*bars, strict=True)],
                words=_spread_words(old, new) if away is None else _cosine_words(away),
                is_cosine=away is not None,
                movers=[] if away is None else _movers(comparison, cells.rows.where(rows), away),
            )
        )
    return changes


class WholeColumns:
    """Summaries of whole columns in two versions of a table.

    Parameters
    ----------
    table : Table
        The table.
    versions : sequence of int
        Versions that will be asked for, each with the one before it: their values are read once.
    """

    def __init__(self, table: Table, versions: Sequence[int] = ()) -> None:
        self._table = table
        self._versions = versions

    def of(self, begin: int, end: int) -> Section | None:
        """Return a line for each column; a sentence if they are too large; None if none."""
        if not begin or begin == end:
            return None
        try:
            profile = self._profile_of_many if self._has(begin, end) else self._read([begin, end])
        except LanceExplorerError:  # a version is not kept, which is told elsewhere
            return None
        return Section(
            "whole",
            "Whole columns, before and after",
            _both(profile.to_polars(), begin, end)
            if profile.is_complete
            else "Their values are too many to be read here: "
            f"{call('table.profile', versions=[begin, end])} reads them.",
        )

    @cached_property
    def _profile_of_many(self) -> Profile:
        return self._read(self._versions)

    def _read(self, versions: Sequence[int]) -> Profile:
        """Return the summaries of columns in some versions, or only names for many values."""
        profiled = self._table.profile(versions=versions, max_bytes=0)
        return profiled.go_on() if profiled.bytes_left <= _MOST_BYTES else profiled

    def _has(self, begin: int, end: int) -> bool:
        """Tell whether the profile of many versions agrees with that of one of these two."""
        pairs = zip(self._versions, self._versions[1:], strict=False)
        return (begin, end) in pairs and self._fields(end) <= self._fields(self._versions[-1])

    def _fields(self, version: int) -> set[tuple[int, int, str]]:
        history = self._table._view.history
        schema = history.records[history.position(version)].schema
        return {(field.id, field.parent_id, field.name) for field in schema}


def _both(lines: pl.DataFrame, begin: int, end: int) -> pl.DataFrame:
    """Return the summaries of columns in two versions of a profile, one row a column."""
    lines = lines.filter(pl.col("measure") != "nothing")
    before, after = (lines.filter(pl.col("version") == version) for version in (begin, end))
    both = before.join(after, on="column", suffix="_after", maintain_order="left_right")
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
    """Return mean and deviation of numbers, before and after; None for other types."""
    if not (before.dtype.is_numeric() and after.dtype.is_numeric()):
        return ""
    old, new = (
        typical("value", one.drop_nulls().cast(pl.Float64).mean(), one.cast(pl.Float64).std())
        for one in (before, after)
    )
    return f"mean {old} → {new}" if old and new else ""


def _cosines(before: pl.Series, after: pl.Series) -> NDArray[np.float64] | None:
    """Return the cosine between the two vectors of each row; None for other types."""
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


def _movers(comparison: Comparison, rows: ChangeRuns, away: NDArray[np.float64]) -> list[str]:
    """Return the row IDs of the vectors that turned furthest."""
    order = np.argsort(np.where(np.isfinite(away), away, np.inf), kind="stable")[:_MOST_MOVERS]
    some = rows.where(order[np.isfinite(away[order])])
    return [str(one) for one in comparison.row_ids(some).tolist()]
