"""Which fragments were rewritten into which others, proved by stable row IDs."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap64

from lance_explorer.history.reading.row_reader import FragmentContent, RowReader
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import first_address, fragments_of
from lance_explorer.rowids.arrays import Positions, Uint64Array, begins_of
from lance_explorer.rowids.id_map import IdMap
from lance_explorer.rowids.index import RowIdIndex
from lance_explorer.rowids.runs import RunColumns
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["RowsMoved", "moved_rows"]


@dataclass(frozen=True, slots=True)
class RowsMoved:
    """Rows of old fragments that are, in order, all rows of new ones.

    ``old`` has the fragments in order, and how many rows of each; ``surviving`` their addresses.
    """

    old: Mapping[int, int]
    new: tuple[int, ...]
    surviving: BitMap64


def moved_rows(
    view: HistoryView, before: int, removed: Collection[int], after: int, added: Collection[int]
) -> Iterator[RowsMoved]:
    """Yield fragments of one version that contain exactly rows of fragments of an earlier one.

    The rows kept their IDs, and were not updated. Fragments with other rows, too, are left out, and
    so are all that share rows with them.

    Parameters
    ----------
    view : HistoryView
        A table with stable row IDs.
    before, after : int
        Two kept versions.
    removed, added : collection of int
        Fragments that only the one has, and that only the other has.
    """
    old = {content.fragment.id: content for content in RowReader(view, before).contents(removed)}
    ids = RowIdIndex.of_fragments([content.index_rows() for content in old.values()]).id_map
    whole, mixed = dict[int, _Stretch](), set[int]()
    for content in RowReader(view, after).contents(added):
        rows = _unchanged_rows(content, ids, old)
        if rows.num_rows and rows.num_rows == content.num_rows:
            whole[content.fragment.id] = rows
        else:
            mixed |= rows.fragments
    for new, rows in _connected(whole):
        if rows.is_in_order and rows.fragments.isdisjoint(mixed):
            yield RowsMoved(rows.counts(), new, rows.addresses())


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Old addresses of rows, as runs in the order of the new ones."""

    start: Uint64Array
    stop: Uint64Array

    @property
    def num_rows(self) -> int:
        return int((self.stop - self.start).sum())

    @property
    def fragments(self) -> set[int]:
        return set(np.unique(fragments_of(self.start)).tolist())

    @property
    def is_in_order(self) -> bool:
        """Whether the rows of each fragment are contiguous and in order."""
        ids = fragments_of(self.start)
        same = ids[1:] == ids[:-1]
        ascending = bool((self.start[1:] >= self.stop[:-1])[same].all())
        return ascending and int((~same).sum()) + 1 == len(self.fragments)

    def joined(self, other: "_Stretch") -> "_Stretch":
        pairs = zip((self.start, self.stop), (other.start, other.stop), strict=True)
        return _Stretch(*[np.concatenate(bounds) for bounds in pairs])

    def counts(self) -> dict[int, int]:
        """Return the number of rows of each fragment, in order."""
        ids = fragments_of(self.start)
        begins = np.flatnonzero(np.concatenate([np.ones(1, np.bool_), ids[1:] != ids[:-1]]))
        counts = np.add.reduceat((self.stop - self.start).astype(np.int64), begins)
        return dict(zip(ids[begins].tolist(), counts.tolist(), strict=True))

    def addresses(self) -> BitMap64:
        bitmap = BitMap64()
        for start, stop in zip(self.start.tolist(), self.stop.tolist(), strict=True):
            bitmap.add_range(start, stop)
        return bitmap


def _connected(whole: Mapping[int, _Stretch]) -> list[tuple[tuple[int, ...], _Stretch]]:
    """Join new fragments, in the order of their IDs, that have rows of the same old ones."""
    groups = list[tuple[tuple[int, ...], _Stretch]]()
    for id_, rows in sorted(whole.items()):
        apart = list[tuple[tuple[int, ...], _Stretch]]()
        new: tuple[int, ...] = (id_,)
        for others, other_rows in groups:
            if other_rows.fragments.isdisjoint(rows.fragments):
                apart.append((others, other_rows))
            else:
                new, rows = (*others, *new), other_rows.joined(rows)
        groups = [*apart, (new, rows)]
    return groups


def _unchanged_rows(
    content: FragmentContent, ids: IdMap, old: Mapping[int, FragmentContent]
) -> _Stretch:
    """Return the old addresses of the rows of a new fragment that existed and were not updated."""
    assert content.row_ids is not None, "a table with stable row IDs has them"
    starts, stops = content.row_ids.ranges()
    counts = stops - starts
    places = np.cumsum(counts) - counts  # offsets in place of addresses
    pairs = list(ids.pairs(IdMap.of(RunColumns(starts, stops, places))))
    if not pairs:
        return _Stretch(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64))
    start, stop, address, offset = [np.concatenate(some) for some in zip(*pairs, strict=True)]
    order = np.argsort(offset)
    length = (stop - start)[order].astype(np.int64)
    address, offset = address[order], offset[order].astype(np.int64)
    if content.last_updated_at is not None:
        address, offset, length = _cut(address, offset, length, content.last_updated_at)
        same = _same_versions(address, offset, length, content.last_updated_at, old)
        address, length = address[same], length[same]
    return _Stretch(address, address + length.astype(np.uint64))


def _cut(
    address: Uint64Array, offset: Positions, length: Positions, versions: RowVersionRuns
) -> tuple[Uint64Array, Positions, Positions]:
    """Split runs where the version changes in the new fragment."""
    edges = np.unique(np.concatenate([offset, offset + length, begins_of(versions.counts)]))
    place = np.searchsorted(offset, edges, side="right") - 1
    within = (place >= 0) & (edges < (offset + length)[place])
    following = np.append(edges[1:], edges[-1:])
    edges, place, following = edges[within], place[within], following[within]
    return address[place] + (edges - offset[place]).astype(np.uint64), edges, following - edges


def _same_versions(
    address: Uint64Array,
    offset: Positions,
    length: Positions,
    versions: RowVersionRuns,
    old: Mapping[int, FragmentContent],
) -> NDArray[np.bool_]:
    """Return which runs have only rows with unchanged versions."""
    now = versions.at(offset)
    same = np.zeros(len(address), dtype=np.bool_)
    for id_ in np.unique(fragments_of(address)).tolist():
        before = old[id_].last_updated_at
        here = fragments_of(address) == id_
        if before is None:
            same[here] = True
            continue
        first = (address[here] - np.uint64(first_address(id_))).astype(np.int64)
        runs = _merged(before)
        begins = begins_of(runs.counts)
        run = np.searchsorted(begins, first, side="right") - 1
        ends_in = np.searchsorted(begins, first + length[here] - 1, side="right") - 1
        same[here] = (run == ends_in) & (runs.versions[run] == now[here])
    return same


def _merged(runs: RowVersionRuns) -> RowVersionRuns:
    """Join neighbouring runs of one version."""
    begins = np.flatnonzero(np.diff(runs.versions, prepend=~runs.versions[:1]))
    return RowVersionRuns(np.add.reduceat(runs.counts, begins), runs.versions[begins])
