"""The frames of the fate and place of rows: declared once.

They are declared apart from their makers, whose import takes long: a table has their columns in
docstrings.
"""

from enum import IntEnum

import polars as pl

from lance_explorer.frames.columns import (
    BRANCH,
    EVIDENCE,
    ID,
    MAYBE_KNOWN_FROM,
    TEXT,
    TIME,
    Column,
    FrameSchema,
)
from lance_explorer.frames.commit_facts import COMMIT_FACTS
from lance_explorer.history.events.event_runs import COMMIT_EVENTS

__all__ = ["EVENT", "FOLLOWED", "FOLLOWED_ADDRESSES", "OUTCOME", "ROW_HISTORY", "Outcome"]

EVENT = pl.Enum([event.label for event in COMMIT_EVENTS])
"""What can happen to a row in one commit."""

_COLUMNS = (
    BRANCH,
    Column("version", ID, "version of the event"),
    Column("timestamp", TIME, "when it was committed", nullable=True),
    Column("event", EVENT, "what happened to the row"),
    Column("operation", TEXT, "the commit's operation as Lance names it", nullable=True),
    Column(
        "_rowaddr_before",
        ID,
        "row address before the event; null if the row was not live",
        nullable=True,
    ),
    Column(
        "_rowaddr_after",
        ID,
        "row address after the event; null if the row is not live",
        nullable=True,
    ),
    Column(
        "fragment_id",
        ID,
        "fragment of the row after the event; if it is not live, before",
        nullable=True,
    ),
    Column(
        "is_uncertain",
        pl.Boolean(),
        "whether values may be unchanged, a deletion or creation be half of an update, a moved "
        "row be updated as well, or the row be another one, which only counts and order lead to",
    ),
    Column("evidence", EVIDENCE, "how the event is known"),
    Column("source", TEXT, "where this comes from; null if it is lost", nullable=True),
    MAYBE_KNOWN_FROM,
)

ROW_HISTORY = FrameSchema("row_history", (*_COLUMNS[:-1], *COMMIT_FACTS, _COLUMNS[-1]))

FOLLOWED = FrameSchema(
    "followed",
    (
        Column("_rowid", ID, "requested row ID; without stable row IDs, the row address"),
        *_COLUMNS,
    ),
)


class Outcome(IntEnum):
    """The fate of a row between two versions."""

    LIVE = 0
    NOT_LIVE = 1
    """No row was live at the address at the start."""
    DELETED = 2
    UPDATED = 3
    """Without stable row IDs: which row it became, or was, is unknown."""
    UPDATED_OR_DELETED = 4
    """The same, and the commit may have deleted it instead."""
    OVERWRITTEN = 5
    REVERTED_OR_DELETED = 6
    """A restore removed it; one of the rows that it brought back may be the same row."""
    CREATED = 7
    """Backwards: before, there was no such row."""
    CREATED_OR_UPDATED = 8
    """Backwards: it was new, or one of the rows that the commit removed."""
    RESTORED = 9
    """Backwards: a restore brought it back."""
    RESTORED_OR_REVERTED = 10
    """Backwards: the same, but one of the rows that the restore removed may be the same row."""
    UNKNOWN = 11
    """The evidence is lost."""

    @property
    def label(self) -> str:
        """The name in frames."""
        return self.name.lower()


OUTCOME = pl.Enum([outcome.label for outcome in Outcome])

FOLLOWED_ADDRESSES = FrameSchema(
    "followed_addresses",
    (
        Column("_rowaddr", ID, "the requested address"),
        Column("end_rowaddr", ID, "address at the end; null if not live there", nullable=True),
        Column(
            "outcome", OUTCOME, "what happened to the row; x_or_y: one of the two, unknown which"
        ),
        Column(
            "outcome_version",
            ID,
            "version of that outcome; null if the row is live at the end",
            nullable=True,
        ),
        Column(
            "end_fragment_id",
            ID,
            "last fragment; of an updated row, the one that the update wrote, if only one",
            nullable=True,
        ),
        Column(
            "is_uncertain",
            pl.Boolean(),
            "whether it may be another row: only counts and order link it over lost versions",
        ),
        Column("evidence", EVIDENCE, "how the path is known: its weakest evidence"),
        Column("source", TEXT, "where the last step comes from; null if it is lost", nullable=True),
    ),
)
