"""Frames with rows for each stored sequence: of one version, or of all, with intervals."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import polars as pl

from lance_explorer.errors import FormatError
from lance_explorer.format.fragments import Fragment
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals
from lance_explorer.history.readable import check_readable, readable_history
from lance_explorer.history.reading.stored_sequences import FragmentSequence
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import (
    PartRows,
    distinct_parts,
    frame_of_intervals,
    frame_of_version,
    only_keys,
    undamaged,
    understood,
)

__all__ = ["sequence_rows", "sequence_rows_of_all"]

_T = TypeVar("_T")

_SequencesOf = Callable[[Fragment], Iterable[FragmentSequence]]
_Read = Callable[
    [HistoryView, History, Sequence[FragmentSequence], Intervals],
    Iterator[tuple[int, _T | FormatError]],
]
_RowsOf = Callable[[Sequence[tuple[FragmentSequence, _T]]], PartRows]


def sequence_rows(
    schema: FrameSchema,
    view: HistoryView,
    version: int,
    sequences_of: _SequencesOf,
    read: _Read[_T],
    rows_of: _RowsOf[_T],
) -> pl.DataFrame:
    """Return what ``rows_of`` makes of the sequences of a version; a damaged one is an error."""
    history = view.version(version)
    check_readable(history.records[0])
    sequences, intervals = distinct_parts(history, sequences_of)
    results = understood(read(view, history, sequences, intervals))
    _, rows = _rows(sequences, results, rows_of)
    return frame_of_version(schema, view, version, rows)


def sequence_rows_of_all(
    schema: FrameSchema,
    view: HistoryView,
    sequences_of: _SequencesOf,
    read: _Read[_T],
    rows_of: _RowsOf[_T],
) -> pl.DataFrame:
    """Return the same for all versions, for each interval of each undamaged sequence."""
    history = readable_history(view.history)
    sequences, intervals = distinct_parts(history, sequences_of)
    results = undamaged(read(view, history, sequences, intervals))
    numbers, rows = _rows(sequences, results, rows_of)
    return frame_of_intervals(schema, view, history, only_keys(intervals, numbers), numbers, rows)


def _rows(
    sequences: Sequence[FragmentSequence],
    results: Iterator[tuple[int, _T]],
    rows_of: _RowsOf[_T],
) -> tuple[list[int], PartRows]:
    """Return the numbers of the existing sequences, ascending, and their rows."""
    by_number = dict(results)
    numbers = sorted(by_number)
    return numbers, rows_of([(sequences[number], by_number[number]) for number in numbers])
