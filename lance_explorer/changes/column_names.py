"""What columns of a table are called in a feed, which has columns of its own.

A column whose name is one of the feed's own has an underscore after it. One that had another type
in an earlier version, with which the later one has none in common, is two columns: the later one
keeps the name, the other one has the version after it, as in ``tags@3``. So have those of two
columns that were in one version, and got one name in different ones.
"""

from collections import defaultdict
from collections.abc import Collection, Container, Mapping, Sequence

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
    names : collection of str
        What all columns are called in the feed, of all versions.
    """

    def __init__(self, names: Collection[str]) -> None:
        taken = {*_OWN, *names}
        self._names = {name: free_name(name, taken) if name in _OWN else name for name in names}
        self._variants = defaultdict[tuple[str, int], list[str]](list)
        self._types = dict[str, pl.DataType]()

    def add(
        self,
        version: int,
        own_names: Mapping[str, tuple[str, int]],
        types: Mapping[str, pl.DataType],
    ) -> dict[str, str]:
        """Add the columns of a version; return what each is called there, by its name in the feed.

        Parameters
        ----------
        version : int
            The version.
        own_names : mapping of str to tuple of str and int
            By what a column is called in this version: its name in the feed, and which of the
            columns of that name it is.
        types : mapping of str to DataType
            The types, by the names in this version.
        """
        here = dict[str, str]()
        for own, (name, number) in own_names.items():
            here[self._place(name, number, version, types[own], here)] = own
        return here

    def _place(
        self, name: str, number: int, version: int, dtype: pl.DataType, here: Container[str]
    ) -> str:
        for variant in self._variants[name, number]:
            common = None if variant in here else common_type(self._types[variant], dtype)
            if common is not None:
                self._types[variant] = common
                return variant
        place = self._names[name]
        if place in self._types:
            place = free_name(f"{place}@{version}", {*self._types, *self._names.values()})
        self._variants[name, number].append(place)
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
