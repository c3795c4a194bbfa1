"""The lives of fragments: from the version that created one to the last that has it.

A life continues while consecutive kept versions have the ID, in any state. It ends where the ID is
absent, and where another fragment gets the ID; a restored fragment begins a new life.
"""

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals
from lance_explorer.history.steps import same_life

__all__ = ["Lives", "fragment_lives"]

_Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Lives:
    """The lives of the fragments of a history, ordered by their begin, then by ID.

    Attributes
    ----------
    intervals : Intervals
        The states of the fragments: those of one life follow one another.
    of_interval : NDArray[np.int64]
        The life that each interval belongs to, by number.
    begins, ends : NDArray[np.int64]
        For each life, its first interval and its last.
    fragment_ids : NDArray[np.uint64]
        For each life, the ID of its fragment.
    """

    intervals: Intervals
    of_interval: _Numbers
    begins: _Numbers
    ends: _Numbers
    fragment_ids: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.begins)

    @cached_property
    def first(self) -> _Numbers:
        """For each life, the position of its first version."""
        return self.intervals.first[self.begins]

    @cached_property
    def last(self) -> _Numbers:
        """For each life, the position of its last version."""
        return self.intervals.last[self.ends]

    @cached_property
    def first_states(self) -> _Numbers:
        """For each life, its first state."""
        return self.intervals.keys[self.begins]

    @cached_property
    def last_states(self) -> _Numbers:
        """For each life, its last or current state."""
        return self.intervals.keys[self.ends]

    def find(self, fragment_id: int, position: int) -> int | None:
        """Return the life of a fragment ID at a position; None if it has none."""
        lives = self.of_fragment(fragment_id)
        place = bisect_right(lives, position, key=lambda life: int(self.first[life])) - 1
        return lives[place] if place >= 0 and self.last[lives[place]] >= position else None

    def of_fragment(self, fragment_id: int) -> list[int]:
        """Return the lives of a fragment ID, oldest first."""
        return self._by_fragment.get(fragment_id, [])

    def states(self, life: int) -> list[int]:
        """Return the states of a life, unordered."""
        order, begins = self._by_life
        keys: list[int] = self.intervals.keys[order[begins[life] : begins[life + 1]]].tolist()
        return keys

    @cached_property
    def _by_life(self) -> tuple[_Numbers, _Numbers]:
        """The intervals, life by life, and where those of each life begin."""
        order = np.argsort(self.of_interval, kind="stable")
        return order, np.searchsorted(self.of_interval[order], np.arange(len(self) + 1))

    @cached_property
    def _by_fragment(self) -> dict[int, list[int]]:
        lives: dict[int, list[int]] = defaultdict(list)
        for life, fragment_id in enumerate(self.fragment_ids.tolist()):
            lives[fragment_id].append(life)
        return dict(lives)


def fragment_lives(history: History, num_versions: int | None = None) -> Lives:
    """Return the lives of the fragments in the first versions of a history, by default in all."""
    intervals = _until(history, len(history) if num_versions is None else num_versions)
    ids = history.states.ids[intervals.keys]
    order = np.lexsort((intervals.first, ids))
    continues = _continues(history, intervals, ids, order)
    ends = np.flatnonzero(np.append(~continues[1:], True)) if len(order) else order
    life, begins, ends = np.cumsum(~continues) - 1, order[~continues], order[ends]
    by_appearance = np.lexsort((ids[begins], intervals.first[begins]))
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(rank))
    of_interval = np.empty_like(order)
    of_interval[order] = rank[life]
    begins, ends = begins[by_appearance], ends[by_appearance]
    return Lives(intervals, of_interval, begins, ends, ids[begins])


def _until(history: History, num_versions: int) -> Intervals:
    intervals = history.intervals
    return intervals.only(np.arange(num_versions)) if num_versions < len(history) else intervals


def _continues(
    history: History, intervals: Intervals, ids: NDArray[np.uint64], order: _Numbers
) -> NDArray[np.bool_]:
    """Return whether each interval, in ``order``, continues the life of the previous one."""
    continues = np.zeros(len(order), dtype=np.bool_)
    before, after = order[:-1], order[1:]
    adjacent = (ids[before] == ids[after]) & (intervals.last[before] + 1 == intervals.first[after])
    keys, first = intervals.keys.tolist(), intervals.first.tolist()
    states, records, follows = history.states, history.records, history.follows_previous
    for place in np.flatnonzero(adjacent).tolist():
        old, new = order[place], order[place + 1]
        position = first[new]
        operation = records[position].operation if follows[position] else None
        continues[place + 1] = same_life(states[keys[old]], states[keys[new]], operation)
    return continues
