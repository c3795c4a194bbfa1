"""Answers for the browser: what the explorer shows below its search box and in its panels."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import polars as pl

from lance_explorer.answers.people import fact_words, people_texts
from lance_explorer.answers.records import AnswerParts, Place, Section
from lance_explorer.widgets.messages.answer import Answer as Message
from lance_explorer.widgets.messages.answer import (
    AnswerAsk,
    AnswerColumn,
    AnswerFinding,
    AnswerLine,
    AnswerPlace,
    AnswerSection,
    Choices,
    LogFilters,
)

__all__ = ["answer_view", "as_choices", "section_view"]

_MOST_ROWS = 50
_LONGEST = 200


_Message = TypeVar("_Message", bound=Message)


def answer_view(answer: AnswerParts, kind: type[_Message] = Message, **more: Any) -> _Message:  # type: ignore[assignment]
    """Return an answer as a message to the browser; of many rows the first ones.

    Parameters
    ----------
    answer : Answer
        The answer.
    kind : type
        What is returned.
    **more
        What that has besides.

    Examples
    --------
    >>> from lance_explorer.answers import Answer, Line, Section
    >>> found = answer_view(Answer("It is so.", (Section("why", "Why", (Line("since"),)),)))
    >>> [section.lines[0].words for section in found.sections]
    ['since']
    """
    sections = [section_view(section) for section in answer.sections]
    return kind(
        sentence=answer.sentence,
        sections=[section for section in sections if section is not None],
        findings=[
            AnswerFinding(finding.code, finding.severity, finding.sentence)
            for finding in answer.findings
        ],
        place=None if answer.place is None else _place(answer.place),
        asks=[AnswerAsk(ask.words, ask.question) for ask in answer.asks],
        code=answer.code,
        is_call=answer.is_call,
        **more,
    )


def _place(place: Place) -> AnswerPlace:
    return AnswerPlace(
        view=place.view,
        choices=as_choices(place.choices),
        branch=place.branch,
        words=place.words,
        filters=msgspec.convert(place.filters, LogFilters),
    )


def as_choices(choices: Mapping[str, int | None]) -> Choices:
    """Return choices as the browser takes them: as texts, since versions are 64 bits long."""
    return Choices(**{name: None if one is None else str(one) for name, one in choices.items()})


def section_view(section: Section) -> AnswerSection | None:
    """Return a section, its lines and its rows; None if people do not see it."""
    lines, columns, rows = list[AnswerLine](), list[AnswerColumn](), list[list[str | None]]()
    num_rows = 0
    match section.for_people:
        case None:
            return None
        case pl.DataFrame() as frame:
            shown, num_rows = frame.head(_MOST_ROWS), len(frame)
            columns = [
                AnswerColumn(one.name, one.dtype.is_numeric(), one.name in section.words)
                for one in shown
            ]
            texts = [
                people_texts(column, is_value=column.name in section.values, longest=_LONGEST)
                for column in shown
            ]
            rows = [[*row] for row in zip(*texts, strict=True)]
        case Mapping() as facts:
            words = [f"{name}: {fact_words(name, value)}" for name, value in facts.items()]
            lines = [AnswerLine(one, None) for one in words]
        case str() as text:
            lines = [AnswerLine(text, None)]
        case tuple() as given:
            lines = [
                AnswerLine(line.words, None if line.place is None else _place(line.place))
                for line in given
            ]
        case _:  # a figure
            return None
    return AnswerSection(
        section.name, section.title or "", section.is_warning, lines, columns, rows, num_rows
    )
