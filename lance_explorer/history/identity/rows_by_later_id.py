"""Rows of a table that got stable row IDs after some versions.

Rows of earlier versions have the row IDs that they got then, or identities that are not row IDs
(:mod:`lance_explorer.history.identity.rows_before_ids`).
"""

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.history.identity.birth_addresses import RowsByAddress
from lance_explorer.history.identity.row_origins import RowOrigins
from lance_explorer.history.identity.rows_before_ids import RowsBeforeIds, are_without_row_id
from lance_explorer.history.identity.rows_by_id import RowsById
from lance_explorer.history.identity.stored_rows import StoredRows
from lance_explorer.history.readable import up_to
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.sequence import RowIdSequence

__all__ = ["RowsByLaterId"]


class RowsByLaterId(RowsById):
    """The rows of a table that has stable row IDs from a position on."""

    def __init__(self, stored: StoredRows, ids_from: int, ids_went_at: int | None = None) -> None:
        super().__init__(stored, ids_went_at)
        self.ids_from = ids_from

    @property
    def doubtful_links(self) -> dict[int, list[RowIdSequence]]:
        """By position, the rows that only counts and order link to rows before lost versions."""
        return self._before.doubtful_links

    def ids(self, state: int) -> RowIdSequence:
        """Return the identities of the rows of a state; states may share the sequence itself."""
        return self.origins(state).ids if self._is_before(state) else super().ids(state)

    def never_had_ids(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Return which rows were gone before the table had stable row IDs, and so have none."""
        return are_without_row_id(identities)

    def evidence_before_ids(self, identities: Uint64Array) -> NDArray[np.uint8]:
        """Return the evidence for the identity of rows before the table had stable row IDs."""
        return self._before.evidence(identities)

    @cached_property
    def _before(self) -> RowsBeforeIds:
        history = up_to(self.history, self.ids_from)
        by_address = RowsByAddress(StoredRows(self.view, history, self.stored.known))
        return RowsBeforeIds(self.stored, self.ids_from, by_address)

    def _find_origins(self, state: int) -> RowOrigins:
        if self._is_before(state):
            return self._before.origins(state)
        return self._before.with_versions(state, super()._find_origins(state))

    def _is_before(self, state: int) -> bool:
        """Return whether the rows of a state are identified by address."""
        return 0 <= int(self.first_positions[state]) <= self.ids_from

    @property
    def _are_replayed(self) -> NDArray[np.bool_]:
        return (self.first_positions >= 0) & (self.first_positions <= self.ids_from)

    def _are_ranges(self) -> NDArray[np.bool_]:
        return super()._are_ranges() & (self.first_positions > self.ids_from)
