"""The list of everything that can be done to a table."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.differential.random_lives.world import World

__all__ = ["ACTIONS", "Action", "action"]

Deed = Callable[[World, Random], str]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done; its deed returns what it did in words.

    One of weight 0 is done only in lives that have weights of their own.
    """

    name: str
    deed: Deed
    weight: float


ACTIONS: list[Action] = []


def action(weight: float = 1.0) -> Callable[[Deed], Deed]:
    """Add a function to the list."""

    def add(deed: Deed) -> Deed:
        ACTIONS.append(Action(deed.__name__, deed, weight))
        return deed

    return add
