"""Answers: a sentence, sections and findings, and where to look."""

from msgspec import UNSET, UnsetType

from lance_explorer.widgets.messages.base import Digits, Message

__all__ = [
    "Answer",
    "AnswerAsk",
    "AnswerColumn",
    "AnswerFinding",
    "AnswerLine",
    "AnswerPlace",
    "AnswerSection",
    "Choices",
    "LogFilters",
    "SearchAnswer",
]


class LogFilters(Message, forbid_unknown_fields=True):
    """Which commits are shown: arguments of ``table.log()``."""

    since: str | None = None
    until: str | None = None
    operation: list[str] | None = None
    text: str | None = None
    column: str | None = None


class Choices(Message):
    """Choices to set in another view; missing ones stay unchanged."""

    version: Digits | UnsetType | None = UNSET
    compared_version: Digits | UnsetType | None = UNSET
    fragment_id: Digits | UnsetType | None = UNSET
    row_id: Digits | UnsetType | None = UNSET


class AnswerPlace(Message):
    """The view that shows more."""

    view: str
    choices: Choices
    branch: str | None
    words: str
    filters: LogFilters
    """Filters of the log, if that is the view."""


class AnswerLine(Message):
    """A sentence, and the view that shows more about it."""

    words: str
    place: AnswerPlace | None


class AnswerColumn(Message):
    """A column of a section."""

    name: str
    is_number: bool
    is_words: bool


class AnswerSection(Message):
    """A part of an answer: sentences, or the first rows of a frame."""

    name: str
    title: str
    is_warning: bool
    lines: list[AnswerLine]
    columns: list[AnswerColumn]
    rows: list[list[str | None]]
    num_rows: int


class AnswerFinding(Message):
    """A finding about the data of an answer."""

    code: str
    severity: str
    sentence: str


class AnswerAsk(Message):
    """What to ask next."""

    words: str
    question: str


class Answer(Message, kw_only=True):
    """An answer: its sections, its findings, and the code that asks or does it."""

    sentence: str
    sections: list[AnswerSection]
    findings: list[AnswerFinding]
    place: AnswerPlace | None
    asks: list[AnswerAsk]
    code: str
    is_call: bool
    """Whether the code does what the answer is about, so that people want to see it."""


class SearchAnswer(Answer, kw_only=True):
    """An answer to a typed text, and whether the search can continue."""

    can_go_on: bool
