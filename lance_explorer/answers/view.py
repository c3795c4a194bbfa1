"""Answers for the browser: what the explorer shows below its search box and in its panels."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from lance_explorer.answers.people import fact_words, people_texts
from lance_explorer.answers.records import AnswerParts, Line, Place, Section

__all__ = ["answer_view", "as_texts", "place_view"]

_MOST_ROWS = 50
_LONGEST = 200


def answer_view(answer: AnswerParts) -> dict[str, Any]:
    """Return an answer as messages to the browser have it; of many rows the first ones.

    Examples
    --------
    >>> from lance_explorer.answers import Answer, Line, Section
    >>> found = answer_view(Answer("It is so.", (Section("why", "Why", (Line("since"),)),)))
    >>> [section["lines"][0]["words"] for section in found["sections"]]
    ['since']
    """
    sections = [_section(section) for section in answer.sections]
    return {
        "sentence": answer.sentence,
        "sections": [section for section in sections if section is not None],
        "findings": [
            {"code": found.code, "severity": found.severity, "sentence": found.sentence}
            for found in answer.findings
        ],
        "place": None if answer.place is None else place_view(answer.place),
        "code": answer.code,
    }


def place_view(place: Place) -> dict[str, Any]:
    """Return where to look; choices are texts, since versions are 64 bits long."""
    return {
        "view": place.view,
        "choices": as_texts(place.choices),
        "branch": place.branch,
        "words": place.words,
        "filters": dict(place.filters),
    }


def as_texts(choices: Mapping[str, int | None]) -> dict[str, str | None]:
    """Return choices as the browser takes them."""
    return {name: None if value is None else str(value) for name, value in choices.items()}


def _section(section: Section) -> dict[str, Any] | None:
    """Return a section, its lines and its rows; None if people see nothing of it."""
    content = section.for_people
    if content is None or callable(content):
        return None
    found: dict[str, Any] = {
        "name": section.name,
        "title": section.title,
        "is_warning": section.is_warning,
        "lines": [],
        "columns": [],
        "rows": [],
        "num_rows": 0,
    }
    match content:
        case pl.DataFrame() as frame:
            shown = frame.head(_MOST_ROWS)
            texts = [
                people_texts(column, is_value=column.name in section.values, longest=_LONGEST)
                for column in shown
            ]
            numbers = [column.dtype.is_numeric() for column in shown]
            columns = zip(shown.columns, numbers, strict=True)
            found["columns"] = [{"name": name, "is_number": number} for name, number in columns]
            found["rows"] = [[*row] for row in zip(*texts, strict=True)]
            found["num_rows"] = len(frame)
        case Mapping() as facts:
            words = [f"{name}: {fact_words(name, value)}" for name, value in facts.items()]
            found["lines"] = [_line(Line(one)) for one in words]
        case str() as text:
            found["lines"] = [_line(Line(text))]
        case tuple() as lines:
            found["lines"] = [_line(line) for line in lines]
    return found


def _line(line: Line) -> dict[str, Any]:
    return {"words": line.words, "place": None if line.place is None else place_view(line.place)}
