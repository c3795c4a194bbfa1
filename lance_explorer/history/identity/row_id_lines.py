"""The meaning of row IDs in each version, if some were assigned twice."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import Positions, Uint64Array
from lance_explorer.rowids.offsets import cut_at
from lance_explorer.rowids.runs import RunColumns, outside
from lance_explorer.rowids.sequence import Ranges, RowIdSequence

__all__ = ["PLAIN", "Namesakes", "RowIdLine"]


@dataclass(frozen=True, slots=True, eq=False)
class RowIdLine:
    """The meaning of row IDs in a version, where they are not the identities.

    Attributes
    ----------
    ids : RunColumns
        Row IDs, disjoint and sorted, and in ``address`` the identities of their rows.
    """

    ids: RunColumns = field(default_factory=RunColumns.empty)

    def identities(self, row_ids: Uint64Array) -> Uint64Array:
        """Return the identities of rows of the version."""
        place = np.searchsorted(self.ids.start, row_ids, side="right")
        stops = np.append(np.uint64(0), self.ids.stop)
        shifts = np.append(np.uint64(0), self.ids.address - self.ids.start)
        return row_ids + np.where(row_ids < stops[place], shifts[place], np.uint64(0))

    def runs(self, row_ids: RowIdSequence) -> RunColumns:
        """Return row IDs in runs, and in ``address`` the identities of their rows."""
        starts, stops = row_ids.ranges()
        borders = np.unique(np.concatenate([self.ids.start, self.ids.stop]))
        owner, shift, length = cut_at(starts, stops - starts, borders)
        own = starts[owner] + shift
        return RunColumns(own, own + length, self.identities(own))

    def sequence(self, row_ids: RowIdSequence) -> RowIdSequence:
        """Return the identities of rows; the same object if they are the row IDs."""
        runs = self.runs(row_ids)
        if np.array_equal(runs.address, runs.start):
            return row_ids
        return RowIdSequence((Ranges(runs.address, runs.address + (runs.stop - runs.start)),))

    def giving(self, ids: RunColumns) -> "RowIdLine":
        """Return the line after a commit that assigned row IDs."""
        others = outside(self.ids, ids.start, ids.stop)
        others = others.where(others.start < others.stop)
        aliased = ids.where(ids.start != ids.address)
        return replace(self, ids=RunColumns.concatenated([others, aliased]).in_order())


PLAIN = RowIdLine()
"""The line of a version in which row IDs are the identities."""


@dataclass(frozen=True, slots=True, eq=False)
class Namesakes:
    """The lines of all versions of a branch.

    Attributes
    ----------
    lines : tuple of RowIdLine
        For each version by its position.
    aliases : RunColumns
        Identities that are not row IDs, sorted, and in ``address`` the row IDs.
    open_ids : RunColumns
        Row IDs for which it is unknown whether two identities are one row: a detached version may
        have assigned them, or inherited them.
    """

    lines: tuple[RowIdLine, ...]
    aliases: RunColumns
    open_ids: RunColumns

    def row_ids(self, identities: Uint64Array) -> Uint64Array:
        """Return the row IDs of rows."""
        place = np.searchsorted(self.aliases.start, identities, side="right")
        stops = np.append(np.uint64(0), self.aliases.stop)
        shifts = np.append(np.uint64(0), self.aliases.address - self.aliases.start)
        return identities + np.where(identities < stops[place], shifts[place], np.uint64(0))

    def bearers(self, row_ids: Uint64Array) -> tuple[Uint64Array, Positions]:
        """Return the identities of all rows that ever had some IDs, and the position of each ID."""
        places = [np.arange(len(row_ids))]
        identities = [row_ids]
        for start, stop, row_id in zip(*self.aliases, strict=True):
            here = np.flatnonzero((row_ids >= row_id) & (row_ids - row_id < stop - start))
            places.append(here)
            identities.append(row_ids[here] - row_id + start)
        return np.concatenate(identities), np.concatenate(places)

    @property
    def open_borders(self) -> Uint64Array:
        """The ranges of identities in which :meth:`are_open` and each line do not change."""
        stops = self.aliases.address + (self.aliases.stop - self.aliases.start)
        ids = [self.open_ids.start, self.open_ids.stop, self.aliases.address, stops]
        borders = self.bearers(np.concatenate(ids))[0]
        return np.unique(np.concatenate([borders, self.aliases.start, self.aliases.stop]))

    def are_open(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Tell for which rows it is unknown whether they are others with the same ID."""
        ids = self.row_ids(identities)
        place = np.searchsorted(self.open_ids.start, ids, side="right")
        return np.asarray(ids < np.append(np.uint64(0), self.open_ids.stop)[place])
