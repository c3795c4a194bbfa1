"""Answers as JSON: one envelope for all commands.

``schema`` is :data:`SCHEMA`; ``answer`` the sentence; ``sections`` an object by name, in which each
section has its ``title`` (null: only for programs) and one of ``columns`` with
``rows``, ``facts``, ``lines`` or ``text``; ``findings`` a list, each with the
fields of :class:`~lance_explorer.findings.Finding` that are not empty; ``code`` the call that asks
or does it. Values are written as :mod:`lance_explorer.cells.json_rows` says. A later version only
adds fields, or has another number in ``schema``.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from lance_explorer.answers.records import AnswerParts, Section
from lance_explorer.cells.json_rows import json_rows, json_values
from lance_explorer.findings import Finding
from lance_explorer.shown import visible_json

__all__ = ["SCHEMA", "answer_json", "envelope", "finding_fields"]

SCHEMA = "lance_explorer.answer/1"
_EMPTY: tuple[object, ...] = (None, "", ())


def answer_json(answer: AnswerParts) -> str:
    """Return an answer as JSON, in one line of printable characters.

    Examples
    --------
    >>> import json
    >>> from lance_explorer.answers.as_json import answer_json
    >>> told = json.loads(answer_json(table.disk_usage().answer))
    >>> list(told), list(told["sections"])
    (['schema', 'answer', 'sections', 'findings', 'code'], ['totals', 'not_counted', ...])
    """
    return visible_json(json.dumps(envelope(answer), ensure_ascii=False))


def envelope(answer: AnswerParts) -> dict[str, Any]:
    """Return an answer as values that JSON can hold."""
    return {
        "schema": SCHEMA,
        "answer": answer.sentence,
        "sections": {
            section.name: {"title": section.title, **_content(section)}
            for section in answer.sections
            if not callable(section.content)
        },
        "findings": [finding_fields(finding) for finding in answer.findings],
        "code": answer.code,
    }


def finding_fields(finding: Finding) -> dict[str, Any]:
    """Return the fields of a finding that are not empty."""
    fields = {"code": finding.code, "topic": finding.topic, "severity": finding.severity}
    fields_by_name = {**fields, **asdict(finding)}
    del fields_by_name["is_mild"]  # the severity says it
    return {name: _filled(value) for name, value in fields_by_name.items() if value not in _EMPTY}


def _content(section: Section) -> dict[str, Any]:
    match section.content:
        case pl.DataFrame() as frame:
            return {"columns": frame.columns, "rows": json_rows(frame)}
        case Mapping() as facts:
            return {"facts": {name: _value(value) for name, value in facts.items()}}
        case str() as text:
            return {"text": text}
        case tuple() as lines:
            return {"lines": [line.words for line in lines]}
    raise TypeError(f"a section has no {type(section.content).__name__}")


def _value(value: object) -> Any:
    return json_values(pl.Series([value]))[0]


def _filled(value: Any) -> Any:
    """Return a value without its empty parts."""
    if isinstance(value, dict):
        return {name: _filled(part) for name, part in value.items() if part not in _EMPTY}
    return [_filled(part) for part in value] if isinstance(value, tuple | list) else value
