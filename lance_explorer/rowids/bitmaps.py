"""Work on bitmaps directly, without expanding them to runs."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from lance_explorer.rowids.arrays import Positions, Uint64Array
from lance_explorer.rowids.blocks import BLOCK_IDS, Blocks, RunsAndBlocks, run_counts
from lance_explorer.rowids.condensing import MIN_RUNS, MIN_RUNS_MASKED
from lance_explorer.rowids.runs import RunColumns
from lance_explorer.rowids.segments import Range, RangeWithBitmap

__all__ = ["rows_of_bitmap", "rows_of_range", "rows_within"]

_BLOCK_BYTES = BLOCK_IDS // 8


def rows_of_bitmap(
    segment: RangeWithBitmap, address: np.uint64, deleted: Positions
) -> RunsAndBlocks:
    """Return the live rows of a segment.

    Parameters
    ----------
    segment : RangeWithBitmap
        The row IDs.
    address : uint64
        The address of the first row.
    deleted : ndarray of int64
        The positions of deleted rows in the segment, ascending.
    """
    present = _aligned(segment)
    counts = np.bitwise_count(present).sum(axis=1, dtype=np.uint64)
    addresses = np.cumsum(counts) - counts + address
    live = _cleared(present, deleted) if len(deleted) else present
    return _smaller_forms(Blocks.of(_numbers(segment.start, present), addresses, live, present))


def rows_of_range(segment: Range, address: np.uint64, deleted: Positions) -> RunsAndBlocks:
    """Return the live rows of a segment, which is given as a bitmap."""
    first = segment.start % BLOCK_IDS
    bits = np.zeros(-(-(first + len(segment)) // BLOCK_IDS) * BLOCK_IDS, dtype=np.bool_)
    bits[first : first + len(segment)] = True
    bits[first + deleted] = False
    live = np.packbits(bits, bitorder="little").view(np.uint64).reshape(-1, BLOCK_IDS // 64)
    steps = np.arange(0, len(bits), BLOCK_IDS, dtype=np.uint64)
    addresses = steps + address - np.array([first], dtype=np.uint64)
    return _smaller_forms(Blocks.of(_numbers(segment.start, live), addresses, live))


def rows_within(
    blocks: Blocks, others: Iterable[Blocks], *, inside: bool
) -> Iterator[RunsAndBlocks]:
    """Yield the rows of blocks whose row IDs live in others; with ``inside`` false, the rest."""
    tables = list(others)
    for some in blocks.portions():
        words = _living(some.number, tables)
        live = some.live & (words if inside else ~words)
        yield _smaller_forms(replace(some, live=live))


def _smaller_forms(blocks: Blocks) -> RunsAndBlocks:
    """Return blocks as blocks where that is smaller, else as runs."""
    if blocks.present is None:
        dense = run_counts(blocks.live) >= MIN_RUNS
        if dense.all():
            return RunsAndBlocks(RunColumns.empty(), [blocks])
        return RunsAndBlocks(blocks.where(~dense).runs(), [blocks.where(dense)])
    masked = (blocks.live != blocks.present).any(axis=1)
    dense = run_counts(blocks.live) >= np.where(masked, MIN_RUNS_MASKED, MIN_RUNS)
    whole = blocks.where(dense & ~masked)
    pieces = [replace(whole, present=whole.live), blocks.where(dense & masked)]
    return RunsAndBlocks(blocks.where(~dense).runs(), pieces)


def _living(number: Uint64Array, tables: Iterable[Blocks]) -> Uint64Array:
    """Return which row IDs of some blocks live in any of several tables."""
    words = np.zeros((len(number), BLOCK_IDS // 64), dtype=np.uint64)
    for blocks in tables:
        place = np.searchsorted(blocks.number, number)
        end = np.searchsorted(blocks.number, number, side="right")
        while (more := place < end).any():
            words[more] |= blocks.live[place[more]]
            place += 1
    return words


def _numbers(start: int, bits: Uint64Array) -> Uint64Array:
    """Return the block numbers for the bits that follow a row ID."""
    return np.arange(len(bits), dtype=np.uint64) + np.uint64(start // BLOCK_IDS)


def _aligned(segment: RangeWithBitmap) -> Uint64Array:
    """Return the bits of a segment, each at the position of its row ID in a block."""
    num_blocks = (segment.stop - 1) // BLOCK_IDS - segment.start // BLOCK_IDS + 1
    begin, shift = divmod(segment.start % BLOCK_IDS, 8)
    bitmap = np.frombuffer(segment.bitmap, dtype=np.uint8)
    aligned = np.zeros(num_blocks * _BLOCK_BYTES + 1, dtype=np.uint8)
    aligned[begin : begin + len(bitmap)] = bitmap << shift
    if shift:
        aligned[begin + 1 : begin + 1 + len(bitmap)] |= bitmap >> (8 - shift)
    return aligned[:-1].view(np.uint64).reshape(num_blocks, -1)


def _cleared(present: Uint64Array, ranks: Positions) -> Uint64Array:
    """Return bits without those of given ranks."""
    bits = np.unpackbits(present.reshape(-1).view(np.uint8), bitorder="little")
    bits[np.flatnonzero(bits.view(np.bool_))[ranks]] = 0
    return np.packbits(bits, bitorder="little").view(np.uint64).reshape(present.shape)
