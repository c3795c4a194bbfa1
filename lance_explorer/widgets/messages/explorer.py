"""The explorer: its tabs, its search box, and how it follows a table that is written to."""

from lance_explorer.widgets.messages.answer import Choices, SearchAnswer
from lance_explorer.widgets.messages.base import Digits, Message

__all__ = ["About", "Code", "Example", "Examples", "Live", "Place", "SearchResult", "Tab", "Wait"]


class Tab(Message):
    """A view, the name on its tab, and whether only experts need it."""

    name: str
    label: str
    is_advanced: bool = False


class About(Message):
    """The table, its branches and its views."""

    name: str
    uri: str
    branch: str | None
    branches: list[str]
    tabs: list[Tab]


class Live(Message):
    """Whether it looks for new versions, and the notice about them."""

    is_on: bool
    wait: int
    """In ms, until the next look."""
    news: str
    latest: Digits
    note: str


class Wait(Message):
    """How long to wait before the next look, in ms."""

    wait: int


class Place(Message):
    """The view that is shown, and whether one can go back or forward."""

    view: str
    can_go_back: bool
    can_go_forward: bool


class Example(Message):
    """A suggestion; one that ends in a space is to be completed."""

    text: str
    hint: str


class Examples(Message):
    """The suggestions."""

    examples: list[Example]


class SearchResult(Message):
    """Where to find what was typed, or its answer, or an error."""

    view: str | None = None
    changes: Choices | None = None
    branch: str | None = None
    answer: SearchAnswer | None = None
    problem: str | None = None


class Code(Message):
    """Lines of Python for what is shown."""

    code: str
