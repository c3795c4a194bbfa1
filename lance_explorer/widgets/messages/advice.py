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
    """What to ask the explorer for a plan that mends it."""


class Advice(Message):
    """All of it, the worst first."""

    counts: str
    found: list[Finding]
    num_found: int
    nothing: str
    """What is said if there is none."""
    problem: str | None = None
    """Why it may be incomplete."""
