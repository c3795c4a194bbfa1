"""Runs to blocks, where blocks take less memory."""

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import Positions, Uint64Array, aranges, begins_of
from lance_explorer.rowids.blocks import (
    BLOCK_IDS,
    Blocks,
    RunsAndBlocks,
    bits_of,
    first_ids,
    numbers_of,
    words_of,
)
from lance_explorer.rowids.runs import RunColumns, merged

__all__ = ["MIN_RUNS", "MIN_RUNS_MASKED", "condensed"]

MIN_RUNS = 23
"""Runs from which on a block is smaller: 24 bytes a run, 544 at most a block."""

MIN_RUNS_MASKED = 45
"""The same for a block with deleted rows between others, which takes 1,056 bytes."""


def condensed(columns: RunColumns) -> RunsAndBlocks:
    """Return the runs that stay runs, and blocks of the others.

    Parameters
    ----------
    columns : RunColumns
        Runs in the order of their addresses. Those that follow one another can be in one block if
        their row IDs ascend, and at least as fast as their addresses.
    """
    columns = merged(columns)  # what touches is one run, and takes 24 bytes
    if len(columns.start) < MIN_RUNS:
        return RunsAndBlocks(columns, [])
    columns = _cut_at_blocks(columns)
    firsts, counts = _groups(columns)
    dense = counts >= MIN_RUNS
    if not dense.any():
        return RunsAndBlocks(columns, [])
    firsts, counts = firsts[dense], counts[dense]
    like_ids, like_rows = _growth(columns, firsts, firsts + counts - 1)
    masked = ~like_ids & ~like_rows & (counts >= MIN_RUNS_MASKED)
    stay = np.ones(len(columns.start), dtype=np.bool_)
    blocks = []
    for build, kind in ((_by_id, like_ids), (_by_rank, like_rows), (_masked, masked)):
        if kind.any():
            members = aranges(firsts[kind], counts[kind])
            stay[members] = False
            blocks.append(build(columns.where(members), counts[kind]))
    return RunsAndBlocks(columns.where(stay), blocks)


def _cut_at_blocks(columns: RunColumns) -> RunColumns:
    """Cut the runs in two that are in two blocks, but not the long ones."""
    start, stop, address = columns
    last_block = numbers_of(stop - np.uint64(1))
    crosses = (numbers_of(start) != last_block) & (stop - start < BLOCK_IDS)
    cut = np.flatnonzero(crosses)
    border = first_ids(last_block[cut])
    return RunColumns(
        np.insert(start, cut + 1, border),
        np.insert(stop, cut, border),
        np.insert(address, cut + 1, address[cut] + (border - start[cut])),
    )


def _groups(columns: RunColumns) -> tuple[Positions, Positions]:
    """Return where the groups of runs begin that can be in one block, and their lengths."""
    start, stop, address = columns
    block = numbers_of(start)
    in_one_block = numbers_of(stop - np.uint64(1)) == block
    id_gap = start[1:] - stop[:-1]
    address_gap = address[1:] - address[:-1] - (stop - start)[:-1]
    linked = (block[1:] == block[:-1]) & (start[1:] >= stop[:-1]) & (address_gap <= id_gap)
    linked &= in_one_block[1:] & in_one_block[:-1]
    firsts = np.flatnonzero(np.concatenate([[True], ~linked]))
    return firsts, np.diff(firsts, append=len(start))


def _growth(
    columns: RunColumns, firsts: Positions, lasts: Positions
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return in which groups addresses grow like row IDs, and in which others like live rows."""
    start, stop, address = columns
    num_rows = stop - start
    rows_so_far = np.cumsum(num_rows)
    rows = rows_so_far[lasts] - rows_so_far[firsts] + num_rows[firsts]
    addresses = address[lasts] + num_rows[lasts] - address[firsts]
    like_ids = addresses == stop[lasts] - start[firsts]
    return like_ids, ~like_ids & (addresses == rows)


def _by_id(columns: RunColumns, counts: Positions) -> Blocks:
    """Return a block for each group of so many runs, whose addresses grow like row IDs."""
    number, address, live = _bits(columns, counts)
    return Blocks.of(number, address - bits_of(columns.start[begins_of(counts)]), live)


def _by_rank(columns: RunColumns, counts: Positions) -> Blocks:
    """Return a block for each group of so many runs, whose addresses follow one another."""
    number, address, live = _bits(columns, counts)
    return Blocks.of(number, address, live, live)


def _masked(columns: RunColumns, counts: Positions) -> Blocks:
    """Return a block for each group of so many runs, with bits for the deleted rows between.

    Which bits stand for the deleted rows in a gap does not matter, only how many there are.
    """
    start, stop, address = columns
    deleted = address[1:] - address[:-1] - (stop - start)[:-1]
    deleted[np.cumsum(counts)[:-1] - 1] = 0
    number, first, live = _bits(columns, counts)
    longer = RunColumns(start, stop + np.append(deleted, np.uint64(0)), address)
    return Blocks.of(number, first, live, _bits(longer, counts)[2])


def _bits(columns: RunColumns, counts: Positions) -> tuple[Uint64Array, Uint64Array, Uint64Array]:
    """Return the number, the first address and the bits of each group of so many runs."""
    firsts = begins_of(counts)
    bit = bits_of(columns.start).astype(np.int64)
    end = bit + (columns.stop - columns.start).astype(np.int64)
    words = words_of(len(counts), np.repeat(np.arange(len(counts)), counts), bit, end)
    return numbers_of(columns.start[firsts]), columns.address[firsts], words
