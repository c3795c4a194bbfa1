"""The parts of fragments over all versions: states share them, and each has intervals."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import FormatError
from lance_explorer.format.fragments import Fragment
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals, merge_intervals
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.intervals import interval_columns
from lance_explorer.rowids.arrays import aranges, begins_of

__all__ = [
    "PartRows",
    "distinct_parts",
    "frame_of_intervals",
    "frame_of_version",
    "only_keys",
    "readable_interval_columns",
    "undamaged",
    "understood",
]

_P = TypeVar("_P", bound=Hashable)
_T = TypeVar("_T")


def distinct_parts(
    history: History, parts_of: Callable[[Fragment], Iterable[_P]]
) -> tuple[list[_P], Intervals]:
    """Return the distinct parts of all fragments, and the versions that have each."""
    numbers: dict[_P, int] = {}
    of_states = history.intervals
    by_state = {
        state: [numbers.setdefault(part, len(numbers)) for part in parts_of(history.states[state])]
        for state in np.unique(of_states.keys).tolist()
    }
    keys = [by_state[state] for state in of_states.keys.tolist()]
    counts = [len(parts) for parts in keys]
    intervals = merge_intervals(
        np.array([key for parts in keys for key in parts], dtype=np.int64),
        np.repeat(of_states.first, counts),
        np.repeat(of_states.last, counts),
    )
    return list(numbers), intervals


def only_keys(intervals: Intervals, keys: Iterable[int]) -> Intervals:
    """Return the intervals of some things alone."""
    there = np.isin(intervals.keys, list(keys))
    return Intervals(intervals.keys[there], intervals.first[there], intervals.last[there])


@dataclass(frozen=True, slots=True)
class PartRows:
    """The rows of parts, concatenated; ``counts`` are the numbers of rows."""

    rows: pl.DataFrame
    counts: NDArray[np.int64]


def frame_of_version(
    schema: FrameSchema, view: HistoryView, version: int, parts: PartRows
) -> pl.DataFrame:
    """Return the rows of all parts of one version."""
    count = len(parts.rows)
    constant = {"version": [version] * count, "branch": [view.branch] * count}
    return schema.build({**constant, **parts.rows.to_dict()})


def frame_of_intervals(
    schema: FrameSchema,
    view: HistoryView,
    history: History,
    intervals: Intervals,
    numbers: Sequence[int],
    parts: PartRows,
) -> pl.DataFrame:
    """Return the rows of each part once for each of its intervals; ``numbers`` are the keys."""
    places = np.searchsorted(numbers, intervals.keys)
    counts = parts.counts[places]
    rows = parts.rows[aranges(begins_of(parts.counts)[places], counts)]
    interval = readable_interval_columns(view, history, intervals)
    return schema.build(
        {
            "branch": [view.branch] * len(rows),
            **rows.to_dict(),
            **{name: np.repeat(values, counts) for name, values in interval.items()},
        }
    )


def readable_interval_columns(
    view: HistoryView, history: History, intervals: Intervals
) -> dict[str, Any]:
    """Return the interval columns if ``history`` may lack some versions."""
    columns = interval_columns(history, intervals)
    if len(history) and history.records[-1] is not view.history.records[-1]:
        columns["is_current"] = np.zeros(len(intervals), dtype=np.bool_)
    return columns


def understood(results: Iterable[tuple[int, _T | FormatError]]) -> Iterator[tuple[int, _T]]:
    """Yield results; raise the first FormatError among them."""
    for number, result in results:
        if isinstance(result, FormatError):
            raise result
        yield number, result


def undamaged(results: Iterable[tuple[int, _T | FormatError]]) -> Iterator[tuple[int, _T]]:
    """Yield results without those that are a FormatError."""
    for number, result in results:
        if not isinstance(result, FormatError):
            yield number, result
