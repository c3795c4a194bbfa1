"""Stale entries of an index: those of deleted rows, which a search must skip."""

from functools import cache

import numpy as np
from pyroaring import BitMap

from lance_explorer.errors import FormatError, NotFoundError, StorageError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.index_details import index_type
from lance_explorer.format.indices import IndexMetadata
from lance_explorer.history.history import UNKNOWN_COUNT, History
from lance_explorer.history.reading.row_reader import FragmentContent, RowReader
from lance_explorer.history.steps import same_life
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.index import RowIdIndex

__all__ = ["StaleEntries"]

_WITHOUT_ROWS = frozenset({"ZONE_MAP", "BLOOM_FILTER"})
"""Types with ranges of rows instead of an entry for each row."""

_BTREE_OF_ADDRESSES = 1
"""From this version on a BTREE stores row addresses where others store row IDs."""


class StaleEntries:
    """Counts the stale entries of the index segments of one version.

    A segment may have an entry for each row that was live in the version that it was built from.
    Rows that were added to the fragment later may have been indexed in a later version, which is
    not recorded: so the counts are upper bounds.

    With stable row IDs most indices store them. The entry of a row that an update moved is not
    stale if the row is now in a covered fragment.
    """

    def __init__(self, view: HistoryView, version: int) -> None:
        self._view = view
        self._version = version
        now = view.version(version)
        manifest = now.records[0].manifest
        self._stable = bool(manifest.reader_feature_flags & STABLE_ROW_IDS)
        self._now = _States(now)
        self._then = cache(self._load_then)
        self._contents = cache(self._load_contents)
        self._index = cache(self._build_index)

    def count(
        self, segment: IndexMetadata, covered: frozenset[int], fragment_id: int
    ) -> int | None:
        """Return how many entries for rows of one fragment are stale; None if that is unknown.

        Parameters
        ----------
        segment : IndexMetadata
            The segment.
        covered : frozenset of int
            The fragments of the version that it covers.
        fragment_id : int
            One of these, or a fragment that it once covered and that is gone.
        """
        if index_type(segment) in _WITHOUT_ROWS:
            return None
        after = self._now.fragment(fragment_id)
        if after is not None and after.deletion_file is None:
            return 0
        try:
            masked = self._masked(segment, fragment_id)
            if not masked or not self._holds_row_ids(segment):
                return masked
            is_live = self._index(covered).locate_many(self._masked_ids(segment, fragment_id))[1]
            return masked - int(is_live.sum())
        except (FormatError, StorageError, NotFoundError):
            return None

    def _masked(self, segment: IndexMetadata, fragment_id: int) -> int | None:
        """Count the rows that lived when the segment was built and do not live at their place."""
        then, now = self._then(segment.dataset_version), self._now
        before, after = then.fragment(fragment_id), now.fragment(fragment_id)
        if after is None:
            return None if before is None else then.num_live(fragment_id)
        if before is None:
            return now.num_deleted(fragment_id)
        earlier, later = then.num_deleted(fragment_id), now.num_deleted(fragment_id)
        if earlier is None or later is None or not same_life(before, after):
            return None
        return max(0, later - earlier)

    def _masked_ids(self, segment: IndexMetadata, fragment_id: int) -> Uint64Array:
        built = segment.dataset_version
        then = self._contents(built).get(fragment_id)
        now = self._contents(self._version).get(fragment_id)
        if now is None:
            assert then is not None, "a missing fragment existed when the segment was built"
            return _ids_at(then, then.live_offsets())
        masked = now.deleted - (BitMap() if then is None else then.deleted)
        return _ids_at(now, np.array(masked, dtype=np.int64))

    def _holds_row_ids(self, segment: IndexMetadata) -> bool:
        is_btree = index_type(segment) == "BTREE"
        return self._stable and not (
            is_btree and (segment.index_version or 0) >= _BTREE_OF_ADDRESSES
        )

    def _load_then(self, version: int) -> "_States":
        return _States(self._view.version(version))

    def _load_contents(self, version: int) -> dict[int, FragmentContent]:
        contents = RowReader(self._view, version).contents()
        return {content.fragment.id: content for content in contents}

    def _build_index(self, covered: frozenset[int]) -> RowIdIndex:
        contents = self._contents(self._version)
        return RowIdIndex.of_fragments([contents[key].index_rows() for key in sorted(covered)])


class _States:
    """The fragments of one version by ID, with their counts, None where they are unknown."""

    def __init__(self, history: History) -> None:
        self._places = {state.id: place for place, state in enumerate(history.states)}
        self._history = history
        self._live = history.live_rows

    def fragment(self, fragment_id: int) -> Fragment | None:
        place = self._places.get(fragment_id)
        return None if place is None else self._history.states[place]

    def num_live(self, fragment_id: int) -> int | None:
        return _known(int(self._live[self._places[fragment_id]]))

    def num_deleted(self, fragment_id: int) -> int | None:
        return _known(int(self._history.num_deleted_rows[self._places[fragment_id]]))


def _known(count: int) -> int | None:
    return None if count == UNKNOWN_COUNT else count


def _ids_at(content: FragmentContent, offsets: np.ndarray) -> Uint64Array:
    if content.row_ids is None:
        raise FormatError(f"fragment {content.fragment.id} has no row IDs")
    return content.row_ids.at(offsets)
