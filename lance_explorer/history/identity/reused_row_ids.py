"""Row IDs and version numbers that were given out twice, and what tells their bearers apart.

Each version has a *line*: the commits that made it, one upon the other. A restore makes the version
that it restored the parent of what follows. The counters of row IDs and versions go on from the
latest commit, so that no number is given out twice, with two exceptions: a detached commit takes
the numbers that an ordinary one takes, too, and up to 8.0.1 a restore sets the counter of row IDs
back. So a row ID stands for the row to which a commit on the line of the version gave it. The
first row that has an ID has it as identity; later ones have identities that are no row IDs.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.detached import built_on, lost_base
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.restores import restored_version
from lance_explorer.history.source import TableSource
from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array
from lance_explorer.rowids.offsets import cut_at
from lance_explorer.rowids.runs import RunColumns, merged_ids, outside
from lance_explorer.rowids.sequence import Ranges, RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["Line", "Namesakes", "namesakes_of"]

_FIRST_ALIAS = 1 << 63

RangesOfIds = tuple[Uint64Array, Uint64Array]


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
    """

    ids: RunColumns = field(default_factory=RunColumns.empty)
    versions: dict[int, int] = field(default_factory=dict)
    detached: RunColumns = field(default_factory=RunColumns.empty)

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


_PLAIN = Line()


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
        The positions of restores of detached versions.
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

    def are_open(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Tell of which rows it is not known whether they are others with the same ID."""
        ids = self.row_ids(identities)
        place = np.searchsorted(self.open_ids.start, ids, side="right")
        return np.asarray(ids < np.append(np.uint64(0), self.open_ids.stop)[place])


def namesakes_of(
    source: TableSource,
    records: tuple[VersionRecord, ...],
    new_ids: Callable[[int], RangesOfIds],
    stamps: Callable[[int], Collection[int]],
    detached_rows: Callable[[int], tuple[Collection[int], RangesOfIds]],
) -> Namesakes | None:
    """Return what tells rows with one ID apart; None if no row ID was given out twice.

    Parameters
    ----------
    source : TableSource
        A branch with stable row IDs.
    records : tuple of VersionRecord
        Its kept versions.
    new_ids : callable
        Gives the row IDs, as ranges, of the states that a version is the first one to have.
    stamps : callable
        Gives the versions that the rows of these states say they were written in.
    detached_rows : callable
        Gives those of all rows of a detached version, and the row IDs of the fragments it wrote.

    Raises
    ------
    FormatError
        If there are more row IDs than can be told apart.
    """
    targets = {
        position: target
        for position, record in enumerate(records)
        if record.operation == OperationName.RESTORE
        and (target := _target(source, record)) is not None
    }
    counters = [record.manifest.next_row_id for record in records]
    falls = any(after < before for before, after in pairwise(counters))
    if not falls and all(target < FIRST_DETACHED for target in targets.values()):
        return None
    return _Lines(source, records, targets, new_ids, stamps, detached_rows).found()


def _target(source: TableSource, record: VersionRecord) -> int | None:
    try:
        return restored_version(source, record)
    except FormatError:
        return None


class _Step(NamedTuple):
    """A detached version, and the version that it was built on if that is known."""

    record: VersionRecord
    base: int | None


class _Lines:
    """The way through the versions, oldest first."""

    def __init__(
        self,
        source: TableSource,
        records: tuple[VersionRecord, ...],
        targets: dict[int, int],
        new_ids: Callable[[int], RangesOfIds],
        stamps: Callable[[int], Collection[int]],
        detached_rows: Callable[[int], tuple[Collection[int], RangesOfIds]],
    ) -> None:
        self._source = source
        self._records = records
        self._targets = targets
        self._new_ids = new_ids
        self._stamps = stamps
        self._detached_rows = detached_rows
        self._versions = np.array([record.version for record in records], dtype=np.uint64)
        self._lines = list[Line]()
        self._detached: dict[int, Line] = {}
        self._operations: dict[int, OperationName | None] = {}
        self._open = list[RunColumns]()
        self._highest = records[0].manifest.next_row_id
        self._next_alias = _FIRST_ALIAS
        self._aliases = list[tuple[int, int, int]]()

    def found(self) -> Namesakes:
        """Return what there is."""
        for position in range(len(self._records)):
            self._lines.append(self._line(position) if position else _PLAIN)
        aliases = RunColumns(*np.array(self._aliases, dtype=np.uint64).reshape(-1, 3).T)
        restores = [at for at, target in self._targets.items() if at and target >= FIRST_DETACHED]
        open_ids = RunColumns.concatenated(self._open)
        if len(open_ids.start):
            open_ids = RunColumns(*(ranges := merged_ids(open_ids)), ranges[0])
        return Namesakes(
            tuple(self._lines),
            aliases,
            tuple(restores),
            open_ids,
            self._operations,
            {
                detached: self._records[position].version
                for position in reversed(restores)
                for detached in self._lines[position].versions.values()
            },
        )

    def _line(self, position: int) -> Line:
        target = self._targets.get(position)
        if target is None:
            return self._after(position - 1, self._counter(position))
        if target >= FIRST_DETACHED:
            return self._restored(position, target)
        return self._lost_or_kept(target, position)

    def _after(self, position: int, counter: int) -> Line:
        """Return the line of a commit on a version, given its counter."""
        low = self._counter(position)
        return self._lines[position].giving(self._given(low, counter), to_detached=False)

    def _lost_or_kept(self, version: int, before: int) -> Line:
        """Return the line of an ordinary version, which may not be kept."""
        place = int(np.searchsorted(self._versions[:before], np.uint64(version)))
        is_kept = place < before and int(self._versions[place]) == version
        if is_kept or (place < before and place not in self._targets):
            return self._lines[place]  # the next version that is kept went out from a lost one
        return self._lines[place - 1] if place else _PLAIN

    def _restored(self, position: int, detached: int) -> Line:
        if detached not in self._detached:
            chain, base = self._chain(detached, position)
            at = np.flatnonzero(self._versions == np.uint64(base or 0)).tolist()
            begin = (self._lines[at[0]], self._counter(at[0])) if at else None
            if begin is None and chain:
                begin = self._lost_begin(position, chain)
            if begin is None:
                self._detached[detached] = self._guessed(position, chain)
            else:
                line, low = begin
                for step in reversed(chain):
                    line, low = self._commit(line, low, step), _counter_of(step.record)
                    self._detached.setdefault(step.record.version, line)
        return self._detached[detached]

    def _chain(self, detached: int, position: int) -> tuple[list["_Step"], int | None]:
        """Return detached versions, each built on the next, and the ordinary one below them."""
        chain = list[_Step]()
        version: int | None = detached
        while version is not None and version >= FIRST_DETACHED:
            record = self._detached_record(version)
            if record is None or version in [step.record.version for step in chain]:
                return chain, None
            before = self._records[position].version
            base = built_on(self._source, version, before, self._stamps(position))
            chain.append(_Step(record, base))
            version = base
        return chain, version

    def _detached_record(self, version: int) -> VersionRecord | None:
        try:
            return self._source.version(version).records[0]
        except (FormatError, NotFoundError):
            return None

    def _commit(self, line: Line, low: int, step: "_Step") -> Line:
        """Return the line of a detached version, given that of the one that it was built on."""
        if step.record.version in self._detached:
            return self._detached[step.record.version]
        line = line.giving(self._given(low, _counter_of(step.record)), to_detached=True)
        return self._numbered(line, step)

    def _numbered(self, line: Line, step: "_Step") -> Line:
        """Return the line with the number that rows of a detached commit carry."""
        self._operations[step.record.version] = step.record.operation
        if step.base is None:
            return line
        # It is numbered after the version that it was built on, as an ordinary commit is.
        return replace(line, versions={**line.versions, step.base + 1: step.record.version})

    def _lost_begin(self, position: int, chain: list["_Step"]) -> tuple[Line, int] | None:
        """Return the line of the lost version below detached ones, and its next row ID.

        The first of them is given that version in the chain. None if that cannot be told.
        """
        first = chain[-1]
        stamps, written = self._detached_rows(first.record.version)
        found = lost_base(self._source, first.record, stamps, written)
        if found is None or (self._versions == np.uint64(found.version)).any():
            return None  # one that is there cannot be it
        chain[-1] = first._replace(base=found.version)
        starts, stops = self._new_ids(position)
        open_ids = RunColumns(starts, stops, starts).clipped(found.least_row_id, found.most_row_id)
        self._open.append(open_ids)
        return self._lost_or_kept(found.version, position), found.least_row_id

    def _guessed(self, position: int, chain: list["_Step"]) -> Line:
        """Return the line of a detached version if it is not known what it was built on.

        Rows that no version had before are taken for new ones, but for those with IDs that were
        given out by then.
        """
        stored = chain[-1].record.transaction if chain else None
        said = 0 if stored is None else stored.header.read_version  # it has all that this one had
        kept = int(np.searchsorted(self._versions[:position], np.uint64(said), "right"))
        kept = 0 if said >= FIRST_DETACHED else kept
        low = self._counter(kept - 1) if kept else 0
        starts, stops = self._new_ids(position)
        new = RunColumns(starts, stops, starts).clipped(low, MAX_U64)
        line = self._lines[kept - 1] if kept else self._lines[position - 1]
        if len(new.start):
            bounds = zip(*[bounds.tolist() for bounds in merged_ids(new)], strict=True)
            given = [self._given(start, stop) for start, stop in bounds]
            line = line.giving(RunColumns.concatenated(given), to_detached=True)
        for step in reversed(chain):
            line = self._numbered(line, step)
        self._open.append(new)
        return line

    def _given(self, low: int, high: int) -> RunColumns:
        """Return row IDs that a commit gave out, with the identities of their rows."""
        if low >= high:
            return RunColumns.empty()
        identity = low
        if low < self._highest:
            identity, self._next_alias = self._next_alias, self._next_alias + high - low + 1
            if self._next_alias >= MAX_U64 or high > _FIRST_ALIAS:
                raise FormatError(
                    f"the row IDs {low} to {high - 1} were assigned twice, and are too many to "
                    "distinguish their rows"
                )
            self._aliases.append((identity, identity + high - low, low))
        self._highest = max(self._highest, high)
        return RunColumns(*np.array([[low], [high], [identity]], dtype=np.uint64))

    def _counter(self, position: int) -> int:
        return _counter_of(self._records[position])


def _counter_of(record: VersionRecord) -> int:
    return record.manifest.next_row_id
