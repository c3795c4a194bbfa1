"""What all views share: choices, errors, progress."""

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
    """The choices; null where nothing is chosen."""

    version: Digits | None
    compared_version: Digits | None
    fragment_id: Digits | None
    row_id: Digits | None
    filter: str


class SharedState(State):
    """The choices, and how often they have changed at least."""

    revision: int


class Changes(Message, forbid_unknown_fields=True):
    """Choices to set; missing ones stay unchanged."""

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
    """Why there is no answer, if a view shows that."""

    problem: str


class Progress(Message):
    """The progress of an answer: in words, and as a fraction if it is known."""

    text: str
    fraction: float | None


class Busy(Message):
    """What a view is working on."""

    text: str


class Found(Message):
    """What a typed text names, or an error."""

    version: Digits | None = None
    row_id: Digits | None = None
    problem: str | None = None


class Tag(Message):
    """A tag, and the position of its version among the kept ones."""

    name: str
    position: int
