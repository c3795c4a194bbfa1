"""How many rows a commit added, updated, deleted and so on, as far as fragments alone tell.

None is "only row IDs can tell", or "the version to compare with is gone"; never 0 for unknown.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from pyroaring import BitMap

from lance_explorer.format.column_operations import DataOverlay
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.layout_operations import Rewrite
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.operations import Operation
from lance_explorer.format.row_operations import Append, Update
from lance_explorer.format.schema import Field
from lance_explorer.history.events.row_counts import RowCounts
from lance_explorer.history.update_kinds import (
    inserts_nothing,
    is_plain_update,
    writes_in_place,
)

__all__ = ["NEEDS_OPERATION", "UNKNOWN", "Step", "count_rows"]


@dataclass(frozen=True, slots=True)
class Step:
    """What the fragments say about one version: the fields of FragmentCounts at one position.

    ``same_fragments`` is None where the version before is gone; ``rows_before`` then too.
    ``rows_created`` and ``rows_changed`` are what row identity tells of rows that were not there
    before and of those that were; None where it tells nothing, or was not asked.
    """

    num_rows: int | None
    rows_before: int | None
    rows_in: int | None
    rows_out: int | None
    rows_rewritten_in_place: int | None
    rows_created: int | None
    rows_changed: int | None
    same_fragments: bool | None


NOTHING = RowCounts()

UNKNOWN = RowCounts(None, None, None, None, None, None, None, None)


NEEDS_OPERATION = frozenset(
    {OperationName.UPDATE, OperationName.DATA_OVERLAY, OperationName.RESTORE}
)
"""Operations whose counts need more than the fragments; others do only after a gap."""


def count_rows(
    name: OperationName | None,
    step: Step,
    operation: Operation | None,
    schema: tuple[Field, ...],
    deleted: Callable[[int], BitMap],
) -> RowCounts:
    """Count the rows of one commit.

    Parameters
    ----------
    name : OperationName or None
        The operation's name; None where no transaction is left.
    step : Step
        How the fragments changed.
    operation : Operation or None
        What the transaction says. Needed for NEEDS_OPERATION, and for the first version after a
        gap.
    schema : tuple of Field
        The schema of the version.
    deleted : callable
        Gives the deleted offsets of a fragment of the version by its ID.
    """
    match name:
        case OperationName.APPEND | OperationName.REWRITE:
            written = step.rows_in
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
            return RowCounts(added=step.num_rows, overwritten=step.rows_before)
        case OperationName.DELETE:
            return RowCounts(deleted=step.rows_out)
        case OperationName.MERGE | OperationName.DATA_REPLACEMENT:
            if step.same_fragments is None:
                return RowCounts(
                    step.rows_created, deleted=None, column_rewritten=step.rows_changed
                )
            rewritten = step.rows_rewritten_in_place
            return RowCounts(step.rows_in, deleted=step.rows_out, column_rewritten=rewritten)
        case OperationName.UPDATE if isinstance(operation, Update):
            return _count_update(step, operation, schema, deleted)
        case OperationName.DATA_OVERLAY if isinstance(operation, DataOverlay):
            return RowCounts(updated=_count_overlaid(operation, deleted))
        case OperationName.RESTORE:
            if step.same_fragments:
                return NOTHING
            return RowCounts(deleted=None, restored=None, reverted=None, moved=None)
        case None | OperationName.UNKNOWN | OperationName.UPDATE | OperationName.DATA_OVERLAY:
            return NOTHING if step.same_fragments else replace(UNKNOWN, added=step.rows_created)
        case (
            OperationName.CLONE
            | OperationName.CREATE_INDEX
            | OperationName.PROJECT
            | OperationName.RESERVE_FRAGMENTS
            | OperationName.UPDATE_BASES
            | OperationName.UPDATE_CONFIG
            | OperationName.UPDATE_MEM_WAL_STATE
        ):
            return NOTHING
        case _:
            assert_never(name)


def _count_update(
    step: Step, update: Update, schema: tuple[Field, ...], deleted: Callable[[int], BitMap]
) -> RowCounts:
    """Tell updated, inserted and deleted rows apart: by row IDs, else where the sums allow it.

    ``rows_in`` = updated + inserted and ``rows_out`` = updated + deleted: in general that has many
    solutions (an upsert of one row that also inserts and deletes one looks like two updates).
    """
    if step.same_fragments is None and writes_in_place(update):
        return _count_lone_in_place(step, update, deleted)
    new, old = step.rows_in, step.rows_out
    if new is None:
        new = _physical_rows(update.new_fragments)
    if old is None and not update.updated_fragments and not update.removed_fragment_ids:
        old = 0
    added = step.rows_created
    if added is not None and new is not None and (old is None or old >= new - added):
        updated = new - added
        return RowCounts(added, updated, None if old is None else old - updated)
    if old == 0:
        return RowCounts(added=new)
    if new == 0:
        return RowCounts(deleted=old)
    if new is not None and new == old and is_plain_update(update, schema):
        return RowCounts(updated=new)
    if new is not None and inserts_nothing(update.inserted_rows):
        return RowCounts(updated=new, deleted=None if old is None else old - new)
    return RowCounts(added=None, updated=None, deleted=None)


def _count_lone_in_place(step: Step, update: Update, deleted: Callable[[int], BitMap]) -> RowCounts:
    """Count the rows of an update in place whose predecessor is gone.

    Of a fragment of which it names no rows, it cannot be told whether it was written at all.
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
        updated=named or step.rows_changed or 0,
        deleted=None,
        column_rewritten=0 if is_told or step.rows_changed else None,
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
