"""The explorer: its tabs, its search box, and how it follows a table that is written to."""

from lance_explorer.widgets.messages.answer import Choices, SearchAnswer
from lance_explorer.widgets.messages.base import Digits, Message

__all__ = ["About", "Code", "Example", "Examples", "Live", "Place", "SearchResult", "Tab", "Wait"]


class Tab(Message):
    """A view, and what stands on its tab."""

    name: str
    label: str


class About(Message):
    """The table that is shown, its branches and the views of it."""

    name: str
    uri: str
    branch: str | None
    branches: list[str]
    tabs: list[Tab]


class Live(Message):
    """Whether new versions are looked for, and what is said of them."""

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
    """Something that can be searched for; one that ends in a space is to be completed."""

    text: str
    hint: str


class Examples(Message):
    """What can be searched for."""

    examples: list[Example]


class SearchResult(Message):
    """Where to find what was typed, or its answer, or what is wrong with it."""

    view: str | None = None
    changes: Choices | None = None
    branch: str | None = None
    answer: SearchAnswer | None = None
    problem: str | None = None


class Code(Message):
    """Lines of Python for what is shown."""

    code: str
