"""The values of columns in many versions, each read once and summed up by the versions it lives in.

Versions share data files, and a data file never changes. So each column of a fragment is read once
for its rows, which are grouped into cohorts (:mod:`.cohorts`). Rows of all fragments that live in
the same versions share a summary; memory holds summaries, and values only until there are enough of
them to summarise.
"""

import copy
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.errors import LanceExplorerError, StorageError
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.schema import Field, column_fields
from lance_explorer.frames.sizes import listed
from lance_explorer.history.columns.doubt_findings import column_in_doubt
from lance_explorer.history.columns.value_columns import (
    blob_columns,
    value_columns,
)
from lance_explorer.history.events.address_identities import rows_of_state
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import Stop
from lance_explorer.history.progress import with_progress
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.values.later_values import known_at
from lance_explorer.lineage.stored_rows import (
    Piece,
    StoredRows,
    Wanted,
    bytes_of,
    reads_of,
    stored_rows,
)
from lance_explorer.profiles.cohorts import FragmentCohorts, Runs, cohorts_of, read_in
from lance_explorer.profiles.digests import Digest, merged
from lance_explorer.profiles.folding import Part
from lance_explorer.profiles.measures import Leaf, leaves_of
from lance_explorer.profiles.summaries import MOST_BYTES, Summaries, Summary, summary_key
from lance_explorer.rowids.addresses import FRAGMENT_BITS
from lance_explorer.values.inner_names import renamed, renamed_types

__all__ = ["ColumnAt", "ProfileRows", "ReadPart", "Task"]

_OFFSETS = np.uint64((1 << FRAGMENT_BITS) - 1)
_ADDRESS = "_rowaddr"

_FRAGMENTS_AT_ONCE = 16
_BATCH_BYTES, _MOST_BATCH_ROWS, _LEAST_BATCH_ROWS = 16 << 20, 1 << 18, 512
_TEXT_BYTES = 64
"""The assumed size of a text or a list before it is read."""

_ROWS_HELD, _BYTES_HELD, _BYTES_HELD_IN_ALL = 1 << 20, 64 << 20, 256 << 20
_FEW_ROWS, _FEW_BYTES = 4_096, 64 << 10
"""Up to this number, values are kept as they are: a summary would not be smaller."""


class ColumnAt(NamedTuple):
    """A column of the profile in a version.

    Attributes
    ----------
    name : str
        What it is called in the profile.
    own : str
        What it is called in the version.
    fields : tuple of Field
        The field, and those inside.
    leaves : tuple of Leaf
        What there is a line for.
    """

    name: str
    own: str
    fields: tuple[Field, ...]
    leaves: tuple[Leaf, ...]


class _Read(NamedTuple):
    """Some cohorts of a fragment, with a column of which their values are to be read."""

    column: str
    stored: StoredRows
    found: FragmentCohorts
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One read: columns of some fragments in a version.

    Attributes
    ----------
    position : int
        The version.
    reads : mapping of int to list
        What is read of each fragment.
    num_bytes : int
        About how many bytes that is.
    """

    position: int
    reads: Mapping[int, list[_Read]]
    num_bytes: int


_Part = tuple[_Read, int, pl.Series]
"""Values of one cohort."""


@dataclass(slots=True)
class _Held:
    """Values of rows that live in the same versions, not summarised yet."""

    parts: list[pl.Series] = field(default_factory=list)
    num_rows: int = 0
    num_bytes: int = 0

    @property
    def are_few(self) -> bool:
        """Whether they stay values."""
        return self.num_rows <= _FEW_ROWS and self.num_bytes <= _FEW_BYTES

    def joined(self) -> pl.Series:
        """Return them as one series."""
        self.parts = [pl.concat(self.parts, rechunk=True)]
        return self.parts[0]


class ReadPart(NamedTuple):
    """What was read for a profile: summaries, small groups of values, and losses."""

    digests: dict[tuple[str, Runs], dict[Leaf, Digest]]
    held: dict[tuple[str, Runs], pl.Series]
    lost: dict[str, list[Runs]]
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class _Cuts:
    """The cohort of each row of a fragment.

    Small cohorts are taken together, which is faster, and apart from large ones, which would
    otherwise stay in memory with them.
    """

    whole: int | None = None
    many: Sequence[tuple[int, NDArray[np.int64]]] = ()
    few: NDArray[np.int64] | None = None
    lengths: Sequence[tuple[int, int]] = ()

    def of(self, column: pl.Series) -> Iterator[tuple[int, pl.Series]]:
        """Yield the values of each cohort."""
        if self.whole is not None:
            yield self.whole, column
        for number, places in self.many:
            yield number, column.gather(places)
        if self.few is not None and len(self.few):
            taken, begin = _copied(column.gather(self.few)), 0
            for number, length in self.lengths:
                yield number, taken.slice(begin, length)
                begin += length


class ProfileRows:
    """The values of some columns in some versions of a branch, as far as they are known.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    positions : sequence of int
        The versions, ascending.
    chosen : sequence of str or None
        The columns, as the last version that has them calls them; all by default.
    kept : Summaries, optional
        What was read before and is not read again.

    Attributes
    ----------
    columns : mapping of str to dict
        For each column of the profile what it is in each position that has it.
    waiting : list of Task
        What was not read yet, the newest version first.
    findings : list of Finding
        What could not be read, or is in doubt.
    bytes_read : int
        About how many bytes were read.
    """

    def __init__(
        self,
        rows: StateRows,
        positions: Sequence[int],
        chosen: Sequence[str] | None,
        kept: Summaries | None = None,
    ) -> None:
        self.rows, self.positions = rows, positions
        self._kept = kept
        self.findings = list[Finding]()
        self.bytes_read = 0
        self._places = {position: place for place, position in enumerate(positions)}
        stops = [Stop(rows, position) for position in reversed(positions)]
        self._types = dict[tuple[Field, ...], pl.Schema]()
        self._named = value_columns(stops, self._types_of, chosen)
        self._note_doubts()
        self.columns = self._columns_at(stops)
        self._lost = defaultdict[str, list[Runs]](list)
        self._digests = defaultdict[tuple[str, Runs], dict[Leaf, Digest]](dict)
        self._held = defaultdict[tuple[str, Runs], _Held](_Held)
        self._bytes_held = 0
        self.waiting = self._tasks()

    @property
    def names(self) -> list[str]:
        """The columns of the profile."""
        return list(self.columns)

    def read(self, max_bytes: int | None) -> None:
        """Read more, until so many bytes are read."""
        chosen, size = list[Task](), 0
        for task in self.waiting:
            if max_bytes is not None and size >= max_bytes:
                break
            chosen.append(task)
            size += task.num_bytes
        try:
            for task in with_progress(chosen, "Reading values", "parts", few=2):
                self.waiting.remove(task)
                self._read(task)
        finally:
            if self._kept is not None:
                self._kept.keep()
        self._sum_up()
        self.bytes_read += size

    @property
    def signature(self) -> str:
        """Two processes with equal keys would read the same in the same order."""
        records = self.rows.history.records
        content = [
            (records[task.position].version, n, [(one.column, one.numbers) for one in reads])
            for task in self.waiting
            for n, reads in task.reads.items()
        ]
        return sha256(repr(content).encode()).hexdigest()

    def read_some(self, tasks: range) -> "ReadPart":
        """Read a part without counting it as read, for another process to merge."""
        one = copy.copy(self)
        one.findings, one._bytes_held = [], 0
        one._lost, one._held = defaultdict(list), defaultdict(_Held)
        one._digests = defaultdict(dict)
        for number in tasks:
            one._read(one.waiting[number])
        one._sum_up()
        held = {key: some.joined() for key, some in one._held.items()}
        return ReadPart(dict(one._digests), held, dict(one._lost), one.findings)

    def take(self, parts: Iterable["ReadPart"]) -> None:
        """Count everything as read: other processes have read it."""
        for part in parts:
            for key, digests in part.digests.items():
                known = self._digests[key]
                for leaf, digest in digests.items():
                    known[leaf] = merged([known[leaf], digest]) if leaf in known else digest
            for (column, runs), values in part.held.items():
                self.hold(column, runs, values)
            for column, lost in part.lost.items():
                self._lost[column] += lost
            self.findings += part.findings
        self.bytes_read += sum([task.num_bytes for task in self.waiting])
        self.waiting = []
        self._sum_up()

    def parts(self, column: str, leaf: Leaf) -> list[Part]:
        """Return what is known of a column, by the versions in which it lives."""
        parts = list[Part]()
        for (name, runs), digests in self._digests.items():
            if name == column and leaf in digests:
                parts.append((self._in_places(runs), digests[leaf]))
        for (name, runs), held in self._held.items():
            if name == column and leaf in self._leaves(column, runs):
                parts.append((self._in_places(runs), held.joined()))
        return parts

    def unknown_places(self, column: str) -> frozenset[int]:
        """Return which versions have values that were lost, or not read yet."""
        runs = list(self._lost[column])
        for task in self.waiting:
            for reads in task.reads.values():
                for one in reads:
                    if one.column == column:
                        runs += [one.found.cohorts[number].runs for number in one.numbers]
        return frozenset(
            [
                place
                for some in runs
                for first, last in self._in_places(some)
                for place in range(first, last + 1)
            ]
        )

    # ---------------------------------------------------------------------------- what to read

    def _columns_at(self, stops: Sequence[Stop]) -> dict[str, dict[int, ColumnAt]]:
        columns: dict[str, dict[int, ColumnAt]] = {name: {} for name in self._named.schema}
        known = dict[tuple[int, int], list[ColumnAt]]()
        for stop in reversed(stops):
            record, view = stop.record, stop.line.view
            names = self._named.names_in(view, record.version)
            key = id(record.schema), id(names)
            if key not in known:
                known[key] = self._columns_of(stop, names)
            for column in known[key]:
                columns[column.name][stop.position] = column
        return columns

    def _columns_of(self, stop: Stop, names: Mapping[str, str]) -> list[ColumnAt]:
        record, view = stop.record, stop.line.view
        types = self._types_of(stop)
        types = renamed_types(types, self._named.inside.get((view.storage.uri, record.version), {}))
        blobs, fields = blob_columns(record.schema), column_fields(record.schema)
        return [
            ColumnAt(
                name,
                own,
                tuple(fields[own]),
                tuple(leaves_of(name, types[own], is_blob=own in blobs)),
            )
            for name, own in names.items()
            if name in self._named.schema and own in types
        ]

    def _types_of(self, stop: Stop) -> pl.Schema:
        """Return the types of a version; those that pylance does not know are left out, and noted.

        Versions of one schema have the same.
        """
        from lance_explorer.values import row_schema

        view, record = stop.line.view, stop.record
        if record.schema not in self._types:
            types = pl.Schema()
            try:
                root, options = value_root(view, record.version), view.storage.options
                types = row_schema(root, record.version, options, only_known=True)
                unknown = [name for name in column_fields(record.schema) if name not in types]
                if unknown:
                    self._leave_out(record.version, unknown)
            except LanceExplorerError as error:
                self._note_loss(record.version, Subject(), f"values are not read: {error}", ())
            self._types[record.schema] = types
        return self._types[record.schema]

    def _leave_out(self, version: int, names: Sequence[str]) -> None:
        have = "has a type" if len(names) == 1 else "have types"
        words = f"{listed(names)} {have} that this release of pylance does not know"
        self._note_loss(version, Subject(), words, names)

    def _tasks(self) -> list[Task]:
        cohorts = dict[tuple[Piece, ...], FragmentCohorts]()
        pieces = list[tuple[_Read, Piece]]()
        for name, at in self.columns.items():
            wanted = {position: _wanted(column) for position, column in at.items()}
            whole = range(self.positions[0], self.positions[-1] + 1)
            for stored in stored_rows(self.rows, wanted.get, whole):
                key = tuple(stored.pieces)
                if key not in cohorts:
                    cohorts[key] = cohorts_of(self.rows, stored)
                fragment_cohorts = cohorts[key]
                for piece, numbers in fragment_cohorts.reads:
                    read = _Read(name, stored, fragment_cohorts, numbers)
                    if numbers and not self._recall(read):
                        pieces.append((read, piece))
        tasks = list[Task]()
        for position, reads in reads_of(self.rows, pieces):
            by_fragment = defaultdict[int, list[_Read]](list)
            for read in reads:
                by_fragment[read.stored.fragment_id].append(read)
            by_columns = defaultdict[tuple[str, ...], list[int]](list)
            for fragment_id, there in by_fragment.items():
                by_columns[tuple([read.column for read in there])].append(fragment_id)
            for fragment_ids in by_columns.values():
                for begin in range(0, len(fragment_ids), _FRAGMENTS_AT_ONCE):
                    some = {n: by_fragment[n] for n in fragment_ids[begin:][:_FRAGMENTS_AT_ONCE]}
                    tasks.append(Task(position, some, self._size(some)))
        return tasks

    def _key(self, read: _Read) -> str:
        """Return the key for a column of a fragment."""
        fragment = self.rows.history.states[read.stored.pieces[0].state]
        leaves = self._leaves(read.column, read.found.cohorts[0].runs)
        return summary_key(fragment, read.stored.wanted, leaves, read.found.deleted)

    def _recall(self, read: _Read) -> bool:
        """Count the kept values of a column of a fragment, if all of them are kept."""
        summary = self._kept.get(self._key(read)) if self._kept is not None else None
        if summary is None:
            return False
        kept = dict[int, list[Digest] | pl.Series]()
        for number in read.numbers:
            if summary.rest and _is_rest(read, number):
                kept[number] = summary.rest
            elif (values := summary.of(self._offsets(read, number))) is not None:
                kept[number] = values
            else:
                return False
        for number, one in kept.items():
            self._count(read, number, one)
        return True

    def _offsets(self, read: _Read, number: int) -> BitMap:
        """Return the rows of a cohort."""
        offsets = read.found.cohorts[number].offsets
        if offsets is not None:
            return offsets
        return BitMap(range(self.rows.num_rows(read.stored.pieces[0].state))) - read.found.deleted

    def count(
        self, read: _Read, waiting: Mapping[int, pl.Series], summed: Mapping[int, list[Digest]]
    ) -> None:
        """Count the values of a column of a fragment.

        Parameters
        ----------
        read : _Read
            What was read.
        waiting : mapping of int to Series
            Values, by the numbers of their cohorts.
        summed : mapping of int to list
            Summaries of those that were too many to wait.
        """
        by_cohort: dict[int, list[Digest] | pl.Series] = {**waiting, **summed}
        for number, values in waiting.items():
            if number in summed or (_is_rest(read, number) and not _are_few(values)):
                by_cohort[number] = self.summed(read, number, values, summed.get(number, ()))
        for number, one in by_cohort.items():
            self._count(read, number, one)
        if self._kept is not None and len(read.found.reads) == 1:
            summary = self._summary(read, by_cohort)
            if summary is not None:
                self._kept.note(self._key(read), summary)

    def _summary(
        self, read: _Read, by_cohort: Mapping[int, "list[Digest] | pl.Series"]
    ) -> Summary | None:
        """Return what to keep of a column of a fragment; None if it would be too large."""
        rest, offsets, parts = list[Digest](), list[BitMap](), list[pl.Series]()
        for number, one in by_cohort.items():
            if isinstance(one, pl.Series):
                offsets.append(self._offsets(read, number))
                parts.append(one)
            elif _is_rest(read, number):
                rest = one
            else:
                return None
        if sum([part.estimated_size() for part in parts]) > MOST_BYTES:
            return None
        if not parts:
            return Summary(rest, BitMap(), pl.Series(dtype=pl.Null))
        order = np.argsort(np.concatenate([np.array(one.to_array()) for one in offsets]))
        return Summary(rest, BitMap.union(*offsets), pl.concat(parts)[order])

    def summed(
        self, read: _Read, number: int, values: pl.Series, so_far: Sequence[Digest] = ()
    ) -> list[Digest]:
        """Return summaries of values of a cohort, and the ones that exist already."""
        leaves = self._leaves(read.column, read.found.cohorts[number].runs)
        digests = [leaf.digest(values) for leaf in leaves]
        if not so_far:
            return digests
        return [merged(pair) for pair in zip(so_far, digests, strict=True)]

    def _count(self, read: _Read, number: int, one: "list[Digest] | pl.Series") -> None:
        runs = read.found.cohorts[number].runs
        if isinstance(one, pl.Series):
            self.hold(read.column, runs, one)
            return
        known = self._digests[read.column, runs]
        for leaf, digest in zip(self._leaves(read.column, runs), one, strict=True):
            known[leaf] = merged([known[leaf], digest]) if leaf in known else digest

    def _size(self, reads: Mapping[int, list[_Read]]) -> int:
        size = 0.0
        for there in reads.values():
            for read in there:
                fragment = self.rows.history.states[read.stored.pieces[0].state]
                size += bytes_of(fragment, read.stored.wanted.fields)
        return int(size)

    # --------------------------------------------------------------------------------- reading

    def _read(self, task: Task) -> None:
        view, record = self.rows.view, self.rows.history.records[task.position]
        taken = _Taken(self)
        try:
            for batch in self._batches(task):
                for fragment_id, parts in self._parts(task, batch):
                    taken.add(fragment_id, parts)
            taken.end()
        except LanceExplorerError as error:
            view.values_missing(record.version)
            self._read_again(task, taken, error)
        except BaseException:  # some of the values were added, and which ones is unknown
            for fragment_id in task.reads.keys() - taken.whole:
                reads = task.reads[fragment_id]
                self._lose(task.position, fragment_id, reads, StorageError("it was interrupted"))
            raise

    def _read_again(self, task: Task, taken: "_Taken", error: LanceExplorerError) -> None:
        """Read by fragment and column what failed as a whole; record what still fails as lost."""
        rest = {n: reads for n, reads in task.reads.items() if n not in taken.whole}
        if len(task.reads) > 1:
            for fragment_id, reads in rest.items():
                self._read(Task(task.position, {fragment_id: reads}, 0))
            return
        for fragment_id, reads in rest.items():
            if len(reads) == 1:
                self._read_later(task.position, fragment_id, reads[0], error)
                continue
            for read in reads:
                self._read(Task(task.position, {fragment_id: [read]}, 0))

    def _read_later(
        self, position: int, fragment_id: int, read: _Read, error: LanceExplorerError
    ) -> None:
        """Read a column of a fragment whose files are gone from where its values are left."""
        rows, own = self.rows, self.columns[read.column][position].own
        state = rows.history.by_id(rows.history.intervals.at(position))[fragment_id]
        try:
            addresses, identities = rows_of_state(rows, state)
            values, known = known_at(
                rows, position, addresses, identities, [own], whole_blobs=False
            )
        except LanceExplorerError as other:
            known, error = np.zeros(1, dtype=np.bool_), other
        if not known.all():
            self._lose(position, fragment_id, [read], error)
            return
        batch = values.with_columns(pl.Series(_ADDRESS, addresses))
        for _, parts in self._parts(Task(position, {fragment_id: [read]}, 0), batch):
            self.count(read, {number: some for _, number, some in parts}, {})

    def _batches(self, task: Task) -> Iterator[pl.DataFrame]:
        from lance_explorer.values import row_batches
        from lance_explorer.values.opening import to_polars

        view, record = self.rows.view, self.rows.history.records[task.position]
        columns = self._of_task(task)
        check_values(view, record.version, some_rows=True)
        for batch in row_batches(
            value_root(view, record.version),
            record.version,
            [*task.reads],
            [*[column.own for column in columns], _ADDRESS],
            batch_size=_batch_rows(columns),
            storage_options=view.storage.options,
        ):
            yield to_polars(pa.Table.from_batches([batch]))

    def _of_task(self, task: Task) -> list[ColumnAt]:
        reads = next(iter(task.reads.values()))
        return [self.columns[read.column][task.position] for read in reads]

    def _parts(self, task: Task, batch: pl.DataFrame) -> Iterator[tuple[int, list[_Part]]]:
        """Yield each fragment of a batch, with its values by column and version."""
        addresses = batch[_ADDRESS].to_numpy()
        if not len(addresses):
            return
        record = self.rows.history.records[task.position]
        inside = self._named.inside.get((self.rows.view.storage.uri, record.version), {})
        own = {column.own: column.name for column in self._of_task(task)}
        values = renamed(batch.select([*own]).rename(own), inside)
        fragments = addresses >> np.uint64(FRAGMENT_BITS)
        offsets = (addresses & _OFFSETS).astype(np.int64)
        begins = np.flatnonzero(np.append(True, fragments[1:] != fragments[:-1])).tolist()
        for begin, end in zip(begins, [*begins[1:], len(fragments)], strict=True):
            fragment_id = int(fragments[begin])
            cuts = dict[tuple[int, tuple[int, ...]], _Cuts]()
            parts = list[_Part]()
            for read in task.reads[fragment_id]:
                key = id(read.found), read.numbers
                if key not in cuts:
                    cuts[key] = self._cut(read, offsets[begin:end])
                column = values[read.column].slice(begin, end - begin)
                parts += [(read, number, some) for number, some in cuts[key].of(column)]
            yield fragment_id, parts

    def _cut(self, read: _Read, offsets: NDArray[np.int64]) -> "_Cuts":
        """Return the cohort of each row of a fragment."""
        if read.numbers == (0,) and len(read.found.cohorts) == 1 and not read.found.deleted:
            return _Cuts(whole=0)
        state = read.stored.pieces[0].state
        at = read_in(read.found, read.numbers, self.rows.num_rows(state))[offsets]
        order = np.argsort(at, kind="stable")
        ordered = at[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        ends = np.append(begins[1:], len(ordered))
        numbers = ordered[begins]
        few = (numbers >= 0) & (ends - begins <= _FEW_ROWS)
        many = (numbers >= 0) & ~few
        parts = [order[begin:end] for begin, end in zip(begins[few], ends[few], strict=True)]
        return _Cuts(
            many=[
                (int(number), order[begin:end])
                for number, begin, end in zip(numbers[many], begins[many], ends[many], strict=True)
            ],
            few=np.concatenate([np.empty(0, np.int64), *parts]),
            lengths=[(int(n), len(part)) for n, part in zip(numbers[few], parts, strict=True)],
        )

    def _lose(
        self, position: int, fragment_id: int, reads: Sequence[_Read], error: LanceExplorerError
    ) -> None:
        version = self.rows.history.records[position].version
        for read in reads:
            self._lost[read.column] += [read.found.cohorts[n].runs for n in read.numbers]
        subject = Subject("fragment", str(fragment_id))
        names = [read.column for read in reads]
        self._note_loss(version, subject, f"rows are not read: {error}", names)

    def _note_loss(
        self, version: int, subject: Subject, statement: str, columns: Sequence[str]
    ) -> None:
        self.findings.append(
            Finding(
                "values_lost",
                statement,
                subject=subject,
                versions=(version, version),
                branch=self.rows.view.branch,
                columns=tuple(columns),
                remedy=Remedy(
                    "Restore the files from a backup; if they are elsewhere, open the table "
                    "with allow_bases=[...]; a type that is not known needs a newer pylance."
                ),
            )
        )

    def _note_doubts(self) -> None:
        branch = self.rows.view.branch
        self.findings += [column_in_doubt(one, branch, branch) for one in self._named.doubts]

    # ------------------------------------------------------------------------------- summing up

    def hold(self, column: str, runs: Runs, values: pl.Series) -> None:
        """Add values of rows that live in some versions."""
        held = self._held[column, runs]
        size = int(values.estimated_size())
        held.parts.append(values)
        held.num_rows += len(values)
        held.num_bytes += size
        self._bytes_held += size
        if held.num_rows >= _ROWS_HELD or held.num_bytes >= _BYTES_HELD:
            self._sum_up([(column, runs)])
        elif self._bytes_held >= _BYTES_HELD_IN_ALL:
            self._sum_up()
            if self._bytes_held >= _BYTES_HELD_IN_ALL / 2:
                self._sum_up([*self._held])

    def _sum_up(self, keys: Iterable[tuple[str, Runs]] | None = None) -> None:
        """Summarise the values in memory; by default all except small groups."""
        if keys is None:
            keys = [key for key, held in self._held.items() if not held.are_few]
        for key in keys:
            held = self._held.pop(key)
            self._bytes_held -= held.num_bytes
            known = self._digests[key]
            for leaf in self._leaves(*key):
                digest = leaf.digest(held.joined())
                known[leaf] = merged([known[leaf], digest]) if leaf in known else digest

    def _leaves(self, column: str, runs: Runs) -> tuple[Leaf, ...]:
        return self.columns[column][runs[0][0]].leaves

    def _in_places(self, runs: Runs) -> Runs:
        """Return stretches of positions as stretches of the requested versions."""
        stretches = list[tuple[int, int]]()
        for first, last in runs:
            begin, end = self._places[first], self._places[last]
            if stretches and begin == stretches[-1][1] + 1:
                stretches[-1] = stretches[-1][0], end
            else:
                stretches.append((begin, end))
        return tuple(stretches)


class _Taken:
    """Values of a fragment; they count only once all of them were read.

    Attributes
    ----------
    whole : set of int
        The fragments of which all values were taken.
    """

    def __init__(self, found: ProfileRows) -> None:
        self._found = found
        self._fragment_id: int | None = None
        self._reads = dict[str, _Read]()
        self._waiting = defaultdict[str, dict[int, list[pl.Series]]](dict)
        self._summed = defaultdict[str, dict[int, list[Digest]]](dict)
        self._num_bytes = 0
        self.whole = set[int]()

    def add(self, fragment_id: int, parts: list[_Part]) -> None:
        """Add the values of a fragment after those of the one before."""
        if fragment_id != self._fragment_id:
            self.end()
            self._fragment_id = fragment_id
        for read, number, values in parts:
            self._reads[read.column] = read
            self._waiting[read.column].setdefault(number, []).append(values)
            self._num_bytes += int(values.estimated_size())
        if self._num_bytes > _BYTES_HELD:
            self._sum_up()

    def end(self) -> None:
        """Count the values of the fragment."""
        for column, read in self._reads.items():
            joined = {
                n: pl.concat(parts, rechunk=True) for n, parts in self._waiting[column].items()
            }
            self._found.count(read, joined, self._summed[column])
        if self._fragment_id is not None:
            self.whole.add(self._fragment_id)
        self._reads.clear()
        self._waiting.clear()
        self._summed.clear()
        self._num_bytes = 0

    def _sum_up(self) -> None:
        """Summarise large groups, so that memory holds no more values."""
        for column, waiting in self._waiting.items():
            read, summed = self._reads[column], self._summed[column]
            for number, parts in [*waiting.items()]:
                values = pl.concat(parts, rechunk=True)
                if _is_rest(read, number) or not _are_few(values):
                    so_far = summed.get(number, ())
                    summed[number] = self._found.summed(read, number, values, so_far)
                    del waiting[number]
        self._num_bytes = 0


def _is_rest(read: _Read, number: int) -> bool:
    """Tell whether a cohort has the rows that no version deleted."""
    return read.found.cohorts[number].offsets is None


def _are_few(values: pl.Series) -> bool:
    """Tell whether values stay values."""
    return len(values) <= _FEW_ROWS and values.estimated_size() <= _FEW_BYTES


def _wanted(column: ColumnAt) -> Wanted:
    """Return what distinguishes versions in which files give a column other values."""
    fields = tuple([(one.id, one.parent_id, one.logical_type) for one in column.fields])
    return Wanted(frozenset([one.id for one in column.fields]), fields)


def _copied(values: pl.Series) -> pl.Series:
    """Return values that keep no other memory alive: slices of text point into their batch."""
    if values.dtype.is_numeric() or values.dtype.is_temporal():
        return values
    return pl.Series(values.name, values.to_arrow(compat_level=pl.CompatLevel.oldest()))


def _batch_rows(columns: Sequence[ColumnAt]) -> int:
    width = 8 + sum([_width(leaf.dtype) for column in columns for leaf in column.leaves])
    return max(_LEAST_BATCH_ROWS, min(_MOST_BATCH_ROWS, _BATCH_BYTES // width))


def _width(dtype: pl.DataType) -> int:
    """Return about how many bytes a value takes."""
    if isinstance(dtype, pl.Array):
        return int(dtype.size) * 8
    return 8 if dtype.is_numeric() or dtype.is_temporal() else _TEXT_BYTES
