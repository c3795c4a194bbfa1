"""Intervals against a model: for each thing, the set of positions at which it was there."""

from collections.abc import Iterable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.history.intervals import (
    NO_INTERVALS,
    IntervalBuilder,
    Intervals,
    intervals_of,
    merge_intervals,
)

Model = dict[int, set[int]]

KEYS = st.integers(0, 5)
SETS = st.lists(st.sets(KEYS), max_size=15)
SPANS = st.lists(st.tuples(KEYS, st.integers(0, 12), st.integers(0, 4)), max_size=20)


def model_of(sets: Iterable[set[int]]) -> Model:
    model: Model = {}
    for position, keys in enumerate(sets):
        for key in keys:
            model.setdefault(key, set()).add(position)
    return model


def expanded(intervals: Intervals) -> Model:
    model: Model = {}
    for key, first, last in rows(intervals):
        model.setdefault(key, set()).update(range(first, last + 1))
    return model


def rows(intervals: Intervals) -> list[tuple[int, int, int]]:
    columns = (intervals.keys, intervals.first, intervals.last)
    return list(zip(*[column.tolist() for column in columns], strict=True))


def maximal(model: Model) -> list[tuple[int, int, int]]:
    """Return the maximal intervals of a model, ordered by where they begin, then by key."""
    found = []
    for key, positions in model.items():
        for first in sorted(positions):
            if first - 1 not in positions:
                last = first
                while last + 1 in positions:
                    last += 1
                found.append((key, first, last))
    return sorted(found, key=lambda interval: (interval[1], interval[0]))


def intervals_from(sets: list[set[int]]) -> Intervals:
    """Return the intervals with the members themselves as keys."""
    keys, intervals = intervals_of(sets)
    named = np.array(keys, dtype=np.int64)[intervals.keys] if keys else intervals.keys
    order = np.lexsort((named, intervals.first))
    return Intervals(named[order], intervals.first[order], intervals.last[order])


@given(SETS)
def test_intervals_of_sets_are_maximal(sets):
    assert rows(intervals_from(sets)) == maximal(model_of(sets))


@given(SETS)
def test_members_are_numbered_in_the_order_of_their_first_appearance(sets):
    ordered = [sorted(members) for members in sets]
    keys, intervals = intervals_of(ordered)
    assert keys == list(dict.fromkeys([key for members in ordered for key in members]))
    assert sorted(set(intervals.keys.tolist())) == list(range(len(keys)))


@given(SETS, st.data())
def test_neighbours_that_are_one_object_count_like_equal_ones(sets, data):
    repeated, shared = [], []
    for members in sets:
        times = data.draw(st.integers(1, 3))
        shared += [members] * times
        repeated += [set(members) for _ in range(times)]
    assert rows(intervals_from(shared)) == rows(intervals_from(repeated))


@given(SETS)
def test_at_gives_the_members_of_each_set(sets):
    intervals = intervals_from(sets)
    assert [set(intervals.at(p).tolist()) for p in range(len(sets))] == sets


@given(SETS)
def test_at_gives_no_member_twice(sets):
    intervals = intervals_from(sets)
    assert [len(intervals.at(p)) for p in range(len(sets))] == [len(members) for members in sets]


@given(SPANS, st.integers(1, 3))
def test_at_gives_the_same_in_the_same_order_as_looking_at_all(spans, stretch):
    columns = np.array([(key, first, first + more) for key, first, more in spans], dtype=np.int64)
    keys, first, last = columns.reshape(-1, 3).T
    intervals = Intervals(keys, first * stretch, last * stretch)
    for position in range(-2, 60):
        there = (intervals.first <= position) & (position <= intervals.last)
        assert intervals.at(position).tolist() == keys[there].tolist()


@given(SPANS)
def test_merged_intervals_are_maximal(spans):
    columns = np.array([(key, first, first + more) for key, first, more in spans], dtype=np.int64)
    merged = merge_intervals(*columns.reshape(-1, 3).T)
    model: Model = {}
    for key, first, more in spans:
        model.setdefault(key, set()).update(range(first, first + more + 1))
    assert rows(merged) == maximal(model)


@given(SETS, st.data())
def test_only_kept_positions_remain_and_move_together(sets, data):
    kept = sorted(data.draw(st.sets(st.sampled_from(range(len(sets)))))) if sets else []
    remaining = intervals_from(sets).only(np.array(kept, dtype=np.int64))
    assert rows(remaining) == maximal(model_of([sets[position] for position in kept]))


@given(SETS, st.integers(0, 15))
def test_a_builder_goes_on_where_another_one_stopped(sets, stop):
    stop = min(stop, len(sets))
    builder = IntervalBuilder(intervals_from(sets[:stop]), stop)
    before = sets[stop - 1] if stop else set()
    assert set(builder.still_open) == before
    for position, now in enumerate(sets[stop:], stop):
        for key in before - now:
            builder.close(key, position)
        for key in now:  # opening what is open changes nothing
            builder.open(key, position)
        before = now
    assert rows(builder.finish(len(sets))) == maximal(model_of(sets))


def test_closing_what_is_not_open_changes_nothing():
    builder = IntervalBuilder()
    builder.close(3, 1)
    assert rows(builder.finish(2)) == []


def test_nothing_has_no_intervals():
    assert len(NO_INTERVALS) == 0
    assert rows(NO_INTERVALS.only(np.array([0, 1]))) == []
    assert NO_INTERVALS.at(0).tolist() == []


def test_keys_and_positions_may_be_large():
    keys = np.array([2**31, 2**31, 0])
    first = np.array([2**31, 2**31 + 5, 0])
    merged = merge_intervals(keys, first, first + 4)
    assert rows(merged) == [(0, 0, 4), (2**31, 2**31, 2**31 + 9)]
