"""Frames as answers: what a frame says in a sentence, and its rows below that.

Whoever knows a better sentence than a count of rows decorates a function of the view with
:func:`says`. Notebooks, commands, the assistant and the search box of the explorer ask by the name
of the frame, so nothing else is needed.
"""

from collections.abc import Callable

import polars as pl

from lance_explorer.answers import Answer, Section
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.view import HistoryView

__all__ = ["answer_of", "says"]

_Say = Callable[[HistoryView, pl.DataFrame], Answer]
_SAID = dict[str, _Say]()


def says(schema: FrameSchema) -> Callable[[_Say], _Say]:
    """Register what says a frame in sentences, given the view and the frame."""

    def register(say: _Say) -> _Say:
        _SAID[schema.name] = say
        return say

    return register


def answer_of(view: HistoryView, schema: FrameSchema, found: pl.DataFrame) -> Answer:
    """Return a frame of a view as an answer."""
    say = _SAID.get(schema.name)
    if say is not None:
        return say(view, found)
    name = schema.name.replace("_", " ")
    rows = Section("rows", "", found, schema=schema)
    return Answer(f"{counted(len(found), 'row')} of {name}.", (rows,), _code(schema))


def _code(schema: FrameSchema) -> str:
    return f"table.inspect.{schema.name}()"
