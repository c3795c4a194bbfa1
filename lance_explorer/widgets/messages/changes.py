"""Changes: what differs between two versions."""

from lance_explorer.widgets.messages.answer import AnswerSection
from lance_explorer.widgets.messages.base import Digits, Message
from lance_explorer.widgets.messages.shared import Failure
from lance_explorer.widgets.messages.versions import VersionData

__all__ = [
    "Cells",
    "ChangeClass",
    "ChangedColumn",
    "ChangedValues",
    "ChangesData",
    "Comparison",
    "DifferingColumn",
    "SameContent",
    "ValueBar",
]


class ChangesData(VersionData):
    """All versions, and the columns that can identify rows."""

    has_row_ids: bool
    key_columns: list[str]


class ValueBar(Message):
    """How many values are in a bin before and after."""

    label: str
    before: int
    after: int


class ChangedColumn(Message):
    """The values of a column before and after, in rows that differ in it."""

    name: str
    num_rows: Digits
    num_read: Digits
    nulls: tuple[int, int]
    bars: list[ValueBar]
    words: str
    """Mean and deviation, before and after; of vectors how far they moved."""
    is_cosine: bool
    """Whether bars count the cosine between before and after; then only ``after`` is used."""
    movers: list[Digits]
    """The rows whose vectors moved furthest."""


class ChangedValues(Message):
    """The values of changed columns, and summaries of whole columns if reading them is quick."""

    begin: Digits
    end: Digits
    columns: list[ChangedColumn]
    whole: AnswerSection | None


class ChangeClass(Message):
    """A class of changed rows."""

    name: str
    color: str
    num_rows: Digits | None


class DifferingColumn(Message):
    """The number of updated rows in which a column differs."""

    name: str
    num_rows: Digits
    presence: str


class Cells(Message):
    """What comparing cells gave."""

    columns: list[DifferingColumn]
    num_compared: Digits
    num_rows: Digits
    num_equal: Digits


class Comparison(Message, omit_defaults=False):
    """What is shown above the rows; no classes until they are counted."""

    begin: Digits
    end: Digits
    key: list[str]
    beside: list[str]
    change: str | None = None
    column: str | None = None
    problem: Failure | None = None
    classes: list[ChangeClass] | None = None
    unchanged: Digits | None = None
    doubts: str = ""
    lost: str = ""
    evidence: str = ""
    needs_key: bool = False
    left_out: list[str] | None = None
    cells: Cells | None = None


class SameContent(Message):
    """Whether two versions hold the same values."""

    words: str
    is_same: bool
    code: str
