"""What is computed from a view of a table once, and kept with the view.

The function that computes it is the key, so its types are known::

    @remembered
    def _schema_changes(view: HistoryView) -> Mapping[int, Sequence[FieldChange]]: ...

    _types = notes(dict[int, pl.Schema], are_carried=True)
    _types(view)[7] = schema
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from lance_explorer.storage import Storage

__all__ = ["Memories", "Memory", "carried_of", "notes", "remembered"]


class _Remembers(Protocol):
    @property
    def memories(self) -> "Memories": ...

    @property
    def storage(self) -> Storage: ...


_T = TypeVar("_T")
_V = TypeVar("_V", bound=_Remembers)


class _Kept(NamedTuple):
    value: Any
    missing: frozenset[str]


class Memory(Generic[_V, _T]):
    """A function of a view that is called once for each.

    If files were missing during the call, each later question records that, too: they may have been
    removed since then.
    """

    def __init__(self, make: Callable[[_V], _T], *, is_carried: bool) -> None:
        self._make = make
        self.is_carried = is_carried
        self.__doc__ = make.__doc__

    def __call__(self, view: _V) -> _T:
        """Return the result of the function for a view."""
        kept = view.memories.get(self)
        if kept is None:
            with view.storage.sessions.begin() as session:
                kept = _Kept(self._make(view), frozenset(session.missing))
            view.memories[self] = kept
        elif kept.missing:
            view.storage.sessions.note(*kept.missing)
        value: _T = kept.value
        return value

    def known(self, view: _V) -> _T | None:
        """Return the cached result; None if there is none."""
        return self(view) if self in view.memories else None


Memories = dict[Memory[Any, Any], _Kept]
"""Everything that is kept with one view."""


def remembered(make: Callable[[_V], _T]) -> Memory[_V, _T]:
    """Cache the result of a function of a view as long as the view."""
    return Memory(make, is_carried=False)


def notes(make: Callable[[], _T], *, are_carried: bool = False) -> Memory[Any, _T]:
    """Return a store for notes on a view, such as a dictionary, which is empty at first.

    With ``are_carried``, later views of the same table share them: for facts that do not depend on
    the versions.
    """
    return Memory(lambda _: make(), is_carried=are_carried)


def carried_of(memories: Memories) -> Memories:
    """Return the initial memories of a later view of the same table."""
    return {memory: kept for memory, kept in list(memories.items()) if memory.is_carried}
