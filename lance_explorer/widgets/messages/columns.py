"""The values of columns, over versions and in one of them."""

from lance_explorer.widgets.messages.base import Digits, Message

__all__ = ["ColumnArea", "ColumnFacts", "ColumnLine", "ColumnShift", "Columns", "VersionColumns"]


class ColumnArea(Message):
    """An SVG path: an area if it has a colour, else a line; y runs from 0 at the top to 100."""

    path: str
    color: str | None
    opacity: float
    label: str
    """The value that the area shows; "" for bands of quantiles."""


class ColumnShift(Message):
    """A version in which the values of a column moved."""

    version: Digits
    share: str
    words: str


class ColumnLine(Message):
    """A column, or a nested field, over versions."""

    name: str
    type: str
    unit: str
    low: str
    high: str
    areas: list[ColumnArea]
    shifts: list[ColumnShift]


class Columns(Message):
    """The columns, with pictures whose x is the position of a version."""

    sentence: str
    lines: list[ColumnLine]
    num_columns: int
    unread: str
    """How much was not read, such as "1.2 GB"; "" if nothing."""
    problems: list[str]


class ColumnFacts(Message):
    """The values of a column in a version."""

    name: str
    num_rows: str
    nulls: str
    distinct: str
    typical: str
    ends: str
    bars: list[float]
    """The heights of the bars of its histogram, or of its frequent values; the highest is 1."""
    bar_words: list[str]


class VersionColumns(Message):
    """The values of the columns in a version."""

    facts: list[ColumnFacts]
