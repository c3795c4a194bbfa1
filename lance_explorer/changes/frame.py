"""The change feed as a frame: its columns, declared once, and its rows from runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.frames.columns import (
    COUNT,
    EVIDENCE,
    ID,
    MAYBE_KNOWN_FROM,
    TEXT,
    TIME,
    Column,
    FrameSchema,
)
from lance_explorer.history.events.event_runs import COMMIT_EVENTS, NET_EVENTS, RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.arrays import Uint64Array

__all__ = [
    "CHANGED_COLUMNS",
    "CHANGES",
    "COMMIT_SUMMARY",
    "NET_SUMMARY",
    "Block",
    "blocks",
]

_CHANGE_TYPE = pl.Enum(["insert", "update_preimage", "update_postimage", "delete"])
"""The kinds of rows of a feed, in Delta's words."""

_EVENT = pl.Enum(
    [
        event.label
        for event in dict.fromkeys(
            (*NET_EVENTS[:-1], *COMMIT_EVENTS, RowEvent.LOST, RowEvent.UNCHANGED)
        )
    ]
)
"""What happened to a row."""

# Looked up by number: for the few rows of a commit that is many times as fast as a cast.
_EVENTS = pl.Series([event.label for event in RowEvent], dtype=_EVENT)
_EVIDENCE = pl.Series(EVIDENCE.categories, dtype=EVIDENCE)

CHANGES = FrameSchema(
    "changes",
    (
        Column(
            "_change_type",
            _CHANGE_TYPE,
            "kind of change, as in Delta's change data feed",
            nullable=True,
        ),
        Column(
            "_commit_version",
            ID,
            "version of the commit; in net changes, the one that last wrote the row",
            nullable=True,
        ),
        Column("_commit_timestamp", TIME, "when it was committed", nullable=True),
        Column("_event", _EVENT, "what happened to the row"),
        Column(
            "_rowid",
            ID,
            "row ID; without stable row IDs at the end, the row address; null if the row never "
            "got a row ID",
            nullable=True,
        ),
        Column("_rowaddr", ID, "address of the row whose values these are", nullable=True),
        Column(
            "_rowaddr_before",
            ID,
            "row address before the change; null if the row was not live",
            nullable=True,
        ),
        Column(
            "_rowaddr_after",
            ID,
            "row address after the change; null if the row is not live",
            nullable=True,
        ),
        Column("evidence", EVIDENCE, "how the change is known"),
        Column(
            "is_uncertain",
            pl.Boolean(),
            "whether values may be unchanged, or an insert and a delete may be one update",
        ),
    ),
)
"""The columns of every feed before the values."""

CHANGED_COLUMNS = "changed_columns"
"""With both images: the names of the columns whose values differ; null if unknown."""

_COUNTS = {
    RowEvent.INSERTED: "rows that only the later version has",
    RowEvent.DELETED: "rows that only the earlier version has",
    RowEvent.UPDATED: "rows whose values changed",
    RowEvent.COLUMN_REWRITTEN: "rows whose only change is a rewritten column",
    RowEvent.COLUMN_ADDED: "rows whose only change is an added column",
    RowEvent.MOVED: "rows that only moved to another address",
    RowEvent.UNCHANGED: "rows with the same values at the same address",
    RowEvent.CREATED: "rows that the commit created",
    RowEvent.RESTORED: "rows that a restore brought back, or whose values it set back",
    RowEvent.OVERWRITTEN: "rows that an overwrite replaced",
}

_ENDS = (
    Column("begin_version", ID, "version before the changes; 0 is the empty table"),
    Column("end_version", ID, "version after the changes"),
)
_UNCERTAIN = Column("uncertain", COUNT, "rows of all these classes that are uncertain", unit="rows")
_WEAKEST = Column(
    "evidence",
    EVIDENCE,
    "the weakest evidence of any change; null if there are no changes",
    nullable=True,
)


def _count(change: RowEvent) -> Column:
    return Column(change.label, COUNT, _COUNTS[change], nullable=True, unit="rows")


NET_SUMMARY = FrameSchema(
    "net_summary",
    (
        *_ENDS,
        *[_count(change) for change in NET_EVENTS],
        _UNCERTAIN,
        _WEAKEST,
        Column(
            "versions_lost", COUNT, "versions between the two that are not kept", unit="versions"
        ),
    ),
)
"""The columns of ``Changes.summary()`` of net changes."""

COMMIT_SUMMARY = FrameSchema(
    "commit_summary",
    (
        Column("version", ID, "version of the commit; null if it is not kept", nullable=True),
        Column("timestamp", TIME, "when it was committed", nullable=True),
        Column("operation", TEXT, "operation as Lance names it", nullable=True),
        *[_count(change) for change in COMMIT_EVENTS],
        _UNCERTAIN,
        _WEAKEST,
        Column(
            "versions_lost", COUNT, "versions directly before it that are not kept", unit="versions"
        ),
        MAYBE_KNOWN_FROM,
    ),
)
"""The columns of ``Changes.summary()`` commit by commit."""

_WRITTEN = (RowEvent.UPDATED, RowEvent.COLUMN_REWRITTEN, RowEvent.COLUMN_ADDED)
"""Events that only happen to existing rows, also if lost versions contained them."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a feed of the same kind, in order.

    ``change_type`` is None for rows that only moved, and for what is lost. ``is_before`` says
    whether the image is the one before.
    """

    runs: ChangeRuns
    change_type: str | None
    is_before: bool

    @property
    def is_update(self) -> bool:
        """Whether they are images of rows before and after."""
        return self.change_type in ("update_preimage", "update_postimage")

    @property
    def is_lost(self) -> bool:
        """Whether they stand for a loss, not for rows."""
        return bool((self.runs.change == RowEvent.LOST).all())

    @property
    def num_rows(self) -> int:
        """How many lines there are."""
        return int(self.runs.length.sum(dtype=np.uint64))

    def pieces(
        self, num_rows: int, start: int = 0, stop: int | None = None
    ) -> Iterator[ChangeRuns]:
        """Yield rows of a range, a run each, in pieces of limited size."""
        ends = np.cumsum(self.runs.length)
        stop = self.num_rows if stop is None else stop
        for begin in range(start, stop, num_rows):
            count = min(num_rows, stop - begin)
            low, high = np.searchsorted(
                ends, np.array([begin, begin + count - 1], np.uint64), side="right"
            )
            some = self.runs.where(np.arange(low, min(high + 1, len(ends)))).rows()
            skipped = begin - int(ends[low - 1] if low else 0)
            yield some.where(np.arange(skipped, skipped + count))

    def frame(
        self,
        rows: ChangeRuns,
        timestamps: Mapping[int, datetime | None],
        ids_of: StateRows | None,
    ) -> pl.DataFrame:
        """Return some of the rows, without values.

        They are named by row IDs, those of ``ids_of``, or by addresses if that is None.
        """
        place = rows.before if self.is_before else rows.after
        identity = rows.old_identity if self.is_before else rows.identity
        is_lost = rows.change == RowEvent.LOST
        names, is_nameless = place, is_lost
        if ids_of is not None:
            names, is_nameless = identity, is_lost | ids_of.never_had_ids(identity)
        return CHANGES.build(
            {
                "_change_type": pl.Series([self.change_type], dtype=_CHANGE_TYPE).new_from_index(
                    0, len(rows)
                ),
                "_commit_version": _nullable(rows.version, rows.version == NO_VERSION),
                "_commit_timestamp": _times(rows.version, timestamps),
                "_event": _EVENTS[pl.Series(rows.change)],
                "_rowid": _nullable(names, is_nameless),
                "_rowaddr": _nullable(place, place == NO_ADDRESS),
                "_rowaddr_before": _nullable(rows.before, rows.before == NO_ADDRESS),
                "_rowaddr_after": _nullable(rows.after, rows.after == NO_ADDRESS),
                "evidence": _EVIDENCE[pl.Series(rows.evidence)],
                "is_uncertain": rows.is_uncertain,
            }
        )


def blocks(runs: ChangeRuns, *, both_images: bool) -> list[Block]:
    """Return the lines of one commit, or of a net comparison, in the order of a feed.

    Removed rows come first, then images before, images after, rows that only moved, added rows, and
    losses. Existing rows are ordered by their old address, others by the new one.
    """
    was, now = runs.before != NO_ADDRESS, runs.after != NO_ADDRESS
    runs = runs.where(np.argsort(np.where(was, runs.before, runs.after), kind="stable"))
    was, now = runs.before != NO_ADDRESS, runs.after != NO_ADDRESS
    is_moved = runs.change == RowEvent.MOVED
    is_new = ~was & now & ~np.isin(runs.change, _WRITTEN)
    changed = now & ~is_moved & ~is_new
    pre_images = changed & was & both_images
    parts = [
        Block(runs.where(was & ~now), "delete", is_before=True),
        Block(runs.where(pre_images), "update_preimage", is_before=True),
        Block(runs.where(changed), "update_postimage", is_before=False),
        Block(runs.where(is_moved), None, is_before=False),
        Block(runs.where(is_new), "insert", is_before=False),
        Block(runs.where(~was & ~now), None, is_before=False),
    ]
    return [block for block in parts if len(block.runs)]


def _nullable(values: Uint64Array, missing: NDArray[np.bool_]) -> pl.Series:
    series = pl.Series(values, dtype=ID)
    return series.set(pl.Series(missing), None) if missing.any() else series


def _times(versions: Uint64Array, timestamps: Mapping[int, datetime | None]) -> pl.Series:
    distinct, place = np.unique(versions, return_inverse=True)
    times = pl.Series([timestamps.get(version) for version in distinct.tolist()], dtype=TIME)
    return times.new_from_index(0, len(place)) if len(times) == 1 else times[place]
