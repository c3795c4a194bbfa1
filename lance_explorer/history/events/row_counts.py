"""How many rows one commit added, updated, deleted and so on."""

from dataclasses import dataclass, replace

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.events.event_runs import RowEvent, RowEvents
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.evidence import Evidence

__all__ = ["RowCounts", "counts_of"]


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The ``rows_`` columns of one row of ``versions()``; None is unknown."""

    added: int | None = 0
    updated: int | None = 0
    deleted: int | None = 0
    overwritten: int | None = 0
    restored: int | None = 0
    reverted: int | None = 0
    moved: int | None = 0
    column_rewritten: int | None = 0


_OPEN: tuple[str, ...] = ("added", "updated", "deleted", "moved")
_OPEN_IN_RESTORE: tuple[str, ...] = ("deleted", "restored", "reverted", "moved")
"""What is unknown where rows that went may be rows that came, or moved nobody knows where."""


def counts_of(events: RowEvents) -> RowCounts:
    """Add up what happened to rows in a version whose predecessor is kept."""
    comes, goes = events.before == NO_ADDRESS, events.after == NO_ADDRESS
    returns = events.event == RowEvent.RESTORED
    counts = RowCounts(
        added=events.count(RowEvent.CREATED),
        updated=events.count(RowEvent.UPDATED),
        deleted=events.count(RowEvent.DELETED),
        overwritten=events.count(RowEvent.OVERWRITTEN),
        restored=events.where(returns & comes).num_rows,
        reverted=events.where(returns & ~comes).num_rows,
        moved=events.count(RowEvent.MOVED),
        column_rewritten=events.count(RowEvent.COLUMN_REWRITTEN)
        + events.count(RowEvent.COLUMN_ADDED),
    )
    if events.step.is_unpaired_update and events.step.inserts_nothing:
        # Which row became which is open; but all added ones were there before.
        rows_in, rows_out = counts.added or 0, counts.deleted or 0
        return replace(counts, added=0, updated=rows_in, deleted=rows_out - rows_in)
    if (events.evidence == Evidence.LOST).any() or (events.is_uncertain & (comes | goes)).any():
        names: tuple[str, ...] = _OPEN
        if events.step.name == OperationName.RESTORE:
            new = events.where(events.event == RowEvent.CREATED)
            is_open = new.is_uncertain.any() or (new.evidence == Evidence.LOST).any()
            names = (*_OPEN_IN_RESTORE, "added") if is_open else _OPEN_IN_RESTORE
        return replace(counts, **dict.fromkeys(names))
    if (events.is_uncertain & returns).any():
        return replace(counts, reverted=None, moved=None)
    return counts
