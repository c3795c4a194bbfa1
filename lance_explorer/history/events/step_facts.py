"""What the classification of rows needs to know of a step besides its rows."""

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Update
from lance_explorer.history.events.identity_sets import IdentitySet
from lance_explorer.history.events.row_comparison import rows_in_states, schemas_at
from lance_explorer.history.events.row_runs import RowRuns
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.file_changes import SchemaPair
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import restores_unseen
from lance_explorer.history.steps import Step
from lance_explorer.history.update_kinds import (
    has_new_rows,
    inserts_nothing,
)
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["StepFacts"]


class StepFacts(Step):
    """One version, compared with its kept predecessor.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of a branch.
    position : int
        The position of the version in ``rows.history``.

    Attributes
    ----------
    has_row_ids : bool
        Whether row IDs match the rows of the version before with the rows of this one.
    name : str or None
        The operation as Lance names it; None if no transaction is left, or it is not known.
    """

    def __init__(self, rows: StateRows, position: int) -> None:
        super().__init__(rows.view, rows.history, position)
        self.has_row_ids = rows.is_known_by_ids(position)
        name = self.after.operation
        self.name = None if name == OperationName.UNKNOWN else name
        self._rows = rows

    @cached_property
    def source(self) -> str:
        """The source of information on the step: its transaction, or else its manifest."""
        stored = self.after.transaction
        if stored is None:
            return f"manifest of version {self.version}"
        header = stored.header
        return f"transaction {header.read_version}-{header.uuid}"

    @cached_property
    def schemas(self) -> SchemaPair:
        """The schemas of the kept predecessor and of this version."""
        return schemas_at(self._rows, self.position - 1, self.position)

    @cached_property
    def own_fragments(self) -> tuple[int, ...]:
        """The IDs of the fragments that the commit itself records as new, with only new rows."""
        states = self.history.states
        return tuple(
            [
                fragment
                for fragment, state in self.added.items()
                if has_new_rows(self.operation, states[state])
            ]
        )

    @cached_property
    def is_unpaired_update(self) -> bool:
        """Whether an Update removed and added rows that cannot be paired."""
        if self.has_row_ids or not self.follows or self.name not in (OperationName.UPDATE, None):
            return False
        if not self.new_fragments:
            return False
        born = [self.added[fragment] for fragment in self.new_fragments]
        if any(self._rows.origins(state).evidence is Evidence.INFERRED for state in born):
            return False  # their order tells
        states = self.history.states
        return bool(self.gone_fragments) or any(
            states[before].deletion_file != states[after].deletion_file
            for before, after in self.changed.values()
        )

    @cached_property
    def only_updates(self) -> bool:
        """Whether each row that an unpaired Update removed is one of the added ones."""
        if not (self.is_unpaired_update and self.inserts_nothing):
            return False
        out, in_ = [
            sum(map(self._rows.num_live, some.values())) for some in (self.removed, self.added)
        ]
        return out == in_

    @property
    def inserts_nothing(self) -> bool:
        """Whether an Update records that all rows that it added existed before."""
        return isinstance(self.operation, Update) and inserts_nothing(self.operation.inserted_rows)

    def are_open(self, identities: Uint64Array) -> NDArray[np.bool_]:
        """Tell which removed and added rows of a restore, maybe a lost one, may be the same."""
        namesakes = self._rows.namesakes
        if namesakes is None or not self._may_restore:
            return np.zeros(len(identities), dtype=np.bool_)
        are_open = namesakes.are_open(identities)
        if self._between_known and are_open.any():
            ids = self.row_ids(identities)
            for one in self._ids_of_both:
                are_open &= one.has(ids)
        return are_open

    def cut_open(self, runs: RowRuns) -> RowRuns:
        """Return runs split so that :meth:`are_open` is the same for all rows of each."""
        namesakes = self._rows.namesakes
        if namesakes is None or not self._may_restore:
            return runs
        borders = namesakes.open_borders
        if self._between_known and len(borders):
            ends = [end for one in self._ids_of_both for end in (one.start, one.stop)]
            borders = np.union1d(borders, namesakes.bearers(np.concatenate(ends))[0])
        return runs.cut(runs.identity, borders)

    @property
    def _between_known(self) -> bool:
        """Whether the version went back to a kept one: then the row IDs of both sides are known."""
        return self.follows and not restores_unseen(self.history, self.position)

    @cached_property
    def _ids_of_both(self) -> tuple[IdentitySet, IdentitySet]:
        """The row IDs in fragments that only the predecessor has, and only this version.

        A removed and an added row may be the same only if both have its ID.
        """
        before, after = [
            rows_in_states(self._rows, [*states.values()]) for states in (self.removed, self.added)
        ]
        return _row_ids_of(self._rows, before), _row_ids_of(self._rows, after)

    @property
    def _may_restore(self) -> bool:
        return self.name == OperationName.RESTORE or not self.follows

    def row_ids(self, identities: Uint64Array) -> Uint64Array:
        """Return the row IDs of rows."""
        return self._rows.row_ids(identities)


def _row_ids_of(rows: StateRows, runs: RowRuns) -> IdentitySet:
    start = rows.row_ids(runs.identity)
    return IdentitySet.of(start, start + runs.length)
