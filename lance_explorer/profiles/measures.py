"""What a profile measures of each type: what is compared, and what is summarised.

========================= ======================= =========================
values                    measured                compared
========================= ======================= =========================
numbers, booleans         the number; true is 1   yes
dates, times, durations   seconds since 1970      yes
text                      characters              yes
binary, blobs             bytes                   no
lists, maps               items                   no
vectors                   length (Euclidean)      no; their centroid is kept
structs                   nothing, nor compared; each field has a line of its own
========================= ======================= =========================

*Compared* values have a least and a largest one, a number of different ones, and frequent ones.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.datatypes import DataTypeClass

from lance_explorer.cells.text import texts_of
from lance_explorer.profiles.digests import Digest, digest_of

__all__ = ["MEASURES", "Leaf", "leaves_of", "text_of"]

MEASURES = ("value", "seconds", "characters", "bytes", "items", "length", "nothing")

_BLOB_SIZE = "size"
_OLD_BLOB = ["position", _BLOB_SIZE]

_UNITS = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_SECONDS_A_DAY = 86_400


class Leaf(NamedTuple):
    """A column or nested field that has a line in a profile.

    Attributes
    ----------
    path : tuple of str
        The name of the column, then those of the fields inside.
    dtype : polars.DataType
        The type of its values.
    measure : str
        What is measured: one of MEASURES.
    """

    path: tuple[str, ...]
    dtype: pl.DataType
    measure: str

    @property
    def name(self) -> str:
        """The path as text; a name that contains a dot is in backticks."""
        return ".".join([f"`{one}`" if "." in one else one for one in self.path])

    @property
    def are_compared(self) -> bool:
        """Whether the values are compared."""
        return self.measure in ("value", "seconds", "characters")

    def digest(self, column: pl.Series) -> Digest:
        """Return a summary of the values of the column; a field of a null struct is null."""
        values = column
        for name in self.path[1:]:
            values = values.struct.field(name)
        if self.measure == "length":
            lengths, centre = _lengths(values)
            return digest_of(values, lengths, are_compared=False, centre=centre)
        values = _comparable(values) if self.measure != "bytes" else _without_null_blobs(values)
        numbers = _numbers(values, self.measure, self.dtype)
        return digest_of(values, numbers, are_compared=self.are_compared)


def leaves_of(name: str, dtype: pl.DataType, *, is_blob: bool = False) -> Iterator[Leaf]:
    """Yield what has a line in a profile: the column itself, and its struct fields."""
    yield from _leaves((name,), dtype, is_blob=is_blob)


def _leaves(path: tuple[str, ...], dtype: pl.DataType, *, is_blob: bool) -> Iterator[Leaf]:
    if isinstance(dtype, pl.Struct) and not is_blob:
        yield Leaf(path, dtype, "nothing")
        for field in dtype.fields:
            yield from _leaves((*path, field.name), _instance(field.dtype), is_blob=False)
    else:
        yield Leaf(path, dtype, "bytes" if is_blob else _measure(dtype))


def _instance(dtype: pl.DataType | DataTypeClass) -> pl.DataType:
    return dtype() if isinstance(dtype, type) else dtype


def _measure(dtype: pl.DataType) -> str:
    match dtype:
        case pl.Array(inner=inner, shape=shape):
            is_vector = inner.is_numeric() and len(shape) == 1
            return "length" if is_vector and not inner.is_decimal() else "items"
        case pl.List():
            return "items"
        case pl.Binary():
            return "bytes"
        case pl.String() | pl.Categorical() | pl.Enum():
            return "characters"
    if dtype.is_temporal():
        return "seconds"
    return "value" if dtype.is_numeric() or dtype == pl.Boolean else "nothing"


def _without_null_blobs(values: pl.Series) -> pl.Series:
    """Return descriptions of blobs, null for null blobs.

    Data format 2.0 describes these by a position of 1 and a size of 0 (docs/FORMAT.md 10).
    """
    dtype = values.dtype
    if not isinstance(dtype, pl.Struct) or [field.name for field in dtype.fields] != _OLD_BLOB:
        return values
    facts = values.struct.unnest()
    is_null = (facts["position"] == 1) & (facts[_BLOB_SIZE] == 0)
    return values.set(is_null.fill_null(False), None)


def _comparable(values: pl.Series) -> pl.Series:
    """Return values in a form in which equal values are equal across batches."""
    if values.dtype.is_temporal():
        return values.to_physical()
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        return values.cast(pl.String)
    return values


def _numbers(values: pl.Series, measure: str, dtype: pl.DataType) -> NDArray[np.float64] | None:
    """Return what is measured of the values that are not null."""
    known = values.drop_nulls() if values.null_count() else values
    match measure:
        case "value":
            return _floats(known)
        case "seconds":
            return _floats(known) * _seconds(dtype)
        case "characters":
            return _floats(known.str.len_chars())
        case "bytes":
            sizes = (
                known.struct.field(_BLOB_SIZE).fill_null(0)
                if isinstance(known.dtype, pl.Struct)
                else known.bin.size()
            )
            return _floats(sizes)
        case "items":
            if isinstance(known.dtype, pl.Array):
                return np.full(len(known), float(known.dtype.size))
            return _floats(known.list.len())
    return None


def _floats(values: pl.Series) -> NDArray[np.float64]:
    """Return numbers without nulls, as 64-bit numbers."""
    if values.dtype.is_integer() or values.dtype.is_float():
        array = values.to_numpy()
        if array.dtype.kind in "iuf":
            return array.astype(np.float64)
    return values.cast(pl.Float64).to_numpy()


def _seconds(dtype: pl.DataType) -> float:
    match dtype:
        case pl.Date():
            return _SECONDS_A_DAY
        case pl.Datetime(time_unit=unit) | pl.Duration(time_unit=unit):
            return _UNITS[unit]
    return _UNITS["ns"]


def _lengths(vectors: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lengths of the non-null vectors, and the sum of all finite vectors."""
    array = vectors.drop_nulls().to_numpy()
    assert isinstance(vectors.dtype, pl.Array)
    if not len(array):
        return np.empty(0), np.zeros(vectors.dtype.size)
    if array.dtype != np.float32:
        array = array.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", array, array, dtype=np.float64)
    finite = np.isfinite(squares)
    rows = array if finite.all() else array[finite]
    return np.sqrt(squares), rows.sum(axis=0, dtype=np.float64)


def text_of(value: Any, dtype: pl.DataType) -> str | None:
    """Return the text of a value that was compared."""
    if value is None:
        return None
    if dtype.is_temporal():
        physical = pl.Series([], dtype=dtype).to_physical().dtype
        series = pl.Series([value], dtype=physical).cast(dtype)
    elif isinstance(dtype, pl.Categorical | pl.Enum):
        series = pl.Series([value], dtype=pl.String)
    else:
        series = pl.Series([value], dtype=dtype)
    text: str = texts_of(series).item()
    return text
