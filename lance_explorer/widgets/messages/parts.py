"""Views within a view: what the browser knows about each."""

from msgspec import UNSET, UnsetType

from lance_explorer.widgets.messages.base import Message
from lance_explorer.widgets.messages.explorer import Live, Place
from lance_explorer.widgets.messages.shared import SharedState

__all__ = ["Address", "Part"]


class Address(Message):
    """The shown place, as the part of a link after ``#``, and the number of places before it."""

    text: str
    step: int


class Part(Message):
    """A view within another: its number in messages, and its traits."""

    number: int
    shows: str
    label: str
    opens: list[str]
    height: int | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    offline: str | UnsetType = UNSET
    shared: SharedState | UnsetType = UNSET
    """Its own choices, unless it shares those of the whole."""
    place: Place | UnsetType = UNSET
    live: Live | UnsetType = UNSET
    address: Address | UnsetType = UNSET
    parts: "dict[str, Part] | UnsetType" = UNSET
    """The views within it."""
