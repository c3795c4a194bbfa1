"""Rows identified by the stable row IDs that fragments store.

Some row IDs were assigned again, which is found on first use
(:mod:`lance_explorer.history.identity.reused_row_ids`): then later rows have identities that are
not row IDs.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.history.identity.reused_row_ids import namesakes_of
from lance_explorer.history.identity.row_id_lines import Namesakes, RowIdLine
from lance_explorer.history.identity.row_origins import RowOrigins
from lance_explorer.history.identity.stored_rows import ALL_KINDS, StoredRows
from lance_explorer.history.identity.versions_of_moved import (
    moved_without_versions,
    states_in_order,
    with_versions_before,
)
from lance_explorer.history.identity.ways import StateRows
from lance_explorer.rowids.sequence import RowIdSequence

__all__ = ["RowsById"]


class RowsById(StateRows):
    """The rows of a table with stable row IDs."""

    has_row_ids = True

    def __init__(self, stored: StoredRows, ids_went_at: int | None = None) -> None:
        super().__init__(stored, ids_went_at)
        self._origins: dict[int, RowOrigins] = {}
        self._own_ids: dict[int, RowIdSequence] = {}
        self._shared_ids: dict[tuple[int, bytes], RowIdSequence] = {}

    @cached_property
    def namesakes(self) -> Namesakes | None:
        """The lines that distinguish rows with one row ID; None if there are no such rows."""
        if not self.history.records:
            return None
        return namesakes_of(self.stored, self.ids_from)

    def load(self, states: Collection[int], *, versions: bool = True) -> None:
        """Read row IDs of some states, and the version that wrote each row on request."""
        self.stored.load(states, ALL_KINDS if versions else ALL_KINDS[:1])

    def ids(self, state: int) -> RowIdSequence:
        """Return the identities of the rows of a state; states may share the sequence itself."""
        if state in self._own_ids:
            return self._own_ids[state]
        row_ids, line = self.stored.row_ids(state), self._line(state)
        if line is None:
            return row_ids
        renamed = line.sequence(row_ids)
        if renamed is not row_ids:
            key = id(row_ids), b"".join(array.tobytes() for array in renamed.ranges())
            renamed = self._shared_ids.setdefault(key, renamed)
        self._own_ids[state] = renamed
        return renamed

    def origins(self, state: int) -> RowOrigins:
        """Return identities and row versions of a state."""
        if state not in self._origins:
            for one in states_in_order(self, state, self._are_moved, self._origins):
                self._origins[one] = self._find_origins(one)
        return self._origins[state]

    def _find_origins(self, state: int) -> RowOrigins:
        if self._are_moved[state]:
            return with_versions_before(self, state, self._stored_origins)
        return self._stored_origins(state)

    def _stored_origins(self, state: int) -> RowOrigins:
        """Return identities and row versions of a state, as it stores them."""
        self.load([state])
        created, updated = [self.stored.versions(state, kind) for kind in ALL_KINDS[1:]]
        return RowOrigins(self.ids(state), created, updated)

    def _line(self, state: int) -> RowIdLine | None:
        position = int(self.first_positions[state])
        return self.namesakes.lines[position] if self.namesakes and position >= 0 else None

    @cached_property
    def _are_moved(self) -> NDArray[np.bool_]:
        return moved_without_versions(self.history, self.first_positions, self._are_replayed)

    @property
    def _are_replayed(self) -> NDArray[np.bool_]:
        """The states whose row versions are known although they store none."""
        return np.zeros(len(self.history.states), dtype=np.bool_)

    def _are_ranges(self) -> NDArray[np.bool_]:
        ranges = self.history.states.row_id_ranges.found
        return ranges if self.namesakes is None else np.zeros_like(ranges)
