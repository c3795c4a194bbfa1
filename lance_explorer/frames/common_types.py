"""Types that the values of a column fit in, which had several."""

import polars as pl
from polars.datatypes import DataTypeClass

__all__ = ["common_type"]

_Type = pl.DataType | DataTypeClass


def common_type(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    """Return a type in which values of two stay what they are; None if there is none.

    Numbers and times become text if they must, lists and structs never.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.frames.common_types import common_type
    >>> common_type(pl.Int32(), pl.Int64())
    Int64
    >>> common_type(pl.String(), pl.List(pl.String())) is None
    True
    """
    if one == other:
        return one
    if not _are_alike(one, other):
        return None
    try:
        return pl.concat(
            [pl.DataFrame(schema={"": one}), pl.DataFrame(schema={"": other})],
            how="vertical_relaxed",
        ).schema[""]
    except pl.exceptions.PolarsError:
        return None


def _are_alike(one: _Type, other: _Type) -> bool:
    if one == other or pl.Null() in (one, other):
        return True
    if isinstance(one, pl.List | pl.Array) and isinstance(other, pl.List | pl.Array):
        return _are_alike(one.inner, other.inner)
    if isinstance(one, pl.Struct) and isinstance(other, pl.Struct):
        ours, theirs = one.to_schema(), other.to_schema()
        return all(_are_alike(ours[name], theirs[name]) for name in ours if name in theirs)
    kinds = {_kind(one), _kind(other)}
    return kinds == {"number"} or ("text" in kinds and None not in kinds)


def _kind(dtype: _Type) -> str | None:
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return "text"
    if dtype.is_numeric() or dtype == pl.Boolean():
        return "number"
    return "time" if dtype.is_temporal() else None
