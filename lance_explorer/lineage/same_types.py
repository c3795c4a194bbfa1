"""Values of several versions in one frame, where columns have had other types."""

from collections.abc import Mapping, Sequence

import polars as pl

from lance_explorer.frames.common_types import common_type

__all__ = ["same_types"]


def same_types(parts: Sequence[tuple[int, pl.DataFrame]]) -> list[pl.DataFrame]:
    """Return values of several versions in which a column has one type, to be concatenated.

    If a column has two types that have none in common, the one of the last part keeps the name, and
    the other one gets the version after it.

    Parameters
    ----------
    parts : sequence of tuple
        A version and values of it, oldest first.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.lineage.same_types import same_types
    >>> parts = [(3, pl.DataFrame({"tags": ["a"]})), (7, pl.DataFrame({"tags": [[1]]}))]
    >>> [part.columns for part in same_types(parts)]
    [['tags@3'], ['tags']]
    """
    types = dict[str, pl.DataType]()
    variants = {name: [name] for _, values in parts for name in values.columns}
    names = list[dict[str, str]]()
    for version, values in reversed(parts):
        names.append({})
        for name, dtype in values.schema.items():
            place, common = _column_place(variants, types, name, dtype, version)
            types[place] = common
            names[-1][name] = place
    return [
        values.rename(own).cast({place: types[place] for place in own.values()})
        for (_, values), own in zip(parts, reversed(names), strict=True)
    ]


def _column_place(
    variants: dict[str, list[str]],
    types: Mapping[str, pl.DataType],
    name: str,
    dtype: pl.DataType,
    version: int,
) -> tuple[str, pl.DataType]:
    """Return what a column of a version is called, and a type that its values fit in."""
    for place in variants[name]:
        common = common_type(types.get(place, dtype), dtype)
        if common is not None:
            return place, common
    place = f"{name}@{version}"
    while place in variants:
        place += "_"
    variants[name].append(place)
    return place, dtype
