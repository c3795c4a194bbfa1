"""A frame as CSV that a spreadsheet can open without running its cells."""

import polars as pl

from lance_explorer.cells.text import texts_of

__all__ = ["csv_of"]

_FORMULA = r"^('*[=+\-@\t\r])"
"""What spreadsheets take for a formula, also behind apostrophes: so the one that is added is known
from those that were there."""


def csv_of(frame: pl.DataFrame) -> str:
    r"""Return a frame as CSV: nested values as JSON, binary in hexadecimal digits, nulls empty.

    Texts and names of columns that a spreadsheet would run as a formula, because they begin with
    ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, get an apostrophe before them.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.csv import csv_of
    >>> csv_of(pl.DataFrame({"n": [-1], "text": ["=1+1"]}))
    "n,text\n-1,'=1+1\n"
    """
    heads = _safe(pl.Series(frame.columns, dtype=pl.String))
    columns = []
    for column, head in zip(frame, heads, strict=True):
        texts = texts_of(column)
        columns.append((_safe(texts) if _is_text(column.dtype) else texts).alias(head))
    return pl.DataFrame(columns).write_csv()


def _is_text(dtype: pl.DataType) -> bool:
    return dtype in (pl.String, pl.Categorical, pl.Enum, pl.Object)


def _safe(texts: pl.Series) -> pl.Series:
    return texts.str.replace(_FORMULA, "'$1")
