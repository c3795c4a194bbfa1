"""Which rows are shown, and in which order: a filter as a person types it, and columns to sort by.

A filter is a Polars SQL expression such as ``num_rows > 3``, or text to look for in all columns.
Text in double quotes is always text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from lance_explorer.cells.text import texts_of
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.inspect.query import is_by_row, read_expression
from lance_explorer.widgets.row_sources import RowSource

__all__ = ["Arrangement", "Filter", "Sort", "arrange", "is_sortable", "read_filter"]

_COMPARES = re.compile(
    r"[<>=]|\bis\s+(not\s+)?null\b|\b(like|ilike|between|in)\s*[('\d]", re.IGNORECASE
)
"""Words and signs that mark a text as an expression: if it is wrong, that is an error."""

_MOST_SORTED = 20_000_000
"""The most rows that are sorted if they have to be read: all values of a column at once."""

_FEW = 20
"""If the filter leaves less than one row in this many, only the matching rows are read."""

_WRONG = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


@dataclass(frozen=True, slots=True)
class Sort:
    """A column to sort by; nulls come last either way."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter: an expression, or text to look for."""

    expression: pl.Expr | None = None
    text: str = ""
    is_by_row: bool = False
    """Whether the expression is known to depend on one row at a time."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Rows of a source as they are shown; ``positions`` is None if all are shown in their order."""

    source: RowSource
    filter: str = ""
    sorts: tuple[Sort, ...] = ()
    positions: pl.Series | None = None
    is_expression: bool = False

    @property
    def num_rows(self) -> int:
        """How many rows are shown."""
        return self.source.num_rows if self.positions is None else len(self.positions)

    def positions_of(self, start: int, stop: int) -> pl.Series:
        """Return where the rows shown from ``start`` up to ``stop`` are in the source."""
        stop = min(stop, self.num_rows)
        if self.positions is None:
            return pl.int_range(start, stop, eager=True)
        return self.positions.slice(start, stop - start)

    def rows(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows shown from ``start`` up to ``stop``, with some columns, or all."""
        if self.positions is None:
            return self.source.slice(start, min(stop, self.num_rows), columns)
        return self.source.take(self.positions_of(start, stop), columns)

    def frame(self) -> pl.DataFrame:
        """Return all rows shown."""
        if self.positions is None:
            return self.source.read(list(self.source.schema))
        return self.source.take(self.positions)


def read_filter(typed: str, schema: pl.Schema) -> Filter:
    """Understand a filter."""
    typed = typed.strip()
    if len(typed) > 1 and typed[0] == typed[-1] == '"':
        return Filter(text=typed[1:-1])
    try:
        expression = read_expression(typed) if typed else None
        if expression is not None and _is_condition(expression, schema):
            return Filter(expression, is_by_row=is_by_row(typed))
    except (*_WRONG, InvalidArgumentError) as error:
        if _COMPARES.search(typed):
            reason = str(error).splitlines()[0]
            raise InvalidArgumentError(
                f"{reason} (to look for it as text, put it in double quotes)"
            ) from error
    return Filter(text=typed)


def is_sortable(dtype: pl.DataType) -> bool:
    """Tell whether rows can be sorted by a column of this type."""
    return not dtype.is_nested() and dtype != pl.Object


def arrange(
    source: RowSource, typed: str, sorts: tuple[Sort, ...], check: Callable[[], None]
) -> Arrangement:
    """Filter and sort rows; rows that compare equal keep their order.

    ``check`` is called between the columns, and may raise to end the work.
    """
    wanted = read_filter(typed, source.schema)
    positions = None
    if wanted.expression is not None:
        positions = _rows_where(source, wanted, check).arg_true()
    elif wanted.text:
        positions = _rows_with(source, wanted.text, check).arg_true()
    if sorts:
        positions = _sorted(source, positions, sorts, check)
    return Arrangement(source, typed, sorts, positions, wanted.expression is not None)


def _sorted(
    source: RowSource,
    positions: pl.Series | None,
    sorts: Sequence[Sort],
    check: Callable[[], None],
) -> pl.Series:
    count = source.num_rows if positions is None else len(positions)
    if count > _MOST_SORTED and not source.is_in_memory:
        raise InvalidArgumentError(
            f"{count:,} rows are too many to sort: filter them first, at most {_MOST_SORTED:,} are "
            "sorted"
        )
    keys = {}
    for number, sort in enumerate(sorts):
        check()
        key = str(number)  # Polars takes names such as ^a$ for patterns
        if positions is not None and count * _FEW < source.num_rows:
            keys[key] = source.take(positions, [sort.column]).to_series().alias(key)
            continue
        column = source.read([sort.column]).to_series().alias(key)
        keys[key] = column if positions is None else column.gather(positions)
    check()
    order = pl.DataFrame(keys).select(
        pl.arg_sort_by(
            list(keys),
            descending=[sort.descending for sort in sorts],
            nulls_last=True,
            maintain_order=True,
            multithreaded=False,  # leaves a thread for the rows that are looked at meanwhile
        )
    )
    return order.to_series() if positions is None else positions.gather(order.to_series())


def _is_condition(expression: pl.Expr, schema: pl.Schema) -> bool:
    """Tell whether an expression is true or false by the columns of a row."""
    result = pl.DataFrame(schema=schema).lazy().select(expression).collect_schema()
    return [*result.values()] == [pl.Boolean] and bool(expression.meta.root_names())


def _rows_where(source: RowSource, wanted: Filter, check: Callable[[], None]) -> pl.Series:
    """Return for which rows a condition is true; null counts as false."""
    assert wanted.expression is not None
    names = [*dict.fromkeys(wanted.expression.meta.root_names())]
    parts = [pl.Series(dtype=pl.Boolean)]
    for rows in source.parts(names) if wanted.is_by_row else [source.read(names)]:
        check()
        try:
            parts.append(rows.select(wanted.expression.alias("found")).to_series())
        except pl.exceptions.PolarsError as error:
            raise InvalidArgumentError(str(error).splitlines()[0]) from error
    return pl.concat(parts).fill_null(value=False)


def _rows_with(source: RowSource, text: str, check: Callable[[], None]) -> pl.Series:
    """Return which rows have the text in any column, ignoring case."""
    wanted = text.lower()
    names = [name for name, dtype in source.schema.items() if _may_hold(dtype, wanted)]
    if not names:
        return pl.repeat(False, source.num_rows, dtype=pl.Boolean, eager=True)
    parts = [pl.Series(dtype=pl.Boolean)]
    for rows in source.parts(names):
        parts.append(pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True))
        for column in rows:
            check()
            parts[-1] |= _holds(column, wanted)
    return pl.concat(parts)


def _may_hold(dtype: pl.DataType, text: str) -> bool:
    """Tell whether a column is searched: vectors and binary are not, numbers only for digits."""
    match dtype:
        case pl.String() | pl.Categorical() | pl.Enum() | pl.Struct():
            return True
        case pl.List(inner=inner) | pl.Array(inner=inner):
            assert isinstance(inner, pl.DataType)
            return not inner.is_numeric() and _may_hold(inner, text)
        case pl.Boolean():
            return text in ("true", "false")
        case pl.Binary() | pl.Object() | pl.Null():
            return False
    return any(character.isdigit() for character in text) or text in ("nan", "inf", "-inf")


def _holds(column: pl.Series, text: str) -> pl.Series:
    texts = texts_of(column)
    return texts.str.to_lowercase().str.contains(text, literal=True).fill_null(value=False)
