"""The page that works without Python: its state at the start, and the stored answers."""

from lance_explorer.widgets.messages.base import Digits, Message
from lance_explorer.widgets.messages.explorer import About
from lance_explorer.widgets.messages.lineage import FollowedRow, RowValues
from lance_explorer.widgets.messages.parts import Part
from lance_explorer.widgets.messages.rows import ColumnHeads, RowsAbout, RowsPage
from lance_explorer.widgets.messages.shared import Failure

__all__ = ["KeptRows", "Life", "Missing", "NotAnswered", "RecordedPage"]


class NotAnswered(Message):
    """Why there is no answer."""

    not_answered: Failure


class KeptRows(Message, kw_only=True):
    """The first rows of a version, of changes or of a life, with their row IDs; or why not."""

    about: RowsAbout | None = None
    page: RowsPage | None = None
    heads: ColumnHeads | None = None
    ids: tuple[Digits | None, ...] = ()
    has_row_ids: bool | None = None
    problem: str | None = None
    not_answered: Failure | None = None


class Life(KeptRows, kw_only=True):
    """The life of a row, with its values."""

    life: FollowedRow | NotAnswered
    values: RowValues | NotAnswered


class Missing(Message):
    """The texts about what the page does not contain."""

    title: str
    rows: str
    changes: str
    life: str
    version: str
    whole: str
    other: str


class RecordedPage(Message):
    """The state of the page at its start."""

    about: About
    latest: Digits
    offline: str
    parts: dict[str, Part]
    tags: dict[str, Digits]
    names: dict[str, Digits]
    """Rows by their IDs and by their positions."""
    rows: list[Digits]
    """The rows whose lives the page contains, in rising order."""
    index: dict[str, tuple[int, int]]
    """Where an answer is: the shelf, and the position in it."""
    missing: Missing
