"""The row counts of all versions: what each commit's counts need, brought together."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.errors import FormatError, NotFoundError, StorageError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.operations import Operation
from lance_explorer.format.row_operations import Update
from lance_explorer.frames.counts import known
from lance_explorer.history.events.row_counts import RowCounts, counts_of
from lance_explorer.history.events.row_events import row_events
from lance_explorer.history.fragment_counts import FragmentCounts
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.reading.row_reader import RowReader
from lance_explorer.history.reading.row_version_counts import own_rows
from lance_explorer.history.source import TableSource
from lance_explorer.history.update_kinds import writes_in_place
from lance_explorer.inspect.commit_counts import NEEDS_OPERATION, UNKNOWN, Step, count_rows
from lance_explorer.inspect.row_creation import is_faulty

__all__ = ["count_versions", "with_previous"]

_TOLD_BY_ROWS = frozenset({OperationName.UPDATE, OperationName.UNKNOWN, None})
_TOLD_IF_LONE = frozenset({OperationName.MERGE, OperationName.DATA_REPLACEMENT})
"""Operations that row versions tell about; these only where the version before is gone."""


def count_versions(
    source: TableSource,
    history: History,
    steps: FragmentCounts,
    num_rows: NDArray[np.int64],
    readable: NDArray[np.bool_],
) -> list[RowCounts]:
    """Return the row counts of each version.

    Parameters
    ----------
    source : TableSource
        Where transactions, sequences and deletion files are read that counts need.
    history : History
        The versions.
    steps : FragmentCounts
        How their fragments changed.
    num_rows : NDArray[np.int64]
        Live rows of each version.
    readable : NDArray[np.bool_]
        Whether the reader flags of each version are known; where they are not, nor those of the
        version before, its counts are not either.
    """
    both = with_previous(readable).tolist()
    counts = []
    needed = [record for record in history.records if record.operation in NEEDS_OPERATION]
    with source.reading_transactions(needed):
        for position, step in enumerate(_steps(history, steps, num_rows)):
            if not both[position]:
                counts.append(UNKNOWN)
                continue
            try:
                counts.append(_count(source, history, position, step))
            except (FormatError, StorageError, NotFoundError):
                counts.append(UNKNOWN)  # the files that would tell are damaged or gone
    return counts


def with_previous(readable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell for each version whether both it and the kept one before are readable."""
    previous = np.ones_like(readable)
    previous[1:] = readable[:-1]
    return readable & previous


def _steps(history: History, steps: FragmentCounts, num_rows: NDArray[np.int64]) -> list[Step]:
    rows = known(num_rows)
    follows = history.follows_previous.tolist()
    moves = (steps.added + steps.removed + steps.changed).tolist()
    columns = zip(
        rows,
        [0, *rows][: len(rows)],
        known(steps.rows_in),
        known(steps.rows_out),
        known(steps.rows_rewritten_in_place),
        [record.num_new_row_ids for record in history.records],
        [None] * len(rows),
        [move == 0 for move in moves],
        strict=True,
    )
    return [
        Step(*column) if follow else Step(column[0], *[None] * (len(column) - 1))
        for column, follow in zip(columns, follows, strict=True)
    ]


def _count(source: TableSource, history: History, position: int, step: Step) -> RowCounts:
    record = history.records[position]
    if _needs_events(record, step):
        readable = state_rows(source).history
        return counts_of(row_events(source, readable.position(record.version)))
    operation = None
    if step.same_fragments is None or record.operation in NEEDS_OPERATION:
        operation = _operation(source, record)
    if _needs_own_rows(record, step, operation):
        rows = own_rows(source, record, _new_states(history, position, operation))
        if rows is not None:
            step = replace(step, rows_created=rows.created, rows_changed=rows.changed)
    return count_rows(
        record.operation,
        step,
        operation,
        record.schema,
        lambda fragment_id: _deleted(source, record, fragment_id),
    )


def _needs_events(record: VersionRecord, step: Step) -> bool:
    """Whether only a comparison of rows can tell what a commit did.

    An update may write some fragments in place, say of some of them which rows, and add others.
    """
    match record.operation:
        case OperationName.RESTORE:
            return step.same_fragments is False
        case OperationName.UPDATE:
            return step.same_fragments is False and step.rows_rewritten_in_place != 0
        case _:
            return False


def _needs_own_rows(record: VersionRecord, step: Step, operation: Operation | None) -> bool:
    """Whether only the row versions can tell what a commit did, and do so."""
    if step.same_fragments or not record.manifest.reader_feature_flags & STABLE_ROW_IDS:
        return False
    if isinstance(operation, Update) and writes_in_place(operation):
        return not operation.updated_offsets
    if step.rows_created is not None or is_faulty(record.manifest.writer):
        return False
    is_lone = step.same_fragments is None
    return record.operation in (_TOLD_BY_ROWS | _TOLD_IF_LONE if is_lone else _TOLD_BY_ROWS)


def _new_states(
    history: History, position: int, operation: Operation | None
) -> frozenset[Fragment]:
    """Return the states that can have rows of a version: those that the one before has not.

    Of an update that moves rows, those of the fragments that it wrote.
    """
    states = [history.states[key] for key in history.states_added(position).tolist()]
    if isinstance(operation, Update) and not writes_in_place(operation):
        written = {file.path for fragment in operation.new_fragments for file in fragment.files}
        states = [s for s in states if any(file.path in written for file in s.files)]
    return frozenset(states)


def _operation(source: TableSource, record: VersionRecord) -> Operation | None:
    transaction = source.transaction(record)
    return transaction.operation if transaction else None


def _deleted(source: TableSource, record: VersionRecord, fragment_id: int) -> BitMap:
    for fragment in source.version(record.version).states:
        if fragment.id == fragment_id:
            return RowReader(source, record.version).deleted(fragment)
    return BitMap()
