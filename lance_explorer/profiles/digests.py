"""Summaries of values that can be merged, but from which nothing can be subtracted.

Counts, least, largest, mean and deviation are exact. Quantiles of few numbers are exact; for many,
a KLL sketch of Apache DataSketches gives them with a known rank error. Distinct values are counted
by the smallest hashes: exactly while all hashes are kept. The most frequent values are kept with
their counts, and a bound for how much a count is too small.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import datasketches
import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["EMPTY", "Digest", "digest_of", "merged", "quantiles_of"]

_EXACT_NUMBERS = 1 << 13
"""The most numbers that are kept as they are; of more, a sketch is kept."""

_SKETCH_SIZE = 400
_RANK_ERROR = float(datasketches.kll_doubles_sketch.get_normalized_rank_error(_SKETCH_SIZE, False))

_HASHES = 2_048
DISTINCT_ERROR = 1 / math.sqrt(_HASHES - 2)
"""Relative standard error of an estimated number of distinct values."""

_MOST_VALUES, _VALUES_KEPT = 1_024, 512

_FEW = 1 << 15
"""Up to this number, NumPy sorts faster than Polars, which starts several threads."""

_LONGEST_VALUE = 1_000
"""Longer texts are never among the most frequent values."""

_Numbers = NDArray[np.float64]
_Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Digest:
    """A summary of some values of a column.

    Attributes
    ----------
    num_rows, num_nulls, num_nan : int
        Rows, nulls and numbers that are not a number.
    total, square : float
        Sum of the numbers, and sum of the squares of their distances from the mean.
    numbers : ndarray or None
        All numbers, if they are few; else the sketch has them.
    sketch : kll_doubles_sketch or None
        The numbers, if they are many.
    count : int
        How many numbers there are, without NaN.
    least, most : object
        The least and the largest value; None without values, or without an order.
    values : mapping
        How often the most frequent values are there.
    missed : int
        How many times more any value may be there than ``values`` says.
    hashes : ndarray of uint64
        The smallest hashes of the values, in order.
    centre : ndarray of float64 or None
        Sum of the vectors.
    """

    num_rows: int = 0
    num_nulls: int = 0
    num_nan: int = 0
    count: int = 0
    total: float = 0.0
    square: float = 0.0
    numbers: _Numbers | None = field(default_factory=lambda: np.empty(0))
    sketch: Any = None
    least: Any = None
    most: Any = None
    values: dict[Any, int] = field(default_factory=dict)
    missed: int = 0
    hashes: _Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    centre: _Numbers | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.sketch is not None:
            state["sketch"] = self.sketch.serialize()
        return _of_state, (state,)

    # ------------------------------------------------------------------------------- numbers

    @property
    def mean(self) -> float | None:
        """The mean of the numbers."""
        return self.total / self.count if self.count else None

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation of the numbers; None for fewer than two."""
        return math.sqrt(self.square / (self.count - 1)) if self.count > 1 else None

    @property
    def quantile_error(self) -> float:
        """The largest error of the rank of a quantile, as a part of 1; 0 if it is exact."""
        return 0.0 if self.sketch is None else _RANK_ERROR

    def quantiles(self, ranks: Sequence[float]) -> list[float]:
        """Return the numbers at or below which given parts of all numbers lie."""
        if not self.count:
            return []
        if self.sketch is not None:
            return [float(one) for one in self.sketch.get_quantiles([*ranks], True)]
        return quantiles_of(self._kept(), ranks)

    def shares_below(self, points: _Numbers) -> _Numbers:
        """Return which part of the numbers is below or at each of some ascending points."""
        if not self.count:
            return np.zeros(len(points))
        if self.sketch is not None:
            return np.array(self.sketch.get_cdf(points.tolist(), True)[:-1])
        ordered = np.sort(self._kept())
        return np.searchsorted(ordered, points, side="right") / len(ordered)

    def _kept(self) -> _Numbers:
        assert self.numbers is not None
        return self.numbers

    # -------------------------------------------------------------------------------- values

    @property
    def num_distinct(self) -> int:
        """The number of distinct values; an estimate if there are many."""
        if len(self.hashes) < _HASHES:
            return len(self.hashes)
        part = (int(self.hashes[-1]) + 1) / 2**64
        return round((_HASHES - 1) / part)

    @property
    def distinct_error(self) -> float:
        """The relative standard error of that number; 0 if it is exact."""
        return 0.0 if len(self.hashes) < _HASHES else DISTINCT_ERROR

    def frequent(self, most: int) -> list[tuple[Any, int]]:
        """Return the most frequent values with their counts, the most frequent first."""
        certain = [one for one in self.values.items() if one[1] > self.missed]
        return sorted(certain, key=lambda one: (-one[1], _order(one[0])))[:most]


def quantiles_of(numbers: _Numbers, ranks: Sequence[float]) -> list[float]:
    """Return the numbers at or below which given parts of all numbers lie."""
    if not len(numbers):
        return []
    ordered = np.sort(numbers)
    places = np.maximum(np.ceil(np.array(ranks) * len(ordered)).astype(np.int64) - 1, 0)
    result: list[float] = ordered[places].tolist()
    return result


def _of_state(state: dict[str, Any]) -> Digest:
    """Return a summary that another process sent."""
    sketch = state["sketch"]
    if sketch is not None:
        sketch = datasketches.kll_doubles_sketch.deserialize(sketch)
    return Digest(**{**state, "sketch": sketch})


EMPTY = Digest()


def digest_of(
    values: pl.Series,
    numbers: _Numbers | None,
    *,
    are_compared: bool,
    centre: _Numbers | None = None,
) -> Digest:
    """Return a summary of values.

    Parameters
    ----------
    values : polars.Series
        The values. Times are numbers already.
    numbers : ndarray of float64 or None
        What is measured of each value that is not null, in any order.
    are_compared : bool
        Whether different, frequent, least and largest values are of interest.
    centre : ndarray of float64, optional
        The sum of the vectors.
    """
    num_rows, num_nulls, num_nan = len(values), values.null_count(), 0
    known = values.drop_nulls() if num_nulls else values
    fields: dict[str, Any] = {}
    if numbers is not None:
        is_nan = np.isnan(numbers)
        if is_nan.any():
            num_nan = int(is_nan.sum())
            numbers = numbers[~is_nan]
        fields |= _of_numbers(numbers)
    if are_compared:
        fields |= _of_values(known.drop_nans() if num_nan else known, num_nan)
    return Digest(num_rows, num_nulls, num_nan, centre=centre, **fields)


def _of_numbers(numbers: _Numbers) -> dict[str, Any]:
    if not len(numbers):
        return {}
    with np.errstate(invalid="ignore", over="ignore"):
        total = float(numbers.sum())
        square = float(np.square(numbers - total / len(numbers)).sum())
    fields: dict[str, Any] = {"count": len(numbers), "total": total, "square": square}
    if len(numbers) <= _EXACT_NUMBERS:
        return {**fields, "numbers": np.array(numbers)}
    sketch = datasketches.kll_doubles_sketch(_SKETCH_SIZE)
    sketch.update(np.array(numbers))  # which takes no array that is read-only
    return {**fields, "numbers": None, "sketch": sketch}


def _of_values(known: pl.Series, num_nan: int) -> dict[str, Any]:
    if not len(known) and not num_nan:
        return {}
    different, counts = _counted(known)
    hashes = np.sort(different.hash().to_numpy())
    if num_nan:
        nan = pl.Series([math.nan], dtype=known.dtype).hash().to_numpy()
        hashes = np.sort(np.concatenate([hashes, nan]))
    fields: dict[str, Any] = {"hashes": hashes[:_HASHES].copy()}
    if len(known):
        fields |= {"least": different.min(), "most": different.max()}
    return fields | _frequent(different, counts)


def _counted(known: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """Return the distinct values and their counts."""
    if known.dtype.is_numeric() and not known.dtype.is_decimal():
        array = known.to_numpy() if len(known) <= _FEW else None
        if array is not None and array.dtype.kind in "iuf":  # which takes no time to set up
            array = np.sort(array + 0)
            begins = np.flatnonzero(np.append(True, array[1:] != array[:-1])[: len(array)])
            return pl.Series(array[begins]), np.diff(np.append(begins, len(array)))
        ordered = (known + 0 if known.dtype.is_float() else known).sort()  # -0.0 is 0.0
        changes = ordered.ne(ordered.shift(1)).fill_null(True)
        begins = np.flatnonzero(changes.to_numpy())
        return ordered.gather(begins), np.diff(np.append(begins, len(ordered)))
    counted = known.alias("value").value_counts(name="count")
    return counted["value"], counted["count"].to_numpy().astype(np.int64)


def _frequent(different: pl.Series, counts: NDArray[np.int64]) -> dict[str, Any]:
    missed = 0
    if different.dtype == pl.String:
        is_long = (different.str.len_bytes() > _LONGEST_VALUE).to_numpy()
        if is_long.any():
            missed = int(counts[is_long].max())
            different, counts = different.filter(pl.Series(~is_long)), counts[~is_long]
    if len(counts) > _MOST_VALUES:
        order = np.argpartition(-counts, _VALUES_KEPT)
        missed = max(missed, int(counts[order[_VALUES_KEPT]]))
        chosen = order[:_VALUES_KEPT]
        different, counts = different.gather(chosen), counts[chosen]
    pairs = zip(different.to_list(), counts.tolist(), strict=True)
    return {"values": dict(pairs), "missed": missed}


def merged(digests: Iterable[Digest]) -> Digest:
    """Return the summary of all values of several summaries."""
    parts = [one for one in digests if one.num_rows]
    if len(parts) < 2:
        return parts[0] if parts else EMPTY
    least = [one.least for one in parts if one.least is not None]
    most = [one.most for one in parts if one.most is not None]
    centres = [one.centre for one in parts if one.centre is not None]
    values, missed = _merged_values(parts)
    count, total = sum([one.count for one in parts]), sum([one.total for one in parts])
    numbers, sketch = _merged_numbers(parts, count)
    return Digest(
        num_rows=sum([one.num_rows for one in parts]),
        num_nulls=sum([one.num_nulls for one in parts]),
        num_nan=sum([one.num_nan for one in parts]),
        count=count,
        total=total,
        square=_merged_square(parts, total / count if count else 0.0),
        numbers=numbers,
        sketch=sketch,
        least=min(least) if least else None,
        most=max(most) if most else None,
        values=values,
        missed=missed,
        hashes=_merged_hashes([one.hashes for one in parts if len(one.hashes)]),
        centre=np.sum(centres, axis=0) if centres else None,
    )


def _merged_square(parts: Sequence[Digest], mean: float) -> float:
    """Return the sum of squares about the common mean, from the sums about each mean."""
    square = 0.0
    for one in parts:
        if one.count:
            square += one.square + one.count * (one.total / one.count - mean) ** 2
    return square


def _merged_numbers(parts: Sequence[Digest], count: int) -> tuple[_Numbers | None, Any]:
    arrays = [one.numbers for one in parts if one.numbers is not None and len(one.numbers)]
    sketches = [one.sketch for one in parts if one.sketch is not None]
    if not sketches and count <= _EXACT_NUMBERS:
        return np.concatenate([np.empty(0), *arrays]), None
    sketch = datasketches.kll_doubles_sketch(_SKETCH_SIZE)
    for one in sketches:
        sketch.merge(one)
    if arrays:
        sketch.update(np.concatenate(arrays))
    return None, sketch


def _merged_values(parts: Sequence[Digest]) -> tuple[dict[Any, int], int]:
    counts, missed = dict(parts[0].values), sum([one.missed for one in parts])
    for one in parts[1:]:
        for value, count in one.values.items():
            counts[value] = counts.get(value, 0) + count
    if len(counts) > _MOST_VALUES:
        ordered = sorted(counts.items(), key=lambda one: -one[1])
        counts, missed = dict(ordered[:_VALUES_KEPT]), missed + ordered[_VALUES_KEPT][1]
    return counts, missed


def _merged_hashes(parts: Sequence[_Hashes]) -> _Hashes:
    if len(parts) < 2:
        return parts[0] if parts else EMPTY.hashes
    every = np.sort(np.concatenate(parts))
    smallest: _Hashes = every[np.append(True, every[1:] != every[:-1])][:_HASHES].copy()
    return smallest


def _order(value: Any) -> Any:
    return (0, value) if isinstance(value, int | float) else (1, str(value))
