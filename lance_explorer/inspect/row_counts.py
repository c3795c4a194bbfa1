"""How many rows each commit added, updated, deleted and so on.

For most commits the fragments alone show it; for others row versions, or a comparison of all rows.
None means that the needed files are gone, or that nothing shows it; never 0 for unknown.
"""

from collections.abc import Callable, Iterable
from typing import assert_never

import numpy as np
from msgspec.structs import fields, replace
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.errors import FormatError, NotFoundError, StorageError
from lance_explorer.format.column_operations import DataOverlay
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.layout_operations import Rewrite
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.operations import Operation
from lance_explorer.format.record import Record
from lance_explorer.format.row_operations import Append, Update
from lance_explorer.format.schema import Field
from lance_explorer.frames.counts import known
from lance_explorer.history.events.row_events import NO_ADDRESS, RowEvent, RowEvents, row_events
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.fragment_counts import FragmentCounts
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.reading.row_reader import RowReader
from lance_explorer.history.reading.row_version_counts import own_rows
from lance_explorer.history.update_kinds import (
    inserts_nothing,
    is_plain_update,
    writes_in_place,
)
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.row_creation import is_faulty

__all__ = ["ROW_COUNTS", "RowCounts", "count_versions", "counts_of", "with_previous"]

_COUNTED_BY_ROWS = frozenset({OperationName.UPDATE, OperationName.UNKNOWN, None})
_COUNTED_IF_LONE = frozenset({OperationName.MERGE, OperationName.DATA_REPLACEMENT})
"""Operations for which row versions show the counts; these only if the previous version is gone."""


_OPEN: tuple[str, ...] = ("added", "updated", "deleted", "moved")
_OPEN_IN_RESTORE: tuple[str, ...] = ("deleted", "restored", "reverted", "moved")
"""Counts that are unknown if removed rows may be added ones, or moved to unknown places."""


class RowCounts(Record, frozen=True):
    """The ``rows_`` columns of one row of ``versions()``; None is unknown."""

    added: int | None = 0
    updated: int | None = 0
    deleted: int | None = 0
    overwritten: int | None = 0
    restored: int | None = 0
    reverted: int | None = 0
    moved: int | None = 0
    column_rewritten: int | None = 0
    column_added: int | None = 0


ROW_COUNTS = tuple([field.name for field in fields(RowCounts)])
"""The names of these columns, without ``rows_``."""

_NOTHING = RowCounts()

_UNKNOWN = RowCounts(*[None] * len(ROW_COUNTS))

_NEEDS_OPERATION = frozenset(
    {OperationName.UPDATE, OperationName.DATA_OVERLAY, OperationName.RESTORE}
)
"""Operations whose counts need more than the fragments; others do only after a gap."""


class _KnownCounts(Record, frozen=True):
    """The fragment counts of one version: the fields of FragmentCounts at one position.

    ``same_fragments`` is None where the version before is gone; ``rows_before`` then too.
    ``rows_created`` and ``rows_changed`` are what row identity tells of rows that were not there
    before and of those that were; None where it tells nothing, or was not asked.
    """

    num_rows: int | None
    rows_before: int | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    rows_rewritten_in_place: int | None = None
    rows_extended_in_place: int | None = None
    same_fragments: bool | None = None
    rows_created: int | None = None
    rows_changed: int | None = None


def count_versions(
    view: HistoryView,
    history: History,
    steps: FragmentCounts,
    num_rows: NDArray[np.int64],
    readable: NDArray[np.bool_],
) -> list[RowCounts]:
    """Return the row counts of each version.

    Parameters
    ----------
    view : HistoryView
        The source of transactions, sequences and deletion files.
    history : History
        The versions.
    steps : FragmentCounts
        How their fragments changed.
    num_rows : NDArray[np.int64]
        Live rows of each version.
    readable : NDArray[np.bool_]
        Whether the reader flags of each version are known; if they are not, or not those of the
        previous version, its counts are unknown, too.
    """
    is_told = (with_previous(readable) & ~history.is_uncertain).tolist()
    counts = list[RowCounts]()
    every = _known_counts(history, steps, num_rows)
    by_ids = list(map(_count_by_row_ids, history.records, every))
    needed = [
        record
        for record, found in zip(history.records, by_ids, strict=True)
        if found is None and record.operation in _NEEDS_OPERATION
    ]
    with view.reading_transactions(needed):
        for position, known in enumerate(every):
            found = by_ids[position] if is_told[position] else _UNKNOWN
            if found is not None:
                counts.append(found)
                continue
            try:
                counts.append(_count(view, history, position, known))
            except (FormatError, StorageError, NotFoundError):
                counts.append(_UNKNOWN)  # the needed files are damaged or gone
    return counts


def with_previous(readable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell for each version whether it and its kept predecessor are readable."""
    previous = np.ones_like(readable)
    previous[1:] = readable[:-1]
    return readable & previous


def _known_counts(
    history: History, steps: FragmentCounts, num_rows: NDArray[np.int64]
) -> list[_KnownCounts]:
    rows = known(num_rows)
    follows = history.follows_previous.tolist()
    moves = (steps.added + steps.removed + steps.changed).tolist()
    columns = zip(
        rows,
        [0, *rows][: len(rows)],
        known(steps.rows_in),
        known(steps.rows_out),
        known(steps.rows_rewritten_in_place),
        known(steps.rows_extended_in_place),
        [move == 0 for move in moves],
        [record.num_new_row_ids for record in history.records],
        strict=True,
    )
    return [
        _KnownCounts(*column) if follow else _KnownCounts(column[0])
        for column, follow in zip(columns, follows, strict=True)
    ]


def _count(view: HistoryView, history: History, position: int, known: _KnownCounts) -> RowCounts:
    record = history.records[position]
    if _needs_events(record, known):
        readable = state_rows(view).history
        return counts_of(row_events(view, readable.position(record.version)))
    operation = None
    if known.same_fragments is None or record.operation in _NEEDS_OPERATION:
        operation = _operation(view, record)
    if _needs_own_rows(record, known, operation):
        rows = own_rows(view, record, _new_states(history, position, operation))
        if rows is not None:
            known = replace(known, rows_created=rows.created, rows_changed=rows.changed)
    return _count_by_fragments(
        record.operation,
        known,
        operation,
        record.schema,
        lambda fragment_id: _deleted(view, record, fragment_id),
    )


def _count_by_row_ids(record: VersionRecord, known: _KnownCounts) -> RowCounts | None:
    """Count the rows of an update where row IDs tell it, whatever its operation says."""
    is_update = record.operation == OperationName.UPDATE and known.same_fragments is False
    if not is_update or known.rows_out is None or _needs_events(record, known):
        return None
    return _separated(known.rows_in, known.rows_out, known.rows_created)


def _separated(new: int | None, old: int | None, added: int | None) -> RowCounts | None:
    """Separate updated from inserted and deleted rows by the number of those with new row IDs."""
    if new is None or added is None or (old is not None and old < new - added):
        return None
    updated = new - added
    return RowCounts(added, updated, None if old is None else old - updated)


def _needs_events(record: VersionRecord, known: _KnownCounts) -> bool:
    """Whether only a comparison of rows shows what a commit did.

    An update may write some fragments in place, with recorded rows for some of them, and add
    others.
    """
    match record.operation:
        case OperationName.RESTORE:
            return known.same_fragments is False
        case OperationName.UPDATE:
            in_place = known.rows_rewritten_in_place, known.rows_extended_in_place
            return known.same_fragments is False and in_place != (0, 0)
        case _:
            return False


def _needs_own_rows(
    record: VersionRecord, known: _KnownCounts, operation: Operation | None
) -> bool:
    """Whether only the row versions show what a commit did, and do so."""
    if known.same_fragments or not record.manifest.reader_feature_flags & STABLE_ROW_IDS:
        return False
    if isinstance(operation, Update) and writes_in_place(operation):
        return not operation.updated_offsets
    if known.rows_created is not None or is_faulty(record.manifest.writer):
        return False
    is_lone = known.same_fragments is None
    return record.operation in (
        _COUNTED_BY_ROWS | _COUNTED_IF_LONE if is_lone else _COUNTED_BY_ROWS
    )


def _new_states(
    history: History, position: int, operation: Operation | None
) -> frozenset[Fragment]:
    """Return the states that can contain rows of a version: those that its predecessor lacks.

    For an update that moves rows, only the fragments that it wrote.
    """
    states = [history.states[key] for key in history.states_added(position).tolist()]
    if isinstance(operation, Update) and not writes_in_place(operation):
        written = {file.path for fragment in operation.new_fragments for file in fragment.files}
        states = [s for s in states if any(file.path in written for file in s.files)]
    return frozenset(states)


def _operation(view: HistoryView, record: VersionRecord) -> Operation | None:
    transaction = view.transaction(record)
    return transaction.operation if transaction else None


def _deleted(view: HistoryView, record: VersionRecord, fragment_id: int) -> BitMap:
    for fragment in view.version(record.version).states:
        if fragment.id == fragment_id:
            return RowReader(view, record.version).deleted(fragment)
    return BitMap()


def _count_by_fragments(
    name: OperationName | None,
    known: _KnownCounts,
    operation: Operation | None,
    schema: tuple[Field, ...],
    deleted: Callable[[int], BitMap],
) -> RowCounts:
    """Count the rows of one commit, as far as its fragments show them.

    The operation is needed for _NEEDS_OPERATION, and for the first version after a gap. ``deleted``
    gives the deleted offsets of a fragment of the version by its ID.
    """
    match name:
        case OperationName.APPEND | OperationName.REWRITE:
            written = known.rows_in
            if written is None and isinstance(operation, Append):
                written = _physical_rows(operation.fragments)
            elif written is None and isinstance(operation, Rewrite):
                written = _physical_rows([f for g in operation.groups for f in g.new_fragments])
            return (
                RowCounts(added=written)
                if name == OperationName.APPEND
                else RowCounts(moved=written)
            )
        case OperationName.OVERWRITE:
            return RowCounts(added=known.num_rows, overwritten=known.rows_before)
        case OperationName.DELETE:
            return RowCounts(deleted=known.rows_out)
        case OperationName.MERGE | OperationName.DATA_REPLACEMENT:
            if known.same_fragments is None:
                # Whether a lone Merge changed values of a column, or only added one, is unknown.
                is_open = name == OperationName.MERGE and known.rows_changed != 0
                return RowCounts(
                    known.rows_created,
                    deleted=None,
                    column_rewritten=None if is_open else known.rows_changed,
                    column_added=None if is_open else 0,
                )
            return RowCounts(
                known.rows_in,
                deleted=known.rows_out,
                column_rewritten=known.rows_rewritten_in_place,
                column_added=known.rows_extended_in_place,
            )
        case OperationName.UPDATE if isinstance(operation, Update):
            return _count_update(known, operation, schema, deleted)
        case OperationName.DATA_OVERLAY if isinstance(operation, DataOverlay):
            return RowCounts(updated=_count_overlaid(operation, deleted))
        case OperationName.RESTORE:
            if known.same_fragments:
                return _NOTHING
            return RowCounts(deleted=None, restored=None, reverted=None, moved=None)
        case None | OperationName.UNKNOWN | OperationName.UPDATE | OperationName.DATA_OVERLAY:
            return _NOTHING if known.same_fragments else replace(_UNKNOWN, added=known.rows_created)
        case (
            OperationName.CLONE
            | OperationName.CREATE_INDEX
            | OperationName.PROJECT
            | OperationName.RESERVE_FRAGMENTS
            | OperationName.UPDATE_BASES
            | OperationName.UPDATE_CONFIG
            | OperationName.UPDATE_MEM_WAL_STATE
        ):
            return _NOTHING
        case _:
            assert_never(name)


def _count_update(
    known: _KnownCounts, update: Update, schema: tuple[Field, ...], deleted: Callable[[int], BitMap]
) -> RowCounts:
    """Separate updated, inserted and deleted rows: by row IDs, or if the sums allow it.

    ``rows_in`` = updated + inserted and ``rows_out`` = updated + deleted: in general that has many
    solutions (an upsert of one row that also inserts and deletes one looks like two updates).
    """
    if known.same_fragments is None and writes_in_place(update):
        return _count_lone_in_place(known, update, deleted)
    new, old = known.rows_in, known.rows_out
    if new is None:
        new = _physical_rows(update.new_fragments)
    if old is None and not update.updated_fragments and not update.removed_fragment_ids:
        old = 0
    found = _separated(new, old, known.rows_created)
    if found is not None:
        return found
    if old == 0:
        return RowCounts(added=new)
    if new == 0:
        return RowCounts(deleted=old)
    if new is not None and new == old and is_plain_update(update, schema):
        return RowCounts(updated=new)
    if new is not None and inserts_nothing(update.inserted_rows):
        return RowCounts(updated=new, deleted=None if old is None else old - new)
    return RowCounts(added=None, updated=None, deleted=None)


def _count_lone_in_place(
    known: _KnownCounts, update: Update, deleted: Callable[[int], BitMap]
) -> RowCounts:
    """Count the rows of an update in place whose predecessor is gone.

    For a fragment without recorded rows, it is unknown whether it was written at all.
    """
    offsets = {
        fragment_id: rows
        for fragment_id, _ in update.updated_offsets
        if (rows := update.offsets(fragment_id)) is not None
    }
    named = sum(len(rows - deleted(fragment_id)) for fragment_id, rows in offsets.items())
    is_told = offsets.keys() >= {fragment.id for fragment in update.updated_fragments}
    return RowCounts(
        added=_physical_rows(update.new_fragments),
        updated=named or known.rows_changed or 0,
        deleted=None,
        column_rewritten=0 if is_told or known.rows_changed else None,
    )


def _count_overlaid(overlay: DataOverlay, deleted: Callable[[int], BitMap]) -> int:
    covered: dict[int, BitMap] = {}
    for group in overlay.groups:
        offsets = [file.covered_offsets() for file in group.overlays]
        covered.setdefault(group.fragment_id, BitMap()).update(*offsets)
    return sum(len(rows - deleted(fragment_id)) for fragment_id, rows in covered.items())


def _physical_rows(fragments: Iterable[Fragment]) -> int | None:
    rows = [fragment.physical_rows for fragment in fragments]
    return None if None in rows else sum(row for row in rows if row is not None)


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
        column_rewritten=events.count(RowEvent.COLUMN_REWRITTEN),
        column_added=events.count(RowEvent.COLUMN_ADDED),
    )
    if events.step.is_unpaired_update and events.step.inserts_nothing:
        # Which row became which is unknown; but all added ones existed before.
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
