"""Summaries of values: whatever they are split into, merged they are those of all values."""

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lance_explorer.profiles.digests import EMPTY, Digest, merged
from lance_explorer.profiles.measures import leaves_of

VALUES = st.one_of(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)).map(pl.Series),
    st.lists(st.none() | st.floats(allow_nan=True, width=32)).map(
        lambda some: pl.Series(some, dtype=pl.Float64)
    ),
    st.lists(st.none() | st.booleans()).map(lambda some: pl.Series(some, dtype=pl.Boolean)),
    st.lists(st.none() | st.text(max_size=3)).map(lambda some: pl.Series(some, dtype=pl.String)),
)


def digest(values: pl.Series) -> Digest:
    [leaf] = leaves_of("x", values.dtype)
    return leaf.digest(values)


@given(VALUES, st.lists(st.integers(0, 30), max_size=4))
@example(pl.Series([math.nan]), [])
def test_merged_summaries_are_those_of_all_values(values: pl.Series, cuts: list[int]):
    if values.dtype == pl.Null:
        return
    ends = sorted([0, *[min(cut, len(values)) for cut in cuts], len(values)])
    parts = [digest(values[a:b]) for a, b in pairwise(ends)]
    found, whole = merged(parts), digest(values)
    known = values.drop_nulls()
    known = known.drop_nans() if known.dtype.is_float() else known
    assert (found.num_rows, found.num_nulls) == (len(values), values.null_count())
    assert found.num_nan == whole.num_nan == len(values.drop_nulls()) - len(known)
    assert (found.least, found.most) == (known.min(), known.max())
    assert found.values == dict(known.value_counts(name="n").iter_rows())
    assert found.num_distinct == values.drop_nulls().n_unique()
    assert found.quantiles([0, 0.3, 0.5, 1]) == whole.quantiles([0, 0.3, 0.5, 1])
    if known.dtype.is_numeric() and len(known):
        numbers = known.cast(pl.Float64)
        assert found.mean == pytest.approx(numbers.mean(), nan_ok=True)
        if np.isfinite(numbers.to_numpy()).all() and len(known) > 1:
            scale = float(np.abs(numbers.to_numpy()).max())
            assert found.deviation == pytest.approx(numbers.std(), rel=1e-9, abs=scale * 1e-12)


@pytest.mark.parametrize("num_parts", [1, 40])
def test_many_values_are_within_their_errors(num_parts: int):
    rng = np.random.default_rng(7)
    values = pl.Series(rng.zipf(1.3, 400_000).clip(0, 10**12))
    size = len(values) // num_parts
    found = merged([digest(values[i * size : (i + 1) * size]) for i in range(num_parts)])
    ordered = np.sort(values.to_numpy())
    ranks = [0.01, 0.25, 0.5, 0.75, 0.99]
    assert 0 < found.quantile_error < 0.01
    for rank, number in zip(ranks, found.quantiles(ranks), strict=True):
        below = np.searchsorted(ordered, number, "left") / len(values)
        above = np.searchsorted(ordered, number, "right") / len(values)
        assert below - 3 * found.quantile_error <= rank <= above + 3 * found.quantile_error
    exact = values.n_unique()
    assert abs(found.num_distinct - exact) <= 5 * found.distinct_error * exact
    counts = dict(values.value_counts(name="n").iter_rows())
    assert found.missed > 0
    for value, count in found.frequent(10):
        assert count <= counts[value] <= count + found.missed
    top = [value for value, _ in found.frequent(3)]
    assert top == [1, 2, 3]


def test_long_texts_are_not_kept_but_counted():
    values = pl.Series(["a" * 5_000] * 3 + ["b"])
    found = digest(values)
    assert (found.values, found.missed, found.num_distinct) == ({"b": 1}, 3, 2)
    assert found.frequent(3) == []


def test_infinite_numbers_have_no_deviation():
    found = merged([digest(pl.Series([1.0, math.inf])), digest(pl.Series([2.0]))])
    assert (found.mean, found.least, found.most) == (math.inf, 1.0, math.inf)
    assert math.isnan(found.deviation or 0)


def test_zero_is_one_value_with_either_sign():
    assert merged([digest(pl.Series([0.0])), digest(pl.Series([-0.0]))]).num_distinct == 1


def test_nothing_merged_is_nothing():
    assert merged([]) is EMPTY
    assert EMPTY.quantiles([0.5]) == []
    assert EMPTY.mean is None
