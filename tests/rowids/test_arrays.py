"""Arrays of numbers: the narrowest width, and all numbers back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.rowids.arrays import EncodedU64Array, aranges
from tests.rowids.strategies import uint64, values


@given(values())
def test_an_array_gives_its_numbers_back(numbers):
    assert EncodedU64Array.of(numbers).values().tolist() == numbers.tolist()


@given(values(), st.data())
def test_a_slice_of_an_array_is_a_slice_of_its_numbers(numbers, data):
    start = data.draw(st.integers(0, len(numbers)))
    stop = data.draw(st.integers(start, len(numbers)))
    part = EncodedU64Array.of(numbers).slice(start, stop)
    assert part.values().tolist() == numbers[start:stop].tolist()
    assert len(part) == stop - start


@given(values(), st.data())
def test_numbers_are_found_by_position(numbers, data):
    positions = np.array(data.draw(st.permutations(range(len(numbers)))), dtype=np.int64)
    assert EncodedU64Array.of(numbers).at(positions).tolist() == numbers[positions].tolist()


@pytest.mark.parametrize("base", [0, 7, 1 << 63])
@pytest.mark.parametrize(
    ("spread", "width"),
    [(0, 2), ((1 << 16) - 1, 2), (1 << 16, 4), ((1 << 32) - 1, 4), (1 << 32, 8)],
)
def test_the_spread_decides_the_width(base, spread, width):
    array = EncodedU64Array.of(uint64([base + spread, base]))
    assert array.width == width
    assert array.base == (base if width < 8 else 0)


def test_no_numbers_are_stored_whole():
    assert EncodedU64Array.of(uint64([])) == EncodedU64Array(0, 8, b"")


def test_offsets_are_a_view_on_the_bytes():
    array = EncodedU64Array.of(uint64([5, 6]))
    assert not array.offsets.flags.owndata


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5))))
def test_aranges_are_those_of_each_group(groups):
    firsts, counts = np.array(groups, dtype=np.int64).reshape(-1, 2).T
    expected = [number for first, count in groups for number in range(first, first + count)]
    assert aranges(firsts, counts).tolist() == expected
