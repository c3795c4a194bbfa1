"""Which form segments get, and how large they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.format._pb import row_ids_pb2 as pb
from lance_explorer.format.sequences import encode_row_id_sequence
from lance_explorer.rowids import optimum
from lance_explorer.rowids.arrays import MAX_U64, EncodedU64Array, Uint64Array
from lance_explorer.rowids.encoding import best_encoding, encode_segment
from lance_explorer.rowids.optimum import OptimalSizes, optimal_sizes, optimal_sizes_of
from lance_explorer.rowids.segments import (
    Array,
    Range,
    RangeWithBitmap,
    RangeWithHoles,
    SortedArray,
    U64Segment,
    encoding_of,
)
from lance_explorer.rowids.sequence import Ranges, RowIdSequence
from lance_explorer.rowids.sizes import segment_size, sequence_size
from tests.rowids.strategies import EDGES, segments, sequences, uint64, values
from tests.synthetic import sequences as writer


def chosen(numbers: list[int]) -> str:
    return encoding_of(encode_segment(uint64(numbers)))


@given(values())
def test_a_segment_gives_its_values_back(some):
    assert encode_segment(some).values().tolist() == some.tolist()


@given(values())
def test_the_choice_is_the_one_of_the_independent_writer(some):
    if len(set(some.tolist())) == len(some):
        message = pb.RowIdSequence(segments=[writer.segment(some)])
        encoded = encode_row_id_sequence(RowIdSequence.of([encode_segment(some)]))
        assert encoded == message.SerializeToString()


@pytest.mark.parametrize(
    ("numbers", "encoding"),
    [
        ([], "range"),
        ([7], "range"),
        ([2, 1], "array"),
        ([4, 4], "sorted_array"),
        ([*range(32), *range(33, 64)], "range_with_holes"),
        ([*range(16), *range(17, 31)], "range_with_holes"),  # 4 bytes each
        ([*range(4), *range(5, 24)], "range_with_bitmap"),  # 4 bytes against 3
        ([0, 16], "range_with_bitmap"),  # 3 bytes against 4
        ([0, 40], "sorted_array"),  # 6 bytes against 4
        ([MAX_U64], "sorted_array"),
        ([MAX_U64 - 2, MAX_U64 - 1], "range"),
        ([MAX_U64 - 1, MAX_U64], "sorted_array"),
    ],
)
def test_the_rule_compares_estimates(numbers, encoding):
    assert chosen(numbers) == encoding


@given(segments())
def test_the_size_of_a_segment_is_that_of_its_message(segment: U64Segment):
    [message] = pb.RowIdSequence.FromString(
        encode_row_id_sequence(RowIdSequence.of([segment]))
    ).segments
    assert segment_size(segment) == message.ByteSize()


@given(sequences())
def test_the_size_of_a_sequence_is_that_of_its_message(sequence):
    assert sequence_size(sequence) == len(encode_row_id_sequence(sequence))


@given(segments())
def test_the_best_form_has_the_same_values(segment: U64Segment):
    assert best_encoding(segment).values().tolist() == segment.values().tolist()


@given(segments())
def test_no_form_is_smaller_than_the_best(segment: U64Segment):
    best = segment_size(best_encoding(segment))
    assert best <= segment_size(segment)
    assert best <= segment_size(encode_segment(segment.values()))


def test_the_best_form_may_not_be_the_one_that_is_chosen():
    # Four bytes are estimated for a hole, two are stored.
    numbers = np.delete(np.arange(1000, dtype=np.uint64), [*range(1, 100, 3)])
    assert isinstance(encode_segment(numbers), RangeWithBitmap)
    assert isinstance(best_encoding(encode_segment(numbers)), RangeWithHoles)


@given(sequences())
def test_the_optimum_is_never_larger_than_what_is_stored(sequence):
    sizes = optimal_sizes(sequence)
    assert sizes.stored == len(encode_row_id_sequence(sequence))
    assert sizes.best <= sizes.by_segment <= sizes.stored


@given(values())
def test_one_segment_is_as_large_as_its_best_form(some):
    if len(set(some.tolist())) == len(some) > 0:
        one = RowIdSequence.of([best_encoding(encode_segment(some))])
        scattered = RowIdSequence.of(
            encode_segment(some[place : place + 1]) for place in range(len(some))
        )
        assert optimal_sizes(scattered).as_one == sequence_size(one)


@given(values())
def test_cuts_are_at_least_as_good_as_one_segment_and_as_all_ranges(some):
    if len(set(some.tolist())) == len(some) > 0:
        sizes = optimal_sizes(RowIdSequence.of([encode_segment(some)]))
        starts, stops = encode_segment(some).ranges()
        assert sizes.cut <= sizes.as_one
        if (stops != 0).all():
            assert sizes.cut <= sequence_size(RowIdSequence.of([Ranges(starts, stops)]))


def test_an_array_is_cut_out_of_long_ranges():
    scattered = np.array([9, 2, 6, 4, 8, 0], dtype=np.uint64)
    parts: list[U64Segment] = [
        Range(1_000, 500_000),
        Array(EncodedU64Array.of(scattered)),
        Range(600_000, 900_000),
    ]
    stored = RowIdSequence.of(parts)
    everything = RowIdSequence.of(
        encode_segment(stored.values()[place : place + 1]) for place in [0]
    )
    assert len(everything) == 1
    sizes = optimal_sizes(stored)
    assert sizes.cut == sizes.stored < sizes.as_one


def test_many_scattered_rows_are_cheap_in_one_segment():
    starts = np.arange(0, 400_000, 2, dtype=np.uint64)
    sizes = optimal_sizes(RowIdSequence.of([Ranges(starts, starts + np.uint64(1))]))
    assert sizes.stored > 2_000_000
    assert sizes.as_one == sizes.cut < 50_020


@pytest.mark.drawn(1)
def test_scattered_rows_are_cut_where_offsets_get_longer(seed):
    random = np.random.default_rng(seed)
    some = np.sort(random.choice(20_000_000, 200_000, replace=False)).astype(np.uint64)
    sizes = optimal_sizes(RowIdSequence.of([encode_segment(some)]))
    assert sizes.stored > 800_000
    assert 400_000 < sizes.cut < 410_000


@pytest.mark.slow
@given(st.lists(sequences(), max_size=6), st.integers(1, 40))
def test_the_optimum_of_many_is_that_of_each(many, max_ranges):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimum, "_MAX_RANGES", max_ranges)
        patch.setattr(optimum, "_MAX_CELLS", max_ranges)
        assert optimal_sizes_of(many) == [optimal_sizes(sequence) for sequence in many]


@pytest.mark.slow
@given(st.lists(sequences(), max_size=5), st.integers(1, 5))
def test_the_optimum_of_many_is_what_trying_all_finds(many, max_sequences):
    some = [sequence for sequence in many if can_be_tried(sequence)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimum, "_MAX_SEQUENCES", max_sequences)
        assert optimal_sizes_of(some) == [tried(sequence) for sequence in some]


@given(st.lists(st.tuples(st.sampled_from(EDGES), st.integers(0, 70), st.integers(1, 70_000))))
def test_the_optimum_of_ranges_is_what_trying_all_finds(spans):
    starts = [min(edge + shift, MAX_U64 - 70_000) for edge, shift, _ in spans]
    ranges = [
        Range(start, start + count) for start, (_, _, count) in zip(starts, spans, strict=True)
    ]
    some = [RowIdSequence.of([one]) for one in ranges]
    assert optimal_sizes_of(some) == [tried(sequence) for sequence in some]


def can_be_tried(sequence: RowIdSequence) -> bool:
    """Return whether no row ID stands twice, no segment is empty, and there are few pieces."""
    some = sequence.values().tolist()
    is_proper = len(set(some)) == len(some) and all(map(len, sequence.segments))
    return is_proper and len(pieces_of(sequence)) <= 10


def pieces_of(sequence: RowIdSequence) -> list[Uint64Array]:
    """Return the stretches of consecutive values."""
    some = sequence.values()
    return np.split(some, np.flatnonzero(some[1:] != some[:-1] + np.uint64(1)) + 1)


def tried(sequence: RowIdSequence) -> OptimalSizes:
    """Return the sizes by what they mean, every way to cut a sequence tried."""
    pieces = pieces_of(sequence) if len(sequence) else []
    best = [0]
    for stop in range(1, len(pieces) + 1):
        ways = [
            best[start] + one_segment(np.concatenate(pieces[start:stop])) for start in range(stop)
        ]
        best.append(min(ways))
    by_segment = RowIdSequence.of([best_encoding(segment) for segment in sequence.segments])
    return OptimalSizes(
        stored=len(encode_row_id_sequence(sequence)),
        by_segment=len(encode_row_id_sequence(by_segment)),
        as_one=one_segment(np.concatenate(pieces)) if pieces else 0,
        cut=best[-1],
    )


def one_segment(some: Uint64Array) -> int:
    return sequence_size(RowIdSequence.of([best_encoding(encode_segment(some))]))


def test_the_best_cuts_are_those_that_trying_all_finds():
    starts = uint64([10, 60_000, 60_100, 40, 200_000, 200_003])
    stops = uint64([14, 60_050, 60_101, 41, 200_002, 200_009])
    best = [0]
    for stop in range(1, 7):
        ones = [best_of(starts[start:stop], stops[start:stop]) for start in range(stop)]
        best.append(min([best[start] + one for start, one in enumerate(ones)]))
    assert optimal_sizes(RowIdSequence.of([Ranges(starts, stops)])).cut == best[-1]


def best_of(starts, stops) -> int:
    """Return the bytes of ranges as one segment of a sequence."""
    segment = best_encoding(encode_segment(Ranges(starts, stops).values()))
    return sequence_size(RowIdSequence.of([segment]))


def test_the_optimum_of_nothing_is_nothing():
    assert optimal_sizes(RowIdSequence.of([])) == OptimalSizes(0, 0, 0, 0)


def test_sorted_arrays_may_hold_the_largest_number():
    segment = encode_segment(uint64([3, MAX_U64]))
    assert isinstance(segment, SortedArray)
    assert best_encoding(segment) == segment
