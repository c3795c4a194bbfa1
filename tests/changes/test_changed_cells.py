"""Which cells differ."""

import math
from collections.abc import Sequence

import polars as pl
import pytest

from lance_explorer.changes.changed_cells import changed_cells, changed_columns

VECTOR = pl.Array(pl.Float32, 2)


def differ(
    old: Sequence[object], new: Sequence[object], dtype: pl.DataType, tolerance: float = 0.0
):
    before, after = (pl.DataFrame({"a": pl.Series(values, dtype=dtype)}) for values in (old, new))
    return changed_cells(before, after, tolerance)[:, 0].tolist()


def test_null_equals_null_and_nothing_else():
    assert differ([None, None, 1], [None, 1, None], pl.Int64()) == [False, True, True]


def test_nan_equals_nan():
    assert differ([math.nan, 1.0], [math.nan, math.nan], pl.Float64()) == [False, True]
    assert differ([math.nan, 1.0], [math.nan, math.nan], pl.Float64(), 0.1) == [False, True]


@pytest.mark.parametrize(
    ("dtype", "old", "new"),
    [
        (pl.String(), "a", "b"),
        (pl.Binary(), b"a", b"b"),
        (pl.Struct({"x": pl.Int64()}), {"x": 1}, {"x": 2}),
        (pl.List(pl.Int64()), [1], [1, 2]),
        (VECTOR, [1.0, 2.0], [1.0, 3.0]),
        (pl.List(pl.Struct({"x": pl.String()})), [{"x": "a"}], [{"x": None}]),
    ],
)
def test_values_of_all_types_are_compared(dtype, old, new):
    assert differ([old, old, None], [old, new, old], dtype) == [False, True, True]


def test_floats_are_equal_within_the_tolerance():
    old, new = [1.0, 1.0, 1e9, 0.0], [1.0 + 1e-7, 1.001, 1e9 + 1, 1e-7]
    assert differ(old, new, pl.Float64(), 1e-6) == [False, True, False, False]
    assert differ(old, new, pl.Float64()) == [True] * 4


def test_infinities_are_equal_to_themselves_alone():
    assert differ([math.inf, math.inf], [math.inf, -math.inf], pl.Float64(), 1.0) == [False, True]


@pytest.mark.parametrize("dtype", [VECTOR, pl.List(pl.Float64())])
def test_vectors_are_equal_if_all_their_numbers_are(dtype):
    old = [[1.0, 2.0], [1.0, 2.0], None, [1.0, 2.0]]
    new = [[1.0, 2.0 + 1e-6], [1.0, 2.1], None, None]
    assert differ(old, new, dtype, 1e-3) == [False, True, False, True]


def test_vectors_of_other_lengths_or_with_nulls_elsewhere_differ():
    old = [[1.0], [], [1.0, None], [None]]
    new = [[1.0, 2.0], [1.0], [None, 1.0], [None]]
    assert differ(old, new, pl.List(pl.Float64()), 0.5) == [True, True, True, False]


def test_a_tolerance_is_for_floats_alone():
    assert differ([1], [2], pl.Int64(), 10.0) == [True]


def test_names_come_in_the_order_of_the_columns():
    before = pl.DataFrame({"b": [1, 1], "a": [1, 1]})
    after = pl.DataFrame({"b": [2, 1], "a": [2, 1]})
    assert changed_columns(before, after, 0.0).to_list() == [["b", "a"], []]


def test_no_rows_have_no_changes():
    empty = pl.DataFrame(schema={"a": pl.Int64})
    names = changed_columns(empty, empty, 0.0)
    assert names.dtype == pl.List(pl.String)
    assert len(names) == 0
