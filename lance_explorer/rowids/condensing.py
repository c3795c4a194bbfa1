"""Turns runs into blocks where blocks take less memory."""

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
"""From this number of runs on, a block is smaller: a run takes 24 bytes, a block at most 544."""

MIN_RUNS_MASKED = 45
"""The same for a block with deleted rows in between, which takes 1,056 bytes."""


def condensed(columns: RunColumns) -> RunsAndBlocks:
    """Return the runs that stay runs, and blocks for the others.

    Parameters
    ----------
    columns : RunColumns
        Runs in address order. Consecutive runs can share a block if their row IDs ascend at least
        as fast as their addresses.
    """
    columns = merged(columns)  # adjacent rows form one run of 24 bytes
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
    """Cut runs at the borders of blocks, except long ones."""
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
    """Return the starts and lengths of groups of runs that can share a block."""
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
    """Return in which groups addresses grow with row IDs, and in which with live rows."""
    start, stop, address = columns
    num_rows = stop - start
    rows_so_far = np.cumsum(num_rows)
    rows = rows_so_far[lasts] - rows_so_far[firsts] + num_rows[firsts]
    addresses = address[lasts] + num_rows[lasts] - address[firsts]
    like_ids = addresses == stop[lasts] - start[firsts]
    return like_ids, ~like_ids & (addresses == rows)


def _by_id(columns: RunColumns, counts: Positions) -> Blocks:
    """Return a block for each group of runs whose addresses grow with row IDs."""
    number, address, live = _bits(columns, counts)
    return Blocks.of(number, address - bits_of(columns.start[begins_of(counts)]), live)


def _by_rank(columns: RunColumns, counts: Positions) -> Blocks:
    """Return a block for each group of runs whose addresses are consecutive."""
    number, address, live = _bits(columns, counts)
    return Blocks.of(number, address, live, live)


def _masked(columns: RunColumns, counts: Positions) -> Blocks:
    """Return a block for each group of runs, with bits for deleted rows in between.

    It does not matter which bits of a gap stand for its deleted rows, only how many do.
    """
    start, stop, address = columns
    deleted = address[1:] - address[:-1] - (stop - start)[:-1]
    deleted[np.cumsum(counts)[:-1] - 1] = 0
    number, first, live = _bits(columns, counts)
    longer = RunColumns(start, stop + np.append(deleted, np.uint64(0)), address)
    return Blocks.of(number, first, live, _bits(longer, counts)[2])


def _bits(columns: RunColumns, counts: Positions) -> tuple[Uint64Array, Uint64Array, Uint64Array]:
    """Return the number, the first address and the bits of each group of runs."""
    firsts = begins_of(counts)
    bit = bits_of(columns.start).astype(np.int64)
    end = bit + (columns.stop - columns.start).astype(np.int64)
    words = words_of(len(counts), np.repeat(np.arange(len(counts)), counts), bit, end)
    return numbers_of(columns.start[firsts]), columns.address[firsts], words
