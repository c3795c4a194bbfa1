import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lance_explorer.rowids.offsets import OffsetRanges, cut_at, few_rows_at, rows_at
from tests.rowids.strategies import sequences

OFFSETS = st.sets(st.integers(0, 40))


def spread(ranges: OffsetRanges) -> list[int]:
    pairs = zip(ranges.start.tolist(), ranges.stop.tolist(), strict=True)
    return [offset for start, stop in pairs for offset in range(start, stop)]


@given(OFFSETS)
def test_ranges_are_the_offsets_of_a_bitmap(offsets):
    assert spread(OffsetRanges.of(BitMap(offsets))) == sorted(offsets)


@given(OFFSETS, st.integers(0, 45))
def test_ranges_outside_are_the_other_offsets(offsets, num_rows):
    masked = {offset for offset in offsets if offset < num_rows}
    expected = [offset for offset in range(num_rows) if offset not in masked]
    assert spread(OffsetRanges.outside(BitMap(masked), num_rows)) == expected


@given(OFFSETS, OFFSETS)
def test_ranges_within_are_those_that_both_have(some, others):
    common = OffsetRanges.of(BitMap(some)).within(OffsetRanges.of(BitMap(others)))
    assert spread(common) == sorted(some & others)


@given(sequences(), st.data())
def test_rows_at_offsets_have_the_ids_of_the_sequence(sequence, data):
    values = sequence.values().tolist()
    offsets = data.draw(st.sets(st.integers(0, max(len(values) - 1, 0)))) if values else set()
    expected = {1000 + offset: values[offset] for offset in offsets}
    for runs in (
        rows_at(sequence, 1000, OffsetRanges.of(BitMap(offsets))),
        few_rows_at(sequence, 1000, BitMap(offsets)),
        few_rows_at(sequence, 1000, BitMap([*offsets, len(values), len(values) + 9])),
    ):
        found = {}
        for start, stop, address in zip(*[column.tolist() for column in runs], strict=True):
            found.update({address + shift: start + shift for shift in range(stop - start)})
        assert found == expected


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9))), OFFSETS)
def test_cutting_keeps_every_number_and_cuts_at_each_border(ranges, borders):
    start = np.array([begin for begin, _ in ranges], dtype=np.uint64)
    length = np.array([count for _, count in ranges], dtype=np.uint64)
    edges = np.array(sorted(borders), dtype=np.uint64)
    owner, shift, pieces = cut_at(start, length, edges)
    assert (pieces > 0).all()
    begins = start[owner] + shift
    columns = [column.tolist() for column in (owner, begins, pieces)]
    found = [
        (number, begin + step)
        for number, begin, count in zip(*columns, strict=True)
        for step in range(count)
    ]
    assert found == [(n, b + step) for n, (b, count) in enumerate(ranges) for step in range(count)]
    for begin, count in zip(begins.tolist(), pieces.tolist(), strict=True):
        assert not any(begin < border < begin + count for border in borders)
