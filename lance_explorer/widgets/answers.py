"""Answers: a sentence, what it rests on, the view that shows more, and the code that asks it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from lance_explorer.cells.text import brief, texts_of
from lance_explorer.errors import LanceExplorerError
from lance_explorer.figures.labels import span_words
from lance_explorer.lineage.find import Found
from lance_explorer.lineage.found_rows import FOUND
from lance_explorer.table import Table
from lance_explorer.widgets.code_lines import call
from lance_explorer.widgets.row_lookup import row_named

__all__ = [
    "LONGEST_VALUE",
    "MOST_LINES",
    "Answer",
    "Line",
    "by_whom",
    "found_answer",
    "how_far",
    "value_words",
]

MOST_LINES = 12
LONGEST_VALUE = 40
_MOST_VALUES = 4

_ENDED = {
    "live": "live",
    "deleted": "deleted",
    "overwritten": "gone with an overwrite",
    "updated": "with other values now",
    "column_rewritten": "with other values now",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of evidence, and where to look at it.

    Attributes
    ----------
    words : str
        What it is; names stand in backticks.
    view : str or None
        The view that shows it, with ``changes`` chosen.
    changes : mapping of str to int
        The choices: ``version``, ``row_id`` and so on.
    branch : str or None
        The branch that these are of.
    """

    words: str
    view: str | None = None
    changes: Mapping[str, int] = field(default_factory=dict)
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: in a sentence, with evidence, a view that shows more, and the code that asks it.

    Attributes
    ----------
    sentence : str
        The answer.
    lines : sequence of Line
        What it rests on, the most telling first.
    code : str
        Lines of Python, where ``table`` is the table.
    place : Line, optional
        The view that shows more; its words are its name.
    filters : mapping, optional
        Of the log, if that is the view.
    """

    sentence: str
    lines: Sequence[Line]
    code: str
    place: Line | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)


def found_answer(table: Table, found: Found) -> Answer:
    """Return rows that were found by their values as an answer."""
    rows = found.to_polars()
    newest = rows.unique("_row", keep="first", maintain_order=True)
    ends = pl.when("is_live").then(pl.lit("live")).otherwise(pl.col("ended_as").cast(pl.String))
    counts = newest.group_by(ends.alias("end"), maintain_order=True).len()
    parts = [
        f"{count:,} {_ENDED.get(end, 'not there any more')}" for end, count in counts.iter_rows()
    ]
    of_these = f"Of the newest {len(newest):,}: " if found.num_rows > len(rows) else ""
    told = f" {of_these}{', '.join(parts)}." if parts else ""
    if len(newest) == 1:
        row = newest.row(0, named=True)
        told = " It is live." if row["is_live"] else f" It was {_end(row)}."
    columns = _telling(rows, found.where)
    some = rows.head(MOST_LINES)
    values = _values(some.select(columns))
    lines = [
        _sighting(table, row, told)
        for row, told in zip(some.iter_rows(named=True), values, strict=True)
    ]
    code = f"{call('table.find', found.where)}.to_polars()"
    place = lines[0] if len({line.changes.get("row_id") for line in lines}) == 1 else None
    if place is not None:
        place = Line("Open the row", place.view, place.changes)
    return Answer(f"{how_far(found)}{told}", lines, code, place)


def how_far(found: Found) -> str:
    """Return how far a search went; a view has a button to go on."""
    return found.sentence.removesuffix(" go_on() tells more.")


def _telling(rows: pl.DataFrame, where: str) -> list[str]:
    """Return columns, the most telling first: those that are asked for, then those that change."""
    some = [
        column.name
        for column in rows.drop(FOUND.names)
        if not column.dtype.is_nested() and column.dtype not in (pl.Binary, pl.Object)
    ]
    changed = rows.group_by("_row").agg(pl.col(some).n_unique()).drop("_row").max()
    is_asked = {name: re.search(rf"\b{re.escape(name)}\b", where) is not None for name in some}
    return sorted(some, key=lambda name: (not is_asked[name], (changed[name][0] or 0) < 2))


def _sighting(table: Table, row: Mapping[str, Any], values: str) -> Line:
    """Return a row as it was in some versions."""
    first, last = row["first_version"], row["last_version"]
    what = "live" if row["is_live"] else _end(row)
    row_id = row["_rowid"]  # null if row IDs were turned on after the row ended
    name = f"row {row_id:,}" if row_id is not None else f"row at address {row['_rowaddr']:,}"
    changes = _row_choice(table, row)
    when = span_words(first, last)
    words = f"{name}, {when}: {values}; {what}" if values else f"{name}, {when}; {what}"
    return Line(words, "row" if changes else "time_travel", changes or {"version": last})


def _end(row: Mapping[str, Any]) -> str:
    """Return what happened to a row that is not live."""
    if row["ended_as"] is None:
        return "not seen so after that"
    event = row["ended_as"].replace("_", " ")
    when = "" if row["ended_version"] is None else f" in version {row['ended_version']:,}"
    return f"{event}{when}{by_whom(row)}"


def by_whom(row: Mapping[str, Any]) -> str:
    """Return which commit did it, and who made that."""
    operation = row.get("ended_operation") or row.get("operation")
    told = f" by {operation}" if operation else ""
    if row["predicate"]:
        told += f" where `{row['predicate']}`"
    if row["message"]:
        told += f" “{row['message']}”"
    who = row["author"] or row["job"]
    return f"{told} ({who})" if who else told


def value_words(text: str | None) -> str:
    """Return a value for a sentence: in backticks, in which there is none.

    Examples
    --------
    >>> from lance_explorer.widgets.answers import value_words
    >>> [value_words(text) for text in (None, "null", "a b")]
    ['null', '`"null"`', '`a b`']
    """
    if text is None:
        return "null"
    return "`{}`".format(brief(text, LONGEST_VALUE, within="`").replace("`", r"\x60"))


def _values(rows: pl.DataFrame) -> list[str]:
    """Return the first values of each row that are not null, in words."""
    if not rows.width:
        return [""] * len(rows)
    columns = [[*map(value_words, texts_of(column))] for column in rows]
    told = [
        [f"{name} {text}" for name, text in zip(rows.columns, row, strict=True) if text != "null"]
        for row in zip(*columns, strict=True)
    ]
    return [", ".join(row[:_MOST_VALUES]) for row in told]


def _row_choice(table: Table, row: Mapping[str, Any]) -> dict[str, int] | None:
    """Return how the row is chosen in views; None if they cannot follow it."""
    address = row["_rowaddr"]
    place = f"{address >> 32}:{address & 0xFFFFFFFF}@{row['last_version']}"
    try:
        return {"row_id": row_named(table, place), "version": row["last_version"]}
    except LanceExplorerError:
        return None
