"""What a restore did to rows: those of the version before compared with those it brought back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format.fragments import Fragment
from lance_explorer.history.rows import FragmentContent, RowReader
from lance_explorer.history.source import TableSource
from lance_explorer.history.steps import same_life
from lance_explorer.rowids.id_map import FRAGMENT_BITS

__all__ = ["RowChange", "compare_rows"]

_Numbers = NDArray[np.uint64]

_NONE: _Numbers = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class RowChange:
    """Rows that went, that came, whose values went back or forward, and that only moved.

    None where it cannot be told.
    """

    gone: int | None
    new: int | None
    reverted: int | None
    moved: int | None


_UNTOLD = RowChange(None, None, None, None)


def compare_rows(source: TableSource, before: int, after: int) -> RowChange:
    """Compare two versions row by row, looking only at fragments whose states differ.

    Without stable row IDs, a row that another fragment has now cannot be told from a new one: then
    nothing is told, unless both versions have the same fragments.

    Raises
    ------
    NotFoundError
        If a version is not kept.
    FormatError
        If a sequence or deletion file cannot be understood.
    StorageError
        If a file cannot be read.
    """
    old = {state.id: state for state in source.version(before).states}
    new = {state.id: state for state in source.version(after).states}
    differ = {key for key in {*old, *new} if old.get(key) != new.get(key)}
    old_rows = RowReader(source, before).contents(differ)
    new_rows = RowReader(source, after).contents(differ)
    stable = all(content.row_ids is not None for content in (*old_rows, *new_rows))
    if not stable and any(not _same_rows(old.get(key), new.get(key)) for key in differ):
        return _UNTOLD
    old_ids, old_places, old_updates = _columns(old_rows, stable)
    new_ids, new_places, new_updates = _columns(new_rows, stable)
    common, at_old, at_new = np.intersect1d(
        old_ids, new_ids, assume_unique=True, return_indices=True
    )
    gone, came = len(old_ids) - len(common), len(new_ids) - len(common)
    if not stable:
        return RowChange(gone, came, None, 0)
    if old_updates is None or new_updates is None:
        return RowChange(gone, came, None, None)
    same_values = old_updates[at_old] == new_updates[at_new]
    same_place = old_places[at_old] == new_places[at_new]
    return RowChange(gone, came, int((~same_values).sum()), int((same_values & ~same_place).sum()))


def _same_rows(before: Fragment | None, after: Fragment | None) -> bool:
    """Whether two states are of one fragment, so that an offset is the same row in both."""
    return before is not None and after is not None and same_life(before, after)


def _columns(
    contents: list[FragmentContent], stable: bool
) -> tuple[_Numbers, _Numbers, _Numbers | None]:
    """Return row IDs, addresses and last updates of all live rows; addresses are IDs if need be."""
    ids, places, updates = [_NONE], [_NONE], [_NONE]
    knows_updates = True
    for content in contents:
        live = content.live_offsets()
        place = live.astype(np.uint64) + np.uint64(content.fragment.id << FRAGMENT_BITS)
        places.append(place)
        ids.append(content.row_ids.at(live) if content.row_ids and stable else place)
        if content.last_updated_at is None:
            knows_updates = False
        else:
            updates.append(content.last_updated_at.without(content.deleted).expand())
    joined = np.concatenate(updates) if knows_updates else None
    return np.concatenate(ids), np.concatenate(places), joined
