"""The explorer of a database: its tables, their commits, and what they take on disk."""

from lance_explorer.widgets.messages.answer import SearchAnswer
from lance_explorer.widgets.messages.base import (
    BigUint64Array,
    Digits,
    Float64Array,
    Int32Array,
    Message,
    Uint8Array,
)
from lance_explorer.widgets.messages.disk import DiskStatus
from lance_explorer.widgets.messages.explorer import Tab

__all__ = [
    "DatabaseAbout",
    "DatabaseLog",
    "DatabasePlace",
    "DatabaseSearch",
    "DatabaseTables",
    "DatabaseUsage",
    "MomentLine",
    "MomentShown",
    "TableLine",
    "TableUsage",
]


class DatabaseAbout(Message):
    """The database, the names of its tables, and its views."""

    name: str
    uri: str
    names: list[str]
    tabs: list[Tab]


class DatabasePlace(Message):
    """The view that is shown, and the table whose explorer is shown instead of it."""

    view: str
    table: str | None


class TableLine(Message):
    """A table of the database; null means unknown."""

    name: str
    problem: str | None
    """Why it cannot be read."""
    worst: str | None
    """The severity of the worst finding."""
    finding: str | None
    num_rows: Digits | None
    num_fragments: Digits | None
    fragments_to_compact: Digits | None
    num_versions: Digits | None
    size_bytes: Digits | None
    live_bytes: Digits | None
    unindexed_rows: Digits | None
    last_commit: str | None
    last_compaction: str | None
    last_cleanup_after: str | None
    growth: list[float] | None
    """The size of its data files over its versions, as parts of the largest."""


class DatabaseTables(Message):
    """All tables, what hurts most first."""

    sentence: str
    lines: list[TableLine]


class MomentLine(Message):
    """A table at one time: its version, or why it has none."""

    name: str
    version: Digits | None
    timestamp: str | None
    num_rows: Digits | None
    problem: str | None


class MomentShown(Message):
    """All tables at one time."""

    sentence: str
    code: str
    lines: list[MomentLine]


class DatabaseSearch(Message):
    """The result of a search: a time, or rows; or an error."""

    moment: MomentShown | None = None
    answer: SearchAnswer | None = None
    problem: str | None = None


class DatabaseLog(Message):
    """The newest commits of all tables, newest first; each table is a lane."""

    tables: list[str]
    """The names of the lanes, those with the newest commit first."""
    kinds: list[str]
    is_cut: bool
    """Whether there are older commits."""
    not_read: list[str]
    """Why commits of some tables are missing."""
    lane: Int32Array
    kind: Uint8Array
    versions: BigUint64Array
    times: Float64Array
    """In ms since 1970; NaN where it is not known."""
    branch: list[str | None]
    operation: list[str | None]
    words: list[str | None]


class TableUsage(Message):
    """What a table takes on disk, by status."""

    name: str
    bytes: dict[str, Digits]


class DatabaseUsage(Message):
    """What all tables take on disk, the largest first."""

    sentence: str
    not_counted: list[str]
    statuses: list[DiskStatus]
    lines: list[TableUsage]
