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
    """A visible column, and its position among all."""

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
    """The filter for these values, if there is one."""


class ColumnHead(Message):
    """The distribution of a column; large numbers are text."""

    has_order: bool
    bars: list[HeadBar]
    num_nulls: int
    where_null: str
    num_distinct: str | None
    least: str | None
    middle: str | None
    most: str | None


class ColumnHeads(Message):
    """The heads of all columns, and the number of rows that they describe."""

    heads: list[ColumnHead]
    num_rows: int
    num_total: int


class ImagePiece(Message, tag_field="kind", tag="image"):
    """A picture, as a data URL unless it is too large."""

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
"""What a cell shows besides its text."""


class RowsAbout(Message):
    """What is known about the rows before any is asked for."""

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
    """Rows, column by column."""

    first: int
    positions: list[int]
    selected: list[bool]
    cells: list[list[str | None]]
    marks: dict[int, list[str | None]]
    """Marks of cells, by the position of their column."""
    earlier: dict[int, list[str | None]]
    """Values of changed cells before the change, by the position of their column."""
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
    """Other facts about it."""


class Selection(Message):
    """How many rows are selected."""

    num_selected: int


class CopiedRows(Message):
    """Rows as CSV, and the number of rows without the limit."""

    text: str
    num_rows: int
    num_total: int
