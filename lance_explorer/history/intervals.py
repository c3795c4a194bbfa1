"""Validity intervals: the versions that contain a thing.

A thing may come, go and come back (a restore brings old fragments back), so it has several
intervals. Positions count kept versions from 0, oldest first.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

__all__ = ["NO_INTERVALS", "IntervalBuilder", "Intervals", "intervals_of", "merge_intervals"]

_K = TypeVar("_K", bound=Hashable)

_FEW_PARTS = 4
"""With so few parts, looking at all intervals takes no longer."""


@dataclass(frozen=True)
class Intervals:
    """Maximal intervals, ordered by where they begin.

    Thing ``keys[i]`` is present from position ``first[i]`` to ``last[i]``, both included.
    """

    keys: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)

    def at(self, position: int) -> NDArray[np.int64]:
        """Return the keys at one position; the cost is their number."""
        if self._parts is None:
            return self.keys[(self.first <= position) & (position <= self.last)]
        width, numbers, begins = self._parts
        part = position // width
        if not 0 <= part < len(begins) - 1:
            return self.keys[:0]
        some = numbers[begins[part] : begins[part + 1]]
        some = some[(self.first[some] <= position) & (position <= self.last[some])]
        return self.keys[some]

    def only(self, kept: NDArray[np.int64]) -> "Intervals":
        """Return the intervals if only the ``kept`` positions (ascending) remain."""
        first = np.searchsorted(kept, self.first)
        last = np.searchsorted(kept, self.last, side="right") - 1
        there = first <= last
        return merge_intervals(self.keys[there], first[there], last[there])

    @cached_property
    def _parts(self) -> tuple[int, NDArray[np.int64], NDArray[np.int64]] | None:
        """Parts of the positions: their length, the intervals of each, and where these begin.

        A part is as long as an average interval, so an interval is in two or three parts, and there
        are at most as many parts as intervals. None if there are few intervals.
        """
        if not len(self):
            return None
        end = int(self.last.max())
        width = 1 + max(int((self.last - self.first).mean()), end // len(self))
        count = 1 + end // width
        if count <= _FEW_PARTS:
            return None
        begin = self.first // width
        spans = self.last // width - begin + 1
        owner = np.repeat(np.arange(len(self)), spans)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(spans) - spans, spans)
        parts = begin[owner] + place
        order = np.argsort(parts, kind="stable")
        return width, owner[order], np.searchsorted(parts[order], np.arange(count + 1))


def merge_intervals(
    keys: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
) -> Intervals:
    """Return maximal intervals: those of one key that touch or overlap become one."""
    order = np.lexsort((first, keys))
    keys, first, last = keys[order], first[order], last[order]
    # No position reaches into the range of another key: offset each key by more than a position.
    width = np.int64(1 + last.max(initial=0) + 1)
    reach = np.maximum.accumulate(last + keys * width)
    begins = np.ones(len(keys), dtype=np.bool_)
    begins[1:] = (keys[1:] != keys[:-1]) | (first[1:] + keys[1:] * width > reach[:-1] + 1)
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(keys))[: len(starts)] - 1
    keys, first, last = keys[starts], first[starts], reach[ends] - keys[starts] * width
    order = np.lexsort((keys, first))
    return Intervals(keys[order], first[order], last[order])


_NOTHING = np.empty(0, dtype=np.int64)

NO_INTERVALS = Intervals(_NOTHING, _NOTHING, _NOTHING)
"""Of nothing, in no version."""


class IntervalBuilder:
    """Collects intervals from versions, oldest first.

    It can continue the intervals of the first ``positions`` versions.
    """

    def __init__(self, known: Intervals = NO_INTERVALS, positions: int = 0) -> None:
        is_open = known.last == positions - 1
        self._open: dict[int, int] = dict(
            zip(known.keys[is_open].tolist(), known.first[is_open].tolist(), strict=True)
        )
        self._keys: list[int] = known.keys[~is_open].tolist()
        self._first: list[int] = known.first[~is_open].tolist()
        self._last: list[int] = known.last[~is_open].tolist()

    @property
    def still_open(self) -> list[int]:
        """The keys at the last position so far."""
        return list(self._open)

    def open(self, key: int, position: int) -> None:
        """Record that ``key`` is present from ``position`` on."""
        self._open.setdefault(key, position)

    def close(self, key: int, position: int) -> None:
        """Record that ``position`` is the first without ``key``."""
        first = self._open.pop(key, None)
        if first is not None:
            self._keys.append(key)
            self._first.append(first)
            self._last.append(position - 1)

    def finish(self, positions: int) -> Intervals:
        """Return all intervals; open ones end at the last of ``positions``."""
        keys = np.array(self._keys + list(self._open), dtype=np.int64)
        first = np.array(self._first + list(self._open.values()), dtype=np.int64)
        last = np.array(self._last + [positions - 1] * len(self._open), dtype=np.int64)
        order = np.lexsort((keys, first))
        return Intervals(keys[order], first[order], last[order])


def intervals_of(sets: Sequence[Collection[_K]]) -> tuple[list[_K], Intervals]:
    """Return the distinct members of a sequence of sets, and the intervals of each.

    Neighbours that are the same object cost nothing, so share unchanged sets.

    Examples
    --------
    >>> keys, intervals = intervals_of([{"a"}, {"a", "b"}, {"b"}, {"a", "b"}])
    >>> keys
    ['a', 'b']
    >>> intervals.keys.tolist(), intervals.first.tolist(), intervals.last.tolist()
    ([0, 1, 0], [0, 1, 3], [1, 3, 3])
    """
    numbers: dict[_K, int] = {}
    builder = IntervalBuilder()
    before: Collection[_K] = ()
    for position, now in enumerate(sets):
        if now is before:
            continue
        there = set(now)
        for key in before:
            if key not in there:
                builder.close(numbers[key], position)
        for key in now:
            builder.open(numbers.setdefault(key, len(numbers)), position)
        before = now
    return list(numbers), builder.finish(len(sets))
