"""Which cells differ between two images of the same rows."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from lance_explorer.history.columns.common_types import differ

__all__ = ["changed_cells", "changed_columns", "changed_values", "names_by_row"]

_Mask = NDArray[np.bool_]

_LISTS = pl.List(pl.Float64())


def changed_columns(before: pl.DataFrame, after: pl.DataFrame, tolerance: float) -> pl.Series:
    """Return for each row the names of the columns whose values differ.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.changes.changed_cells import changed_columns
    >>> before = pl.DataFrame({"name": ["a", "b"], "score": [1.0, None]})
    >>> after = pl.DataFrame({"name": ["a", "c"], "score": [1.0, 2.0]})
    >>> changed_columns(before, after, 0.0).to_list()
    [[], ['name', 'score']]
    """
    return names_by_row(changed_cells(before, after, tolerance), before.columns)


def names_by_row(cells: _Mask, columns: Sequence[str]) -> pl.Series:
    """Return for each row the names of the columns whose cells are marked."""
    offsets = np.append(0, np.cumsum(cells.sum(axis=1))).astype(np.int64)
    names = np.array(columns, dtype=np.object_)[np.nonzero(cells)[1]]
    lists = pa.LargeListArray.from_arrays(offsets, pa.array(names, pa.large_string()))
    return pl.Series("changed_columns", lists)


def changed_values(before: pl.Series, after: pl.Series) -> _Mask:
    """Return in which rows two columns differ; null equals null, and NaN equals NaN."""
    return _differ(before, after, 0.0)


def changed_cells(before: pl.DataFrame, after: pl.DataFrame, tolerance: float) -> _Mask:
    """Return which cells differ: one line a row, one column a column.

    Null equals null, and NaN equals NaN. With a tolerance, floats and vectors of floats are equal
    if they differ by at most the tolerance times the larger of 1 and both absolute values.

    Parameters
    ----------
    before, after : polars.DataFrame
        The same rows and columns, in the same order.
    tolerance : float
        How far floats may be apart.
    """
    cells = np.zeros(before.shape, dtype=np.bool_)
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        cells[:, place] = _differ(old, new, tolerance)
    return cells


def _differ(old: pl.Series, new: pl.Series, tolerance: float) -> _Mask:
    cells: _Mask = differ(old, new).to_numpy()
    dtype = old.dtype
    if not tolerance or dtype != new.dtype or not cells.any():
        return cells
    rows = np.flatnonzero(cells & (old.is_not_null() & new.is_not_null()).to_numpy())
    if dtype.is_float():
        cells[rows] = ~_near(_floats(old[rows]), _floats(new[rows]), tolerance)
    elif isinstance(dtype, pl.List | pl.Array) and dtype.inner.is_float():
        cells[rows] = _vectors_differ(old[rows], new[rows], tolerance)
    return cells


def _vectors_differ(old: pl.Series, new: pl.Series, tolerance: float) -> _Mask:
    """Return which vectors differ in length, or anywhere by more than the tolerance."""
    old, new = old.cast(_LISTS), new.cast(_LISTS)
    lengths = old.list.len().to_numpy()
    differ: _Mask = lengths != new.list.len().to_numpy()
    same = np.flatnonzero(~differ & (lengths > 0))
    if len(same):
        first, second = old[same].list.explode(), new[same].list.explode()
        near = _near(_floats(first), _floats(second), tolerance)
        near &= (first.is_null() == second.is_null()).to_numpy()
        begins = np.cumsum(lengths[same], dtype=np.int64) - lengths[same]
        differ[same] = ~np.logical_and.reduceat(near, begins)
    return differ


def _near(old: NDArray[np.float64], new: NDArray[np.float64], tolerance: float) -> _Mask:
    both_nan = np.isnan(old) & np.isnan(new)
    with np.errstate(invalid="ignore"):
        apart = np.abs(old - new)
        scale = np.maximum(1.0, np.maximum(np.abs(old), np.abs(new)))
        near: _Mask = np.isfinite(apart) & (apart <= tolerance * scale)
    near |= (old == new) | both_nan
    return near


def _floats(series: pl.Series) -> NDArray[np.float64]:
    values: NDArray[np.float64] = series.cast(pl.Float64()).to_numpy()
    return values
