"""What all views share: what is chosen, what failed, how far it is."""

from msgspec import UNSET, UnsetType

from lance_explorer.widgets.messages.base import Digits, Message, Wide

__all__ = [
    "Busy",
    "Changes",
    "Failure",
    "Found",
    "Problem",
    "Progress",
    "Revision",
    "SharedState",
    "State",
    "Tag",
]


class State(Message):
    """What is chosen; null where nothing is."""

    version: Digits | None
    compared_version: Digits | None
    fragment_id: Digits | None
    row_id: Digits | None
    filter: str


class SharedState(State):
    """What is chosen, and how often that has changed at least."""

    revision: int


class Changes(Message, forbid_unknown_fields=True):
    """What is to be chosen; what is left out stays as it is."""

    version: Wide | UnsetType | None = UNSET
    compared_version: Wide | UnsetType | None = UNSET
    fragment_id: Wide | UnsetType | None = UNSET
    row_id: Wide | UnsetType | None = UNSET
    filter: str | UnsetType = UNSET


class Revision(Message):
    """How often the state has changed."""

    revision: int


class Failure(Message):
    """What failed, as the error pane shows it."""

    title: str
    message: str
    details: str = ""


class Problem(Message):
    """Why there is no answer, where that is part of what a view shows."""

    problem: str


class Progress(Message):
    """How far an answer is: in words, and as a part of 1 where that is known."""

    text: str
    fraction: float | None


class Busy(Message):
    """What a view works at."""

    text: str


class Found(Message):
    """What a typed text names, or what is wrong with it."""

    version: Digits | None = None
    row_id: Digits | None = None
    problem: str | None = None


class Tag(Message):
    """A tag, and the place of its version among the kept ones."""

    name: str
    position: int
