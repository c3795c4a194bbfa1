"""Values as JSON, from which they can be read back if the types of the columns are known.

Whole numbers have all digits; NaN and the infinities are the texts ``"NaN"``, ``"Infinity"`` and
``"-Infinity"``; decimals are texts; binary is ``{"base64": ..., "length": ...}``; dates, times and
durations are ISO 8601; a map is a list of entries with ``key`` and ``value``.
"""

import json
from typing import Any

import polars as pl

from lance_explorer.cells.writing import written
from lance_explorer.shown import visible_json

__all__ = ["json_lines", "json_rows", "json_values"]


def json_lines(frame: pl.DataFrame) -> list[str]:
    """Return the rows of a frame as JSON, an object each, in printable characters.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.json_rows import json_lines
    >>> json_lines(pl.DataFrame({"x": [float("nan"), None], "raw": [b"a", b""]}))[0]
    '{"x":"NaN","raw":{"base64":"YQ==","length":1}}'
    """
    if not frame.width:
        return []
    return [visible_json(line) for line in written(frame.to_struct(), as_json=True)]


def json_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as values that JSON can hold."""
    return [json.loads(line) for line in json_lines(frame)]


def json_values(column: pl.Series) -> list[Any]:
    """Return values as JSON values; null is None.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.json_rows import json_values
    >>> json_values(pl.Series([1.5, float("-inf"), None]))
    [1.5, '-Infinity', None]
    """
    return [None if t is None else json.loads(t) for t in written(column, as_json=True)]
