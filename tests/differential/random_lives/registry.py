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

    One of weight 0 is done only in lives that have weights of their own. What is beyond the
    contract (docs/EVIDENCE.md) is left out of lives that must be told exactly.
    """

    name: str
    deed: Deed
    weight: float
    is_beyond: bool = False


ACTIONS: list[Action] = []


def action(weight: float = 1.0, *, is_beyond: bool = False) -> Callable[[Deed], Deed]:
    """Add a function to the list."""

    def add(deed: Deed) -> Deed:
        ACTIONS.append(Action(deed.__name__, deed, weight, is_beyond))
        return deed

    return add
