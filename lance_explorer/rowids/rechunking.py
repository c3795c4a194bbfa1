"""The row-ID sequences of fragments that are rewritten, as Lance makes them from the old ones.

First, ascending ranges of one fragment become one segment. Then deleted rows are removed, the rest
is cut at the new fragments, and each resulting segment is encoded again. No other segments are
joined, except consecutive ranges (docs/FORMAT.md 3.3).
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
    """Yield the segments of a sequence without the values at given ascending positions.

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
            yield from _without(all_ranges([part]), own)
        elif len(own) < len(part):
            yield np.delete(part.values(), own)


def rechunked(pieces: Iterable[Piece], sizes: Sequence[int]) -> Iterator[RowIdSequence]:
    """Yield sequences of so many values each, made of consecutive segments.

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


def _without(ranges: Ranges, deleted: Positions) -> Iterator[Piece]:
    """Yield ranges without some values; ascending ranges of one fragment become one segment.

    Lance joins them when it reads a sequence, whatever is missing between them, even if separate
    ranges would be smaller.
    """
    continues = ranges.starts[1:] >= ranges.stops[:-1]
    firsts = np.flatnonzero(np.append(True, ~continues))
    lasts = np.append(firsts[1:], len(ranges.starts))
    begins = np.append(begins_of(ranges.counts()), len(ranges))
    lost = np.searchsorted(deleted, begins)
    is_whole = (lasts - firsts == 1) & (lost[firsts] == lost[lasts])
    # Those that stay ranges are yielded together, because there can be very many.
    for group in np.split(np.arange(len(firsts)), np.flatnonzero(np.diff(is_whole)) + 1):
        if is_whole[group[0]]:
            yield Ranges(ranges.starts[firsts[group]], ranges.stops[firsts[group]])
            continue
        for first, last in zip(firsts[group].tolist(), lasts[group].tolist(), strict=True):
            values = Ranges(ranges.starts[first:last], ranges.stops[first:last]).values()
            own = deleted[lost[first] : lost[last]] - begins[first]
            if len(own) < len(values):
                yield np.delete(values, own)


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
    """Return ranges with consecutive ones joined."""
    is_new = np.append(True, ranges.starts[1:] != ranges.stops[:-1])
    begins = np.flatnonzero(is_new)
    starts, stops = ranges.starts[begins], ranges.stops[np.append(begins[1:], len(is_new)) - 1]
    if len(starts) == 1:
        return Range(int(starts[0]), int(stops[0]))
    return Ranges(starts, stops)
