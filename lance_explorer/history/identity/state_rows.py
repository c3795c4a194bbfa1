"""The rows of fragment states: who they are, and in which versions they were written.

A row has an *identity*: its stable row ID (but see
:mod:`lance_explorer.history.identity.reused_row_ids`) or, in a table without, the address at which
it was first written (see :mod:`lance_explorer.history.identity.birth_addresses`). Everything is
read when it is asked for, each sequence and each deletion file once, and stays as compact as it is
stored.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.fragments import DeletionFile
from lance_explorer.format.single_ranges import SingleRanges
from lance_explorer.history.detached import maybe_restored
from lance_explorer.history.history import History
from lance_explorer.history.identity.birth_addresses import BirthAddresses
from lance_explorer.history.identity.reused_row_ids import namesakes_of
from lance_explorer.history.identity.row_id_lines import Namesakes, RowIdLine
from lance_explorer.history.identity.row_origins import (
    RowOrigins,
    identity_bounds,
)
from lance_explorer.history.identity.rows_before_ids import RowsBeforeIds, are_without_row_id
from lance_explorer.history.identity.versions_of_moved import (
    moved_without_versions,
    told_in_order,
    with_versions_before,
)
from lance_explorer.history.intervals import Intervals
from lance_explorer.history.memories import notes, remembered
from lance_explorer.history.progress import with_progress
from lance_explorer.history.readable import (
    have_row_ids,
    rows_history,
    since_row_ids_went,
    up_to,
)
from lance_explorer.history.reading.row_reader import FragmentReader
from lance_explorer.history.reading.stored_sequences import (
    FragmentSequence,
    SequenceKind,
    read_sequences,
    sequences_of,
)
from lance_explorer.history.rewrites.all_groups import rewrites
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import Positions, Uint64Array
from lance_explorer.rowids.runs import RunColumns, merged_ids, overlaps
from lance_explorer.rowids.segments import Range
from lance_explorer.rowids.sequence import RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns
from lance_explorer.storage import reading_ahead

__all__ = ["StateRows", "state_rows"]

_Sequences = dict[FragmentSequence, RowIdSequence | RowVersionRuns]


@dataclass(frozen=True, slots=True)
class _Known:
    """What was read so far; it holds for whatever history names it."""

    sequences: _Sequences
    deleted: dict[tuple[int, DeletionFile], BitMap]


class StateRows:
    """The rows of the states of a history, by the number of the state.

    Attributes
    ----------
    view : HistoryView
        The branch.
    history : History
        Its versions, but those whose rows cannot be told, and those before stable row IDs were
        turned off for the last time.
    has_row_ids : bool
        Whether rows are told by stable row IDs; see ``ids_from``.
    ids_from : int
        The position of the first version that has them: 0, but where a table without was given
        row IDs later. Rows before have the same identities
        (:mod:`lance_explorer.history.identity.rows_before_ids`).
    ids_went_at : int, optional
        The version that turned stable row IDs off, if one did: the first of these.
    """

    def __init__(
        self,
        view: HistoryView,
        history: History,
        known: _Known | None = None,
        *,
        by_address: bool = False,
    ) -> None:
        self.view = view
        readable = rows_history(history)
        self.history = readable if by_address else since_row_ids_went(readable)
        is_cut = len(self.history.records) < len(readable.records)
        self.ids_went_at = self.history.records[0].version if is_cut else None
        stable = have_row_ids(self.history if self.history.records else history)
        self.has_row_ids = not by_address and bool(stable.any())
        self.ids_from = int(stable.argmax()) if self.has_row_ids else 0
        self.known = known or _Known({}, {})
        self.named = history
        self._origins: dict[int, RowOrigins] = {}
        self._own_ids: dict[int, RowIdSequence] = {}
        self._spans: dict[tuple[int, tuple[int, int]], RowIdSequence] = {}
        self._shared: dict[tuple[int, object], RowIdSequence | RowVersionRuns] = {}
        self._births = None if self.has_row_ids else BirthAddresses(self)

    def has_row_ids_at(self, position: int) -> bool:
        """Return whether a version has stable row IDs, and all after it."""
        return self.has_row_ids and position >= self.ids_from

    def is_told_by_ids(self, position: int) -> bool:
        """Return whether row IDs tell which rows of the version before are which of a version.

        They do not where the version before had none.
        """
        return self.has_row_ids and position >= self.ids_from + bool(self.ids_from)

    def lance_ids_at(
        self, position: int, row_ids: Uint64Array, addresses: Uint64Array
    ) -> Uint64Array:
        """Return what Lance calls rows in a version: their row IDs, or without these addresses."""
        return row_ids if self.has_row_ids_at(position) else addresses

    @cached_property
    def before_ids(self) -> RowsBeforeIds | None:
        """The rows up to the version that turned row IDs on; None if all versions have them."""
        if not self.ids_from:
            return None
        history = up_to(self.history, self.ids_from)
        return RowsBeforeIds(self, StateRows(self.view, history, self.known, by_address=True))

    @cached_property
    def doubtful_links(self) -> dict[int, list[RowIdSequence]]:
        """By position, the rows that only counts and order lead there over lost versions.

        They may be others.
        """
        if self._births is not None:
            return self._births.doubtful_links
        return self.before_ids.doubtful_links if self.before_ids else {}

    def _is_before_ids(self, state: int) -> bool:
        """Whether a state is told by addresses, though the table has row IDs."""
        return bool(self.ids_from) and 0 <= self.first_positions[state] <= self.ids_from

    @cached_property
    def first_positions(self) -> NDArray[np.int64]:
        """For each state the first position at which it is there; -1 if at none."""
        first = np.full(len(self.history.states), -1, dtype=np.int64)
        first[self.history.intervals.keys[::-1]] = self.history.intervals.first[::-1]
        return first

    def new_states(self, position: int) -> list[int]:
        """Return the states that are there for the first time in a version."""
        added = self.history.states_added(position)
        found: list[int] = added[self.first_positions[added] == position].tolist()
        return found

    @cached_property
    def bounds(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """For each state the lowest and the highest identity that it can hold."""
        return self.bounds_of(np.arange(len(self.history.states)))

    def bounds_of(self, states: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the same, known of some states only; the others are as if they held nothing."""
        low = np.full(len(self.history.states), np.iinfo(np.uint64).max, dtype=np.uint64)
        high = np.zeros(len(self.history.states), dtype=np.uint64)
        ranges = self._ranges
        is_there = np.zeros(len(self.history.states), dtype=np.bool_)
        is_there[states] = self.first_positions[states] >= 0
        known = is_there & ranges.found
        if self.ids_from:
            known &= self.first_positions > self.ids_from
        low[known], high[known] = ranges.start[known], ranges.stop[known] - np.uint64(1)
        others = np.flatnonzero(is_there & ~known).tolist()
        self.load(others, versions=False)
        seen: dict[int, tuple[int, int]] = {}
        for state in others:
            ids = self.ids(state)
            if id(ids) not in seen:
                seen[id(ids)] = identity_bounds(ids)
            low[state], high[state] = seen[id(ids)]
        return low, high

    def load(self, states: Collection[int], *, versions: bool = True) -> None:
        """Read what is not known yet of some states, from as few manifests as can be.

        Parameters
        ----------
        states : collection of int
            The states.
        versions : bool
            Whether to read also which version wrote each row.
        """
        if self._births is not None:
            return
        kinds: tuple[SequenceKind, ...] = ("row_ids",)
        if versions:
            kinds = ("row_ids", "created_at", "last_updated_at")
        self._load(states, kinds)

    def load_steps(
        self, positions: Iterable[int], can_matter: NDArray[np.bool_] | None = None
    ) -> None:
        """Read what comparing each of some versions with the kept one before takes, all at once.

        Parameters
        ----------
        positions : iterable of int
            The positions of the versions.
        can_matter : ndarray of bool, optional
            Which states are compared, by number; all that are added or removed by default.

        Raises
        ------
        StorageError
            If a manifest cannot be read. Deletion files are left to :meth:`deleted`.
        """
        steps = [
            states(position)
            for position in positions
            for states in (self.history.states_added, self.history.states_removed)
        ]
        states = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *steps]))
        if can_matter is not None:
            states = states[can_matter[states]]
        self.load(states.tolist())
        self.load_deleted(states.tolist())

    def origins(self, state: int) -> RowOrigins:
        """Return identities and row versions of a state."""
        if state not in self._origins:
            for one in told_in_order(self, state, self._are_moved, self._origins):
                self._origins[one] = self._found_origins(one)
        return self._origins[state]

    def _found_origins(self, state: int) -> RowOrigins:
        if self._births:
            return self._births.origins(state)
        if self.before_ids and self._is_before_ids(state):
            return self.before_ids.origins(state)
        origins = self.stored_origins(state)
        if self._are_moved[state]:
            origins = with_versions_before(self, state, origins)
        return self.before_ids.with_versions(origins) if self.before_ids else origins

    def ids(self, state: int) -> RowIdSequence:
        """Return the identities of the rows of a state; states may share the sequence itself."""
        if self._births is not None or self._is_before_ids(state):
            return self.origins(state).ids
        if state in self._own_ids:
            return self._own_ids[state]
        row_ids = self.stored_ids(state)
        line = self._line(state)
        if line is None:
            return row_ids
        found = line.sequence(row_ids)
        if found is not row_ids:
            key = id(row_ids), b"".join(array.tobytes() for array in found.ranges())
            found = self._shared.setdefault(key, found)  # type: ignore[assignment]
        self._own_ids[state] = found
        return found

    @cached_property
    def namesakes(self) -> Namesakes | None:
        """What tells rows with one row ID apart; None if there are no such rows."""
        if not self.has_row_ids or not self.history.records:
            return None
        return namesakes_of(self.history, self._doubtful_ids, self.ids_from)

    def row_ids(self, identities: Uint64Array) -> Uint64Array:
        """Return the row IDs of rows; the identities of those that :meth:`never_had_ids`."""
        return self.namesakes.row_ids(identities) if self.namesakes else identities

    def never_had_ids(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Return which rows were gone before the table had stable row IDs, and so have none."""
        if not self.ids_from:
            return np.zeros(len(identities), dtype=np.bool_)
        return are_without_row_id(identities)

    def bearers(self, row_ids: Uint64Array) -> tuple[Uint64Array, Positions]:
        """Return the identities of all rows that had some row IDs, and the place of each ID."""
        if self.namesakes:
            return self.namesakes.bearers(row_ids)
        return row_ids, np.arange(len(row_ids))

    def num_rows(self, state: int) -> int:
        """Return how many rows a state has, deleted ones too."""
        rows = self.history.states[state].physical_rows
        return len(self.ids(state)) if rows is None else rows

    def num_live(self, state: int) -> int:
        """Return how many rows of a state are not deleted."""
        return self.num_rows(state) - len(self.deleted(state))

    def deleted(self, state: int) -> BitMap:
        """Return the deleted offsets of a state."""
        fragment = self.history.states[state]
        if fragment.deletion_file is None:
            return BitMap()
        key = fragment.id, fragment.deletion_file
        if key not in self.known.deleted:
            self.known.deleted[key] = self._reader(state).deleted(fragment)
        return self.known.deleted[key]

    def load_deleted(self, states: Iterable[int]) -> None:
        """Read the deletion files of some states, many at once where requests take long.

        One that cannot be read is left to :meth:`deleted`, which tells why.
        """
        unread = dict(self._unread_deletions(states))
        readers = {key: self._reader(state) for key, state in unread.items()}
        parts = [
            part
            for key, reader in readers.items()
            for part in reader.deletion_parts(self.history.states[unread[key]])
        ]
        with reading_ahead(parts):
            for key, reader in with_progress([*readers.items()], "Reading deletions"):
                with suppress(FormatError, StorageError):
                    self.known.deleted[key] = reader.deleted(self.history.states[unread[key]])

    def _unread_deletions(
        self, states: Iterable[int]
    ) -> Iterator[tuple[tuple[int, DeletionFile], int]]:
        """Yield the deletion files of some states that are not known, and a state of each."""
        seen = set[tuple[int, DeletionFile]]()
        for state in states:
            fragment = self.history.states[state]
            file = fragment.deletion_file
            if file is None or self.first_positions[state] < 0:
                continue
            key = fragment.id, file
            if key not in seen and key not in self.known.deleted:
                seen.add(key)
                yield key, state

    def _reader(self, state: int) -> FragmentReader:
        return FragmentReader(self.view, self.history.records[int(self.first_positions[state])])

    @cached_property
    def _are_moved(self) -> NDArray[np.bool_]:
        if self._births:
            return np.zeros(len(self.history.states), dtype=np.bool_)
        are_replayed = (self.first_positions >= 0) & (self.first_positions <= self.ids_from)
        are_replayed &= bool(self.ids_from)
        return moved_without_versions(self.history, self.first_positions, are_replayed)

    @cached_property
    def _ranges(self) -> SingleRanges:
        """The states whose identities are one range, known from columns alone."""
        ranges = self.history.states.row_id_ranges
        if self.has_row_ids and self.namesakes is None:
            return ranges
        return SingleRanges(ranges.start, ranges.stop, np.zeros_like(ranges.found))

    def _line(self, state: int) -> RowIdLine | None:
        position = int(self.first_positions[state])
        return self.namesakes.lines[position] if self.namesakes and position >= 0 else None

    def _doubtful_ids(self, position: int) -> RunColumns:
        """Return the row IDs of rows of a version that a detached version may have brought.

        They are in data files that no earlier version has. Where no restore of a detached version
        is seen, those count that a detached version has, too, which lost ones may have restored.
        """
        if self.history.restores_detached[position]:
            return self._written_ids(position)
        hidden = [RunColumns.empty()]
        for one in maybe_restored(self.view, self.history, position):
            rows = StateRows(self.view, one.history)
            if self._moved_in_gap(position) <= one.files:
                hidden += [_all_ids(rows.stored_ids(state)) for state in one.own]
        others = RunColumns.concatenated(hidden)
        if not len(others.start):
            return others
        return overlaps(self._written_ids(position), *merged_ids(others))

    def _moved_in_gap(self, position: int) -> set[str]:
        """Return the data files that the kept version before had, and a compaction since read."""
        begin, end = [
            record.version for record in self.history.records[position - 1 : position + 1]
        ]
        groups = rewrites(self.view).between(begin, end)
        named = {f.path for group in groups for old in group.recorded for f in old.files}
        states = [self.history.states[state] for state in self.history.states_at(position - 1)]
        return named & {file.path for fragment in states for file in fragment.files}

    def _written_ids(self, position: int) -> RunColumns:
        """Return the row IDs in data files that no version before has, merged."""
        states, first = self.history.states, self.first_positions
        known = np.flatnonzero((first >= 0) & (first < position)).tolist()
        files = {file.path for state in known for file in states[state].files}
        new = [
            _all_ids(self.stored_ids(state))
            for state in self.new_states(position)
            if files.isdisjoint([file.path for file in states[state].files])
        ]
        ids = RunColumns.concatenated([RunColumns.empty(), *new])
        return RunColumns(*(ranges := merged_ids(ids)), ranges[0]) if new else ids

    def _stored_versions(self, state: int, kind: SequenceKind) -> RowVersionRuns | None:
        for sequence in sequences_of(self.history.states[state], kind):
            found = self.known.sequences[sequence]
            assert isinstance(found, RowVersionRuns)
            return found
        return None

    def stored_ids(self, state: int) -> RowIdSequence:
        """Return the row IDs that a state of a stable table stores."""
        fragment = self.history.states[state]
        ranges = self.history.states.row_id_ranges
        if ranges.found[state]:
            span = int(ranges.start[state]), int(ranges.stop[state])
            known = self._spans.get((fragment.id, span))
            return known or self._spans.setdefault(
                (fragment.id, span), RowIdSequence((Range(*span),))
            )
        for sequence in sequences_of(fragment, "row_ids"):
            found = self.known.sequences.get(sequence)
            if found is None:
                self.load([state])
                found = self.known.sequences[sequence]
            assert isinstance(found, RowIdSequence)
            return found
        raise FormatError(
            f"fragment {fragment.id} has no row IDs, though the table has stable ones"
        )

    def stored_origins(self, state: int) -> RowOrigins:
        """Return identities and row versions of a state of a stable table, as it stores them."""
        self.load([state])
        return RowOrigins(
            self.ids(state),
            self._stored_versions(state, "created_at"),
            self._stored_versions(state, "last_updated_at"),
        )

    def _load(self, states: Iterable[int], kinds: tuple[SequenceKind, ...]) -> None:
        missing: dict[FragmentSequence, int] = {}
        for state in states:
            for sequence in sequences_of(self.history.states[state], *kinds):
                if sequence not in self.known.sequences:
                    missing.setdefault(sequence, state)
        if missing:
            self._read([*missing], self._intervals([*missing.values()]))

    def _read(self, sequences: list[FragmentSequence], intervals: Intervals) -> None:
        for number, found in read_sequences(self.view, self.history, sequences, intervals):
            if isinstance(found, FormatError):
                raise found
            self.known.sequences[sequences[number]] = (
                found if isinstance(found, RowIdSequence) else found[1]
            )

    def _intervals(self, states: list[int]) -> Intervals:
        """Return in which versions some states are, each under its place in the list."""
        keys = self.history.intervals.keys
        order = np.argsort(np.array(states, dtype=np.int64), kind="stable")
        ordered = np.array(states, dtype=np.int64)[order]
        begin = np.searchsorted(ordered, keys)
        counts = np.searchsorted(ordered, keys, side="right") - begin
        owner = np.repeat(np.arange(len(keys)), counts)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        intervals = self.history.intervals
        return Intervals(order[begin[owner] + place], intervals.first[owner], intervals.last[owner])


@remembered
def state_rows(view: HistoryView) -> StateRows:
    """Return the rows of the states of a branch; what was read is kept, also over a refresh."""
    return StateRows(view, view.history, _known(view))


_known = notes(lambda: _Known({}, {}), are_carried=True)


def _all_ids(row_ids: RowIdSequence) -> RunColumns:
    """Return row IDs as ranges, whose addresses do not matter."""
    starts, stops = row_ids.ranges()
    return RunColumns(starts, stops, starts)
