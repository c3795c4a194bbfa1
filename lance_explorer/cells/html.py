"""A frame as an HTML table: values in short, everything escaped."""

from html import escape

import polars as pl

from lance_explorer.cells.text import briefs_of
from lance_explorer.shown import one_line

__all__ = ["rows_html", "table_html"]

_MOST_ROWS = 20
_LONGEST = 100


def table_html(rows: pl.DataFrame, *, are_values: bool = False) -> str:
    """Return all rows as a table; texts are cut.

    Parameters
    ----------
    rows : polars.DataFrame
        The rows, few enough to be read.
    are_values : bool
        Whether they are values of the table, of which two that differ must not look alike: then
        null stands as such, and unclear texts in quotes.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.html import table_html
    >>> table_html(pl.DataFrame({"a": ["<b>"]}))
    "...>a</th></tr></thead><tbody><tr><td style='...'>&lt;b&gt;</td></tr></tbody></table>"
    """
    sides = ["right" if column.dtype.is_numeric() else "left" for column in rows]
    styles = [f"text-align:{side};white-space:nowrap" for side in sides]
    head = "".join(
        [
            f"<th style='{style}'>{escape(one_line(name))}</th>"
            for name, style in zip(rows.columns, styles, strict=True)
        ]
    )
    columns = [
        [f"<td style='{style}'>{text}</td>" for text in _texts(column, are_values)]
        for style, column in zip(styles, rows, strict=True)
    ]
    body = "".join([f"<tr>{''.join(line)}</tr>" for line in zip(*columns, strict=True)])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rows_html(rows: pl.DataFrame) -> str:
    """Return the first rows of values as a table, and how many of all they are."""
    shown = rows.head(_MOST_ROWS)
    return f"{table_html(shown, are_values=True)}<p>{len(shown):,} of {len(rows):,} rows</p>"


def _texts(column: pl.Series, are_values: bool) -> list[str]:
    null = "<em>null</em>" if are_values else ""
    if column.dtype.is_integer():
        return [null if value is None else f"{value:,}" for value in column]
    is_told = column.dtype == pl.String and not are_values
    texts, longest = (column, _LONGEST) if is_told else (briefs_of(column, _LONGEST)[0], None)
    return [null if text is None else escape(one_line(text, longest)) for text in texts]
