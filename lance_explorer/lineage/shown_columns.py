"""The columns that a search shows, by their names in each version."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format.schema import NO_PARENT, Field, column_fields
from lance_explorer.history.columns.identity import columns_at
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import Stop

__all__ = ["ShownColumns"]


class ShownColumns:
    """The columns that are shown, for some versions.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    positions : range
        The versions.
    columns : sequence of str or None
        Which columns, as the latest version that has them calls them; a name that is none of these
        is that of all columns which some version calls so. All by default.
    """

    def __init__(self, rows: StateRows, positions: range, columns: Sequence[str] | None) -> None:
        self._rows = rows
        stops = [Stop(rows, position) for position in reversed(positions)]
        self._told = columns_at(stops)
        self._wanted = None if columns is None else self._numbers(stops, columns)
        kinds, places = dict[object, int](), list[int]()
        known = dict[tuple[int, int], int]()
        for position in positions:
            key = id(rows.history.records[position].schema), id(self._told.of(Stop(rows, position)))
            if key not in known:
                fields = column_fields(rows.history.records[position].schema)
                shown = [(n, tuple([f.id for f in fields[c.name]])) for n, c in self._at(position)]
                known[key] = kinds.setdefault(frozenset(shown), len(kinds))
            places.append(known[key])
        self._start = positions.start
        self._kinds: NDArray[np.int64] = np.array(places, dtype=np.int64)

    def names_at(self, position: int) -> list[str]:
        """Return the names of the columns in a version."""
        return [field.name for _, field in self._at(position)]

    def stretches(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the first and the last position of each stretch with the same columns.

        A column is another one where a field inside it was added, dropped or cast.
        """
        kinds = self._kinds[first - self._start : last + 1 - self._start]
        begins = np.flatnonzero(np.append(True, kinds[1:] != kinds[:-1])) + first
        yield from zip(begins.tolist(), [*(begins[1:] - 1).tolist(), last], strict=True)

    def _at(self, position: int) -> list[tuple[int, Field]]:
        stop = Stop(self._rows, position)
        numbers = self._told.of(stop)
        tops = [(numbers[f.id], f) for f in stop.record.schema if f.parent_id == NO_PARENT]
        return [one for one in tops if self._wanted is None or one[0] in self._wanted]

    def _numbers(self, stops: Sequence[Stop], columns: Sequence[str]) -> frozenset[int]:
        latest, every = dict[int, str](), set[tuple[int, str]]()
        kinds = {(id(s.record.schema), id(self._told.of(s))): s for s in reversed(stops)}
        for stop in kinds.values():
            own = [(number, name) for name, number in self._told.columns(stop).items()]
            every.update(own)
        for stop in stops if len(kinds) > 1 else stops[:1]:
            for name, number in self._told.columns(stop).items():
                latest.setdefault(number, name)
        names = {*latest.values()}
        return frozenset(
            [n for n, name in every if name in columns and (latest[n] == name or name not in names)]
        )
