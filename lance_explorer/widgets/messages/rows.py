"""The grid of rows: its columns, the rows in sight, and single values."""

from typing import Literal

from lance_explorer.widgets.messages.base import Message
from lance_explorer.widgets.messages.shared import Failure

__all__ = [
    "AllColumns",
    "AudioPiece",
    "CellDetail",
    "CellKind",
    "CellPiece",
    "ColumnHead",
    "ColumnHeads",
    "CopiedRows",
    "HeadBar",
    "ImagePiece",
    "LinePiece",
    "PickedColumn",
    "RowColumn",
    "RowsAbout",
    "RowsPage",
    "Selection",
    "SelectionWay",
    "WholeValue",
]

CellKind = Literal["plain", "binary", "vector", "nested"]
"""How the cells of a column are shown."""

SelectionWay = Literal["only", "toggle", "all", "none"]
"""What a click or a key does to the selection."""


class RowColumn(Message):
    """A column that is shown, and its place among all."""

    name: str
    place: int
    dtype: str
    kind: CellKind
    is_number: bool
    is_sortable: bool


class PickedColumn(Message):
    """A column that can be shown."""

    name: str
    dtype: str
    is_shown: bool


class AllColumns(Message):
    """All columns, and how many can be shown."""

    columns: list[PickedColumn]
    most: int


class HeadBar(Message):
    """How many values are in a bin."""

    label: str
    count: int
    where: str | None
    """The filter for these values, where there is one."""


class ColumnHead(Message):
    """How the values of a column are spread; numbers that may be large are text."""

    has_order: bool
    bars: list[HeadBar]
    num_nulls: int
    where_null: str
    num_distinct: str | None
    least: str | None
    middle: str | None
    most: str | None


class ColumnHeads(Message):
    """The heads of all columns, of so many rows."""

    heads: list[ColumnHead]
    num_rows: int
    num_total: int


class ImagePiece(Message, tag_field="kind", tag="image"):
    """A picture, as an address with everything in it unless it is too large."""

    data: str | None
    size: int
    words: str


class AudioPiece(ImagePiece, tag="audio"):
    """A sound."""


class LinePiece(Message, tag_field="kind", tag="line"):
    """A vector as a line: heights from 0 to 1, null for a gap."""

    points: list[float | None]
    words: str


CellPiece = ImagePiece | AudioPiece | LinePiece
"""What a cell shows beside its text."""


class RowsAbout(Message):
    """What there is to know of the rows before any is asked for."""

    columns: list[RowColumn]
    num_columns: int
    num_rows: int
    num_source_rows: int
    num_selected: int
    filter: str
    sorts: list[tuple[int, bool]]
    failure: Failure | None
    is_expression: bool


class RowsPage(Message):
    """Rows that are here, column by column."""

    first: int
    positions: list[int]
    selected: list[bool]
    cells: list[list[str | None]]
    marks: dict[int, list[str | None]]
    """How cells are marked, by the place of their column."""
    earlier: dict[int, list[str | None]]
    """What changed cells were, by the place of their column."""
    more: list[list[bool] | None]
    pieces: list[list[CellPiece | None] | None]


class WholeValue(Message):
    """The text of a value, its size, and how much of it is shown."""

    text: str | None
    size: int | None
    shown: int | None
    unit: str


class CellDetail(WholeValue):
    """One value, whole unless it is very long."""

    name: str
    dtype: str
    kind: CellKind
    position: int
    piece: CellPiece | None
    earlier: WholeValue | None
    note: str = ""
    """What else there is to say of it."""


class Selection(Message):
    """How many rows are selected."""

    num_selected: int


class CopiedRows(Message):
    """Rows as CSV, and how many there would be."""

    text: str
    num_rows: int
    num_total: int
