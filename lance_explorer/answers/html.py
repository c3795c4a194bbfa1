"""Answers as HTML, for notebooks and pages: a template escapes all text from files."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from lance_explorer.answers.people import code_parts, fact_words, is_number, people_texts
from lance_explorer.answers.records import AnswerParts, Section
from lance_explorer.shown import one_line, visible

if TYPE_CHECKING:
    import jinja2
    import plotly.graph_objects as go

__all__ = ["answer_html", "frame_html", "templates"]

_MOST_ROWS = 20
_LONGEST_VALUE = 100
_LONGEST_WORDS = 1000

_Draw = Callable[["go.Figure"], str]


def answer_html(
    answer: AnswerParts, most: int | None = _MOST_ROWS, draw: "_Draw | None" = None
) -> str:
    """Return an answer as HTML.

    Parameters
    ----------
    answer : Answer
        The answer.
    most : int or None
        How many rows of a section are shown.
    draw : callable, optional
        What makes HTML of a figure of plotly, on a page that has its script; without it only
        pictures that are SVG are shown.

    Examples
    --------
    >>> from lance_explorer.answers import Answer
    >>> answer_html(Answer("Deleted where `id < 3`."))
    '<p>Deleted where <code>id &lt; 3</code>.</p>'
    """
    prepared = [_prepared(section, most, draw) for section in answer.sections]
    sections = [section for section in prepared if section is not None]
    return str(_macros().answer(answer, sections)).strip()


def frame_html(rows: pl.DataFrame, *, are_values: bool = False) -> str:
    """Return all rows as a table; texts are cut.

    Parameters
    ----------
    rows : polars.DataFrame
        The rows, few enough to be read.
    are_values : bool
        Whether they are values of the table. Different values must not look alike, so null is shown
        as such, and unclear texts in quotes.
    """
    values = tuple(rows.columns) if are_values else ()
    section = _frame(Section("rows", "", rows, values=values), rows, None)
    return str(_macros().frame("", section["columns"], section["rows"]))


@cache
def templates() -> "jinja2.Environment":
    """Return the environment that renders templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("lance_explorer.answers"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters["parts"] = lambda words: code_parts(one_line(words, _LONGEST_WORDS))
    made.filters["visible"] = visible
    return made


@cache
def _macros() -> Any:
    return templates().get_template("answer.html").module


def _prepared(section: Section, most: int | None, draw: _Draw | None) -> dict[str, Any] | None:
    """Return what the template needs of a section; None if it is not shown."""
    from markupsafe import Markup

    content = section.picture or section.for_people
    begin = {"title": section.title, "is_warning": section.is_warning}
    match content:
        case None:
            return None
        case pl.DataFrame() as frame:
            return {**begin, **_frame(section, frame, most)}
        case Mapping() as facts:
            words = [(name, fact_words(name, value)) for name, value in facts.items()]
            return {**begin, "kind": "facts", "facts": words}
        case str() as text:
            return {**begin, "kind": "text", "text": text}
        case tuple() as lines:
            return {**begin, "kind": "lines", "lines": lines}
    drawn = content()
    if not isinstance(drawn, str):
        if draw is None:
            return None
        drawn = draw(drawn)
    return {**begin, "kind": "picture", "picture": Markup(drawn)}


def _frame(section: Section, frame: pl.DataFrame, most: int | None) -> dict[str, Any]:
    shown = frame if most is None else frame.head(most)
    count = f"{len(shown):,} of {len(frame):,} rows" if len(shown) < len(frame) else ""
    meanings = {} if section.schema is None else {c.name: c.meaning for c in section.schema.columns}
    columns = [_column(section, column, meanings.get(column.name)) for column in shown]
    texts = [
        people_texts(column, is_value=about["is_value"], longest=about["longest"])
        for about, column in zip(columns, shown, strict=True)
    ]
    title = ", ".join(filter(None, (section.title, count)))
    rows = [[*zip(columns, cells, strict=True)] for cells in zip(*texts, strict=True)]
    return {"kind": "frame", "title": title, "columns": columns, "rows": rows}


def _column(section: Section, column: pl.Series, meaning: str | None) -> dict[str, Any]:
    is_value, is_uncut = column.name in section.values, column.name in section.uncut
    kind, style = "", ""
    if column.name in section.words:
        kind = "words"
    elif is_number(column):
        kind, style = "number", ";white-space:nowrap"
    elif column.dtype.is_temporal():
        kind, style = "time", ";white-space:nowrap"
    return {
        "name": one_line(column.name),
        "kind": kind,
        "side": "right" if is_number(column) else "left",
        "style": style,
        "meaning": meaning,
        "is_value": is_value,
        "longest": None if is_uncut else _LONGEST_VALUE if is_value else 400,
    }
