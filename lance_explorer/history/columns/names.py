"""The names of columns in a frame, which has columns of its own.

A column whose name the frame uses itself gets an underscore after it. If two columns had one name,
or one column had types without a common one, they are two in the frame: the latest keeps the name,
and the others get the first free number after it, as in ``x@1``.
"""

from collections import defaultdict
from collections.abc import Collection, Container, Mapping, Sequence

import polars as pl

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.columns.common_types import common_type

__all__ = ["FrameColumns", "free_name", "numbered_name"]


def free_name(name: str, taken: Container[str]) -> str:
    """Return a unique name for a column, with underscores after it.

    Examples
    --------
    >>> from lance_explorer.history.columns.names import free_name
    >>> free_name("_rowid", {"_rowid", "id"})
    '_rowid_'
    """
    while name in taken:
        name += "_"
    return name


def numbered_name(name: str, taken: Container[str]) -> str:
    """Return the name of another column of this name.

    Examples
    --------
    >>> from lance_explorer.history.columns.names import numbered_name
    >>> numbered_name("x", {"x", "x@1"})
    'x@2'
    """
    number = 1
    while f"{name}@{number}" in taken:
        number += 1
    return f"{name}@{number}"


class FrameColumns:
    """The columns of values of a frame, collected version by version, the latest first.

    Parameters
    ----------
    names : collection of str
        What all columns of these versions were last called.
    own : collection of str
        The names of the frame's own columns.
    """

    def __init__(self, names: Collection[str], own: Collection[str] = ()) -> None:
        taken = {*own, *names}
        self._names = {name: free_name(name, taken) if name in own else name for name in names}
        self._variants = defaultdict[tuple[str, int], list[str]](list)
        self._types = dict[str, pl.DataType]()

    def add(
        self,
        columns: Mapping[str, tuple[str, int]],
        types: Mapping[str, pl.DataType],
    ) -> dict[str, str]:
        """Add the columns of a version; return their names there, by their names in the frame.

        Parameters
        ----------
        columns : mapping of str to tuple of str and int
            By what a column is called in this version: its last name, and which one of those that
            are called so it is.
        types : mapping of str to DataType
            The types, by the names in this version.
        """
        here = dict[str, str]()
        for own, column in columns.items():
            here[self._place(column, types[own], here)] = own
        return here

    def _place(self, column: tuple[str, int], dtype: pl.DataType, here: Container[str]) -> str:
        for variant in self._variants[column]:
            common = None if variant in here else common_type(self._types[variant], dtype)
            if common is not None:
                self._types[variant] = common
                return variant
        place = self._names[column[0]]
        if place in self._types:
            place = numbered_name(place, {*self._types, *self._names.values()})
        self._variants[column].append(place)
        self._types[place] = dtype
        return place

    def schema(self, chosen: Sequence[str] | None) -> pl.Schema:
        """Return the chosen columns, by their names in the table or in the frame."""
        if chosen is None:
            return pl.Schema(self._types)
        wanted = [name if name in self._types else self._names.get(name, name) for name in chosen]
        missing = [name for name in wanted if name not in self._types]
        if missing:
            there = ", ".join(self._types)
            raise InvalidArgumentError(f"no column {missing[0]!r}; there are: {there}")
        return pl.Schema({name: self._types[name] for name in wanted})
