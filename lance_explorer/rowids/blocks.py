"""Rows with dense row IDs as bitmaps, where runs would take more memory.

A block covers row IDs that differ only in their last 12 bits. A bit for each such ID says whether
its row lives here; the address follows from the ID, or from counting bits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import Positions, Uint64Array
from lance_explorer.rowids.runs import RunColumns

__all__ = [
    "BLOCK_IDS",
    "Blocks",
    "RunsAndBlocks",
    "bits_of",
    "first_ids",
    "numbers_of",
    "run_counts",
    "words_of",
]

_BITS = 12
BLOCK_IDS = 1 << _BITS

_WORDS = BLOCK_IDS // 64
_LAST_BIT = np.uint64(63)
_EIGHTHS = 8
_EIGHTH_IDS = BLOCK_IDS // _EIGHTHS
_EIGHTH_WORDS = _WORDS // _EIGHTHS

_BLOCKS_AT_ONCE = 128
_IDS_AT_ONCE = 1 << 14
"""What is expanded at once is this small, so that it stays in the processor's cache."""

_BELOW = np.packbits(np.tri(_EIGHTH_IDS, k=-1, dtype=np.bool_), axis=1, bitorder="little").view(
    np.uint64
)
"""For each bit of an eighth, a mask of the bits before it."""

Chosen = NDArray[np.bool_] | Positions | slice


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Blocks, in the order of their row IDs. Several may be about the same IDs.

    Parameters
    ----------
    number : ndarray of uint64
        The row IDs of each block without their last 12 bits.
    address : ndarray of uint64
        The address of the row whose bit is the first in ``present``. Without ``present``, the
        address that the row of the lowest ID has, or would have.
    live : ndarray of uint64
        64 words a block: the bits of the rows that live.
    present : ndarray of uint64, optional
        64 words a block: the bits of the rows that have addresses, one after the other. It may be
        ``live`` itself. Without it, addresses are as far apart as row IDs.
    rank : ndarray of uint16, optional
        8 numbers a block: how many bits of ``present`` come before each eighth of it.
    """

    number: Uint64Array
    address: Uint64Array
    live: Uint64Array
    present: Uint64Array | None = None
    rank: NDArray[np.uint16] | None = None

    @classmethod
    def of(
        cls,
        number: Uint64Array,
        address: Uint64Array,
        live: Uint64Array,
        present: Uint64Array | None = None,
    ) -> "Blocks":
        """Return blocks given in any order."""
        rank = None if present is None else _ranks(present)
        return cls(number, address, live, present, rank)._in_order()

    @classmethod
    def concatenated(cls, several: Iterable["Blocks"]) -> "Blocks":
        """Return the blocks of several tables, which must have the same fields."""
        some = list(several)
        if len(some) == 1:
            return some[0]
        live = np.concatenate([blocks.live for blocks in some])
        present, rank = None, None
        if some[0].present is not None:
            rank = np.concatenate([blocks.rank for blocks in some if blocks.rank is not None])
            present = live
            if some[0].is_masked:
                there = [blocks.present for blocks in some if blocks.present is not None]
                present = np.concatenate(there)
        number = np.concatenate([blocks.number for blocks in some])
        address = np.concatenate([blocks.address for blocks in some])
        return cls(number, address, live, present, rank)._in_order()

    def __len__(self) -> int:
        return len(self.number)

    @property
    def is_masked(self) -> bool:
        """Whether deleted rows lie between live ones, so that ``present`` differs from ``live``."""
        return self.present is not None and self.present is not self.live

    @property
    def num_rows(self) -> int:
        """How many rows live in all blocks."""
        return int(np.bitwise_count(self.live).sum(dtype=np.int64))

    @property
    def num_runs(self) -> int:
        """How many runs the live rows form, counted in each block by itself."""
        return sum([int(run_counts(some.live).sum()) for some in self.portions()])

    @property
    def nbytes(self) -> int:
        """The bytes in memory."""
        arrays = [self.number, self.address, self.live]
        if self.present is not None and self.present is not self.live:
            arrays.append(self.present)
        return sum([array.nbytes for array in arrays]) + (
            self.rank.nbytes if self.rank is not None else 0
        )

    def where(self, chosen: Chosen) -> "Blocks":
        """Return some of the blocks, in their order."""
        live = self.live[chosen]
        present, rank = None, None
        if self.present is not None and self.rank is not None:
            present = self.present[chosen] if self.is_masked else live
            rank = self.rank[chosen]
        return Blocks(self.number[chosen], self.address[chosen], live, present, rank)

    def lookup(self, ids: Uint64Array) -> tuple[Uint64Array, NDArray[np.bool_]]:
        """Return the addresses of row IDs, 0 where there is none, and whether there is one."""
        addresses = np.zeros(len(ids), dtype=np.uint64)
        found = np.zeros(len(ids), dtype=np.bool_)
        todo = np.arange(len(ids))
        number = numbers_of(ids)
        block = np.searchsorted(self.number, number)
        while True:
            there = block < len(self)
            there[there] = self.number[block[there]] == number[todo[there]]
            todo, block = todo[there], block[there]
            if not len(todo):
                return addresses, found
            lives = self._lives(block, ids[todo])
            here = todo[lives]
            addresses[here] = self._addresses(block[lives], ids[here])
            found[here] = True
            todo, block = todo[~lives], block[~lives] + 1

    def about(self, row_id: int) -> list["Blocks"]:
        """Yield the blocks that a row ID belongs to."""
        number = np.uint64(row_id >> _BITS)
        first, end = np.searchsorted(self.number, [number, number + np.uint64(1)]).tolist()
        return [self.where(slice(block, block + 1)) for block in range(first, end)]

    def runs(self, chosen: Chosen = slice(None)) -> RunColumns:
        """Return the live rows of some blocks as runs, in the order of blocks and row IDs."""
        return RunColumns.concatenated([some._runs() for some in self.where(chosen).portions()])

    def id_bounds(self) -> tuple[Uint64Array, Uint64Array]:
        """Return the lowest and the highest possible row ID of each block."""
        low = first_ids(self.number)
        return low, low + np.uint64(BLOCK_IDS - 1)

    def first_addresses(self) -> Uint64Array:
        """Return the address of the first row of each block, which may be deleted."""
        if self.present is not None:
            return self.address
        word: Positions = (self.live != 0).argmax(axis=1)
        bits = self.live[np.arange(len(self)), word]
        zeros_below = np.bitwise_count((bits & (np.uint64(0) - bits)) - np.uint64(1))
        return self.address + word.astype(np.uint64) * np.uint64(64) + zeros_below

    def runs_around(self, addresses: Uint64Array) -> Iterator[tuple[slice, RunColumns]]:
        """Yield runs that may hold some of the sorted addresses, and which addresses these are."""
        if not len(addresses):
            return
        firsts = self.first_addresses()
        order = np.argsort(firsts)
        near = np.maximum(np.searchsorted(firsts[order], addresses, side="right") - 1, 0)
        ends = np.append(np.flatnonzero(np.diff(near)) + 1, len(near))
        for position in range(0, len(ends), _BLOCKS_AT_ONCE):
            some = ends[position : position + _BLOCKS_AT_ONCE]
            begin = int(ends[position - 1]) if position else 0
            yield slice(begin, int(some[-1])), self.runs(order[near[some - 1]])

    def portions(self) -> Iterator["Blocks"]:
        """Yield all blocks, some at a time."""
        for start in range(0, len(self), _BLOCKS_AT_ONCE):
            yield self.where(slice(start, start + _BLOCKS_AT_ONCE))

    def _in_order(self) -> "Blocks":
        if (self.number[1:] >= self.number[:-1]).all():
            return self
        return self.where(np.argsort(self.number, kind="stable"))

    def _lives(self, block: Positions, ids: Uint64Array) -> NDArray[np.bool_]:
        word, bit = np.divmod(bits_of(ids), np.uint64(64))
        words = self.live.reshape(-1)[block * _WORDS + word.astype(np.int64)]
        return (words >> bit & np.uint64(1)).astype(np.bool_)

    def _addresses(self, block: Positions, ids: Uint64Array) -> Uint64Array:
        bit = bits_of(ids)
        if self.present is None:
            return self.address[block] + bit
        ranks = np.empty(len(ids), dtype=np.uint64)
        for start in range(0, len(ids), _IDS_AT_ONCE):
            some = slice(start, start + _IDS_AT_ONCE)
            ranks[some] = self._ranks_at(block[some], bit[some].astype(np.int64))
        return self.address[block] + ranks

    def _ranks_at(self, block: Positions, bit: Positions) -> NDArray[np.uint16]:
        """Return how many bits of ``present`` come before each of the given bits."""
        assert self.present is not None
        assert self.rank is not None
        eighth = block * _EIGHTHS + bit // _EIGHTH_IDS
        words = self.present.reshape(-1, _EIGHTH_WORDS)[eighth] & _BELOW[bit % _EIGHTH_IDS]
        before: NDArray[np.uint16] = np.bitwise_count(words).sum(axis=1, dtype=np.uint16)
        before += self.rank.reshape(-1)[eighth]
        return before

    def _runs(self) -> RunColumns:
        """Return the runs of a few blocks."""
        starts = _bit_positions(_run_starts(self.live))
        stops = _bit_positions(_run_ends(self.live)) + 1
        block, bit = starts >> _BITS, starts & (BLOCK_IDS - 1)
        ids = first_ids(self.number[block]) + bit.astype(np.uint64)
        if self.present is None:
            rank = bit
        else:
            bits = np.unpackbits(self.present.view(np.uint8), axis=1, bitorder="little")
            rank = bits.cumsum(axis=1, dtype=np.uint16).reshape(-1)[starts].astype(np.int64) - 1
        address = self.address[block] + rank.astype(np.uint64)
        return RunColumns(ids, ids + (stops - starts).astype(np.uint64), address)


class RunsAndBlocks(NamedTuple):
    """Rows, each in its smaller form."""

    runs: RunColumns
    blocks: list[Blocks]


def numbers_of(ids: Uint64Array) -> Uint64Array:
    """Return the number of the block of each row ID."""
    return ids >> np.uint64(_BITS)


def bits_of(ids: Uint64Array) -> Uint64Array:
    """Return the bit of each row ID in its block."""
    return ids & np.uint64(BLOCK_IDS - 1)


def first_ids(numbers: Uint64Array) -> Uint64Array:
    """Return the lowest row ID of blocks, given by number."""
    return numbers << np.uint64(_BITS)


def words_of(num_blocks: int, block: Positions, start: Positions, stop: Positions) -> Uint64Array:
    """Return bits, 64 words for each block, with disjoint ranges set.

    Parameters
    ----------
    num_blocks : int
        How many blocks there are.
    block : ndarray
        The block of each range, in ascending order.
    start, stop : ndarray
        From which bit to which of its block each range is set.
    """
    words = np.empty((num_blocks, _WORDS), dtype=np.uint64)
    lows = range(0, num_blocks, _BLOCKS_AT_ONCE)
    begins = np.append(np.searchsorted(block, lows), len(block)).tolist()
    for number, low in enumerate(lows):
        some, high = slice(*begins[number : number + 2]), min(low + _BLOCKS_AT_ONCE, num_blocks)
        origin = (block[some] - low) << _BITS
        flips = np.zeros((high - low) * BLOCK_IDS + 1, dtype=np.bool_)
        flips[origin + start[some]] ^= True
        flips[origin + stop[some]] ^= True  # no flip where the next range begins immediately
        flipped = np.packbits(flips[:-1], bitorder="little").view(np.uint64)
        words[low:high] = _xor_of_bits_so_far(flipped).reshape(-1, _WORDS)
    return words


def run_counts(words: Uint64Array) -> Positions:
    """Return how many runs the bits of each block form."""
    counts: Positions = np.bitwise_count(_run_starts(words)).sum(axis=1, dtype=np.int64)
    return counts


def _xor_of_bits_so_far(words: Uint64Array) -> Uint64Array:
    """Return for each bit the exclusive or of all bits up to it."""
    within = words
    for shift in (1, 2, 4, 8, 16, 32):
        within = within ^ within << np.uint64(shift)
    odd = within >> _LAST_BIT
    odd_before: Uint64Array = np.bitwise_xor.accumulate(odd) ^ odd
    return within ^ (np.uint64(0) - odd_before)


def _ranks(present: Uint64Array) -> NDArray[np.uint16]:
    counts = np.bitwise_count(present).reshape(-1, _EIGHTHS, _EIGHTH_WORDS)
    sums = counts.sum(axis=2, dtype=np.uint16)
    ranks: NDArray[np.uint16] = sums.cumsum(axis=1, dtype=np.uint16) - sums
    return ranks


def _run_starts(words: Uint64Array) -> Uint64Array:
    """Return the set bits whose predecessor in the same block is not set."""
    before = words << np.uint64(1)
    before[:, 1:] |= words[:, :-1] >> _LAST_BIT
    return words & ~before


def _run_ends(words: Uint64Array) -> Uint64Array:
    """Return the set bits whose successor in the same block is not set."""
    behind = words >> np.uint64(1)
    behind[:, :-1] |= words[:, 1:] << _LAST_BIT
    return words & ~behind


def _bit_positions(words: Uint64Array) -> Positions:
    bits = np.unpackbits(words.reshape(-1).view(np.uint8), bitorder="little")
    return np.flatnonzero(bits.view(np.bool_))
