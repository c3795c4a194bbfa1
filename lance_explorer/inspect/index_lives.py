"""The coverage of each fragment by one index, over all versions: as ranges of versions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.progress import with_progress
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse, reuse_index
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.indices import covered_fragments

__all__ = ["COVERAGES", "IndexLives", "index_lives", "index_names"]

COVERAGES = ("absent", "covered", "masked", "not_covered", "removed", "unknown", "no_index")
"""What an index has of a fragment. ``masked``: it covers the fragment, of which rows were deleted
or rewritten since the index was built, as far as kept versions tell. ``removed``: it lists a
fragment that the version has no more. ``no_index``: the version has the fragment, not the index."""

_ABSENT, _COVERED, _MASKED, _NOT_COVERED, _REMOVED, _UNKNOWN, _NO_INDEX = range(len(COVERAGES))


@dataclass(frozen=True, slots=True)
class IndexLives:
    """Ranges of versions in which the coverage of a fragment by an index was the same.

    Attributes
    ----------
    fragment_ids : NDArray[np.uint64]
        All fragments of any version, ascending; a slot is a position in it.
    slot, first, last : NDArray[np.int32]
        For each range its fragment, and the positions among kept versions where it begins and ends,
        both included.
    coverage : NDArray[np.uint8]
        For each range a position in :data:`COVERAGES`, never that of ``absent``.
    """

    fragment_ids: NDArray[np.uint64]
    slot: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    coverage: NDArray[np.uint8]


def index_names(history: History) -> list[str]:
    """Return the names of all indices of any version, those of the latest versions first."""
    names: dict[str, None] = {}
    known: object = None
    for record in reversed(history.records):
        if record.indices is not known:
            known = record.indices
            names.update({index.name: None for index in record.indices})
    return [name for name in names if name not in SYSTEM_INDICES]


def index_lives(
    view: HistoryView, name: str, check: Callable[[], object] = lambda: None
) -> IndexLives:
    """Return the coverage of each fragment by the index called ``name`` in each kept version.

    Its cost is the number of changes of the index, and of all states of fragments. ``check`` is
    called before each change of the index; what it raises ends the work.
    """
    states = _SlotStates(view.history)
    index = _Index(view, name, states)
    begins = list(_changes(view.history, name))
    ends = [*begins[1:], len(view.history)]
    done = [_NOTHING]
    going_on = _NOTHING
    for begin, end in with_progress(
        list(zip(begins, ends, strict=True)), "Reading which fragments the index covers", "versions"
    ):
        check()
        index.move(view.history.records[begin])
        pieces = going_on.and_then(*index.pieces(begin, end)).merged()
        is_going_on = pieces.last == end - 1
        done.append(pieces.only(~is_going_on))
        going_on = pieces.only(is_going_on)
    slot, first, last, coverage = _NOTHING.and_then(*done, going_on)
    order = np.lexsort((slot, last))
    return IndexLives(
        states.fragment_ids,
        slot[order].astype(np.int32),
        first[order].astype(np.int32),
        last[order].astype(np.int32),
        coverage[order],
    )


def _changes(history: History, name: str) -> Iterator[int]:
    """Yield the positions at which an index, or the reuse history with it, changes."""
    known: object = None
    before: object = None
    for position, record in enumerate(history.records):
        if record.indices is known:
            continue
        known = record.indices
        segments = [index for index in record.indices if index.name == name]
        now = segments, reuse_index(record) if segments else None
        if now != before:
            before = now
            yield position


class _Pieces(NamedTuple):
    """Ranges of versions with the same coverage of a fragment; some may touch."""

    slot: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    coverage: NDArray[np.uint8]

    def only(self, chosen: NDArray[Any]) -> Self:
        """Return some of them, chosen like in NumPy."""
        slot, first, last, coverage = self
        return type(self)(slot[chosen], first[chosen], last[chosen], coverage[chosen])

    def and_then(self, *others: Self) -> Self:
        """Return these and others."""
        slot, first, last, coverage = zip(self, *others, strict=True)
        return type(self)(*map(np.concatenate, (slot, first, last, coverage)))

    def merged(self) -> Self:
        """Return them merged, ordered by fragment and version."""
        slot, first, last, coverage = self.only(np.lexsort((self.first, self.slot)))
        begins = np.ones(len(slot), dtype=np.bool_)
        begins[1:] = (
            (slot[1:] != slot[:-1]) | (coverage[1:] != coverage[:-1]) | (first[1:] != last[:-1] + 1)
        )
        starts = np.flatnonzero(begins)
        ends = np.append(starts[1:], len(slot))[: len(starts)] - 1
        return type(self)(slot[starts], first[starts], last[ends], coverage[starts])


_NO_NUMBERS = np.empty(0, dtype=np.int64)

_NOTHING = _Pieces(_NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, np.empty(0, dtype=np.uint8))


class _SlotStates:
    """The versions of each fragment, and its number of deleted rows in them.

    A fragment is in one state at a time, so its intervals do not overlap.
    """

    def __init__(self, history: History) -> None:
        self.fragment_ids, slots = np.unique(history.states.ids, return_inverse=True)
        intervals = history.intervals
        self.slot = slots[intervals.keys]
        self.first, self.last = intervals.first, intervals.last
        self.num_deleted = history.num_deleted_rows[intervals.keys]
        self._width = len(history) + 1
        self._order = np.lexsort((self.first, self.slot))
        self._places = self._place(self.slot, self.first)[self._order]
        self._open = _NO_NUMBERS

    def between(self, begin: int, end: int) -> NDArray[np.int64]:
        """Return the numbers of all intervals that contain one of these positions.

        ``begin`` is the ``end`` of the call before.
        """
        started = slice(*np.searchsorted(self.first, (begin, end)))
        numbers = np.concatenate((self._open, np.arange(started.start, started.stop)))
        self._open = numbers[self.last[numbers] >= end]
        return numbers

    def slots_of(self, fragment_ids: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the slots of the fragments that ever existed among some."""
        slots = np.searchsorted(self.fragment_ids, fragment_ids)
        is_inside = slots < len(self.fragment_ids)
        slots, fragment_ids = slots[is_inside], fragment_ids[is_inside]
        is_found: NDArray[np.bool_] = self.fragment_ids[slots] == fragment_ids
        return slots[is_found]

    def deleted_at(self, slots: NDArray[np.int64], position: int) -> NDArray[np.int64]:
        """Return how many rows of some fragments were deleted in a version; 0 if one is absent."""
        there = np.searchsorted(self._places, self._place(slots, position), side="right") - 1
        intervals = self._order[there]  # -1 is the last one: not there at the position of another
        is_there = (
            (self.slot[intervals] == slots)
            & (self.first[intervals] <= position)
            & (position <= self.last[intervals])
        )
        return np.where(is_there, self.num_deleted[intervals], 0)

    def _place(
        self, slots: NDArray[np.int64], positions: NDArray[np.int64] | int
    ) -> NDArray[np.int64]:
        return slots * self._width + positions


class _Index:
    """The index in one version after the other."""

    def __init__(self, view: HistoryView, name: str, states: _SlotStates) -> None:
        self._view, self._name, self._states = view, name, states
        self._has_segments, self._is_known = False, True
        self._slots = _NO_NUMBERS
        self._is_listed = np.zeros(len(states.fragment_ids), dtype=np.bool_)
        self._deleted_then = np.zeros(len(states.fragment_ids), dtype=np.int64)

    def move(self, record: VersionRecord) -> None:
        """Update the index to a version.

        It records the fragments of the index, and how many of their rows were deleted when their
        segment was built; 0 if that version is not kept.
        """
        self._is_listed[self._slots] = False
        segments = [index for index in record.indices if index.name == self._name]
        self._has_segments, self._is_known, self._slots = bool(segments), True, _NO_NUMBERS
        reuse = fragment_reuse(self._view, record) if segments else ()
        history = self._view.history
        for segment in segments:
            covered = covered_fragments(segment)
            if covered is None:
                self._is_known = False
                break
            ids = BitMap(carried_over(covered, reuse)) if reuse else covered
            slots = self._states.slots_of(np.asarray(ids.to_array(), dtype=np.uint64))
            version = segment.dataset_version
            self._deleted_then[slots] = (
                self._states.deleted_at(slots, history.position(version))
                if version in history
                else 0
            )
            self._is_listed[slots] = True
            self._slots = np.concatenate((self._slots, slots))
        self._slots = np.unique(self._slots)

    def pieces(self, begin: int, end: int) -> tuple[_Pieces, ...]:
        """Return the coverage of each fragment from one position up to another."""
        states = self._states
        numbers = states.between(begin, end)
        slot = states.slot[numbers]
        there = _Pieces(
            slot,
            np.maximum(states.first[numbers], begin),
            np.minimum(states.last[numbers], end - 1),
            self._coverage(slot, states.num_deleted[numbers]),
        )
        if not self._has_segments or not self._is_known:
            return (there,)
        return there, self._removed(there.only(self._is_listed[slot]), begin, end)

    def _coverage(
        self, slot: NDArray[np.int64], num_deleted: NDArray[np.int64]
    ) -> NDArray[np.uint8]:
        """Return the coverage of existing fragments."""
        if not self._has_segments or not self._is_known:
            same = _UNKNOWN if self._has_segments else _NO_INDEX
            return np.full(len(slot), same, dtype=np.uint8)
        listed = np.where(num_deleted > self._deleted_then[slot], _MASKED, _COVERED)
        return np.where(self._is_listed[slot], listed, _NOT_COVERED).astype(np.uint8)

    def _removed(self, there: _Pieces, begin: int, end: int) -> _Pieces:
        """Return when the fragments of an index do not exist, the complement of the others."""
        order = np.lexsort((there.first, there.slot))
        slots = np.concatenate((there.slot[order], self._slots))
        first = np.concatenate((np.full(len(self._slots), begin), there.last[order] + 1))
        last = np.concatenate((there.first[order], np.full(len(self._slots), end))) - 1
        # A fragment that exists n times is absent n + 1 times: before each, and at the end.
        by_end = np.argsort(slots, kind="stable")
        by_begin = np.argsort(np.concatenate((self._slots, there.slot[order])), kind="stable")
        slot, first, last = slots[by_end], first[by_begin], last[by_end]
        is_some = first <= last
        coverage = np.full(int(is_some.sum()), _REMOVED, dtype=np.uint8)
        return _Pieces(slot[is_some], first[is_some], last[is_some], coverage)
