"""What row IDs stand for in each version, where some were given out twice."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format.operation_names import OperationName
from lance_explorer.rowids.arrays import Positions, Uint64Array
from lance_explorer.rowids.offsets import cut_at
from lance_explorer.rowids.runs import RunColumns, outside
from lance_explorer.rowids.sequence import Ranges, RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["PLAIN", "Line", "Namesakes"]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """What row IDs and version numbers mean in a version, where that is not what they say.

    Attributes
    ----------
    ids : RunColumns
        Row IDs, disjoint and sorted, and in ``address`` the identities of their rows.
    versions : dict of int to int
        Version numbers, and the detached versions that they are on this line.
    detached : RunColumns
        Row IDs that detached commits on the line gave out, and the identities of their rows.
    commits : frozenset of int
        The detached versions on the line.
    """

    ids: RunColumns = field(default_factory=RunColumns.empty)
    versions: dict[int, int] = field(default_factory=dict)
    detached: RunColumns = field(default_factory=RunColumns.empty)
    commits: frozenset[int] = frozenset()

    def identities(self, row_ids: Uint64Array) -> Uint64Array:
        """Return the identities of rows of the version."""
        place = np.searchsorted(self.ids.start, row_ids, side="right")
        stops = np.append(np.uint64(0), self.ids.stop)
        shifts = np.append(np.uint64(0), self.ids.address - self.ids.start)
        return row_ids + np.where(row_ids < stops[place], shifts[place], np.uint64(0))

    def sequence(self, row_ids: RowIdSequence) -> RowIdSequence:
        """Return the identities of rows; the same object if they are the row IDs."""
        starts, stops = row_ids.ranges()
        borders = np.unique(np.concatenate([self.ids.start, self.ids.stop]))
        owner, shift, length = cut_at(starts, stops - starts, borders)
        own = starts[owner] + shift
        begins = self.identities(own)
        if np.array_equal(begins, own):
            return row_ids
        return RowIdSequence((Ranges(begins, begins + length),))

    def row_versions(self, runs: RowVersionRuns) -> RowVersionRuns:
        """Return row versions with detached ones by their own numbers; the same if none is."""
        meant = self.versions.keys() & set(runs.versions.tolist())
        if not meant:
            return runs
        versions = runs.versions.copy()
        for number in meant:
            versions[runs.versions == np.uint64(number)] = self.versions[number]
        return RowVersionRuns(runs.counts, versions)

    def giving(self, ids: RunColumns, *, to_detached: bool) -> "Line":
        """Return the line after a commit that gave out row IDs."""
        others = outside(self.ids, ids.start, ids.stop)
        others = others.where(others.start < others.stop)
        aliased = ids.where(ids.start != ids.address)
        named = RunColumns.concatenated([others, aliased]).in_order()
        detached = RunColumns.concatenated([self.detached, ids]) if to_detached else self.detached
        return replace(self, ids=named, detached=detached)


PLAIN = Line()
"""The line of a version whose row IDs and version numbers are what they say."""


@dataclass(frozen=True, slots=True, eq=False)
class Namesakes:
    """The lines of all versions of a branch.

    Attributes
    ----------
    lines : tuple of Line
        For each version by its position.
    aliases : RunColumns
        Identities that are no row IDs, sorted, and in ``address`` the row IDs.
    restores : tuple of int
        The positions of restores of detached versions; of a lost one that of the first version that
        shows it.
    open_ids : RunColumns
        Row IDs that a detached version may have given out, or not: what it was built on is gone.
    operations : dict of int to OperationName or None
        What the detached versions on the lines did.
    arrivals : dict of int to int
        In which version of the branch each of these was added first.
    """

    lines: tuple[Line, ...]
    aliases: RunColumns
    restores: tuple[int, ...]
    open_ids: RunColumns
    operations: dict[int, OperationName | None]
    arrivals: dict[int, int]

    def row_ids(self, identities: Uint64Array) -> Uint64Array:
        """Return the row IDs of rows."""
        place = np.searchsorted(self.aliases.start, identities, side="right")
        stops = np.append(np.uint64(0), self.aliases.stop)
        shifts = np.append(np.uint64(0), self.aliases.address - self.aliases.start)
        return identities + np.where(identities < stops[place], shifts[place], np.uint64(0))

    def bearers(self, row_ids: Uint64Array) -> tuple[Uint64Array, Positions]:
        """Return the identities of all rows that ever had some IDs, and the place of each ID."""
        places = [np.arange(len(row_ids))]
        identities = [row_ids]
        for start, stop, row_id in zip(*self.aliases, strict=True):
            here = np.flatnonzero((row_ids >= row_id) & (row_ids - row_id < stop - start))
            places.append(here)
            identities.append(row_ids[here] - row_id + start)
        return np.concatenate(identities), np.concatenate(places)

    def arrived(self, versions: Uint64Array) -> Uint64Array:
        """Return row versions with the versions that detached ones were added by in their place."""
        arrived = versions.copy()
        for detached, version in self.arrivals.items():
            arrived[versions == np.uint64(detached)] = version
        return arrived

    @property
    def open_borders(self) -> Uint64Array:
        """Between which identities :meth:`are_open` and each line say the same of all rows."""
        stops = self.aliases.address + (self.aliases.stop - self.aliases.start)
        ids = [self.open_ids.start, self.open_ids.stop, self.aliases.address, stops]
        borders = self.bearers(np.concatenate(ids))[0]
        return np.unique(np.concatenate([borders, self.aliases.start, self.aliases.stop]))

    def are_open(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Tell of which rows it is not known whether they are others with the same ID."""
        ids = self.row_ids(identities)
        place = np.searchsorted(self.open_ids.start, ids, side="right")
        return np.asarray(ids < np.append(np.uint64(0), self.open_ids.stop)[place])
