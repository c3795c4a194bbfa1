"""The choices in the widgets: small plain values, separate from any view.

Views that are given the same state are linked. Row IDs and versions are Python integers here; the
browser gets decimal strings, since its numbers are exact only to 2^53.
"""

import threading
from collections.abc import Mapping
from typing import Any

import traitlets
from msgspec import UNSET

from lance_explorer.arguments import of_kind, text, whole_number
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.messages.shared import Changes, SharedState

__all__ = [
    "ExplorerState",
    "Whole",
    "change",
    "choices",
    "read_choices",
    "state_of",
    "table_of",
    "to_browser",
]

MAX_UINT64 = 2**64 - 1

_COUNTING = threading.Lock()


class _ChoiceError(InvalidArgumentError, traitlets.TraitError):
    """The error that traitlets raises for an invalid value: it also undoes other changes."""


class Whole(traitlets.Int["int | None", "int | None"]):
    """A whole number as the package takes it."""

    def validate(self, _: object, value: object) -> int:  # noqa: D102 - as its base says
        try:
            return whole_number(self.name or "it", value, self.min, self.max)
        except InvalidArgumentError as error:
            raise _ChoiceError(str(error)) from None


class _Text(traitlets.Unicode[str, str]):
    def validate(self, _: object, value: object) -> str:
        try:
            return text(self.name or "it", value)
        except InvalidArgumentError as error:
            raise _ChoiceError(str(error)) from None


class ExplorerState(traitlets.HasTraits):
    """The choices that views share.

    Attributes
    ----------
    version : int or None
        The version that is shown.
    compared_version : int or None
        The version that it is compared with.
    fragment_id, row_id : int or None
        The fragment and the row that are selected.
    filter : str
        Which rows are shown; empty for all.

    Examples
    --------
    >>> state = ExplorerState(version=3)
    >>> state.version
    3
    """

    version = Whole(None, min=0, max=MAX_UINT64, allow_none=True)
    compared_version = Whole(None, min=0, max=MAX_UINT64, allow_none=True)
    fragment_id = Whole(None, min=0, max=MAX_UINT64, allow_none=True)
    row_id = Whole(None, min=0, max=MAX_UINT64, allow_none=True)
    filter = _Text("")

    time_limit: float | None = None
    """The seconds that a question of a view may take; None, as in a kernel, for no limit."""

    _revision = 0

    def notify_change(self, change: Any) -> None:
        """Count a change, then notify observers."""
        with _COUNTING:
            self._revision += 1
        super().notify_change(change)

    @property
    def revision(self) -> int:
        """How often it has changed, including the change that an observer is notified of."""
        return self._revision

    @property
    def chosen_columns(self) -> dict[str, tuple[str, ...]]:
        """The chosen columns, by view: without observers, and not a place to go back to."""
        chosen: dict[str, tuple[str, ...]] = self.__dict__.setdefault("_chosen_columns", {})
        return chosen

    @property
    def chosen_sorts(self) -> dict[str, tuple[tuple[str, bool], ...]]:
        """The columns that rows are sorted by, and whether descending, by view; as columns are."""
        chosen: dict[str, tuple[tuple[str, bool], ...]] = self.__dict__.setdefault(
            "_chosen_sorts", {}
        )
        return chosen

    @described
    def __repr__(self) -> str:
        chosen = ", ".join([f"{name}={value!r}" for name, value in sorted(choices(self).items())])
        return f"ExplorerState({chosen})"


def state_of(state: ExplorerState | None) -> ExplorerState:
    """Return the given choices; new ones if there are none."""
    if state is None:
        return ExplorerState()
    return of_kind("state", state, ExplorerState, "an ExplorerState")


def table_of(table: Table) -> Table:
    """Return the table of a view."""
    return of_kind("table", table, Table, "a Table, as lx.open_table gives it")


def choices(state: ExplorerState) -> dict[str, int | str | None]:
    """Return what is chosen, by name."""
    return {name: getattr(state, name) for name in _NAMES}


def change(state: ExplorerState, changes: Mapping[str, int | str | None]) -> None:
    """Change some choices; observers of the state see all of them changed."""
    with state.hold_trait_notifications():
        for name, value in changes.items():
            setattr(state, name, value)


def to_browser(state: ExplorerState) -> SharedState:
    """Return a state for the browser: numbers as decimal strings."""
    return SharedState(
        version=_digits(state.version),
        compared_version=_digits(state.compared_version),
        fragment_id=_digits(state.fragment_id),
        row_id=_digits(state.row_id),
        filter=state.filter,
        revision=state.revision,
    )


def _digits(number: int | None) -> str | None:
    return None if number is None else str(number)


def read_choices(changes: Changes) -> dict[str, int | str | None]:
    """Return choices that come from the browser."""
    given = {name: getattr(changes, name) for name in _NAMES}
    return {name: value for name, value in given.items() if value is not UNSET}


_NAMES = tuple(Changes.__struct_fields__)
