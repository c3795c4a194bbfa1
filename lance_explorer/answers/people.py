"""Cells as people read them, the same in terminals, notebooks, pages and Markdown."""

from collections.abc import Iterator
from datetime import datetime

import polars as pl

from lance_explorer.cells.text import briefs_of
from lance_explorer.frames.sizes import byte_size
from lance_explorer.shown import one_line

__all__ = ["code_parts", "fact_words", "is_number", "people_texts"]

_MOST_ITEMS = 20
_IDS = ("version", "_rowid", "_rowaddr", "fragment_id", "row")


def people_texts(
    column: pl.Series, *, is_value: bool = False, longest: int | None = 400
) -> list[str | None]:
    """Return the cells of a column in words; null is None.

    Parameters
    ----------
    column : polars.Series
        The column; whole numbers are sizes if its name ends so, and have no separators in names of
        versions and rows.
    is_value : bool
        Whether they are values of the table: then two that differ never look alike.
    longest : int or None
        How long texts may be.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.answers.people import people_texts
    >>> people_texts(pl.Series("size_bytes", [1400, None]))
    ['1.4 kB', None]
    >>> people_texts(pl.Series("version", [1400]))
    ['1400']
    """
    if is_value:
        texts = briefs_of(column, longest)[0] if longest else briefs_of(column, 1 << 30)[0]
        return [None if text is None else one_line(text, None) for text in texts]
    if column.dtype.is_nested() and column.dtype.base_type() != pl.List:
        return [*briefs_of(column, longest or 1 << 30)[0]]
    return [_text(column.name, value, longest) for value in column.to_list()]


def fact_words(name: str, value: object, longest: int | None = 1000) -> str:
    """Return a fact in words; "unknown" for None."""
    text = _text(name, value, longest)
    return "unknown" if text is None else text


def is_number(column: pl.Series) -> bool:
    """Return whether a column is aligned right."""
    return column.dtype.is_numeric()


def code_parts(words: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a sentence, and whether each is in backticks.

    Examples
    --------
    >>> from lance_explorer.answers.people import code_parts
    >>> [*code_parts("where `a < 3`.")]
    [('where ', False), ('a < 3', True), ('.', False)]
    """
    parts = words.split("`")
    if len(parts) % 2 == 0:  # the last backtick is unpaired
        parts[-2:] = [f"{parts[-2]}`{parts[-1]}"]
    for place, part in enumerate(parts):
        if part:
            yield part, place % 2 == 1


def _text(name: str, value: object, longest: int | None) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "yes" if value else "no"
        case int() if name.endswith(("_bytes", "_bytes_before", "_bytes_after", "_bytes_change")):
            return f"-{byte_size(-value)}" if value < 0 else byte_size(value)
        case int():
            is_id = name in _IDS or name.endswith(("_version", "_id"))
            return str(value) if is_id else f"{value:,}"
        case float():
            return f"{value:.3g}"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}"
        case list():
            shown = [_text(name, item, longest) or "null" for item in value[:_MOST_ITEMS]]
            more = len(value) - _MOST_ITEMS
            return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
    return one_line(str(value), longest)
