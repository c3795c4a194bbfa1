"""Numbers, segments and tables of rows for hypothesis, biased to where numbers get longer."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.arrays import MAX_U64, EncodedU64Array, Uint64Array
from lance_explorer.rowids.building import FragmentRows
from lance_explorer.rowids.encoding import encode_segment
from lance_explorer.rowids.segments import (
    Array,
    Range,
    RangeWithBitmap,
    RangeWithHoles,
    SortedArray,
    U64Segment,
)
from lance_explorer.rowids.sequence import RowIdSequence

EDGES = [0, 1 << 16, 1 << 32, 1 << 63, MAX_U64]

Addresses = dict[int, int]
"""The address of each live row ID."""


def numbers() -> st.SearchStrategy[int]:
    """Draw numbers, many of them beside an edge."""
    beside = st.builds(lambda edge, step: (edge + step) & MAX_U64, edges(), st.integers(-70, 70))
    return st.one_of(beside, st.integers(0, MAX_U64))


def edges() -> st.SearchStrategy[int]:
    return st.sampled_from(EDGES)


@st.composite
def clusters(draw: st.DrawFn) -> list[int]:
    """Draw distinct ascending numbers that are near to one another."""
    low = min(draw(numbers()), MAX_U64 - 400)
    steps = draw(st.sets(st.integers(0, 400), max_size=60))
    filled = draw(st.booleans())
    near = range(min(steps, default=0), max(steps, default=-1) + 1)
    return sorted(low + step for step in (set(near) - steps if filled else steps))


def values() -> st.SearchStrategy[Uint64Array]:
    """Draw numbers in any order, which may repeat."""
    lists = st.one_of(
        clusters(),
        clusters().flatmap(st.permutations),
        st.lists(numbers(), max_size=20),
        st.lists(numbers(), max_size=20).map(sorted),
    )
    return lists.map(uint64)


@st.composite
def segments(draw: st.DrawFn) -> U64Segment:
    """Draw a segment of any form, though its writer might have chosen another."""
    members = draw(clusters())
    low, high = (members[0], members[-1] + 1) if members else (0, 0)
    before = draw(st.integers(0, min(low, 20)))
    start, stop = low - before, min(high + draw(st.integers(0, 20)), MAX_U64)
    stop = max(start, stop)
    members = [member for member in members if member < stop]
    inside = uint64(members) - np.uint64(start)
    bits = np.zeros(stop - start, dtype=np.bool_)
    bits[inside] = True
    gaps = np.flatnonzero(~bits).astype(np.uint64) + np.uint64(start)
    forms: list[U64Segment] = [
        Range(start, stop),
        RangeWithHoles(start, stop, EncodedU64Array.of(gaps)),
        RangeWithBitmap(start, stop, np.packbits(bits, bitorder="little").tobytes()),
        SortedArray(EncodedU64Array.of(uint64(members))),
        Array(EncodedU64Array.of(uint64(draw(st.permutations(members))))),
    ]
    return draw(st.sampled_from(forms))


def sequences() -> st.SearchStrategy[RowIdSequence]:
    """Draw sequences, many of them with ranges in a row."""
    single = st.builds(lambda number: Range(number, number + 1), st.integers(0, MAX_U64 - 1))
    return st.lists(st.one_of(single, segments()), max_size=12).map(RowIdSequence.of)


def uint64(members: list[int]) -> Uint64Array:
    return np.array(members, dtype=np.uint64)


@dataclass(frozen=True)
class Rows:
    """Fragments with deletions, and what a dict knows about them."""

    fragments: list[FragmentRows]
    addresses: Addresses


@st.composite
def tables(draw: st.DrawFn, count: int = 1) -> list[Rows]:
    """Draw tables of the same row IDs, spread over their fragments in different ways.

    Some stretches of row IDs lie in one fragment, some are scattered, so that every kind of run and
    block comes about. The details come from a random generator, of which only the seed is drawn.
    """
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    num_ids = draw(st.sampled_from([0, 30, 5_000, 40_000]))
    low = draw(st.sampled_from([0, 5, 1 << 16, 1 << 32, 1 << 63, MAX_U64 - num_ids]))
    num_fragments = draw(st.integers(1, 5))
    first = _owners(random, num_ids, num_fragments)
    result = []
    for _ in range(count):
        changed = random.random(num_ids) < random.choice([0, 0.01, 0.5])
        owners = np.where(changed, random.integers(-1, num_fragments, num_ids), first)
        result.append(_rows(random, low, owners, num_fragments))
    return result


def _owners(random: np.random.Generator, num_ids: int, num_fragments: int) -> NDArray[np.int64]:
    """Return the fragment of each row ID; -1 for none."""
    owners = np.full(num_ids, -1)
    begin = 0
    while begin < num_ids:
        some = owners[begin : begin + random.choice([1, 50, 3_000, 20_000])]
        match random.integers(0, 3):
            case 0:
                some[:] = random.integers(0, num_fragments)
            case 1:
                some[:] = random.integers(0, num_fragments, len(some))
            case _:
                owner = random.integers(0, num_fragments)
                some[:] = np.where(random.random(len(some)) < 0.9, owner, -1)
        begin += len(some)
    return owners


def _rows(
    random: np.random.Generator, low: int, owners: NDArray[np.int64], num_fragments: int
) -> Rows:
    rows = Rows([], {})
    for fragment_id in range(num_fragments):
        ids = np.flatnonzero(owners == fragment_id).astype(np.uint64) + np.uint64(low)
        cuts = np.sort(random.integers(0, len(ids) + 1, random.integers(0, 4)))
        pieces: list[Uint64Array] = [
            piece[random.permutation(len(piece))] if random.random() < 0.2 else piece
            for piece in np.split(ids, cuts)
        ]
        # A deletion behind the end of the sequence is of no row.
        deleted = random.random(len(ids) + 3) < random.choice([0, 0.001, 0.02, 0.3])
        for offset, row_id in enumerate(np.concatenate(pieces).tolist()):
            if not deleted[offset]:
                rows.addresses[row_id] = first_address(fragment_id) + offset
        sequence = RowIdSequence.of(encode_segment(piece) for piece in pieces)
        offsets = BitMap(np.flatnonzero(deleted).tolist())
        rows.fragments.append(FragmentRows(fragment_id, sequence, offsets or None))
    return rows
