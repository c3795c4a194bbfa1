"""What the states of a history store about their rows: sequences and deletion files.

Everything is read on first use, each sequence and each deletion file once, and stays as compact as
it is stored. The identity of rows is not known here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property
from pyroaring import BitMap

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.fragments import DeletionFile
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals, merge_intervals
from lance_explorer.history.progress import with_progress
from lance_explorer.history.reading.row_reader import FragmentReader
from lance_explorer.history.reading.stored_sequences import (
    FragmentSequence,
    SequenceKind,
    read_sequences,
    sequences_of,
)
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import aranges
from lance_explorer.rowids.segments import Range
from lance_explorer.rowids.sequence import RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns
from lance_explorer.storage import reading_ahead

__all__ = ["ALL_KINDS", "KnownRows", "StoredRows"]

ALL_KINDS: tuple[SequenceKind, ...] = ("row_ids", "created_at", "last_updated_at")


@dataclass(frozen=True, slots=True)
class KnownRows:
    """What was read so far; it holds for every history with these states."""

    sequences: dict[FragmentSequence, RowIdSequence | RowVersionRuns] = field(default_factory=dict)
    deleted: dict[tuple[int, DeletionFile], BitMap] = field(default_factory=dict)


class StoredRows:
    """What states store about their rows, by the number of the state.

    Parameters
    ----------
    view : HistoryView
        The branch.
    history : History
        Its versions whose rows can be read.
    known : KnownRows, optional
        What was read before; what is read is added.
    """

    def __init__(self, view: HistoryView, history: History, known: KnownRows | None = None) -> None:
        self.view = view
        self.history = history
        self.known = known or KnownRows()
        self._spans: dict[tuple[int, tuple[int, int]], RowIdSequence] = {}

    @cached_property
    def first_positions(self) -> NDArray[np.int64]:
        """For each state the first position that has it; -1 if none."""
        first = np.full(len(self.history.states), -1, dtype=np.int64)
        first[self.history.intervals.keys[::-1]] = self.history.intervals.first[::-1]
        return first

    def new_states(self, position: int) -> list[int]:
        """Return the new states of a version."""
        added = self.history.states_added(position)
        new: list[int] = added[self.first_positions[added] == position].tolist()
        return new

    def changed_states(self, positions: Iterable[int]) -> NDArray[np.int64]:
        """Return the states that some versions added or removed."""
        steps = [
            states(position)
            for position in positions
            for states in (self.history.states_added, self.history.states_removed)
        ]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *steps]))

    def num_rows(self, state: int) -> int:
        """Return how many rows a state has, including deleted ones."""
        rows = self.history.states[state].physical_rows
        return len(self.row_ids(state)) if rows is None else rows

    # ------------------------------------------------------------------------------- sequences

    def row_ids(self, state: int) -> RowIdSequence:
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
            if sequence not in self.known.sequences:
                self.load([state])
            stored = self.known.sequences[sequence]
            assert isinstance(stored, RowIdSequence)
            return stored
        raise FormatError(
            f"fragment {fragment.id} has no row IDs, though the table has stable ones"
        )

    def versions(self, state: int, kind: SequenceKind) -> RowVersionRuns | None:
        """Return the loaded row versions of a state; None if it has none."""
        for sequence in sequences_of(self.history.states[state], kind):
            stored = self.known.sequences[sequence]
            assert isinstance(stored, RowVersionRuns)
            return stored
        return None

    def load(self, states: Iterable[int], kinds: Sequence[SequenceKind] = ALL_KINDS) -> None:
        """Read missing sequences of some states, from as few manifests as possible."""
        missing: dict[FragmentSequence, int] = {}
        for state in states:
            for sequence in sequences_of(self.history.states[state], *kinds):
                if sequence not in self.known.sequences:
                    missing.setdefault(sequence, len(missing))
        if missing:
            self._read([*missing], self._intervals(missing, kinds))

    def _read(self, sequences: list[FragmentSequence], intervals: Intervals) -> None:
        for number, stored in read_sequences(self.view, self.history, sequences, intervals):
            if isinstance(stored, FormatError):
                raise stored
            self.known.sequences[sequences[number]] = (
                stored if isinstance(stored, RowIdSequence) else stored[1]
            )

    def _intervals(
        self, numbers: Mapping[FragmentSequence, int], kinds: Sequence[SequenceKind]
    ) -> Intervals:
        """Return the versions that contain some sequences, each under its number.

        Other states of a fragment, with other deleted rows, have them as well: the more versions
        contain a sequence, the fewer manifests have to be read.
        """
        fragment_ids = np.array([sequence.fragment_id for sequence in numbers], dtype=np.uint64)
        states = np.flatnonzero(np.isin(self.history.states.ids, fragment_ids))
        pairs = [
            (state, numbers[sequence])
            for state in states.tolist()
            for sequence in sequences_of(self.history.states[state], *kinds)
            if sequence in numbers
        ]
        owners, keys = np.array(pairs, dtype=np.int64).T  # ordered by state
        intervals = self.history.intervals
        begin = np.searchsorted(owners, intervals.keys)
        counts = np.searchsorted(owners, intervals.keys, side="right") - begin
        which = np.repeat(np.arange(len(intervals)), counts)
        place = aranges(begin, counts)
        return merge_intervals(keys[place], intervals.first[which], intervals.last[which])

    # ------------------------------------------------------------------------------- deletions

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
        """Read the deletion files of some states, many at once if requests take long.

        One that cannot be read is left to :meth:`deleted`, which raises the error.
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
        """Yield the missing deletion files of some states, with a state of each."""
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
