"""Row IDs from version to version: which are live, and which were ever assigned.

Each version costs what changed in it: the rows of unchanged fragments are read only if a row ID was
added that is not above all others.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lance_explorer.history.reading.row_reader import FragmentContent
from lance_explorer.rowids.addresses import first_address, fragments_of
from lance_explorer.rowids.blocks import RunsAndBlocks
from lance_explorer.rowids.building import FragmentRows, live_rows
from lance_explorer.rowids.id_map import IdMap
from lance_explorer.rowids.runs import RunColumns, Runs
from lance_explorer.rowids.segments import Range

__all__ = ["Arrival", "FragmentIds", "IdGroup", "RowIdTracker", "end_of", "ids_from", "joined"]


@dataclass(frozen=True, slots=True)
class FragmentIds:
    """The row IDs of a fragment: of all its rows, of the live ones, and those that live twice."""

    every: IdMap
    live: IdMap
    repeated: RunColumns

    @classmethod
    def of(cls, content: FragmentContent) -> "FragmentIds":
        """Return the row IDs of a fragment.

        Raises
        ------
        CorruptFileError
            If a row has the largest 64-bit number as its row ID, which is not allowed.
        """
        simple = _one_range(content)
        if simple is not None:
            return cls(simple, simple, RunColumns.empty())
        rows = content.index_rows()
        live, repeated = IdMap.of_parts(live_rows([rows]))
        every = live
        if content.deleted:
            every = IdMap.of_parts(live_rows([FragmentRows(rows.fragment_id, rows.row_ids)]))[0]
        return cls(every, live, repeated)


@dataclass(frozen=True, slots=True)
class IdGroup:
    """Some row IDs: their number, the lowest of them, and fragments in which that one is live."""

    count: int
    first: int
    fragment_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """The live rows of added fragments; ``fresh`` are those whose IDs were not live before."""

    rows: IdMap
    fresh: IdMap
    duplicates: IdGroup | None


class RowIdTracker:
    """Follows row IDs from one version to the next."""

    def __init__(self) -> None:
        self._live: dict[int, IdMap] = {}
        self._ever: list[IdMap] = []
        self._stop = 0  # the row ID after the highest one so far

    def advance(self, removed: Iterable[int], added: dict[int, FragmentIds]) -> Arrival:
        """Advance to the next version; return what it added, and which live row IDs are not unique.

        States are given by number. Row IDs that were not unique before are not reported again while
        their fragments stay.
        """
        before, _ = joined([self._live.pop(state) for state in removed if state in self._live])
        rows, repeated = joined([ids.live for ids in added.values()])
        fresh = rows.difference(before) if before.num_rows else rows
        twice = [repeated, rows.repeated(), *[ids.repeated for ids in added.values()]]
        for other in self._live.values() if self._reaches_down(fresh) else ():
            if _overlap(fresh, other):
                twice += fresh.intersection(other).stretches()
                fresh = fresh.difference(other)
        self._live.update({state: ids.live for state, ids in added.items()})
        return Arrival(rows, fresh, self._group(RunColumns.concatenated(twice)))

    def used_before(self, rows: IdMap) -> IdGroup | None:
        """Return the row IDs of some rows that were assigned in an earlier version."""
        if not self._reaches_down(rows):
            return None
        again = [rows.intersection(some) for some in self._ever if _overlap(rows, some)]
        return self._group(
            RunColumns.concatenated([runs for some in again for runs in some.stretches()])
        )

    def remember(self, several: Iterable[IdMap]) -> None:
        """Record that row IDs were assigned."""
        some = list(several)
        self._ever += [new for ids in some if (new := ids_from(ids, self._stop)).num_rows]
        self._stop = max([self._stop, *[end_of(ids) for ids in some]])

    def _reaches_down(self, ids: IdMap) -> bool:
        """Whether row IDs may have existed before."""
        return ids.num_rows > 0 and _begin_of(ids) < self._stop

    def _group(self, columns: RunColumns) -> IdGroup | None:
        if not len(columns.start):
            return None
        first = columns.start.min()
        wanted = np.array([first], dtype=np.uint64)
        places = [columns.address[columns.start == first]]
        for ids in self._live.values():
            addresses, is_found = ids.lookup(wanted)
            places.append(addresses[is_found])
        fragment_ids = np.unique(fragments_of(np.concatenate(places))).tolist()
        return IdGroup(columns.num_rows, int(first), tuple(fragment_ids))


def _one_range(content: FragmentContent) -> IdMap | None:
    """Return the row IDs of a fragment without deleted rows, if they are one range."""
    if content.deleted or content.row_ids is None:
        return None
    match content.row_ids.parts:
        case (Range(start, stop),) if start < stop:
            address = first_address(content.fragment.id)
            columns = np.array([[start], [stop], [address]], dtype=np.uint64)
            return IdMap(Runs(RunColumns(*columns)))
    return None


def ids_from(ids: IdMap, low: int) -> IdMap:
    """Return the rows whose row IDs are ``low`` or higher."""
    if not low or not ids.num_rows or _begin_of(ids) >= low:
        return ids
    if end_of(ids) <= low:
        return IdMap(Runs.of(RunColumns.empty()))
    zero, stop = np.array([[0], [low]], dtype=np.uint64)
    return ids.difference(IdMap(Runs(RunColumns(zero, stop, zero))))


def end_of(ids: IdMap) -> int:
    """Return the row ID after the highest one; 0 if there is none."""
    ends = [int(ids.runs.stop[-1])] if len(ids.runs) else []
    ends += [int(blocks.runs(slice(-1, None)).stop[-1]) for blocks in ids.blocks]
    return max(ends, default=0)


def joined(several: Iterable[IdMap]) -> tuple[IdMap, RunColumns]:
    """Return all rows; separately, runs of row IDs that other runs contain, too."""
    return IdMap.of_parts([RunsAndBlocks(ids.runs.columns, list(ids.blocks)) for ids in several])


def _begin_of(ids: IdMap) -> int:
    """Return the lowest row ID; there must be a row."""
    begins = [int(ids.runs.start[0])] if len(ids.runs) else []
    begins += [int(blocks.id_bounds()[0][0]) for blocks in ids.blocks]
    return min(begins)


def _overlap(some: IdMap, others: IdMap) -> bool:
    if not some.num_rows or not others.num_rows:
        return False
    return _begin_of(some) < end_of(others) and _begin_of(others) < end_of(some)
