"""Frames as answers: a sentence on the frame, and its rows.

A function of the view with a better sentence than a count of rows is decorated with :func:`says`.
Notebooks, commands, the assistant and the search box use the name of the frame, so nothing else is
needed.
"""

from collections.abc import Callable

import polars as pl

from lance_explorer.answers import Answer, Section
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.view import HistoryView

__all__ = ["answer_of", "says"]

_Say = Callable[[HistoryView, pl.DataFrame], Answer]
_ANSWERS = dict[str, _Say]()


def says(schema: FrameSchema) -> Callable[[_Say], _Say]:
    """Register a function that describes a frame in sentences, given the view and the frame."""

    def register(say: _Say) -> _Say:
        _ANSWERS[schema.name] = say
        return say

    return register


def answer_of(view: HistoryView, schema: FrameSchema, frame: pl.DataFrame) -> Answer:
    """Return a frame of a view as an answer."""
    say = _ANSWERS.get(schema.name)
    if say is not None:
        return say(view, frame)
    name = schema.name.replace("_", " ")
    rows = Section("rows", "", frame, schema=schema)
    return Answer(f"{counted(len(frame), 'row')} of {name}.", (rows,), _code(schema))


def _code(schema: FrameSchema) -> str:
    return f"table.inspect.{schema.name}()"
