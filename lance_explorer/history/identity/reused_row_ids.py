"""Row IDs and version numbers that were given out twice, and what tells their bearers apart.

Each version has a *line*: the commits that made it, one upon the other. A restore makes the version
that it restored the parent of what follows. The counters of row IDs and versions go on from the
latest commit, so that no number is given out twice, with two exceptions: a detached commit takes
the numbers that an ordinary one takes, too, and up to 8.0.1 a restore sets the counter of row IDs
back. So a row ID stands for the row to which a commit on the line of the version gave it. The
first row that has an ID has it as identity; later ones have identities that are no row IDs.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.detached import built_on, lost_base, num_given
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.identity.lost_restores import lost_restores
from lance_explorer.history.identity.row_id_lines import PLAIN, Line, Namesakes
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.restores import restored_version
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import MAX_U64, Uint64Array
from lance_explorer.rowids.runs import RunColumns, merged_ids, overlaps

__all__ = ["namesakes_of"]

_FIRST_ALIAS = 1 << 63

RangesOfIds = tuple[Uint64Array, Uint64Array]


def namesakes_of(
    view: HistoryView,
    records: tuple[VersionRecord, ...],
    new_ids: Callable[[int], RangesOfIds],
    stamps: Callable[[int], Collection[int]],
    detached_rows: Callable[[int], tuple[Collection[int], RangesOfIds]],
    new_files: Callable[[int], set[str]],
    maybe_restored: Callable[[int], Sequence[int]],
    new_created: Callable[[int, int], RangesOfIds],
) -> Namesakes | None:
    """Return what tells rows with one ID apart; None if no row ID was given out twice.

    Parameters
    ----------
    view : HistoryView
        A branch with stable row IDs.
    records : tuple of VersionRecord
        Its kept versions.
    new_ids : callable
        Gives the row IDs, as ranges, of the states that a version is the first one to have.
    stamps : callable
        Gives the versions that the rows of these states say they were written in.
    detached_rows : callable
        Gives those of all rows of a detached version, and the row IDs that it may have given out:
        those in fragments it wrote that are not known to be of older rows.
    new_files : callable
        Gives the data files of the states that a version is the first one to have.
    maybe_restored : callable
        Gives the detached versions that lost ones before a version may have restored, unseen.
    new_created : callable
        Gives the row IDs of the states that a version is the first one to have, of rows that may
        have been created in another one.

    Raises
    ------
    FormatError
        If there are more row IDs than can be told apart.
    """
    targets = {
        position: target
        for position, record in enumerate(records)
        if record.operation == OperationName.RESTORE
        and (target := _target(view, record)) is not None
    }
    counters = [record.manifest.next_row_id for record in records]
    falls = any(after < before for before, after in pairwise(counters))
    after_lost = [*_after_lost(records, targets)] if view.listing.detached else []
    lost = lost_restores(view, after_lost, new_files)
    doubts = {
        position: _doubtful_ids(
            records[position - 1],
            some,
            targets.get(position, records[position].version),
            detached_rows,
            partial(new_created, position),
        )
        for position in after_lost
        if position not in lost and (some := maybe_restored(position))
    }
    doubts = {position: ids for position, ids in doubts.items() if len(ids.start)}
    if not (falls or lost or doubts) and all(
        target < FIRST_DETACHED for target in targets.values()
    ):
        return None
    return _Lines(view, records, targets, lost, doubts, new_ids, stamps, detached_rows).found()


def _doubtful_ids(
    before: VersionRecord,
    detached: Sequence[int],
    last: int,
    detached_rows: Callable[[int], tuple[Collection[int], RangesOfIds]],
    new_created: Callable[[int], RangesOfIds],
) -> RunColumns:
    """Return row IDs of which a version has rows that may be those of detached ones.

    These have the IDs, and were created in the version after the one that they were built on. After
    that they were restored, and moved up to the ``last`` version that may have done so.
    """
    found = [RunColumns.empty()]
    for version in detached:
        stamps, own = detached_rows(version)
        if max([stamp for stamp in stamps if stamp < FIRST_DETACHED], default=0) < last:
            ids = new_created(max(stamps, default=0))
            both = overlaps(RunColumns(*own, own[0]), *_merged(ids))
            found.append(both.clipped(0, before.manifest.next_row_id))
    ids = _merged(RunColumns.concatenated(found)[:2])
    return RunColumns(*ids, ids[0])


def _merged(ranges: RangesOfIds) -> RangesOfIds:
    starts, stops = ranges
    return merged_ids(RunColumns(starts, stops, starts)) if len(starts) else ranges


def _after_lost(records: tuple[VersionRecord, ...], targets: dict[int, int]) -> Iterator[int]:
    """Yield the positions of versions that come from lost ones."""
    kept, before = {record.version for record in records}, 0
    for position, record in enumerate(records):
        target = targets.get(position, record.version)
        if record.version > before + 1 or (target < FIRST_DETACHED and target not in kept):
            yield position
        before = record.version


def _target(view: HistoryView, record: VersionRecord) -> int | None:
    try:
        return restored_version(view, record)
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
        view: HistoryView,
        records: tuple[VersionRecord, ...],
        targets: dict[int, int],
        lost: dict[int, tuple[int, ...]],
        doubts: dict[int, RunColumns],
        new_ids: Callable[[int], RangesOfIds],
        stamps: Callable[[int], Collection[int]],
        detached_rows: Callable[[int], tuple[Collection[int], RangesOfIds]],
    ) -> None:
        self._view = view
        self._records = records
        self._targets = targets
        self._lost = lost
        self._doubts = doubts
        self._restores = list[int]()
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
            self._lines.append(self._line(position))
        aliases = RunColumns(*np.array(self._aliases, dtype=np.uint64).reshape(-1, 3).T)
        open_ids = RunColumns.concatenated(self._open)
        if len(open_ids.start):
            open_ids = RunColumns(*(ranges := merged_ids(open_ids)), ranges[0])
        return Namesakes(
            tuple(self._lines),
            aliases,
            tuple(self._restores),
            open_ids,
            self._operations,
            {
                detached: self._records[position].version
                for position in reversed(self._restores)
                for detached in self._lines[position].versions.values()
            },
        )

    def _line(self, position: int) -> Line:
        target = self._targets.get(position)
        if position and target is not None and self._restores_detached(position):
            self._restores.append(position)
            return self._restored(position, target)
        line = self._lines[position - 1] if position else PLAIN
        if position and target is not None:
            line = self._lost_or_kept(target, position)
        unseen = [one for one in self._lost.get(position, ()) if one not in line.commits]
        if unseen:  # the one that comes from most of the others was restored last
            self._restores.append(position)
            lines = [self._restored(position, detached) for detached in unseen]
            line = max(lines, key=lambda line: len(line.commits.intersection(unseen)))
        elif position in self._doubts:  # they are taken for other rows than before
            self._open.append(doubtful := self._doubts[position])
            bounds = zip(doubtful.start.tolist(), doubtful.stop.tolist(), strict=True)
            given = [self._given(start, stop) for start, stop in bounds]
            line = line.giving(RunColumns.concatenated(given), to_detached=False)
        elif position == 0 or target is not None:
            return line
        low = self._counter(max(position - 1, 0))
        return line.giving(self._given(low, self._counter(position)), to_detached=False)

    def _restores_detached(self, position: int) -> bool:
        return self._targets.get(position, 0) >= FIRST_DETACHED

    def _lost_or_kept(self, version: int, before: int) -> Line:
        """Return the line of an ordinary version, which may not be kept."""
        place = int(np.searchsorted(self._versions[:before], np.uint64(version)))
        is_kept = place < before and int(self._versions[place]) == version
        is_own = place not in self._targets and place not in self._restores
        if is_kept or (place < before and is_own):
            return self._lines[place]  # the next version that is kept went out from a lost one
        return self._lines[place - 1] if place else PLAIN

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
            base = built_on(self._view, version, before, self._stamps_in(position, detached))
            chain.append(_Step(record, base))
            version = base
        return chain, version

    def _stamps_in(self, position: int, detached: int) -> Collection[int]:
        """Return the versions that rows of a detached one carry, given a version that shows it."""
        if self._restores_detached(position):
            return self._stamps(position)
        return self._detached_rows(detached)[0]

    def _ids_in(self, position: int, chain: list["_Step"]) -> RunColumns:
        """Return the row IDs that detached versions may have given out; one may be gone."""
        if not self._restores_detached(position):
            return self._written(chain)
        starts, stops = self._new_ids(position)
        return RunColumns(starts, stops, starts)

    def _written(self, chain: list["_Step"]) -> RunColumns:
        """Return the row IDs that detached versions may have given out; all are there."""
        written = [self._detached_rows(step.record.version)[1] for step in chain]
        starts, stops = [np.concatenate(some) for some in zip(*written, strict=True)]
        return RunColumns(starts, stops, starts)

    def _detached_record(self, version: int) -> VersionRecord | None:
        try:
            return self._view.version(version).records[0]
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
        version = step.record.version
        self._operations[version] = step.record.operation
        line = replace(line, commits=line.commits | {version})
        if step.base is None:
            return line
        # It is numbered after the version that it was built on, as an ordinary commit is.
        return replace(line, versions={**line.versions, step.base + 1: version})

    def _lost_begin(self, position: int, chain: list["_Step"]) -> tuple[Line, int] | None:
        """Return the line of the lost version below detached ones, and its next row ID.

        The first of them is given that version in the chain. None if that cannot be told.
        """
        first = chain[-1]
        stamps, written = self._detached_rows(first.record.version)
        found = lost_base(self._view, first.record, stamps, written)
        if found is None or (self._versions == np.uint64(found.version)).any():
            return None  # one that is there cannot be it
        chain[-1] = first._replace(base=found.version)
        least, most = found.least_row_id, found.most_row_id
        exact = self._counter_before(found.version + 1, position)
        if exact is not None and least <= exact <= most:
            return self._lost_or_kept(found.version, position), exact
        least = max(least, self._given_by(found.version, position))
        self._open.append(self._written(chain).clipped(least, most))
        return self._lost_or_kept(found.version, position), least

    def _given_by(self, version: int, before: int) -> int:
        """Return a counter of row IDs that a lost version has at least: they only rise.

        A restore that set them back makes an exception, and then nothing is said.
        """
        place = int(np.searchsorted(self._versions[:before], np.uint64(version)))
        counters = [self._counter(position) for position in range(place)]
        if not counters or any(after < other for other, after in pairwise(counters)):
            return 0
        return counters[-1]

    def _counter_before(self, version: int, before: int) -> int | None:
        """Return the next row ID of the lost version that one was built on, if that one tells."""
        place = int(np.searchsorted(self._versions[:before], np.uint64(version)))
        if place == before or int(self._versions[place]) != version:
            return None
        record = self._records[place]
        try:
            transaction = self._view.transaction(record)
        except FormatError:
            return None
        given = None if transaction is None else num_given(record, transaction.operation)
        return None if given is None else _counter_of(record) - given

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
        new = self._ids_in(position, chain).clipped(low, MAX_U64)
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
