"""How a value of any type is written, as text and as JSON, however deeply it is nested.

Both forms come from one walk over the type. Text is JSON, except where JSON has no short form: NaN
and infinities are words without quotes, binary is hexadecimal, and maps are objects.
"""

import json
from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from lance_explorer.cells.times import iso_texts

__all__ = ["plain_texts", "written"]

_NAMES = {"NaN": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}
_EXACT_HALVES = 2048
"""Below this, a half float has shortest digits of its own; above it, they round whole numbers."""


def written(column: pl.Series, *, as_json: bool) -> pl.Series:
    """Return each value as it is written inside a list or struct; null stays null.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.writing import written
    >>> column = pl.Series([[float("nan"), -0.0, None]])
    >>> [written(column, as_json=form).item() for form in (False, True)]
    ['[NaN,-0.0,null]', '["NaN",-0.0,null]']
    """
    column = column.alias("value")  # Polars takes names such as ^a$ for patterns
    match column.dtype:
        case pl.BaseExtension():
            return written(column.ext.storage(), as_json=as_json)
        case pl.Array():
            return written(column.arr.to_list(), as_json=as_json)
        case pl.List():
            items = column.list.explode(empty_as_null=False, keep_nulls=False)
            parts = written(items, as_json=as_json).fill_null("null")
            return _joined(column, column.list.len(), parts, "[]")
        case pl.Map() if as_json:
            return written(column.map.entries(), as_json=True)
        case pl.Map():
            entries = column.map.entries()
            items = entries.list.explode(empty_as_null=False, keep_nulls=False)
            key, value = [written(part, as_json=False) for part in items.struct.unnest()]
            parts = _concatenated([key.fill_null("null"), ":", value.fill_null("null")])
            return _joined(column, entries.list.len(), parts, "{}")
        case pl.Struct(fields=[]):
            return _where_there(column, pl.repeat("{}", len(column), eager=True))
        case pl.Struct():
            return _struct(column, as_json)
        case pl.Binary() if as_json:
            return _concatenated(
                [
                    '{"base64":"',
                    column.bin.encode("base64"),
                    '","length":',
                    column.bin.size().cast(pl.String),
                    "}",
                ]
            )
        case dtype if dtype.is_float() and as_json:
            return plain_texts(column).replace(_NAMES)
        case pl.Decimal() if not as_json:  # readers of JSON take its numbers for floats
            return plain_texts(column)
        case dtype if dtype == pl.Boolean or dtype.is_float() or dtype.is_integer():
            return plain_texts(column)
        case dtype if dtype.is_temporal() and as_json:
            return _quoted(iso_texts(column))
    return _quoted(plain_texts(column))


def plain_texts(column: pl.Series) -> pl.Series:
    """Return scalar values as text, without quotes; null stays null."""
    match column.dtype:
        case pl.Object():
            return pl.Series([None if v is None else str(v) for v in column], dtype=pl.String)
        case pl.BaseExtension():
            return plain_texts(column.ext.storage())
        case pl.Binary():
            return column.bin.encode("hex")
        case pl.Float16():
            return pl.Series([_half(value) for value in column], dtype=pl.String)
        case pl.Datetime(time_zone="UTC"):
            return iso_texts(column, " ").str.replace(r"\+00:00$", " UTC")
        case dtype if dtype.is_temporal():
            return iso_texts(column, " ")
    return column.cast(pl.String)


def _half(value: float | None) -> str | None:
    """Return a half float by its shortest digits; Polars gives those of a longer type."""
    if value is None:
        return None
    text = str(np.float16(value) if abs(value) < _EXACT_HALVES else value)
    return "NaN" if text == "nan" else text


def _quoted(texts: pl.Series) -> pl.Series:
    """Return texts as JSON writes them."""
    prefix = '{"t":'
    wrapped = texts.alias("t").to_frame().to_struct().struct.json_encode()
    return _where_there(texts, wrapped.str.slice(len(prefix)).str.head(-1))


def _struct(column: pl.Series, as_json: bool) -> pl.Series:
    parts: list[pl.Series | str] = []
    for number, field in enumerate(column.struct.unnest()):
        name = json.dumps(field.name, ensure_ascii=False)
        parts += [f"{',' if number else '{'}{name}:"]
        parts += [written(field, as_json=as_json).fill_null("null")]
    return _where_there(column, _concatenated([*parts, "}"]))


def _joined(column: pl.Series, lengths: pl.Series, parts: pl.Series, brackets: str) -> pl.Series:
    """Return the parts of each value with commas between them, in brackets."""
    offsets = np.append(0, np.cumsum(lengths.fill_null(0).to_numpy(), dtype=np.int64))
    lists = pa.LargeListArray.from_arrays(offsets, parts.to_arrow().cast(pa.large_string()))
    joined = pl.Series(lists, dtype=pl.List(pl.String)).list.join(",")
    return _where_there(column, _concatenated([brackets[0], joined, brackets[1]]))


def _concatenated(parts: Sequence[pl.Series | str]) -> pl.Series:
    """Return texts joined together; null if one of them is null."""
    frame = pl.DataFrame(
        [part.alias(str(n)) for n, part in enumerate(parts) if isinstance(part, pl.Series)]
    )
    each = [pl.lit(p) if isinstance(p, str) else pl.col(str(n)) for n, p in enumerate(parts)]
    return frame.select(pl.concat_str(each).alias("value")).to_series()


def _where_there(column: pl.Series, texts: pl.Series) -> pl.Series:
    """Return the texts of values that are not null."""
    return texts.alias("value").set(column.is_null(), None)
