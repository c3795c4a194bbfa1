"""The row counts of all versions: what each commit's counts need, brought together."""

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.errors import FormatError, NotFoundError, StorageError
from lance_explorer.format.operations import Operation, Restore
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.restores import compare_rows
from lance_explorer.history.rows import RowReader
from lance_explorer.history.source import TableSource
from lance_explorer.history.steps import FragmentSteps
from lance_explorer.inspect.counts import NEEDS_OPERATION, UNKNOWN, RowCounts, Step, count_rows
from lance_explorer.inspect.states import known

__all__ = ["count_versions", "with_previous"]

_DETACHED_BIT = 1 << 63


def count_versions(
    source: TableSource,
    history: History,
    steps: FragmentSteps,
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
    steps : FragmentSteps
        How their fragments changed.
    num_rows : NDArray[np.int64]
        Live rows of each version.
    readable : NDArray[np.bool_]
        Whether the reader flags of each version are known; where they are not, nor those of the
        version before, its counts are not either.
    """
    both = with_previous(readable).tolist()
    counts = []
    for record, step, is_known in zip(
        history.records, _steps(history, steps, num_rows), both, strict=True
    ):
        try:
            counts.append(_count(source, record, step) if is_known else UNKNOWN)
        except (FormatError, StorageError, NotFoundError):
            counts.append(UNKNOWN)  # the files that would tell are damaged or gone
    return counts


def with_previous(readable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell for each version whether both it and the kept one before are readable."""
    previous = np.ones_like(readable)
    previous[1:] = readable[:-1]
    return readable & previous


def _steps(history: History, steps: FragmentSteps, num_rows: NDArray[np.int64]) -> list[Step]:
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
        [move == 0 for move in moves],
        strict=True,
    )
    return [
        Step(*column) if follow else Step(column[0], None, None, None, None, None, None)
        for column, follow in zip(columns, follows, strict=True)
    ]


def _count(source: TableSource, record: VersionRecord, step: Step) -> RowCounts:
    operation = None
    if step.same_fragments is None or record.operation in NEEDS_OPERATION:
        operation = _operation(source, record)
    if isinstance(operation, Restore) and step.same_fragments is False:
        return _count_restore(source, record, operation)
    return count_rows(
        record.operation,
        step,
        operation,
        record.schema,
        lambda fragment_id: _deleted(source, record, fragment_id),
    )


def _operation(source: TableSource, record: VersionRecord) -> Operation | None:
    transaction = source.transaction(record)
    return transaction.operation if transaction else None


def _deleted(source: TableSource, record: VersionRecord, fragment_id: int) -> BitMap:
    for fragment in source.version(record.version).states:
        if fragment.id == fragment_id:
            return RowReader(source, record.version).deleted(fragment)
    return BitMap()


def _count_restore(source: TableSource, record: VersionRecord, restore: Restore) -> RowCounts:
    """Compare the rows before and after; a detached version has IDs that mean other rows."""
    if restore.version & _DETACHED_BIT:
        return RowCounts(deleted=None, restored=None, reverted=None, moved=None)
    change = compare_rows(source, record.version - 1, record.version)
    return RowCounts(
        deleted=change.gone, restored=change.new, reverted=change.reverted, moved=change.moved
    )
