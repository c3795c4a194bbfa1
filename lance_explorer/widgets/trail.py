"""The places that were visited in the explorer, to go back and forward."""

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Place", "Trail"]

_MOST_PLACES = 200


class Place(NamedTuple):
    """A view, and what is chosen."""

    view: str
    choices: Mapping[str, int | str | None]


class Trail:
    """The places of a visit, one after the other.

    Moves that change the same choices, such as those of a slider, are one step: going back returns
    to where they began.
    """

    def __init__(self, first: Place) -> None:
        self._places = [first]
        self._at = 0
        self._moved: frozenset[str] = frozenset()

    @property
    def place(self) -> Place:
        """Where one is."""
        return self._places[self._at]

    @property
    def step(self) -> int:
        """The number of places before this one."""
        return self._at

    @property
    def can_go_back(self) -> bool:
        """Whether there is a place before this one."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a place after this one."""
        return self._at < len(self._places) - 1

    def visit(self, place: Place) -> None:
        """Record the current place."""
        here = self.place
        if place == here:
            return
        del self._places[self._at + 1 :]
        moved = frozenset(
            [name for name, value in place.choices.items() if value != here.choices[name]]
        )
        is_same_move = place.view == here.view and moved == self._moved
        if is_same_move:
            self._places.pop()
        if self._places[-1:] != [place]:
            self._places.append(place)
        self._places = self._places[-_MOST_PLACES:]
        self._at = len(self._places) - 1
        self._moved = moved if place.view == here.view else frozenset()

    def go(self, step: int) -> Place:
        """Go back (-1) or forward (1) if there is a place, and return it."""
        self._at = min(max(self._at + step, 0), len(self._places) - 1)
        self._moved = frozenset()
        return self.place
