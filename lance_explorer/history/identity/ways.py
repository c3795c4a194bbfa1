"""The questions that every way of identifying rows answers."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property
from pyroaring import BitMap

from lance_explorer.history.identity.row_id_lines import Namesakes
from lance_explorer.history.identity.row_origins import RowOrigins, identity_bounds
from lance_explorer.history.identity.stored_rows import StoredRows
from lance_explorer.rowids.arrays import Positions, Uint64Array
from lance_explorer.rowids.sequence import RowIdSequence

__all__ = ["StateRows"]


class StateRows(ABC):
    """The rows of the states of a history, by the number of the state.

    Parameters
    ----------
    stored : StoredRows
        What they store.
    ids_went_at : int, optional
        The version that turned stable row IDs off, if one did: the first of these.

    Attributes
    ----------
    view : HistoryView
        The branch.
    history : History
        Its versions, but those whose rows cannot be read, and those before stable row IDs were
        turned off for the last time.
    has_row_ids : bool
        Whether stable row IDs identify rows; see ``ids_from``.
    ids_from : int
        The position of the first version that has them: 0, but where a table without was given
        row IDs later.
    """

    has_row_ids = False
    ids_from = 0

    def __init__(self, stored: StoredRows, ids_went_at: int | None = None) -> None:
        self.stored, self.ids_went_at = stored, ids_went_at
        self.view, self.history = stored.view, stored.history

    @abstractmethod
    def ids(self, state: int) -> RowIdSequence:
        """Return the identities of the rows of a state; states may share the sequence itself."""

    @abstractmethod
    def origins(self, state: int) -> RowOrigins:
        """Return identities and row versions of a state."""

    @abstractmethod
    def load(self, states: Collection[int], *, versions: bool = True) -> None:
        """Read what is missing of some states, from as few manifests as possible.

        Parameters
        ----------
        states : collection of int
            The states.
        versions : bool
            Whether to read also which version wrote each row.
        """

    @property
    def namesakes(self) -> Namesakes | None:
        """What distinguishes rows with the same row ID; None if there are no such rows."""
        return None

    @property
    def doubtful_links(self) -> dict[int, list[RowIdSequence]]:
        """By position, the rows that only counts and order link to rows before lost versions.

        They may be others.
        """
        return {}

    # ------------------------------------------------------------------------------- row IDs

    def has_row_ids_at(self, position: int) -> bool:
        """Return whether a version, and all after it, have stable row IDs."""
        return self.has_row_ids and position >= self.ids_from

    def is_known_by_ids(self, position: int) -> bool:
        """Return whether row IDs match the rows of a version with those of the previous one.

        They do not if the previous version had none.
        """
        return self.has_row_ids and position >= self.ids_from + bool(self.ids_from)

    def lance_ids_at(
        self, position: int, row_ids: Uint64Array, addresses: Uint64Array
    ) -> Uint64Array:
        """Return Lance's names of rows in a version: their row IDs, or without these addresses."""
        return row_ids if self.has_row_ids_at(position) else addresses

    def row_ids(self, identities: Uint64Array) -> Uint64Array:
        """Return the row IDs of rows; the identities of those that :meth:`never_had_ids`."""
        return self.namesakes.row_ids(identities) if self.namesakes else identities

    def never_had_ids(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Return which rows were gone before the table had stable row IDs, and so have none."""
        return np.zeros(len(identities), dtype=np.bool_)

    def evidence_before_ids(self, identities: Uint64Array) -> NDArray[np.uint8]:
        """Return how well it is known who rows were before the table had stable row IDs."""
        return np.zeros(len(identities), dtype=np.uint8)

    def bearers(self, row_ids: Uint64Array) -> tuple[Uint64Array, Positions]:
        """Return the identities of all rows that had some row IDs, and the position of each ID."""
        if self.namesakes:
            return self.namesakes.bearers(row_ids)
        return row_ids, np.arange(len(row_ids))

    # -------------------------------------------------------------------------------- states

    @property
    def first_positions(self) -> NDArray[np.int64]:
        """For each state the first position at which it is there; -1 if at none."""
        return self.stored.first_positions

    def new_states(self, position: int) -> list[int]:
        """Return the states that are there for the first time in a version."""
        return self.stored.new_states(position)

    def num_rows(self, state: int) -> int:
        """Return how many rows a state has, deleted ones too."""
        return self.stored.num_rows(state)

    def num_live(self, state: int) -> int:
        """Return how many rows of a state are not deleted."""
        return self.num_rows(state) - len(self.deleted(state))

    def deleted(self, state: int) -> BitMap:
        """Return the deleted offsets of a state."""
        return self.stored.deleted(state)

    def load_deleted(self, states: Iterable[int]) -> None:
        """Read the deletion files of some states; errors are left to :meth:`deleted`."""
        self.stored.load_deleted(states)

    def load_steps(
        self, positions: Iterable[int], can_matter: NDArray[np.bool_] | None = None
    ) -> None:
        """Read what is needed to compare each of some versions with its kept predecessor, at once.

        Parameters
        ----------
        positions : iterable of int
            The positions of the versions.
        can_matter : ndarray of bool, optional
            Which states are compared, by number; all that are added or removed by default.

        Raises
        ------
        StorageError
            If a manifest cannot be read. Deletion files are left to :meth:`deleted`.
        """
        states = self.stored.changed_states(positions)
        if can_matter is not None:
            states = states[can_matter[states]]
        self.load(states.tolist())
        self.load_deleted(states.tolist())

    @cached_property
    def bounds(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """For each state the lowest and the highest identity that it can contain."""
        return self.bounds_of(np.arange(len(self.history.states)))

    def bounds_of(self, states: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the same, read for some states only; the others appear empty."""
        low = np.full(len(self.history.states), np.iinfo(np.uint64).max, dtype=np.uint64)
        high = np.zeros(len(self.history.states), dtype=np.uint64)
        is_there = np.zeros(len(self.history.states), dtype=np.bool_)
        is_there[states] = self.first_positions[states] >= 0
        known, ranges = is_there & self._are_ranges(), self.history.states.row_id_ranges
        low[known], high[known] = ranges.start[known], ranges.stop[known] - np.uint64(1)
        others = np.flatnonzero(is_there & ~known).tolist()
        self.load(others, versions=False)
        seen: dict[int, tuple[int, int]] = {}
        for state in others:
            ids = self.ids(state)
            if id(ids) not in seen:
                seen[id(ids)] = identity_bounds(ids)
            low[state], high[state] = seen[id(ids)]
        return low, high

    def _are_ranges(self) -> NDArray[np.bool_]:
        """Return the states whose identities are one range of row IDs, known from columns."""
        return np.zeros(len(self.history.states), dtype=np.bool_)
