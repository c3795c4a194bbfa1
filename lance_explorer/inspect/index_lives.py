"""What one index had of each fragment, over all versions: as stretches of versions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse, reuse_index
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.indices import covered_fragments

__all__ = ["COVERAGES", "IndexLives", "index_lives", "index_names"]

COVERAGES = ("absent", "covered", "masked", "not_covered", "removed", "unknown", "no_index")
"""What an index has of a fragment. ``masked``: it covers the fragment, of which rows were deleted
or rewritten since the index was built, as far as kept versions tell. ``removed``: it lists a
fragment that the version has no more. ``no_index``: the version has the fragment, not the index."""

_ABSENT, _COVERED, _MASKED, _NOT_COVERED, _REMOVED, _UNKNOWN, _NO_INDEX = range(len(COVERAGES))


@dataclass(frozen=True, slots=True)
class IndexLives:
    """Stretches of versions in which an index had the same of a fragment.

    Attributes
    ----------
    fragment_ids : NDArray[np.uint64]
        All fragments there ever were, ascending; a slot is a position in it.
    slot, first, last : NDArray[np.int32]
        For each stretch its fragment, and the positions among kept versions where it begins and
        ends, both included.
    coverage : NDArray[np.uint8]
        For each stretch a position in :data:`COVERAGES`, never that of ``absent``.
    """

    fragment_ids: NDArray[np.uint64]
    slot: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    coverage: NDArray[np.uint8]


def index_names(history: History) -> list[str]:
    """Return the names of all indices there ever were, those of the latest versions first."""
    names: dict[str, None] = {}
    known: object = None
    for record in reversed(history.records):
        if record.indices is not known:
            known = record.indices
            names.update({index.name: None for index in record.indices})
    return [name for name in names if name not in SYSTEM_INDICES]


def index_lives(
    source: TableSource, name: str, check: Callable[[], object] = lambda: None
) -> IndexLives:
    """Return what the index called ``name`` had of each fragment in each kept version.

    ``check`` is called before each version; what it raises ends the work.
    """
    history = source.history
    ids = history.states.ids
    fragment_ids, slots = np.unique(ids, return_inverse=True)
    is_there = np.zeros(len(fragment_ids), dtype=np.bool_)
    num_deleted = np.zeros(len(fragment_ids), dtype=np.int64)
    index = _Index(source, name, fragment_ids, slots)
    stretches = _Stretches(len(fragment_ids))
    for position in range(len(history)):
        removed, added = history.states_removed(position), history.states_added(position)
        check()
        if not index.move(history.records[position]) and not len(removed) and not len(added):
            continue
        is_there[slots[removed]] = False
        is_there[slots[added]] = True
        num_deleted[slots[added]] = history.num_deleted_rows[added]
        stretches.add(position, index.coverage(is_there, num_deleted))
    return stretches.finish(fragment_ids, len(history))


class _Index:
    """The index as it is in one version after the other."""

    def __init__(
        self,
        source: TableSource,
        name: str,
        fragment_ids: NDArray[np.uint64],
        slots: NDArray[np.int64],
    ) -> None:
        self._source, self._name = source, name
        self._fragment_ids, self._slots = fragment_ids, slots
        self._segments: tuple[IndexMetadata, ...] = ()
        self._reuse: IndexMetadata | None = None
        self._is_known = True
        self._listed = np.zeros(len(fragment_ids), dtype=np.bool_)
        self._deleted_then = np.zeros(len(fragment_ids), dtype=np.int64)
        self._deleted_at = lru_cache(maxsize=16)(self._count_deleted)

    def move(self, record: VersionRecord) -> bool:
        """Go on to the next version, and return whether the index is another there."""
        segments = tuple([index for index in record.indices if index.name == self._name])
        reuse = reuse_index(record) if segments else None
        if (segments, reuse) == (self._segments, self._reuse):
            return False
        self._segments, self._reuse = segments, reuse
        self._list(record, segments)
        return True

    def coverage(
        self, is_there: NDArray[np.bool_], num_deleted: NDArray[np.int64]
    ) -> NDArray[np.uint8]:
        """Return what the index has of each fragment."""
        if not self._segments:
            return np.where(is_there, _NO_INDEX, _ABSENT).astype(np.uint8)
        if not self._is_known:
            return np.where(is_there, _UNKNOWN, _ABSENT).astype(np.uint8)
        listed = np.where(num_deleted > self._deleted_then, _MASKED, _COVERED)
        now = np.where(self._listed, listed, _NOT_COVERED)
        then = np.where(self._listed, _REMOVED, _ABSENT)
        return np.where(is_there, now, then).astype(np.uint8)

    def _list(self, record: VersionRecord, segments: Sequence[IndexMetadata]) -> None:
        """Note the fragments that segments list, and how many rows of them were deleted then."""
        self._listed[:] = False
        self._is_known = True
        reuse = fragment_reuse(self._source, record) if segments else ()
        for segment in segments:
            covered = covered_fragments(segment)
            if covered is None:
                self._is_known = False
                return
            ids = BitMap(carried_over(covered, reuse)) if reuse else covered
            numbers = np.asarray(ids.to_array(), dtype=np.uint64)
            listed = np.isin(self._fragment_ids, numbers)
            self._listed |= listed
            self._deleted_then[listed] = self._deleted_at(segment.dataset_version)[listed]

    def _count_deleted(self, version: int) -> NDArray[np.int64]:
        """Return how many rows each fragment had lost in a version; 0 if that is not kept."""
        history = self._source.history
        counts = np.zeros(len(self._fragment_ids), dtype=np.int64)
        if version in history.versions:
            states = history.intervals.at(history.position(version))
            counts[self._slots[states]] = history.num_deleted_rows[states]
        return counts


class _Stretches:
    """Collects stretches while versions go by."""

    def __init__(self, num_slots: int) -> None:
        self._now = np.zeros(num_slots, dtype=np.uint8)
        self._since = np.zeros(num_slots, dtype=np.int32)
        self._done: list[tuple[NDArray[np.int32], NDArray[np.int32], int, NDArray[np.uint8]]] = []

    def add(self, position: int, coverage: NDArray[np.uint8]) -> None:
        """Take what holds from a position on."""
        changed = np.flatnonzero(coverage != self._now).astype(np.int32)
        ended = changed[self._now[changed] != _ABSENT]
        if len(ended):
            self._done.append((ended, self._since[ended], position - 1, self._now[ended]))
        self._since[changed] = position
        self._now = coverage

    def finish(self, fragment_ids: NDArray[np.uint64], positions: int) -> IndexLives:
        """Return all stretches; what holds now lasts to the last of ``positions``."""
        self.add(positions, np.full_like(self._now, _ABSENT))
        nothing = np.empty(0, dtype=np.int32)
        slots, first, last, coverage = zip(
            *self._done, (nothing, nothing, 0, nothing.astype(np.uint8)), strict=True
        )
        lengths = [len(some) for some in slots]
        return IndexLives(
            fragment_ids,
            np.concatenate(slots),
            np.concatenate(first),
            np.repeat(np.array(last, dtype=np.int32), lengths),
            np.concatenate(coverage),
        )
