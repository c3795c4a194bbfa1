"""Answers to questions, for the browser."""

from collections.abc import Mapping
from typing import Any

from lance_explorer.lineage.find import Found
from lance_explorer.table import Table
from lance_explorer.widgets.answers import Answer, Line
from lance_explorer.widgets.code_lines import opening_code

__all__ = ["answer_data", "as_texts"]


def answer_data(table: Table, answer: Answer, rows: Found | None) -> dict[str, Any]:
    """Return an answer; with rows that were found, whether one can search further for more."""
    return {
        "answer": {
            "sentence": answer.sentence,
            "lines": [_line(line) for line in answer.lines],
            "place": None if answer.place is None else _line(answer.place),
            "filters": dict(answer.filters),
            "code": opening_code(table, answer.code),
            "can_go_on": rows is not None and not rows.is_complete,
        }
    }


def as_texts(changes: Mapping[str, int | None]) -> dict[str, str | None]:
    """Return choices as the browser takes them."""
    return {name: None if value is None else str(value) for name, value in changes.items()}


def _line(line: Line) -> dict[str, Any]:
    return {
        "words": line.words,
        "view": line.view,
        "changes": as_texts(line.changes),
        "branch": line.branch,
    }
