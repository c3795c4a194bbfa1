"""One row for each version: what happened, when, by which operation, and how much."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.format.flags import STABLE_ROW_IDS, flag_names, unreadable_flags
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    ID,
    KIND,
    KNOWN_FROM,
    TEXT,
    TIME,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.counts import nullable
from lance_explorer.frames.kinds import kind_of
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.collector import collector_paused
from lance_explorer.history.fragment_counts import FragmentCounts, count_fragments, totals
from lance_explorer.history.history import UNKNOWN_COUNT, History, VersionRecord
from lance_explorer.history.memories import remembered
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.row_counts import ROW_COUNTS, count_versions, with_previous
from lance_explorer.shown import visible

__all__ = ["VERSIONS", "tags_by_version", "versions"]


def _count(name: str, meaning: str) -> Column:
    return Column(name, COUNT, meaning, nullable=True)


VERSIONS = FrameSchema(
    "versions",
    (
        VERSION,
        Column("timestamp", TIME, "time of the commit", nullable=True),
        Column(
            "operation",
            TEXT,
            "operation as Lance names it; null if its transaction is lost",
            nullable=True,
        ),
        Column("kind", KIND, "kind of commit"),
        BRANCH,
        Column("read_version", ID, "version that the commit read", nullable=True),
        _count("rebased_over", "lower bound of the concurrent commits that it was rebased over"),
        Column("num_fragments", COUNT, "number of fragments"),
        _count("num_rows", "live rows"),
        _count("num_deleted_rows", "deleted rows, masked by deletion files"),
        Column("num_data_files", COUNT, "number of data files, including overlays"),
        Column("data_bytes", BYTES, "size of the data files", nullable=True, unit="bytes"),
        _count("rows_added", "new rows"),
        _count("rows_updated", "rows whose values changed"),
        _count("rows_deleted", "rows that were deleted"),
        _count("rows_overwritten", "rows of the version before that an overwrite replaced"),
        _count("rows_restored", "rows that a restore brought back"),
        _count("rows_reverted", "rows whose values a restore set to those of another version"),
        _count("rows_moved", "rows that were copied to another fragment unchanged"),
        _count("rows_column_rewritten", "rows of which columns that they had were written again"),
        _count("rows_column_added", "rows that only got columns which they had not before"),
        _count("rows_in", "live rows in the added fragments"),
        _count("rows_out", "rows that were masked, or whose fragment was removed"),
        _count("fragments_added", "fragments that only this version has, not the one before"),
        _count("fragments_removed", "fragments that only the version before has"),
        _count("fragments_changed", "fragments that both have, in different states"),
        Column("next_row_id", ID, "next free row ID; null without stable row IDs", nullable=True),
        Column("max_fragment_id", ID, "highest fragment ID ever assigned", nullable=True),
        Column("num_indices", COUNT, "number of indices, not counting system indices"),
        Column("tags", TEXT, "tags on the version, joined by commas"),
        Column("message", TEXT, "commit message", nullable=True),
        Column("writer", TEXT, "library that wrote the version", nullable=True),
        Column("writer_version", TEXT, "version of that library", nullable=True),
        Column("data_format", TEXT, "data file version of new files, such as 2.1"),
        Column("reader_flags", TEXT, "features that a reader must know, joined by commas"),
        Column("writer_flags", TEXT, "features that a writer must know, joined by commas"),
        Column("manifest_bytes", BYTES, "size of the manifest file", unit="bytes"),
        Column("transaction_bytes", BYTES, "size of the transaction", nullable=True, unit="bytes"),
        Column(
            "schema_changed",
            pl.Boolean(),
            "whether the schema differs from the version before",
            nullable=True,
        ),
        Column(
            "is_noop",
            pl.Boolean(),
            "whether nothing at all differs from the version before",
            nullable=True,
        ),
        KNOWN_FROM,
    ),
)
"""The columns of ``versions()``. What differs does so from the version numbered one lower; null
where that one is not kept, except for what the version says by itself. Some counts need stable row
IDs: without them ``rows_added``, ``rows_updated`` and ``rows_deleted`` of an upsert are null; so
are ``rows_deleted``, ``rows_restored``, ``rows_reverted`` and ``rows_moved`` of a restore over such
an upsert, or over versions that are gone, and the latter two of one over values written in place.
So are the counts of any commit whose sequences or deletion files are damaged or gone."""


def versions(view: HistoryView, last: int | None = None) -> pl.DataFrame:
    """Return one row for each kept version of the branch, oldest first; optionally only the last.

    Of the others, only the previous one is read, and what a comparison of rows needs.
    """
    kept = view.listing.versions
    if last is None or last >= len(kept):
        return _all_versions(view).clone()
    if (counted := _all_versions.known(view)) is not None:
        return counted.tail(last)
    part = view.part(range(kept[-last - 1].version, kept[-1].version + 1))
    return _of_history(view, (part or view).history)[-last:]


@remembered
def _all_versions(view: HistoryView) -> pl.DataFrame:
    """Return all versions, which are counted once until a refresh."""
    return _of_history(view, view.history)


@collector_paused()
def _of_history(view: HistoryView, history: History) -> pl.DataFrame:
    """Return one row for each version of a history, which may be a part of that of the branch."""
    records = history.records
    manifests = [record.manifest for record in records]
    headers = [record.transaction.header if record.transaction else None for record in records]
    live = history.live_rows
    readable = _are_rows_readable(history)
    steps = count_fragments(history, live)
    rows_in, rows_out = (
        np.where(with_previous(readable), rows, UNKNOWN_COUNT)
        for rows in (steps.rows_in, steps.rows_out)
    )
    num_rows = np.where(readable, totals(history, live), UNKNOWN_COUNT)
    counts = count_versions(view, history, steps, num_rows, readable)
    read_versions = [header.read_version if header else None for header in headers]
    tags = tags_by_version(view)
    words = [(m.reader_feature_flags, m.writer_feature_flags) for m in manifests]
    flags = {
        flag: ", ".join(flag_names(flag)) for flag in {flag for both in words for flag in both}
    }
    return VERSIONS.build(
        {
            "version": history.versions,
            "timestamp": [manifest.timestamp for manifest in manifests],
            "operation": [record.operation for record in records],
            "kind": [kind_of(record.operation, record.version) for record in records],
            "branch": [view.branch] * len(records),
            "read_version": read_versions,
            "rebased_over": [
                _rebased_over(record, read)
                for record, read in zip(records, read_versions, strict=True)
            ],
            "num_fragments": totals(history, np.ones(len(history.states), dtype=np.int64)),
            "num_rows": nullable(num_rows),
            "num_deleted_rows": nullable(
                np.where(readable, totals(history, history.num_deleted_rows), UNKNOWN_COUNT)
            ),
            "num_data_files": totals(history, history.states.num_files),
            "data_bytes": nullable(totals(history, history.states.data_bytes)),
            **{f"rows_{name}": [getattr(c, name) for c in counts] for name in ROW_COUNTS},
            "rows_in": nullable(rows_in),
            "rows_out": nullable(rows_out),
            "fragments_added": nullable(steps.added),
            "fragments_removed": nullable(steps.removed),
            "fragments_changed": nullable(steps.changed),
            "next_row_id": [
                m.next_row_id if m.reader_feature_flags & STABLE_ROW_IDS else None
                for m in manifests
            ],
            "max_fragment_id": [manifest.max_fragment_id for manifest in manifests],
            "num_indices": _num_indices(history),
            "tags": [", ".join(tags.get(record.version, [])) for record in records],
            "message": [
                header and header.message and visible(header.message) for header in headers
            ],
            "writer": [m.writer.library if m.writer else None for m in manifests],
            "writer_version": [str(m.writer) if m.writer else None for m in manifests],
            "data_format": [manifest.data_format for manifest in manifests],
            "reader_flags": [flags[reader] for reader, _ in words],
            "writer_flags": [flags[writer] for _, writer in words],
            "manifest_bytes": [record.file.size_bytes for record in records],
            "transaction_bytes": [
                record.transaction.num_bytes if record.transaction else None for record in records
            ],
            "schema_changed": _schema_changed(history),
            "is_noop": _is_noop(history, steps),
            "known_from": known_from(view, history.versions),
        }
    )


def tags_by_version(view: HistoryView) -> dict[int, list[str]]:
    """Return the names of the tags on this branch, in order, by version."""
    by_version: dict[int, list[str]] = {}
    for tag in view.refs.tags.values():
        if tag.branch == view.branch:
            by_version.setdefault(tag.version, []).append(tag.name)
    return by_version


def _rebased_over(record: VersionRecord, read_version: int | None) -> int | None:
    if (
        read_version is None
        or record.operation == OperationName.CLONE
        or read_version > record.version
    ):
        return None
    return record.version - read_version - 1


def _are_rows_readable(history: History) -> NDArray[np.bool_]:
    """Tell for each version whether all of its reader flags, and so its row counts, are known."""
    flags = {record.manifest.reader_feature_flags for record in history.records}
    readable = {flag: not unreadable_flags(flag) for flag in flags}
    return np.array([readable[r.manifest.reader_feature_flags] for r in history.records], np.bool_)


def _schema_changed(history: History) -> list[bool | None]:
    changed = [
        None if before is None else before.schema != record.schema
        for before, record in _with_previous(history)
    ]
    return _with_first(history, changed, True)


def _is_noop(history: History, steps: FragmentCounts) -> list[bool | None]:
    moves = (steps.added + steps.removed + steps.changed).tolist()
    noop = [
        None if before is None else move == 0 and _same_facts(before, record)
        for move, (before, record) in zip(moves, _with_previous(history), strict=True)
    ]
    return _with_first(history, noop, False)


def _with_first(history: History, values: list[bool | None], first: bool) -> list[bool | None]:
    """Return ``values`` with ``first`` for version 1 if that follows the empty table."""
    return [first, *values[1:]] if history.follows_previous[:1].any() else values


def _same_facts(before: VersionRecord, after: VersionRecord) -> bool:
    """Whether everything except the fragments is the same."""
    old, new = before.manifest, after.manifest
    return (
        before.schema == after.schema
        and before.indices == after.indices
        and old.config == new.config
        and old.table_metadata == new.table_metadata
        and old.schema_metadata == new.schema_metadata
        and set(old.base_paths) == set(new.base_paths)
    )


def _with_previous(
    history: History,
) -> Iterator[tuple[VersionRecord | None, VersionRecord]]:
    """Yield each record with its predecessor by number, None if that is not kept."""
    before: VersionRecord | None = None
    for record in history.records:
        follows = before is not None and before.version + 1 == record.version
        yield (before if follows else None), record
        before = record


def _num_indices(history: History) -> list[int]:
    counts: list[int] = []
    indices: object = None
    for record in history.records:
        if record.indices is not indices:
            names = {index.name for index in record.indices} - SYSTEM_INDICES
            indices = record.indices
        counts.append(len(names))
    return counts
