"""Public functions that return a frame: their docstrings list its columns, from its schema."""

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from textwrap import indent
from typing import Any, TypeVar, cast

import polars as pl

from lance_explorer.frames.columns import Column, FrameSchema
from lance_explorer.storage import check_not_forked

__all__ = ["column_table", "documented", "schema_of"]

_F = TypeVar("_F", bound=Callable[..., Any])

_HEADER = ("column", "dtype", "unit", "nullable", "meaning")
_SCHEMA = "frame_schema"
_LATER_SECTIONS = ("\n\nRaises\n------\n", "\n\nExamples\n--------\n")


def documented(schema: FrameSchema, *, parameters: str = "") -> Callable[[_F], _F]:
    """Return a decorator that adds a section ``Returns`` with the columns of ``schema``.

    Parameters that several functions share are described once, by ``parameters``.

    In a forked process, where Polars would wait forever, the function raises an error.
    """

    def add_columns(function: _F) -> _F:
        @wraps(function)
        def checked(*arguments: Any, **options: Any) -> Any:
            check_not_forked()
            return function(*arguments, **options)

        text = cleandoc(function.__doc__ or "")
        starts = [text.find(section) for section in _LATER_SECTIONS]
        end = min([start for start in starts if start >= 0], default=len(text))
        shared = f"\n\nParameters\n----------\n{parameters}" if parameters else ""
        returns = f"\n\nReturns\n-------\npolars.DataFrame\n{indent(column_table(schema), '    ')}"
        checked.__doc__ = text[:end] + shared + returns + text[end:]
        vars(checked)[_SCHEMA] = schema
        return cast(_F, checked)

    return add_columns


def schema_of(function: object) -> FrameSchema | None:
    """Return the schema of the frame that a documented function returns; None for others."""
    return getattr(function, _SCHEMA, None)


def column_table(schema: FrameSchema) -> str:
    """Return the columns of a frame as a table in plain text.

    Examples
    --------
    >>> from lance_explorer.frames.columns import BYTES
    >>> sizes = FrameSchema("sizes", (Column("size", BYTES, "size", unit="bytes"),))
    >>> print(column_table(sizes))
    ====== ===== ===== ======== =======
    column dtype unit  nullable meaning
    ====== ===== ===== ======== =======
    size   Int64 bytes          size
    ====== ===== ===== ======== =======
    """
    rows = [_HEADER, *[_row(column) for column in schema.columns]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
    rule = " ".join(["=" * width for width in widths])
    lines = [
        " ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=True)]).rstrip()
        for row in rows
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def _row(column: Column) -> tuple[str, ...]:
    nullable = "yes" if column.nullable else ""
    return column.name, _dtype_name(column.dtype), column.unit, nullable, _meaning(column)


def _dtype_name(dtype: pl.DataType) -> str:
    """Return a type in Polars' notation, shortened."""
    match dtype:
        case pl.Enum():
            return "Enum"
        case pl.Datetime():
            return f"Datetime({dtype.time_unit}, {dtype.time_zone})"
    return str(dtype)


def _meaning(column: Column) -> str:
    if not isinstance(column.dtype, pl.Enum):
        return column.meaning
    return f"{column.meaning} ({', '.join(column.dtype.categories)})"
