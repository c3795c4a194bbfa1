"""What columns of a table are called in a feed, which has columns of its own.

A column whose name is one of the feed's own has an underscore after it. One that had another type
in an earlier version, with which the later one has none in common, is two columns: the later one
keeps the name, the other one has the version after it, as in ``tags@3``.
"""

from collections.abc import Container, Mapping, Sequence

import polars as pl

from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.columns import free_name
from lance_explorer.frames.common_types import common_type

__all__ = ["FeedColumns"]

_OWN = (*CHANGES.names, CHANGED_COLUMNS)


class FeedColumns:
    """The columns of values of a feed, put together version by version, the latest first.

    Parameters
    ----------
    names : sequence of str
        The names of all columns, of all versions.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = {
            name: free_name(name, {*_OWN, *names}) if name in _OWN else name for name in names
        }
        self._variants = {name: list[str]() for name in names}
        self._types = dict[str, pl.DataType]()

    def add(
        self,
        version: int,
        own_names: Mapping[str, str],
        types: Mapping[str, pl.DataType],
        apart: Container[str] = (),
    ) -> dict[str, str]:
        """Add the columns of a version; return what each is called there, by its name in the feed.

        Parameters
        ----------
        version : int
            The version.
        own_names : mapping of str to str
            What a column is called in the last version, by what it is called in this one.
        types : mapping of str to DataType
            The types, by the names in this version.
        apart : container of str
            The columns, by their names in this version, that are not the one of that name in the
            last version, since some version has both.
        """
        here = dict[str, str]()
        for own, name in own_names.items():
            variants = self._variants[name][own in apart :]
            here[self._place(name, version, types[own], here, variants)] = own
        return here

    def _place(
        self,
        name: str,
        version: int,
        dtype: pl.DataType,
        here: Container[str],
        variants: Sequence[str],
    ) -> str:
        for variant in variants:
            common = None if variant in here else common_type(self._types[variant], dtype)
            if common is not None:
                self._types[variant] = common
                return variant
        place = self._names[name]
        if self._variants[name]:
            place = free_name(f"{place}@{version}", {*self._types, *self._names.values()})
        self._variants[name].append(place)
        self._types[place] = dtype
        return place

    def schema(self, chosen: Sequence[str] | None) -> pl.Schema:
        """Return the columns that are asked for, by their names in the table or in the feed."""
        if chosen is None:
            return pl.Schema(self._types)
        wanted = [name if name in self._types else self._names.get(name, name) for name in chosen]
        missing = [name for name in wanted if name not in self._types]
        if missing:
            there = ", ".join(self._types)
            raise InvalidArgumentError(f"no column {missing[0]!r}; there are: {there}")
        return pl.Schema({name: self._types[name] for name in wanted})
