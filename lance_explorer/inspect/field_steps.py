"""The fate of each field from one version to the next.

Field IDs are reused, so an ID alone does not identify a column. Two states of a field belong to one
column if they have one ID and one path, or one ID, one type and never a schema without that ID
between them, of commits that were not undone; an Overwrite restarts IDs, and only the path counts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import Field, field_paths
from lance_explorer.history.history import History

__all__ = ["FieldState", "FieldSteps", "field_states"]

Change = Literal["added", "dropped", "renamed", "cast", "altered", "inherited", "unknown"]


@dataclass(frozen=True, slots=True)
class FieldState:
    """A field and its path in the schema."""

    field: Field
    path: str

    @property
    def id(self) -> int:
        """The id of the field."""
        return self.field.id


FieldStates = tuple[FieldState, ...]


def field_states(history: History) -> list[FieldStates]:
    """Return the fields of each record; neighbours with one schema share them."""
    states: list[FieldStates] = []
    schema: tuple[Field, ...] | None = None
    for record in history.records:
        if record.schema is not schema:
            schema = record.schema
            paths = field_paths(schema)
            current = tuple([FieldState(field, paths[field.id]) for field in schema])
        states.append(current)
    return states


class FieldSteps:
    """How states of fields began and ended; only steps that change the schema cost something.

    Parameters
    ----------
    history : History
        The versions.
    states : list of tuple of FieldState
        The fields of each, as :func:`field_states` returns them.
    kept : callable
        Returns for the position of a restore which ids are of one field there and just before.
    """

    def __init__(
        self,
        history: History,
        states: list[FieldStates],
        kept: Callable[[int], frozenset[int]],
    ) -> None:
        self._history = history
        self._kept = kept
        self._follows = history.follows_previous.tolist()
        self._began: dict[tuple[FieldState, int], Change] = {}
        self._ended: dict[tuple[FieldState, int], Change] = {}
        before: FieldStates = ()
        for position, after in enumerate(states):
            if after is not before:
                self._step(position, before, after)
            before = after

    def began_as(self, state: FieldState, first: int) -> Change:
        """Return how an interval of a state that begins at position ``first`` began."""
        if self._history.records[first].operation == OperationName.CLONE:
            return "inherited"
        return self._began[state, first] if self._follows[first] else "unknown"

    def ended_as(self, state: FieldState, last: int) -> Change | None:
        """Return how an interval that ends at position ``last`` ended, None if it is the latest."""
        if last + 1 == len(self._history):
            return None
        return self._ended[state, last] if self._follows[last + 1] else "unknown"

    def _step(self, position: int, before: FieldStates, after: FieldStates) -> None:
        there, here = set(before), set(after)
        removed = [state for state in before if state not in here]
        new = [state for state in after if state not in there]
        for old, now, how in self._pairs(removed, new, position):
            self._ended[old, position - 1] = how
            self._began[now, position] = how
        for state in removed:
            self._ended.setdefault((state, position - 1), "dropped")
        for state in new:
            self._began.setdefault((state, position), "added")

    def _pairs(
        self, removed: list[FieldState], new: list[FieldState], position: int
    ) -> Iterator[tuple[FieldState, FieldState, Change]]:
        """Yield each state that continues as another one, with that one and the change."""
        by_id = {state.id: state for state in removed}
        is_overwrite = self._history.records[position].operation == OperationName.OVERWRITE
        rest = []
        for now in new:
            old = by_id.get(now.id)
            if old is not None and self._is_same_column(old, now, position):
                del by_id[now.id]
                yield old, now, "altered" if old.path == now.path else "renamed"
            else:
                rest.append(now)
        by_path = {state.path: state for state in by_id.values()}
        for now in rest:
            if now.path in by_path:
                yield by_path[now.path], now, "altered" if is_overwrite else "cast"

    def _is_same_column(self, old: FieldState, now: FieldState, position: int) -> bool:
        """Whether two states with one ID belong to one column."""
        if old.path == now.path:
            return True
        operation = self._history.records[position].operation
        if operation == OperationName.OVERWRITE or old.field.logical_type != now.field.logical_type:
            return False
        return operation != OperationName.RESTORE or now.id in self._kept(position)
