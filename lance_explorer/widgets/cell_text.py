"""Values as text, column by column: for cells, for the detail of one value, and for CSV.

Nothing is rounded, and nothing larger than asked for is ever made: a long text, a vector or a blob
is cut before it is turned into text.
"""

import polars as pl

__all__ = ["csv_of", "sizes_of", "summary_of", "text_of", "unit_of"]

_COLUMN = "value"
_JSON_PREFIX = len(f'{{"{_COLUMN}":')
_LONGEST_SUMMARY = 160
_MOST_IN_SUMMARY = {"characters": _LONGEST_SUMMARY, "bytes": 40, "items": 12}
_TIME = "%Y-%m-%d %H:%M:%S%.f"


def text_of(column: pl.Series, most: int) -> pl.Series:
    """Return the values of a column as text; null stays null.

    Parameters
    ----------
    column : polars.Series
        Of any type.
    most : int
        How many characters of text, bytes of binary, or items of a list are shown.
    """
    if column.dtype == pl.Object:
        texts = [None if value is None else str(value)[:most] for value in column]
        return pl.Series(_COLUMN, texts, pl.String)
    value = pl.col(_COLUMN)
    whole = _head(value, column.dtype, most)
    text = _text(whole, column.dtype)
    return column.alias(_COLUMN).to_frame().select(text.alias(_COLUMN)).to_series()


def sizes_of(column: pl.Series) -> pl.Series | None:
    """Return how many characters, bytes or items each value has; None for values of one piece."""
    column = column.alias(_COLUMN)  # Polars takes names such as ^a$ for patterns
    match column.dtype:
        case pl.String():
            return column.str.len_chars()
        case pl.Binary():
            return column.bin.size()
        case pl.List():
            return column.list.len()
        case pl.Array():
            return column.arr.len()
    return None


def unit_of(dtype: pl.DataType) -> str:
    """Return what the size of a value counts."""
    match dtype:
        case pl.Binary():
            return "bytes"
        case pl.List() | pl.Array():
            return "items"
    return "characters"


def summary_of(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the values in a few words each, and which of them are more than is shown."""
    unit = unit_of(column.dtype)
    most = _MOST_IN_SUMMARY[unit]
    text = text_of(column, most).alias("text")
    size = sizes_of(column)
    if size is None:
        size = text.str.len_chars()
    parts = pl.DataFrame([text, size.alias("size")])
    more = pl.col("size") > most
    shown = pl.col("text").str.head(_LONGEST_SUMMARY)
    match unit:
        case "characters":
            shown = shown + pl.when(more).then(pl.lit("…")).otherwise(pl.lit(""))
        case "bytes":
            mark = pl.when(more).then(pl.lit("…")).otherwise(pl.lit(""))
            shown = pl.format("{}{} ({} bytes)", shown, mark, "size")
        case _:
            more |= pl.col("text").str.len_chars() > _LONGEST_SUMMARY
            begin = shown.str.strip_suffix("]")
            shown = (
                pl.when(more).then(pl.format("{},…] ({} items)", begin, "size")).otherwise(shown)
            )
    summary = parts.select(shown.alias("shown"), more.fill_null(value=False).alias("more"))
    return summary["shown"], summary["more"]


def csv_of(frame: pl.DataFrame) -> str:
    """Return a frame as CSV: nested values as JSON, binary in hexadecimal digits, nulls empty."""
    columns = [
        column if _is_plain(column.dtype) else text_of(column, 2**32 - 1).alias(column.name)
        for column in frame
    ]
    return pl.DataFrame(columns).write_csv()


def _head(value: pl.Expr, dtype: pl.DataType, most: int) -> pl.Expr:
    match dtype:
        case pl.String():
            return value.str.head(most)
        case pl.Binary():
            return value.bin.head(most)
        case pl.List():
            return value.list.head(most)
        case pl.Array():
            return value.arr.to_list().list.head(most)
    return value


def _text(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    match dtype:
        case pl.String():
            return value
        case pl.Binary():
            return value.bin.encode("hex")
        case pl.Datetime(time_zone=zone):
            text = value.dt.strftime(_TIME)
            return text if zone is None else text + f" {zone}"
        case pl.Time():
            return value.dt.strftime("%H:%M:%S%.f")
        case pl.Duration():
            return value.dt.to_string("polars")
        case pl.List(inner=inner) | pl.Array(inner=inner):
            return _json(value, pl.List(inner))
        case pl.Struct(fields=[]):
            return pl.when(value.is_not_null()).then(pl.lit("{}"))
        case pl.Struct():
            return _json(value, dtype)
    return value.cast(pl.String)


def _json(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    wrapped = pl.struct(_for_json(value, dtype).alias(_COLUMN)).struct.json_encode()
    text = wrapped.str.slice(_JSON_PREFIX).str.head(-1)
    return pl.when(value.is_not_null()).then(text)


def _for_json(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return values that JSON has no form for, binary and times, as text, however deep they are."""
    match dtype:
        case pl.List(inner=inner):
            assert isinstance(inner, pl.DataType)
            return value.list.eval(_for_json(pl.element(), inner))
        case pl.Array(inner=inner):
            assert isinstance(inner, pl.DataType)
            return value.arr.to_list().list.eval(_for_json(pl.element(), inner))
        case pl.Struct(fields=[_, *_]):
            inner_types = pl.Schema(dtype.to_schema()).items()
            whole = pl.struct(
                [_for_json(value.struct.field(name), of).alias(name) for name, of in inner_types]
            )
            return pl.when(value.is_not_null()).then(whole)
        case pl.Binary() | pl.Datetime() | pl.Duration() | pl.Date() | pl.Time() | pl.Categorical():
            return _text(value, dtype)
    return value


def _is_plain(dtype: pl.DataType) -> bool:
    return not dtype.is_nested() and dtype not in (
        pl.Binary,
        pl.Object,
        pl.Datetime,
        pl.Duration,
        pl.Time,
    )
