"""The row-ID sequences of fragments that are rewritten, as Lance makes them from the old ones.

The deleted rows are left out, what stays is cut where new fragments begin, and each segment that
results is encoded anew. Segments are never joined, but for ranges that follow one another
(docs/FORMAT.md 3.3).
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lance_explorer.rowids.arrays import Positions, Uint64Array, begins_of
from lance_explorer.rowids.encoding import encode_segment
from lance_explorer.rowids.segments import Range
from lance_explorer.rowids.sequence import Ranges, RowIdSequence, all_ranges

__all__ = ["Piece", "rechunked", "remaining"]

Piece = Ranges | Uint64Array
"""Segments that are ranges, or the values of one segment."""


def remaining(sequence: RowIdSequence, deleted: Positions) -> Iterator[Piece]:
    """Yield the segments of a sequence without some of its values, given by position, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.rechunking import remaining
    >>> from lance_explorer.rowids.segments import Range
    >>> from lance_explorer.rowids.sequence import RowIdSequence
    >>> sequence = RowIdSequence.of([Range(3, 7)])
    >>> [piece.tolist() for piece in remaining(sequence, np.array([1]))]
    [[3, 5, 6]]
    """
    begin = 0
    for part in sequence.parts:
        end = begin + len(part)
        first, last = np.searchsorted(deleted, [begin, end])
        own, begin = deleted[first:last] - begin, end
        if isinstance(part, Range | Ranges):
            yield from _ranges_without(all_ranges([part]), own)
        elif len(own) < len(part):
            yield np.delete(part.values(), own)


def rechunked(pieces: Iterable[Piece], sizes: Sequence[int]) -> Iterator[RowIdSequence]:
    """Yield sequences of so many values each, made of segments that follow one another.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.rechunking import rechunked
    >>> from lance_explorer.rowids.sequence import Ranges
    >>> starts, stops = np.array([[0, 5, 20], [5, 10, 22]], dtype=np.uint64)
    >>> for sequence in rechunked([Ranges(starts, stops)], [8, 4]):
    ...     print(*sequence.segments)
    Range(start=0, stop=8)
    Range(start=8, stop=10) Range(start=20, stop=22)
    """
    rest = iter(pieces)
    piece: Piece = np.empty(0, dtype=np.uint64)
    begin, end = 0, 0
    for size in sizes:
        taken, missing = list[Piece](), size
        while missing:
            if begin == end:
                piece = next(rest)
                begin, end = 0, len(piece)
                continue
            count = min(missing, end - begin)
            taken.append(_slice(piece, begin, begin + count))
            begin, missing = begin + count, missing - count
        yield _encoded(taken)


def _ranges_without(ranges: Ranges, deleted: Positions) -> Iterator[Piece]:
    """Yield ranges without some values: those that lose some become segments of their own."""
    if not len(deleted):
        yield ranges
        return
    counts = ranges.counts()
    begins = begins_of(counts)
    lost = np.searchsorted(deleted, begins + counts) - np.searchsorted(deleted, begins)
    done = 0
    for hit in np.flatnonzero((lost > 0) & (lost < counts)).tolist():
        yield from _whole(ranges, done, hit, lost)
        first = int(np.searchsorted(deleted, begins[hit]))
        own = deleted[first : first + int(lost[hit])] - begins[hit]
        values = np.arange(ranges.starts[hit], ranges.stops[hit], dtype=np.uint64)
        yield np.delete(values, own)
        done = hit + 1
    yield from _whole(ranges, done, len(counts), lost)


def _whole(ranges: Ranges, begin: int, end: int, lost: Positions) -> Iterator[Ranges]:
    """Yield those of some ranges of which nothing is lost."""
    stay = begin + np.flatnonzero(lost[begin:end] == 0)
    if len(stay):
        yield Ranges(ranges.starts[stay], ranges.stops[stay])


def _slice(piece: Piece, begin: int, end: int) -> Piece:
    if not isinstance(piece, Ranges):
        return piece[begin:end]
    return all_ranges([piece.slice(begin, end)])


def _encoded(pieces: Iterable[Piece]) -> RowIdSequence:
    segments = [each if isinstance(each, Ranges) else encode_segment(each) for each in pieces]
    parts = RowIdSequence.of(segments).parts
    return RowIdSequence(
        tuple([_joined(part) if isinstance(part, Ranges) else part for part in parts])
    )


def _joined(ranges: Ranges) -> Range | Ranges:
    """Return ranges with those made one that follow one another."""
    is_new = np.append(True, ranges.starts[1:] != ranges.stops[:-1])
    begins = np.flatnonzero(is_new)
    starts, stops = ranges.starts[begins], ranges.stops[np.append(begins[1:], len(is_new)) - 1]
    if len(starts) == 1:
        return Range(int(starts[0]), int(stops[0]))
    return Ranges(starts, stops)
