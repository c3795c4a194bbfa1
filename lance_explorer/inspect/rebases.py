"""Over which commits each commit was put, and why Lance allowed that."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby

import polars as pl

from lance_explorer.disk.conflicts import OUTCOMES, conflicts
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.columns import BRANCH, ID, KNOWN_FROM, TEXT, VERSION, Column, FrameSchema
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["REBASES", "rebases"]

REBASES = FrameSchema(
    "rebases",
    (
        VERSION,
        BRANCH,
        Column("operation", TEXT, "operation of the commit"),
        Column("read_version", ID, "version that it began on"),
        Column("passed_version", ID, "version that was committed in between"),
        Column("passed_operation", TEXT, "its operation; null if not kept", nullable=True),
        Column(
            "shared_fragments",
            TEXT,
            "IDs of the fragments that both changed or removed, joined by commas; null if the "
            "version passed, or one of those before the two, is not kept",
            nullable=True,
        ),
        Column("reason", TEXT, "why Lance 14.0.2 puts the one over the other"),
        KNOWN_FROM,
    ),
)
"""The columns of ``table.inspect.rebases()``."""

_REBASED, _REDONE = OUTCOMES[:2]


def rebases(view: HistoryView) -> pl.DataFrame:
    """Return one row for each commit over which another one was put."""
    history = view.history
    rebased = [
        (record, passed, *_passed_commit(history, record, passed))
        for record in history.records
        for passed in _passed(record)
    ]
    versions = [record.version for record, *_ in rebased]
    return REBASES.build(
        {
            "version": versions,
            "branch": [view.branch] * len(rebased),
            "operation": [record.operation for record, *_ in rebased],
            "read_version": [_read_version(record) for record, *_ in rebased],
            "passed_version": [passed for _, passed, *_ in rebased],
            "passed_operation": [operation for _, _, operation, _, _ in rebased],
            "shared_fragments": [shared for *_, shared, _ in rebased],
            "reason": [reason for *_, reason in rebased],
            "known_from": known_from(view, versions),
        }
    )


def _read_version(record: VersionRecord) -> int:
    return record.transaction.header.read_version if record.transaction else record.version


def _passed(record: VersionRecord) -> range:
    """Return the versions between the read version of a commit and its own."""
    if record.operation == OperationName.CLONE:
        return range(0)
    return range(_read_version(record) + 1, record.version)


def _passed_commit(
    history: History, record: VersionRecord, version: int
) -> tuple[str | None, str | None, str]:
    """Return the operation of a passed version, the common fragments, and the reason."""
    operation = record.operation
    if version not in history:
        return None, None, f"version {version} is not kept"
    position, own = history.position(version), history.position(record.version)
    passed = history.records[position].operation
    shared: set[int] | None = None
    if history.follows_previous[position] and history.follows_previous[own]:
        shared = _touched(history, position) & _touched(history, own)
    words = None if shared is None else ", ".join(map(str, sorted(shared)))
    return passed, words, _reason(passed, operation, shared)


def _touched(history: History, position: int) -> set[int]:
    """Return the IDs of the fragments that a commit changed or removed."""
    return {*history.by_id(history.states_removed(position))}


def _reason(passed: str | None, operation: str | None, shared: set[int] | None) -> str:
    if OperationName.RESERVE_FRAGMENTS in (passed, operation):
        return "ReserveFragments only sets fragment IDs aside"
    outcomes = _outcomes().get((passed, operation))
    if outcomes is None:
        return f"not known: {passed or 'a lost operation'} and {operation} were not tried together"
    if {*outcomes.values()} == {_REBASED}:
        return f"{operation} after {passed} is always put on top"
    if {*outcomes.values()} == {_REDONE}:
        return f"{operation} is made again on top of the commits before it"
    if shared is None:
        return "not known: whether both touch the same fragments"
    allowed = [overlap for overlap, outcome in outcomes.items() if outcome in (_REBASED, _REDONE)]
    if not shared and "other_fragments" in allowed:
        return "they touch different fragments, columns or indices"
    if shared and "same_fragment" in allowed:
        return "they touch different rows of the fragments that both changed"
    return f"not known: Lance 14.0.2 refuses {operation} after {passed} here"


@cache
def _outcomes() -> dict[tuple[str | None, str | None], dict[str, str]]:
    """Return the result for each pair of operations, by how they overlap."""

    def lines() -> Iterator[tuple[tuple[str, str], str, str]]:
        for first, second, overlap, outcome in conflicts().iter_rows():
            yield (first, second), overlap, outcome

    return {
        pair: {overlap: outcome for _, overlap, outcome in same}
        for pair, same in groupby(lines(), key=lambda line: line[0])
    }
