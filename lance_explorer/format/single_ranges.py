"""Row-ID sequences that are one range, many at once: those of appended fragments."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format._cursors import PADDING, Cursors
from lance_explorer.format.fragment_columns import FragmentColumns, SequenceStorage
from lance_explorer.format.fragments import LARGEST_FRAGMENT
from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array

__all__ = ["SingleRanges", "single_ranges"]

_SEGMENT, _RANGE = 0x0A, 0x0A  # of a sequence and of a segment: both field 1
_START, _STOP = 0x08, 0x10


class SingleRanges(NamedTuple):
    """The row IDs of each of many fragments, ``start`` to ``stop``, where ``found``; else 0."""

    start: Uint64Array
    stop: Uint64Array
    found: NDArray[np.bool_]


def single_ranges(columns: FragmentColumns) -> SingleRanges:
    """Return the row IDs of the fragments whose inline sequence is exactly one range.

    Any other or damaged sequence, and one of more rows than a fragment can have, is left to
    :func:`~lance_explorer.format.sequences.decode_row_id_sequence`.

    Parameters
    ----------
    columns : FragmentColumns
        The fragments.

    Examples
    --------
    >>> from lance_explorer.format.fragment_walk import columns_of_messages
    >>> from lance_explorer.format.single_ranges import single_ranges
    >>> fragment = bytes.fromhex("080712060a04612e706c2003" "2a080a060a0408051008")
    >>> start, stop, found = single_ranges(columns_of_messages([fragment]))
    >>> start.tolist(), stop.tolist(), found.tolist()
    ([5], [8], [True])
    """
    starts, stops = np.zeros((2, len(columns)), dtype=np.uint64)
    found = columns.row_ids.storage == SequenceStorage.INLINE
    places = np.flatnonzero(found)
    if not len(places):
        return SingleRanges(starts, stops, found)
    begins, ends = columns.row_ids.begin[places], columns.row_ids.end[places]
    view = np.frombuffer(columns.data, dtype=np.uint8)
    if int(ends.max()) + PADDING > len(view):
        view = np.concatenate([view, np.zeros(PADDING, dtype=np.uint8)])
    good, begins, ends = _only_field(view, begins, ends, _SEGMENT)
    is_range, begins, ends = _only_field(view, begins, ends, _RANGE)
    at = Cursors(view, begins, ends)
    start = at.read_numbers(_START, MAX_U64).values
    stop = at.read_numbers(_STOP, MAX_U64).values
    good &= is_range & at.finish() & (stop > start)
    good &= stop - start <= np.uint64(LARGEST_FRAGMENT)
    starts[places], stops[places] = np.where(good, start, 0), np.where(good, stop, 0)
    found[places] = good
    return SingleRanges(starts, stops, found)


def _only_field(
    view: NDArray[np.uint8], begins: Positions, ends: Positions, tag: int
) -> tuple[NDArray[np.bool_], Positions, Positions]:
    """Return which messages are exactly one length-delimited field, and where it is."""
    at = Cursors(view, begins, ends)
    spans = at.read_spans(tag)
    return at.finish() & spans.written, spans.begins, spans.ends
