"""What the classification of rows must know of one version beside its rows."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.operations import Operation
from lance_explorer.format.row_operations import Update
from lance_explorer.format.table_operations import Restore
from lance_explorer.history.events.update_kinds import has_new_rows, inserts_nothing
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.file_changes import SchemaPair
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.restores import ordinary_version
from lance_explorer.history.rows.state_rows import StateRows

__all__ = ["StepFacts"]


class StepFacts:
    """One version, compared with the kept one before.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of a branch.
    position : int
        The position of the version in ``rows.history``.

    Attributes
    ----------
    record : VersionRecord
        The version.
    previous_version : int
        The kept version before; 0 if there is none.
    follows : bool
        Whether no version is missing between.
    name : str or None
        The operation as Lance names it; None if no transaction is left, or it is not known.
    """

    def __init__(self, rows: StateRows, position: int) -> None:
        history = rows.history
        self.record: VersionRecord = history.records[position]
        self.position = position
        self.has_row_ids = rows.has_row_ids
        self.previous = history.records[position - 1] if position else None
        self.previous_version = self.previous.version if self.previous else 0
        self.follows = bool(history.follows_previous[position])
        name = self.record.operation
        self.name = None if name == "unknown" else name
        self._rows = rows
        self._source = rows.source

    @property
    def version(self) -> int:
        """The version number."""
        return self.record.version

    @cached_property
    def operation(self) -> Operation | None:
        """What the commit did; None if no transaction is left."""
        transaction = self._source.transaction(self.record)
        return transaction.operation if transaction else None

    @cached_property
    def source(self) -> str:
        """The name of what tells about the step: its transaction, or else its manifest."""
        stored = self.record.transaction
        if stored is None:
            return f"manifest of version {self.version}"
        header = stored.header
        return f"transaction {header.read_version}-{header.uuid}"

    @cached_property
    def schemas(self) -> SchemaPair:
        """The schemas of the kept version before and of this one."""
        return SchemaPair(self.previous.schema if self.previous else (), self.record.schema)

    @cached_property
    def new_fragments(self) -> tuple[int, ...]:
        """The IDs of the fragments that the version before has not."""
        return tuple(sorted(self._states(self._rows.states_come(self.position)) - self._stayed))

    @cached_property
    def own_fragments(self) -> tuple[int, ...]:
        """The IDs of the fragments that the commit itself says it wrote, with new rows alone."""
        states = self._rows.history.states
        come = [states[state] for state in self._rows.states_come(self.position).tolist()]
        return tuple([state.id for state in come if has_new_rows(self.operation, state)])

    @cached_property
    def is_unpaired_update(self) -> bool:
        """Whether rows went and came in an Update, and which became which cannot be told."""
        if self.has_row_ids or not self.follows or self.name not in ("Update", None):
            return False
        if not self.new_fragments:
            return False
        states = self._rows.history.states
        come = self._rows.states_come(self.position).tolist()
        born = [state for state in come if states[state].id not in self._stayed]
        if any(self._rows.track(state).evidence is Evidence.INFERRED for state in born):
            return False  # their order tells
        gone = self._rows.states_gone(self.position).tolist()
        masks = {states[state].id: states[state].deletion_file for state in come}
        return any(
            states[state].id not in self._stayed
            or masks[states[state].id] != states[state].deletion_file
            for state in gone
        )

    @cached_property
    def only_updates(self) -> bool:
        """Whether each row that went in an unpaired Update is one of those that came."""
        if not (self.is_unpaired_update and self.inserts_nothing):
            return False
        sides = self._rows.states_gone(self.position), self._rows.states_come(self.position)
        out, in_ = [sum(map(self._rows.num_live, states.tolist())) for states in sides]
        return out == in_

    @property
    def inserts_nothing(self) -> bool:
        """Whether an Update says that all rows that it put in were there before."""
        return isinstance(self.operation, Update) and inserts_nothing(self.operation.inserted_rows)

    @cached_property
    def _stayed(self) -> set[int]:
        """The fragments that are in another state than in the version before."""
        gone, come = [
            self._states(states)
            for states in (
                self._rows.states_gone(self.position),
                self._rows.states_come(self.position),
            )
        ]
        return gone & come

    def _states(self, states: NDArray[np.int64]) -> set[int]:
        return {self._rows.history.states[state].id for state in states.tolist()}

    @cached_property
    def first_new_identity(self) -> int | None:
        """The row ID from which on IDs mean other rows than before; None if all mean the same.

        A detached version gives out row IDs and version numbers that ordinary ones give out too;
        after its restore they are those of its rows.
        """
        if self.name != "Restore" or not self.has_row_ids:
            return None
        if not isinstance(self.operation, Restore) or self.operation.version < FIRST_DETACHED:
            return None
        base = self._base_of(self.operation.version)
        return 0 if base is None else base.manifest.next_row_id

    def _base_of(self, detached: int) -> VersionRecord | None:
        """Return the ordinary version that a detached one goes back to, if that is still known."""
        version = ordinary_version(self._source, detached)
        try:
            return None if version is None else self._source.version(version).records[0]
        except (NotFoundError, FormatError):
            return None
