"""Checks of row IDs over all kept versions: what writers promise, and what they did."""

from collections.abc import Iterable, Iterator
from typing import TypedDict

import numpy as np
import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Cause, Finding, Subject, of_branch
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.findings import findings_frame
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.readable import readable_history
from lance_explorer.history.reading.row_changes import RowChanges, row_changes
from lance_explorer.history.reading.row_reader import FragmentContent
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.row_checks import check_fragment, count_too_early
from lance_explorer.inspect.row_id_counters import (
    commit_text,
    falls,
    ids_beyond,
    ids_unused,
    is_stable,
    many,
    not_checked,
    switches,
)
from lance_explorer.inspect.row_id_tracking import (
    Arrival,
    FragmentIds,
    IdGroup,
    RowIdTracker,
    end_of,
    ids_from,
)
from lance_explorer.rowids.id_map import IdMap

__all__ = ["check_row_ids", "row_id_findings"]


def check_row_ids(view: HistoryView) -> pl.DataFrame:
    """Return one row for each finding about row IDs, oldest first."""
    return findings_frame(row_id_findings(view))


def row_id_findings(view: HistoryView) -> list[Finding]:
    """Check the row IDs of all kept versions; return the findings, oldest first.

    Each sequence is checked once, in the first version that has it; the cost is what changed
    between versions. What missing versions would have shown is not checked.

    Raises
    ------
    StorageError
        If a manifest cannot be read. Every other problem becomes a finding.
    """
    history = readable_history(view.history)
    findings = [*not_checked(view.history), *switches(history), *falls(history)]
    if any(is_stable(record) for record in history.records):
        findings += _Check(view, history).run()
    findings.sort(key=lambda finding: finding.first_version or 0)
    return [*of_branch(view.branch, findings)]


class _Check:
    """One pass over the versions of a table with stable row IDs."""

    def __init__(self, view: HistoryView, history: History) -> None:
        self._view = view
        self._history = history
        self._tracker = RowIdTracker()
        self._checked: set[tuple[object, ...]] = set()
        self._seen: set[int] = set()
        self._unreadable: set[int] = set()
        self._stops = np.zeros(len(history.states), dtype=np.uint64)
        self._num_new: dict[int, int | None] = {}
        self._too_early = _TooEarly(history)

    def run(self) -> Iterator[Finding]:
        for changes in _with_progress(row_changes(self._view, self._history)):
            yield from self._check(changes)
        yield from self._too_early.findings()
        yield from ids_beyond(self._history, self._stops)
        yield from ids_unused(self._history, self._num_new)

    def _check(self, changes: RowChanges) -> Iterator[Finding]:
        record = self._history.records[changes.position]
        ids: dict[int, FragmentIds] = {}
        for state, content in changes.added.items():
            try:
                if isinstance(content, LanceExplorerError):
                    raise content
                yield from self._check_sequences(record, content)
                if content.row_ids is not None:
                    ids[state] = FragmentIds.of(content)
            except LanceExplorerError as error:
                self._unreadable.add(state)
                yield _unreadable(record, self._history.states[state], error)
        new = [ids[state] for state in ids if state not in self._seen]
        arrival = self._tracker.advance(changes.removed, ids)
        if arrival.duplicates:
            yield _duplicates(record, arrival.duplicates)
        if self._unreadable.isdisjoint(changes.removed):
            given = self._newly_given(changes.position, arrival, new)
            reused = None if given is None else self._tracker.used_before(given)
            if reused:
                yield _reused(record, reused)
        self._remember(changes, ids, new)

    def _check_sequences(
        self, record: VersionRecord, content: FragmentContent
    ) -> Iterator[Finding]:
        """Check what has not been checked in another state of the fragment."""
        fragment = content.fragment
        key = (
            *(fragment.id, fragment.files, fragment.physical_rows),
            *(fragment.row_ids, fragment.created_at, fragment.last_updated_at),
        )
        if key not in self._checked:
            self._checked.add(key)
            self._too_early.add(record, content)
            yield from check_fragment(content, record.version, stable=is_stable(record))

    def _newly_given(self, position: int, arrival: Arrival, new: list[FragmentIds]) -> IdMap | None:
        """Return the rows that got their IDs in a version; None if unknown."""
        record = self._history.records[position]
        if position == 0 or not self._history.follows_previous[position]:
            return None
        match record.operation:
            case None | OperationName.UNKNOWN | OperationName.RESTORE:
                return None
            case OperationName.OVERWRITE:
                return arrival.rows
        return arrival.fresh

    def _remember(
        self, changes: RowChanges, ids: dict[int, FragmentIds], new: list[FragmentIds]
    ) -> None:
        records, position = self._history.records, changes.position
        self._tracker.remember([some.every for some in new])
        self._seen.update(changes.added)
        for state, some in ids.items():
            self._stops[state] = end_of(some.every)
        low = records[position - 1].manifest.next_row_id if position else 0
        high = records[position].manifest.next_row_id
        is_told = self._unreadable.isdisjoint(changes.added)
        self._num_new[position] = _num_between(new, low, high) if is_told else None


class _TooEarly:
    """Rows marked as created by version 1, although their IDs were assigned later."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._next_row_id = history.records[0].manifest.next_row_id
        self._first: VersionRecord | None = None
        self._num_rows = 0
        self._num_fragments = 0

    def add(self, record: VersionRecord, content: FragmentContent) -> None:
        count = count_too_early(content, self._next_row_id)
        if count:
            self._first = self._first or record
            self._num_rows += count
            self._num_fragments += 1

    def findings(self) -> Iterator[Finding]:
        if self._first is not None:
            yield Finding(
                "created_at_wrong",
                f"rows whose IDs were assigned later are stored as created by version 1: "
                f"{many(self._num_rows, 'row')} in {many(self._num_fragments, 'fragment')}, the "
                f"first in {commit_text(self._first)}",
                versions=(self._first.version, self._history.records[-1].version),
                since=self._first.version,
                causes=(
                    Cause(
                        "releases 1.0.4 and 4.0.2 do so in updates and merges, and compactions "
                        "copy it"
                    ),
                ),
                rows=self._num_rows,
            )


def _unreadable(record: VersionRecord, fragment: Fragment, error: LanceExplorerError) -> Finding:
    return Finding(
        "rows_unreadable",
        str(error),
        subject=Subject("fragment", str(fragment.id)),
        versions=(record.version, record.version),
    )


def _duplicates(record: VersionRecord, ids: IdGroup) -> Finding:
    return Finding(
        "duplicate_row_ids",
        f"{_rows(ids)} in more than one live row; the first is in {_fragments(ids)}",
        **_place(record, ids),
    )


def _reused(record: VersionRecord, ids: IdGroup) -> Finding:
    return Finding(
        "row_ids_reused",
        f"{_rows(ids)} assigned again in {commit_text(record)}; the first is in {_fragments(ids)}",
        **_place(record, ids),
    )


class _Place(TypedDict):
    subject: Subject
    versions: tuple[int, int]
    rows: int


def _place(record: VersionRecord, ids: IdGroup) -> _Place:
    return {
        "subject": Subject("fragment", str(ids.fragment_ids[-1])),
        "versions": (record.version, record.version),
        "rows": ids.count,
    }


def _num_between(several: list[FragmentIds], low: int, high: int) -> int:
    """Count the row IDs from ``low`` on that are below ``high``."""
    if low >= high:
        return 0
    starts = [ids_from(ids.every, low) for ids in several]
    return sum([ids.num_rows - ids_from(ids, high).num_rows for ids in starts])


def _rows(ids: IdGroup) -> str:
    if ids.count == 1:
        return f"row ID {ids.first} is"
    return f"{ids.count:,} row IDs from {ids.first} on are"


def _fragments(ids: IdGroup) -> str:
    word = "fragment" if len(ids.fragment_ids) == 1 else "fragments"
    return f"{word} {', '.join(map(str, ids.fragment_ids))}"


def _with_progress(changes: Iterable[RowChanges]) -> Iterable[RowChanges]:
    from tqdm.auto import tqdm

    return tqdm(changes, "Checking row IDs", unit=" versions", delay=1.0, leave=False)
