"""What is wrong with a table, and what should be done."""

from typing import Literal

from lance_explorer.widgets.messages.base import Digits, Message

__all__ = ["Advice", "Finding"]


class Finding(Message):
    """One thing that is wrong or worth doing."""

    code: str
    severity: Literal["error", "warning", "info"]
    words: str
    version: Digits | None
    fragment_id: Digits | None
    statement: str
    why: str
    remedy: str
    remedy_code: str
    view: str | None
    """Where more is shown."""
    question: str | None
    """The question to ask the explorer for a plan that repairs it."""


class Advice(Message):
    """All advice, the most serious first."""

    counts: str
    found: list[Finding]
    num_found: int
    nothing: str
    """The sentence if there is none."""
    problem: str | None = None
    """Why it may be incomplete."""
