"""A type that holds the values of two types exactly; if there is none, they are two columns.

No value may be rounded, cut, or become another kind of value: an ``int64`` is not a ``float64``, a
number is not a text, and times of two units or zones stay separate, since the finer unit has a
smaller range.
"""

import polars as pl
from polars.datatypes import DataTypeClass

__all__ = ["common_type", "differ", "fitted"]

_Type = pl.DataType | DataTypeClass

_INTEGERS = {
    **{f"Int{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
_EXACT = {"Float16": 1 << 11, "Float32": 1 << 24, "Float64": 1 << 53}
"""The largest range of integers that a float holds; wider floats hold those of narrower."""


def common_type(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    """Return a type in which values of two types stay exact; None if there is none.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.history.columns.common_types import common_type
    >>> common_type(pl.Int32(), pl.Float64())
    Float64
    >>> common_type(pl.Int64(), pl.Float64()) is None
    True
    """
    if one == other:
        return one
    wide = _supertype(one, other)
    if wide is None:
        wide = _supertype(_with_lists(one), _with_lists(other))
    return wide if wide is not None and _holds(wide, one) and _holds(wide, other) else None


def fitted(values: pl.Series, wide: pl.DataType) -> pl.Series:
    """Return values in a type that :func:`common_type` gave for theirs and another one.

    Examples
    --------
    >>> import polars as pl
    >>> fitted(pl.Series([[1.0, 2.0]], dtype=pl.Array(pl.Float32, 2)), pl.List(pl.Float64)).dtype
    List(Float64)
    """
    if values.dtype == wide:
        return values
    if _supertype(values.dtype, wide) is None:
        values = values.cast(_with_lists(values.dtype))
    frame = pl.concat([_empty(wide), values.alias("").to_frame()], how="vertical_relaxed")
    return frame.to_series().alias(values.name)


def _supertype(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    """Return the common type that Polars chooses; None if it refuses."""
    try:
        return pl.concat([_empty(one), _empty(other)], how="vertical_relaxed").schema[""]
    except pl.exceptions.PolarsError:
        return None


def _with_lists(dtype: _Type) -> pl.DataType:
    """Return a type with variable-length instead of fixed-length lists, which Polars separates."""
    match dtype:
        case pl.List() | pl.Array():
            return pl.List(_with_lists(dtype.inner))
        case pl.Struct():
            return pl.Struct({name: _with_lists(one) for name, one in dtype.to_schema().items()})
    return dtype if isinstance(dtype, pl.DataType) else dtype()


def _empty(dtype: pl.DataType) -> pl.DataFrame:
    """Return a column without rows."""
    return pl.DataFrame(schema={"": dtype})


def differ(one: pl.Series, other: pl.Series) -> pl.Series:
    """Return which values of two series differ; null equals null, and NaN equals NaN.

    Values of types without a common one are compared as exact numbers, or as objects.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.history.columns.common_types import differ
    >>> differ(pl.Series([2**53, 2**53 + 1]), pl.Series([2.0**53, 2.0**53])).to_list()
    [False, True]
    """
    wide = common_type(one.dtype, other.dtype)
    if wide is None:
        pairs = zip(one.to_list(), other.to_list(), strict=True)
        return pl.Series([old != new for old, new in pairs], dtype=pl.Boolean())
    return fitted(one, wide).ne_missing(fitted(other, wide))


def _holds(wide: _Type, narrow: _Type) -> bool:
    """Return whether a type has all values of another one."""
    if wide == narrow or narrow == pl.Null():
        return True
    match wide, narrow:
        case pl.List() | pl.Array(), pl.List() | pl.Array():
            return _holds(wide.inner, narrow.inner)
        case pl.Struct(), pl.Struct():
            fields = wide.to_schema()
            return all(_holds(fields[name], inner) for name, inner in narrow.to_schema().items())
        case pl.Decimal(), pl.Decimal():
            digits = [(dtype.precision or 0) - dtype.scale for dtype in (wide, narrow)]
            return wide.scale >= narrow.scale and digits[0] >= digits[1]
        case pl.String(), pl.Categorical() | pl.Enum():
            return True
    integers = _INTEGERS.get(str(narrow))
    if str(wide) in _EXACT:
        most = _EXACT.get(str(narrow)) or (integers[1] if integers else None)
        return most is not None and most <= _EXACT[str(wide)]
    room = _INTEGERS.get(str(wide))
    return bool(room and integers and room[0] <= integers[0] and integers[1] <= room[1])
