"""Found rows in words: how they ended, by which commit, and with which values."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from lance_explorer.cells.text import brief, texts_of
from lance_explorer.frames.sizes import span_words
from lance_explorer.lineage.found_rows import FOUND

__all__ = [
    "LONGEST_VALUE",
    "by_whom",
    "ends_words",
    "informative_columns",
    "on_time",
    "sighting_words",
    "value_words",
]

LONGEST_VALUE = 40
_MOST_VALUES = 4

_ENDED = {
    "live": "live",
    "deleted": "deleted",
    "overwritten": "gone with an overwrite",
    "updated": "with other values now",
    "column_rewritten": "with other values now",
}


def ends_words(rows: pl.DataFrame, num_rows: int) -> str:
    """Return what happened to the rows, as a sentence after another one; "" if there are none."""
    newest = rows.unique("_row", keep="first", maintain_order=True)
    if len(newest) == 1:
        row = newest.row(0, named=True)
        return " It is live." if row["is_live"] else f" It was {_end(row)}."
    ends = pl.when("is_live").then(pl.lit("live")).otherwise(pl.col("ended_as").cast(pl.String))
    counts = newest.group_by(ends.alias("end"), maintain_order=True).len()
    parts = [
        f"{count:,} {_ENDED.get(end, 'not there any more')}" for end, count in counts.iter_rows()
    ]
    of_these = f"Of the newest {len(newest):,}: " if num_rows > len(newest) else ""
    return f" {of_these}{', '.join(parts)}." if parts else ""


def informative_columns(rows: pl.DataFrame, where: str) -> list[str]:
    """Return columns, the most informative first: those asked for, then those that change."""
    some = [
        column.name
        for column in rows.drop(FOUND.names)
        if not column.dtype.is_nested() and column.dtype not in (pl.Binary, pl.Object)
    ]
    changed = rows.group_by("_row").agg(pl.col(some).n_unique()).drop("_row").max()
    is_asked = {name: re.search(rf"\b{re.escape(name)}\b", where) is not None for name in some}
    return sorted(some, key=lambda name: (not is_asked[name], (changed[name][0] or 0) < 2))


def sighting_words(rows: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return each row in some versions, with the first values that are not null."""
    values = _values(rows.select(columns))
    return [
        _sighting(row, texts) for row, texts in zip(rows.iter_rows(named=True), values, strict=True)
    ]


def _sighting(row: Mapping[str, Any], values: str) -> str:
    what = "live" if row["is_live"] else _end(row)
    row_id = row["_rowid"]  # null if row IDs were turned on after the row ended
    name = f"row {row_id:,}" if row_id is not None else f"row at address {row['_rowaddr']:,}"
    when = span_words(row["first_version"], row["last_version"])
    return f"{name}, {when}: {values}; {what}" if values else f"{name}, {when}; {what}"


def _end(row: Mapping[str, Any]) -> str:
    """Return what happened to a row that is not live."""
    if row["ended_as"] is None:
        return "not seen so after that"
    event = row["ended_as"].replace("_", " ")
    when = "" if row["ended_version"] is None else f" in version {row['ended_version']:,}"
    return f"{event}{when}{by_whom(row)}"


def by_whom(row: Mapping[str, Any]) -> str:
    """Return when it was committed, by which operation, and its author."""
    words = on_time(row.get("ended_at") or row.get("timestamp"))
    operation = row.get("ended_operation") or row.get("operation")
    words += f" by {operation}" if operation else ""
    if row["predicate"]:
        words += f" where `{row['predicate']}`"
    if row["message"]:
        words += f" “{row['message']}”"
    who = row["author"] or row["job"]
    return f"{words} ({who})" if who else words


def on_time(time: datetime | None) -> str:
    """Return when a commit was made; "" if that is unknown.

    Examples
    --------
    >>> from datetime import datetime
    >>> from lance_explorer.lineage.found_words import on_time
    >>> on_time(datetime(2026, 1, 12, 11, 0, 7))
    ' on 2026-01-12 11:00 UTC'
    """
    return f" on {time:%Y-%m-%d %H:%M} UTC" if time else ""


def value_words(text: str | None) -> str:
    """Return a value for a sentence: in backticks, without any inside.

    Examples
    --------
    >>> from lance_explorer.lineage.found_words import value_words
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
    texts = [
        [f"{name} {text}" for name, text in zip(rows.columns, row, strict=True) if text != "null"]
        for row in zip(*columns, strict=True)
    ]
    return [", ".join(row[:_MOST_VALUES]) for row in texts]
