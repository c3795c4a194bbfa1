"""Every form of a segment answers as the list of its values does."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.rowids.arrays import MAX_U64, EncodedU64Array
from lance_explorer.rowids.encoding import encode_segment
from lance_explorer.rowids.segments import (
    Range,
    RangeWithHoles,
    U64Segment,
    Values,
    consecutive_ranges,
    encoding_of,
)
from lance_explorer.rowids.sequence import Ranges
from tests.rowids.strategies import numbers, segments, sequences, uint64, values

ANY = st.one_of(segments(), values().map(encode_segment), sequences())


def expanded(starts, stops) -> list[int]:
    """Return the numbers in ranges; one that holds the largest number stops at 0."""
    pairs = zip(starts.tolist(), stops.tolist(), strict=True)
    return [number for start, stop in pairs for number in range(start, stop or MAX_U64 + 1)]


@given(ANY)
def test_the_length_is_the_number_of_values(segment: Values):
    assert len(segment) == len(segment.values())


@given(ANY, st.data())
def test_values_are_found_by_position(segment: Values, data):
    everything = segment.values()
    positions = np.array(data.draw(st.permutations(range(len(segment)))), dtype=np.int64)
    assert segment.at(positions).tolist() == everything[positions].tolist()
    if len(segment):
        assert [segment.first, segment.last] == everything[[0, -1]].tolist()


@given(segments(), st.lists(numbers()))
def test_positions_are_those_in_the_list(segment: U64Segment, others):
    model = segment.values().tolist()
    near = [(value + step) & MAX_U64 for value in model for step in (-1, 0, 1)]
    asked = [*near, *others]
    expected = [model.index(value) if value in model else -1 for value in asked]
    assert segment.positions(uint64(asked)).tolist() == expected


@given(values().map(encode_segment), st.lists(numbers()))
def test_positions_are_those_of_equal_values(segment: U64Segment, others):
    model = segment.values().tolist()
    asked = [*model, *others]
    found = segment.positions(uint64(asked)).tolist()
    assert [model[place] if place >= 0 else None for place in found] == [
        value if value in model else None for value in asked
    ]


@pytest.mark.slow
@given(sequences(), st.lists(numbers()))
def test_positions_in_a_sequence_are_those_of_equal_values(sequence, others):
    model = sequence.values().tolist()
    repeated = len(set(model)) < len(model)
    asked = [*model, *others]
    found = sequence.positions(uint64(asked)).tolist()
    if not repeated:
        assert found == [model.index(value) if value in model else -1 for value in asked]
    assert all(
        model[place] == value for place, value in zip(found, asked, strict=True) if place >= 0
    )


@given(ANY, st.data())
def test_a_slice_is_the_slice_of_the_list(segment: Values, data):
    start = data.draw(st.integers(0, len(segment)))
    stop = data.draw(st.integers(0, len(segment)))
    assert segment.slice(start, stop).values().tolist() == segment.values()[start:stop].tolist()


@given(ANY)
def test_ranges_hold_the_values_in_order(segment: Values):
    assert expanded(*segment.ranges()) == segment.values().tolist()


@given(values())
def test_consecutive_ranges_are_as_long_as_can_be(some):
    starts, stops = consecutive_ranges(some)
    assert expanded(starts, stops) == some.tolist()
    assert not (starts[1:] == stops[:-1])[stops[:-1] != 0].any()


@given(ANY, st.integers())
def test_a_number_is_in_a_segment_if_it_has_a_position(segment: Values, number):
    position = segment.position(number)
    assert (number in segment) == (position is not None)
    assert position is None or segment.at(np.array([position]))[0] == number


@pytest.mark.parametrize(
    "huge", [Range(5, MAX_U64), Ranges(uint64([1 << 62, 0]), uint64([1 << 63, 9]))]
)
def test_huge_ranges_are_never_written_out(huge: Values):
    tracemalloc.start()
    assert huge.position((1 << 62) + 3) is not None
    assert huge.at(np.array([1 << 61]))[0] >= 1 << 61
    assert len(huge.slice(1 << 40, 1 << 41)) == 1 << 40
    assert len(huge.ranges()[0]) <= 2
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_holes_cost_what_they_are_not_the_range_around_them():
    holes = EncodedU64Array.of(uint64([100, 1 << 61]))
    segment = RangeWithHoles(0, 1 << 62, holes)
    assert segment.position((1 << 61) + 1) == (1 << 61) - 1
    assert segment.slice(99, 101).values().tolist() == [99, 101]
    assert encoding_of(segment) == "range_with_holes"
