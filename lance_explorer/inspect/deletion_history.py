"""The deleted rows of one fragment: the version that deleted each, and how.

A fragment ID may be used again, for another fragment or for the same one that a restore brings
back. Data files decide: states that share one belong to one fragment, however long it was absent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from pyroaring import BitMap

from lance_explorer.arguments import whole_number
from lance_explorer.errors import FragmentNotFoundError
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Delete
from lance_explorer.frames.columns import BRANCH, ID, KNOWN_FROM, TEXT, Column, FrameSchema
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.readable import readable_history
from lance_explorer.history.reading.row_reader import FragmentReader
from lance_explorer.history.reading.stored_sequences import FragmentSequence, read_row_ids
from lance_explorer.history.steps import same_life
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import distinct_parts, only_keys, understood
from lance_explorer.inspect.row_id_segments import stored_row_ids
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.rowids.sequence import RowIdSequence
from lance_explorer.storage import reading_ahead

__all__ = ["DELETION_HISTORY", "deletion_history"]

DELETION_HISTORY = FrameSchema(
    "deletion_history",
    (
        Column("fragment_id", ID, "the fragment"),
        Column(
            "fragment_first_version",
            ID,
            "first kept version with the fragment; distinguishes fragments that had the same ID",
        ),
        Column("offset", ID, "position of the row in the fragment, from 0"),
        Column("_rowid", ID, "row ID; null without stable row IDs", nullable=True),
        Column("version", ID, "first kept version in which the row is deleted"),
        BRANCH,
        Column(
            "first_version_exact",
            pl.Boolean(),
            "false if it may have been deleted earlier, in a version that is not kept",
        ),
        Column("operation", TEXT, "operation that deleted it; null if unknown", nullable=True),
        Column("predicate", TEXT, "filter of the Delete; null for other operations", nullable=True),
        Column(
            "with_fragment",
            pl.Boolean(),
            "whether the commit deleted the last live rows, and so removed the fragment",
        ),
        Column(
            "undone_at",
            ID,
            "version of the restore that brought it back; null if there is none",
            nullable=True,
        ),
        KNOWN_FROM,
    ),
)
"""The columns of ``deletion_history()``."""

_EMPTIES = frozenset({OperationName.DELETE, OperationName.UPDATE})
"""Operations that remove fragments because no row is left in them."""


@dataclass(frozen=True, slots=True)
class _Stay:
    """A fragment in one state, at the positions ``first`` to ``last`` of the history."""

    state: Fragment
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Masking:
    """Rows that one version deleted, and that came back together or not at all."""

    offsets: BitMap
    state: Fragment
    position: int
    is_exact: bool
    with_fragment: bool = False
    undone_at: int | None = None


def deletion_history(view: HistoryView, fragment_id: int) -> pl.DataFrame:
    """Return one row for each time that a row of a fragment was deleted, by version and offset.

    Parameters
    ----------
    view : HistoryView
        The table.
    fragment_id : int
        The fragment.

    Raises
    ------
    FragmentNotFoundError
        If no kept version has the fragment.
    """
    fragment_id = whole_number("fragment_id", fragment_id)
    readable = readable_history(view.history)
    history = _of_fragment(readable, fragment_id)
    if not len(history.intervals):
        raise FragmentNotFoundError(
            f"fragment {fragment_id} is in no kept version of {view.uri}; "
            "inspect.all_fragments() lists those that are"
        )
    row_ids = _row_ids(view, readable, history)
    lives = _lives(history)
    parts = [
        part
        for life in lives
        for stay in life
        for part in FragmentReader(view, history.records[stay.first]).deletion_parts(stay.state)
    ]
    with reading_ahead(parts):
        maskings = [
            (life[0], masking) for life in lives for masking in _maskings(view, history, life)
        ]
    places = known_from(view, history.versions)
    pieces = [
        _rows(view, history, born, masking, row_ids, places[masking.position])
        for born, masking in maskings
    ]
    nothing = pl.DataFrame(schema=DELETION_HISTORY.polars_schema)
    return pl.concat([nothing, *pieces]).sort("version", "offset")


def _of_fragment(history: History, fragment_id: int) -> History:
    """Return the history with only the intervals of one fragment."""
    own = [number for number, state in enumerate(history.states) if state.id == fragment_id]
    return replace(history, intervals=only_keys(history.intervals, own))


def _lives(history: History) -> list[list[_Stay]]:
    """Divide the stays of all fragments that had the ID in turn, each in the order of versions."""
    lives: list[list[_Stay]] = []
    columns = history.intervals
    for key, first, last in zip(
        columns.keys.tolist(), columns.first.tolist(), columns.last.tolist(), strict=True
    ):
        stay = _Stay(history.states[key], first, last)
        for life in lives:
            if any(_is_same(history, earlier, stay) for earlier in life):
                life.append(stay)
                break
        else:
            lives.append([stay])
    return lives


def _is_same(history: History, earlier: _Stay, stay: _Stay) -> bool:
    """Whether two stays belong to one fragment; if not consecutive, only data files can show it."""
    in_a_row = _goes_on(history, earlier, stay)
    operation = history.records[stay.first].operation if in_a_row else None
    return same_life(earlier.state, stay.state, operation)


def _goes_on(history: History, earlier: _Stay, stay: _Stay) -> bool:
    """Whether there is no version between two stays, kept or lost."""
    return earlier.last + 1 == stay.first and bool(history.follows_previous[stay.first])


def _maskings(view: HistoryView, history: History, life: list[_Stay]) -> list[_Masking]:
    """Compare the deleted rows of each stay with those of the previous one."""
    maskings: list[_Masking] = []
    masked, before = BitMap(), None
    for stay in life:
        record = history.records[stay.first]
        now = FragmentReader(view, record).deleted(stay.state)
        if undone := masked - now:
            maskings = list(_undo(maskings, undone, record.version))
        is_exact = before is not None and _goes_on(history, before, stay)
        maskings.append(_Masking(now - masked, stay.state, stay.first, is_exact))
        masked, before = now, stay
        if _is_emptied(history, stay) and stay.state.physical_rows is not None:
            masked = BitMap(range(stay.state.physical_rows))
            last = _Masking(masked - now, stay.state, stay.last + 1, True, with_fragment=True)
            maskings.append(last)
    return [masking for masking in maskings if masking.offsets]


def _undo(maskings: list[_Masking], undone: BitMap, version: int) -> Iterator[_Masking]:
    """Yield deletions, with restored rows separate."""
    for masking in maskings:
        back = masking.offsets & undone if masking.undone_at is None else BitMap()
        yield replace(masking, offsets=masking.offsets - back)
        yield replace(masking, offsets=back, undone_at=version)


def _is_emptied(history: History, stay: _Stay) -> bool:
    """Whether the fragment was removed after a stay because its last rows were deleted."""
    after = stay.last + 1
    if after == len(history) or not history.follows_previous[after]:
        return False
    is_gone = not len(history.intervals.at(after))
    return is_gone and history.records[after].operation in _EMPTIES


def _row_ids(
    view: HistoryView, readable: History, history: History
) -> dict[FragmentSequence, RowIdSequence]:
    """Return the row-ID sequences of the fragment."""
    sequences, intervals = distinct_parts(history, stored_row_ids)
    read = understood(read_row_ids(view, readable, sequences, intervals))
    return {sequences[number]: row_ids for number, row_ids in read}


def _rows(
    view: HistoryView,
    history: History,
    beginning: _Stay,
    masking: _Masking,
    row_ids: dict[FragmentSequence, RowIdSequence],
    place: str,
) -> pl.DataFrame:
    """Return one row for each deleted row."""
    record = history.records[masking.position]
    offsets = deleted_offsets(masking.offsets).astype(np.uint64)
    operation = record.operation if masking.is_exact else None
    constant = {
        "fragment_id": masking.state.id,
        "fragment_first_version": history.records[beginning.first].version,
        "version": record.version,
        "branch": view.branch,
        "first_version_exact": masking.is_exact,
        "operation": operation,
        "predicate": _predicate(view, record) if operation == OperationName.DELETE else None,
        "with_fragment": masking.with_fragment,
        "undone_at": masking.undone_at,
        "known_from": place,
    }
    columns: dict[str, Any] = {
        "offset": offsets,
        "_rowid": [None] * len(offsets),
        **{name: [value] * len(offsets) for name, value in constant.items()},
    }
    for sequence in stored_row_ids(masking.state):
        if len(row_ids[sequence]) == masking.state.physical_rows:
            columns["_rowid"] = row_ids[sequence].at(offsets.astype(np.int64))
    return DELETION_HISTORY.build({name: columns[name] for name in DELETION_HISTORY.names})


def _predicate(view: HistoryView, record: VersionRecord) -> str | None:
    transaction = view.transaction(record)
    if transaction is None or not isinstance(transaction.operation, Delete):
        return None
    return transaction.operation.predicate
