"""The columns of values of a feed or a diff, where versions may be lost, and of a key."""

from collections.abc import Iterable, Sequence

import polars as pl

from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.history.columns.value_columns import ValueColumns, column_types, value_columns
from lance_explorer.history.paths import EMPTY, Line, Stop

__all__ = ["check_key", "columns_between", "feed_columns"]

_OWN = (*CHANGES.names, CHANGED_COLUMNS)


def feed_columns(
    line: Line,
    positions: Iterable[int],
    end: int,
    chosen: Sequence[str] | None,
    lost: LostValues | None = None,
) -> ValueColumns:
    """Return the columns that some versions of a branch have.

    Parameters
    ----------
    line : Line
        The branch.
    positions : iterable of int
        The versions, by their positions.
    end : int
        The last of them, or EMPTY.
    chosen : sequence of str or None
        Which columns, in order; all by default.
    lost : LostValues, optional
        With it versions that pylance cannot open are noted there, and have no columns.

    Raises
    ------
    InvalidArgumentError
        If none of the versions has a chosen column.
    """
    if end == EMPTY:  # the empty table has no columns: those of the latest version are used
        end = len(line.history.records) - 1
    latest_first = sorted({*positions, end} - {EMPTY}, reverse=True)
    return columns_between([Stop(line, position) for position in latest_first], chosen, lost)


def columns_between(
    stops: Sequence[Stop], chosen: Sequence[str] | None, lost: LostValues | None = None
) -> ValueColumns:
    """Return the columns of some versions, named as in the first of them."""

    def types_of(stop: Stop) -> pl.Schema:
        try:
            return column_types(stop.line.view, stop.record.version)
        except StorageError:
            if lost is None or not lost.has_unknown_format(stop.line, stop.position):
                raise
            return pl.Schema()

    return value_columns(stops, types_of, chosen, _OWN)


def check_key(
    columns: ValueColumns, key: Sequence[str], ends: Sequence[Stop], *, must_have: bool = True
) -> None:
    """Raise InvalidArgumentError unless two versions can be matched by a key.

    Values of a key are compared exactly. So its type must be the same in both, or there must be a
    type for the values of both.

    Parameters
    ----------
    columns : ValueColumns
        The columns of the key.
    key : sequence of str
        Their names as they were given.
    ends : sequence of Stop
        Both versions.
    must_have : bool
        Whether both must have them; without it, only one may.
    """
    for name, place in zip(key, columns.schema, strict=True):
        names = [columns.names_in(stop.line.view, stop.record.version) for stop in ends]
        if all(place in here for here in names):
            continue
        kinds = [
            column_types(stop.line.view, stop.record.version).get(here.get(place, name))
            for stop, here in zip(ends, names, strict=True)
        ]
        versions = [stop.record.version for stop in ends]
        types = [f"{kind} in version {n}" for kind, n in zip(kinds, versions, strict=True) if kind]
        if len(types) == len(ends):
            raise InvalidArgumentError(
                f"rows cannot be matched by {name!r}: it is {' and '.join(types)}, so either it is "
                "another column there, or its type changed to one that does not hold all values of "
                "the other exactly; name a key that is alike in both, or compare without a key"
            )
        if must_have:
            missing = versions[kinds.index(None)]
            raise InvalidArgumentError(
                f"rows cannot be matched by {name!r}: version {missing} does not have this column; "
                "name a key that both versions have"
            )
