"""The page that works without Python: what is known at its start, and the answers that it keeps."""

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
    """What is said of what the page does not have."""

    title: str
    rows: str
    changes: str
    life: str
    version: str
    whole: str
    other: str


class RecordedPage(Message):
    """What is known of the page at its start."""

    about: About
    latest: Digits
    offline: str
    parts: dict[str, Part]
    tags: dict[str, Digits]
    names: dict[str, Digits]
    """Rows by their IDs and by the places where they are."""
    rows: list[Digits]
    """The rows whose lives are here, in rising order."""
    index: dict[str, tuple[int, int]]
    """Where answers are: the shelf, and the place in it."""
    missing: Missing
