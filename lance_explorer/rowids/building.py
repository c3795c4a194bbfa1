"""Turns row-ID sequences and deletions into live rows, as runs and blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array, aranges
from lance_explorer.rowids.bitmaps import rows_of_bitmap, rows_of_range
from lance_explorer.rowids.blocks import RunsAndBlocks
from lance_explorer.rowids.condensing import condensed
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.rowids.runs import RunColumns
from lance_explorer.rowids.segments import Range, RangeWithBitmap
from lance_explorer.rowids.sequence import Part, RowIdSequence

__all__ = ["FragmentRows", "live_rows"]

_RUNS_AT_ONCE = 1 << 15
"""Enough rows to make small fragments cheap, few enough to stay in the processor's cache."""

_MIN_BITMAP_BYTES = 1024
"""A bitmap of at least this size is kept as a bitmap."""

_SPARSE = 256
"""A range is not expanded if fewer rows than one in this many are deleted."""

_MAYBE_BITS = (Range, RangeWithBitmap)


@dataclass(frozen=True, slots=True)
class FragmentRows:
    """The row IDs of a fragment, and the offsets of its deleted rows."""

    fragment_id: int
    row_ids: RowIdSequence
    deleted: BitMap | None = None


def live_rows(
    fragments: Iterable[FragmentRows], whole: RunColumns | None = None
) -> Iterator[RunsAndBlocks]:
    """Yield the live rows of fragments, portion by portion.

    Parameters
    ----------
    fragments : iterable of FragmentRows
        The fragments.
    whole : RunColumns, optional
        The other rows, none of which is deleted, in address order.

    Raises
    ------
    CorruptFileError
        If a row has the largest 64-bit number for its row ID, which none can have.
    """
    if whole is not None:
        yield from _without([whole], [])
    runs, deletions, size = list[RunColumns](), list[Uint64Array](), 0
    for fragment in sorted(fragments, key=lambda fragment: fragment.fragment_id):
        address = first_address(fragment.fragment_id)
        deleted = deleted_offsets(fragment.deleted or BitMap()) + np.uint64(address)
        rest = list[RunColumns]()
        for rows in _pieces(fragment.row_ids, address, deleted):
            if isinstance(rows, RunColumns):
                rest.append(rows)
            else:
                yield rows
        if rest:
            runs += rest
            deletions.append(deleted)
            size += sum([len(rows.start) for rows in rest]) + len(deleted)
        if size >= _RUNS_AT_ONCE:
            yield from _without(runs, deletions)
            runs, deletions, size = [], [], 0
    yield from _without(runs, deletions)


def _pieces(
    sequence: RowIdSequence, address: int, deleted: Uint64Array
) -> Iterator[RunColumns | RunsAndBlocks]:
    """Yield the live rows of segments that stay bitmaps, and all rows of those in between."""
    between, begin = list[Part](), address
    for part in sequence.parts:
        end = address + len(part)
        rows = _as_bits(part, address, deleted) if isinstance(part, _MAYBE_BITS) else None
        if rows is not None:
            yield from _all_rows(between, begin)
            yield rows
            between, begin = [], end
        else:
            between.append(part)
        address = end
    yield from _all_rows(between, begin)


def _as_bits(
    part: Range | RangeWithBitmap, address: int, deleted: Uint64Array
) -> RunsAndBlocks | None:
    """Return the live rows of a large bitmap, or of a large range with many deletions."""
    match part:
        case RangeWithBitmap() if len(part.bitmap) >= _MIN_BITMAP_BYTES:
            own = _between(deleted, address, len(part))
            return rows_of_bitmap(part, np.uint64(address), own)
        case Range() if len(part) >= 8 * _MIN_BITMAP_BYTES:
            own = _between(deleted, address, len(part))
            if len(own) * _SPARSE >= len(part):
                return rows_of_range(part, np.uint64(address), own)
    return None


def _between(deleted: Uint64Array, address: int, count: int) -> Positions:
    """Return the deleted rows in a stretch, counted from its start."""
    borders = np.array([address, address + count], dtype=np.uint64)
    begin, end = np.searchsorted(deleted, borders)
    positions: Positions = (deleted[begin:end] - borders[0]).astype(np.int64)
    return positions


def _all_rows(parts: list[Part], address: int) -> Iterator[RunColumns]:
    """Yield all rows of parts in order, deleted rows included, if there are parts."""
    if not parts:
        return
    start, stop = RowIdSequence(tuple(parts)).ranges()
    if (stop <= start).any():
        raise CorruptFileError(f"a row has the ID {MAX_U64}, which no row can have")
    counts = stop - start
    yield RunColumns(start, stop, np.cumsum(counts) - counts + np.uint64(address))


def _without(runs: list[RunColumns], deletions: list[Uint64Array]) -> Iterator[RunsAndBlocks]:
    """Yield the rows that are not deleted; rows and deletions are in address order."""
    rows = RunColumns.concatenated(runs)
    deleted = np.concatenate([*deletions, np.empty(0, dtype=np.uint64)])
    begins = np.arange(0, len(rows.start), _RUNS_AT_ONCE)
    masked = np.split(deleted, np.searchsorted(deleted, rows.address[begins[1:]]))
    for begin, removed in zip(begins.tolist(), masked, strict=False):
        some = rows.where(slice(begin, begin + _RUNS_AT_ONCE))
        yield condensed(_cut_out(some, removed) if len(removed) else some)


def _cut_out(runs: RunColumns, deleted: Uint64Array) -> RunColumns:
    start, stop, address = runs
    end = address + (stop - start)
    first = np.searchsorted(deleted, address)
    counts = np.searchsorted(deleted, end) - first
    if counts.sum() < len(deleted):  # some were in bitmaps, or lie behind the end of a sequence
        deleted = deleted[aranges(first, counts)]
    # Each removed row makes one piece more.
    last_pieces = np.cumsum(counts + 1) - 1
    pieces_start = _spread(address, last_pieces - counts, deleted + np.uint64(1))
    pieces_stop = _spread(end, last_pieces, deleted)
    shift = np.repeat(start - address, counts + 1)
    pieces = RunColumns(pieces_start + shift, pieces_stop + shift, pieces_start)
    return pieces.where(pieces_start < pieces_stop)


def _spread(some: Uint64Array, places: Positions, others: Uint64Array) -> Uint64Array:
    """Return numbers with some at given positions, and the others in order between them."""
    result = np.empty(len(some) + len(others), dtype=np.uint64)
    free = np.ones(len(result), dtype=np.bool_)
    free[places] = False
    result[places], result[free] = some, others
    return result
