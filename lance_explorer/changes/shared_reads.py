"""Values of rows of many versions, read from the few versions that still contain these rows.

A row has the same values in all versions that contain its fragment with the same files. So most
rows that a series of commits wrote are read at once, from the last of these versions.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.errors import LanceExplorerError
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.values.later_values import values_at
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["SharedReads", "SharedVersions", "Take", "WantedRows"]

Take = Callable[[int, Uint64Array, Sequence[str]], pl.DataFrame | None]
"""Returns rows of the version at a position that were already read; None if they were not."""

_FRAGMENT_BITS = np.uint64(32)
_OFFSETS = np.uint64((1 << 32) - 1)


class WantedRows(NamedTuple):
    """Rows of a version: its position, their addresses there, and their identities."""

    position: int
    addresses: Uint64Array
    ids: Uint64Array


class _Span(NamedTuple):
    """The range of positions with the same files of a fragment and the same columns."""

    fragment_id: int
    first: int
    last: int


class SharedVersions:
    """Which versions of a branch can replace which for reading.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    end : int
        The position of the last version to read.
    names_at : callable
        Returns the columns to read of the version at a position, as they are called there.
    """

    def __init__(self, rows: StateRows, end: int, names_at: Callable[[int], Sequence[str]]) -> None:
        self.rows, self.names_at = rows, names_at
        self._end = end
        self._spans = dict[int, tuple[list[_Span], NDArray[np.int64]]]()

    def spans(
        self, positions: NDArray[np.int64], addresses: Uint64Array
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the range in which the fragments of rows have the files of some positions."""
        first, last = np.empty_like(positions), np.empty_like(positions)
        for fragment_id, position, some in _by_fragment(positions, addresses):
            _, first[some], last[some] = self._span(fragment_id, position)
        return first, last

    def are_live(self, positions: NDArray[np.int64], addresses: Uint64Array) -> NDArray[np.bool_]:
        """Return which rows are not deleted at some positions."""
        live = np.ones(len(addresses), dtype=np.bool_)
        for fragment_id, position, some in _by_fragment(positions, addresses):
            if deleted := self.rows.deleted(self._state(fragment_id, position)):
                gone = np.array(deleted, dtype=np.uint64)
                live[some] = ~np.isin(addresses[some] & _OFFSETS, gone)
        return live

    def _span(self, fragment_id: int, position: int) -> _Span:
        if fragment_id not in self._spans:
            spans = self._spans_of(fragment_id)
            self._spans[fragment_id] = spans, np.array([span.first for span in spans])
        spans, firsts = self._spans[fragment_id]
        return spans[int(np.searchsorted(firsts, position, side="right")) - 1]

    def _state(self, fragment_id: int, position: int) -> int:
        intervals = self.rows.history.intervals
        some = self._of(fragment_id)
        place = int(np.searchsorted(intervals.first[some], position, side="right")) - 1
        return int(intervals.keys[some[place]])

    def _spans_of(self, fragment_id: int) -> list[_Span]:
        history, spans, last_content = self.rows.history, list[_Span](), None
        for number in self._of(fragment_id).tolist():
            fragment = history.states[int(history.intervals.keys[number])]
            content = fragment.files, fragment.overlays, fragment.row_ids, fragment.physical_rows
            first = int(history.intervals.first[number])
            last = min(int(history.intervals.last[number]), self._end)
            while first <= last:
                stop = min(last, int(self._alike_until[first]))
                joins = spans and spans[-1].last == first - 1 and content == last_content
                if joins and self._alike_until[first - 1] >= first:
                    spans[-1] = spans[-1]._replace(last=stop)
                else:
                    spans.append(_Span(fragment_id, first, stop))
                first, last_content = stop + 1, content
        return spans

    def _of(self, fragment_id: int) -> NDArray[np.int64]:
        """Return the numbers of a fragment's intervals, in order."""
        order, ids = self._intervals
        wanted = np.uint64(fragment_id)
        return order[np.searchsorted(ids, wanted) : np.searchsorted(ids, wanted, side="right")]

    @cached_property
    def _intervals(self) -> tuple[NDArray[np.int64], Uint64Array]:
        history = self.rows.history
        ids = history.states.ids[history.intervals.keys]
        order = np.lexsort((history.intervals.first, ids))
        return order, ids[order]

    @cached_property
    def _alike_until(self) -> NDArray[np.int64]:
        """The last position at which versions have the columns and base paths of a position."""
        records = self.rows.history.records
        until = np.arange(self._end + 1)
        for place in range(self._end - 1, -1, -1):
            one, other = records[place], records[place + 1]
            if (
                (one.schema is other.schema or one.schema == other.schema)
                and one.manifest.base_paths == other.manifest.base_paths
                and self.rows.has_row_ids_at(place) == self.rows.has_row_ids_at(place + 1)
            ):
                until[place] = until[place + 1]
        return until


class SharedReads:
    """Rows that are read together when the first of them are wanted.

    Parameters
    ----------
    versions : SharedVersions
        Which version can stand for which.
    wanted : iterable of WantedRows
        All the rows.
    """

    def __init__(self, versions: SharedVersions, wanted: Iterable[WantedRows]) -> None:
        self._versions = versions
        self._wanted = [*wanted]
        self._reading = Lock()

    def take(
        self, position: int, addresses: Uint64Array, names: Sequence[str]
    ) -> pl.DataFrame | None:
        """Return rows of a version; None unless all were read together with other rows."""
        with self._reading:
            kept = self._kept.get(position)
        if kept is None or [*names] != [*self._versions.names_at(position)]:
            return None
        known, frame = kept
        places = np.searchsorted(known, addresses)
        if len(known) <= places.max(initial=0) or not np.array_equal(known[places], addresses):
            return None
        return frame[places]

    @cached_property
    def _kept(self) -> dict[int, tuple[Uint64Array, pl.DataFrame]]:
        """By position the addresses of rows, ascending, and their values."""
        if not any(len(one.addresses) for one in self._wanted):
            return {}
        position = np.repeat(
            [one.position for one in self._wanted], [len(one.addresses) for one in self._wanted]
        )
        addresses = np.concatenate([one.addresses for one in self._wanted])
        ids = np.concatenate([one.ids for one in self._wanted])
        try:
            served = self._served(position, addresses)
        except LanceExplorerError:
            return {}  # reading a version alone shows what is damaged
        by_position = defaultdict[int, list[tuple[Uint64Array, pl.DataFrame]]](list)
        for serving in np.unique(served).tolist():
            some = np.flatnonzero(served == serving)
            if len(np.unique(position[some])) == 1 and position[some[0]] == serving:
                continue  # it is read alone on request
            distinct, first, place = np.unique(
                addresses[some], return_index=True, return_inverse=True
            )
            names = [*self._versions.names_at(serving)]
            try:
                values = values_at(self._versions.rows, serving, distinct, ids[some[first]], names)
            except LanceExplorerError:
                continue  # each version shows its own losses
            for own in np.unique(position[some]).tolist():
                here = position[some] == own
                by_position[own].append((addresses[some[here]], values[place[here]]))
        return {own: _joined(parts) for own, parts in by_position.items()}

    def _served(self, position: NDArray[np.int64], addresses: Uint64Array) -> NDArray[np.int64]:
        """Return the version from which each row is read: as few versions as possible."""
        first, last = self._lives(position, addresses)
        served, chosen = position.copy(), -1
        intervals, place = np.unique(np.stack([last, first], axis=1), axis=0, return_inverse=True)
        stops = np.empty(len(intervals), dtype=np.int64)
        for number, (end, begin) in enumerate(intervals.tolist()):
            chosen = end if chosen < begin else chosen
            stops[number] = chosen
        stop = stops[place.ravel()]
        # A restore may have brought rows back that were missing in between.
        is_there = self._versions.are_live(stop, addresses)
        served[is_there] = stop[is_there]
        return served

    def _lives(
        self, position: NDArray[np.int64], addresses: Uint64Array
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the range of positions in which each row is unchanged."""
        first, last = self._versions.spans(position, addresses)
        first = np.maximum(first, position.min())
        first = np.where(self._versions.are_live(first, addresses), first, position)
        gone = np.flatnonzero(~self._versions.are_live(last, addresses))
        low, high = position[gone], last[gone]
        while (is_wide := high - low > 1).any():
            middle = np.where(is_wide, (low + high) // 2, low)
            is_live = self._versions.are_live(middle, addresses[gone])
            low, high = np.where(is_live, middle, low), np.where(is_live, high, middle)
        last[gone] = low
        return first, last


def _joined(
    parts: Sequence[tuple[Uint64Array, pl.DataFrame]],
) -> tuple[Uint64Array, pl.DataFrame]:
    addresses, first = np.unique(
        np.concatenate([addresses for addresses, _ in parts]), return_index=True
    )
    return addresses, pl.concat([values for _, values in parts])[first]


def _by_fragment(
    positions: NDArray[np.int64], addresses: Uint64Array
) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Yield fragments and positions, each with the places of the rows that have both."""
    if not len(positions):
        return
    keys = (addresses >> _FRAGMENT_BITS << _FRAGMENT_BITS) | positions.astype(np.uint64)
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order])) + 1
    for some in np.split(order, begins):
        yield int(addresses[some[0]] >> _FRAGMENT_BITS), int(positions[some[0]]), some
