"""Runs against a dict, and their set operations against those of sets."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.rowids.arrays import MAX_U64
from lance_explorer.rowids.runs import RunColumns, Runs, merged_ids, separated
from tests.rowids.strategies import Addresses, edges, numbers, uint64


@st.composite
def columns(draw: st.DrawFn, *, disjoint: bool) -> RunColumns:
    """Draw runs in any order, some of which touch."""
    low = min(draw(edges()), MAX_U64 - 300)
    borders = draw(st.lists(st.integers(0, 300), max_size=40))
    pairs: Iterable[tuple[int, int]]
    if disjoint:
        borders = sorted(set(borders))
    pairs = zip(borders[::2], borders[1::2], strict=False)
    if disjoint and draw(st.booleans()):
        pairs = pairwise(borders)
    rows: list[tuple[int, ...]] = []
    for start, stop in pairs:
        shift = draw(st.sampled_from([1000, 1 << 32, draw(st.integers(0, 1 << 50))]))
        rows.append((low + start, low + max(start, stop), shift + start))
    return RunColumns(*np.array(draw(st.permutations(rows)), dtype=np.uint64).reshape(-1, 3).T)


def addresses(runs: Runs | RunColumns) -> Addresses:
    return {
        row_id: address + row_id - start
        for start, stop, address in zip(
            *(column.tolist() for column in columns_of(runs)), strict=True
        )
        for row_id in range(start, stop)
    }


def columns_of(runs: Runs | RunColumns) -> RunColumns:
    return runs.columns if isinstance(runs, Runs) else runs


def assert_normal(runs: Runs) -> None:
    """Check that runs are not empty, disjoint, sorted, and as long as can be."""
    start, stop, address = runs.columns
    assert (start < stop).all()
    assert (start[1:] >= stop[:-1]).all()
    touches = (start[1:] == stop[:-1]) & (address[1:] - address[:-1] == start[1:] - start[:-1])
    assert not touches.any()


RUNS = columns(disjoint=True).map(Runs.of)


@given(columns(disjoint=True))
def test_the_constructor_sorts_and_merges(some):
    runs = Runs.of(some)
    assert_normal(runs)
    assert addresses(runs) == addresses(some)
    assert runs.num_rows == len(addresses(some))


@given(columns(disjoint=False))
def test_merged_ids_are_as_few_ranges_as_can_be(some):
    start, stop = merged_ids(some)
    found = {
        row_id
        for pair in zip(start.tolist(), stop.tolist(), strict=True)
        for row_id in range(*pair)
    }
    assert found == {
        row_id
        for place in range(len(some.start))
        for row_id in addresses(some.where(slice(place, place + 1)))
    }
    assert (start[1:] > stop[:-1]).all()


@given(columns(disjoint=False))
def test_overlapping_runs_are_split_from_the_others(some):
    runs, repeated = Runs.split(some)
    assert_normal(runs)
    kept = addresses(runs)
    model: dict[int, set[int]] = {}
    for place in range(len(some.start)):
        for row_id, address in addresses(some.where(slice(place, place + 1))).items():
            model.setdefault(row_id, set()).add(address)
    assert kept.keys() == model.keys()
    assert all(kept[row_id] in model[row_id] for row_id in kept)
    assert runs.num_rows + repeated.num_rows == some.num_rows


@given(RUNS, st.lists(numbers()))
def test_lookup_answers_as_a_dict_does(runs, others):
    model = addresses(runs)
    asked = [*model, *((row_id + 1) & MAX_U64 for row_id in model), *others]
    result, found = runs.lookup(uint64(asked))
    answers = zip(result.tolist(), found.tolist(), strict=True)
    assert [address if there else None for address, there in answers] == list(map(model.get, asked))


@given(RUNS, RUNS)
def test_set_operations_are_those_of_sets(runs, other):
    own, others = addresses(runs), addresses(other)
    results = {
        "union": others | own,
        "intersection": {row_id: own[row_id] for row_id in own.keys() & others.keys()},
        "difference": {row_id: own[row_id] for row_id in own.keys() - others.keys()},
    }
    for name, expected in results.items():
        result = getattr(runs, name)(other)
        assert addresses(result) == expected, name
        assert_normal(result)


@given(RUNS, RUNS)
def test_pairs_tell_both_addresses(runs, other):
    own, others = addresses(runs), addresses(other)
    pairs = runs.pairs(other)
    here = addresses(RunColumns(pairs.start, pairs.stop, pairs.address))
    there = addresses(RunColumns(pairs.start, pairs.stop, pairs.other_address))
    common = own.keys() & others.keys()
    assert here == {row_id: own[row_id] for row_id in common}
    assert there == {row_id: others[row_id] for row_id in common}


@st.composite
def runs_and_ids(draw: st.DrawFn) -> tuple[Runs, int, int]:
    """Draw runs, and two row IDs, mostly beside where runs begin and end."""
    runs = draw(RUNS)
    borders = [0, *runs.start.tolist(), *runs.stop.tolist()]
    beside = st.builds(int.__add__, st.sampled_from(borders), st.integers(-1, 1))
    low, high = [min(max(draw(st.one_of(beside, numbers())), 0), MAX_U64) for _ in range(2)]
    return runs, low, high


@given(runs_and_ids())
def test_between_cuts_at_both_ends(drawn):
    runs, low, high = drawn
    expected = {row_id: a for row_id, a in addresses(runs).items() if low <= row_id < high}
    assert addresses(runs.between(low, high)) == expected


@given(runs_and_ids())
def test_runs_meet_what_holds_one_of_their_ids(drawn):
    runs, *ids = drawn
    low, high = sorted(ids)
    expected = any(low <= row_id <= high for row_id in addresses(runs))
    assert runs.meets(uint64([low]), uint64([high])).tolist() == [expected]


@pytest.mark.parametrize("name", ["union", "intersection", "difference"])
def test_runs_are_never_written_out(name):
    half = 1 << 62
    runs = Runs.of(RunColumns(uint64([0, half]), uint64([half, 3 * half]), uint64([0, 1 << 63])))
    other = Runs.of(RunColumns(uint64([5]), uint64([MAX_U64]), uint64([0])))
    assert len(getattr(runs, name)(other)) <= 3


def test_a_million_runs_take_24_bytes_each():
    start = np.arange(0, 3_000_000, 3, dtype=np.uint64)
    assert Runs.of(RunColumns(start, start + np.uint64(2), start)).nbytes == 24_000_000


@given(RUNS, RUNS)
def test_separated_runs_are_what_one_has_and_what_both_have(one, other):
    only_one, only_other, both = separated(one.columns, other.columns)
    mine, others = addresses(one), addresses(other)
    assert addresses(only_one) == {row: mine[row] for row in mine.keys() - others.keys()}
    assert addresses(only_other) == {row: others[row] for row in others.keys() - mine.keys()}
    common = mine.keys() & others.keys()
    assert addresses(RunColumns(*both[:3])) == {row: mine[row] for row in common}
    there = RunColumns(both.start, both.stop, both.other_address)
    assert addresses(there) == {row: others[row] for row in common}
    assert only_one.num_rows + there.num_rows == one.num_rows
    assert only_other.num_rows + there.num_rows == other.num_rows
