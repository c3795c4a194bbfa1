"""The fragment reuse index: compactions that indices have still to follow, and which are behind."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.intervals import intervals_of
from lance_explorer.history.rewrites.reuse_history import (
    ReuseEntry,
    fragment_reuse,
    has_caught_up,
    reuse_bytes,
    reuse_index,
)
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.intervals import interval_columns

__all__ = [
    "ALL_FRAGMENT_REUSE",
    "FRAGMENT_REUSE",
    "all_fragment_reuse",
    "fragment_reuse_entries",
]

_ENTRY = (
    Column("kind", TEXT, "compaction, ordered_compaction, stable_partition or unknown"),
    Column(
        "dataset_version",
        ID,
        "version before the compaction; from writers up to 13.0.0, the version that it read",
        nullable=True,
    ),
    Column("num_groups", COUNT, "number of groups of fragments that were rewritten together"),
    Column("old_fragment_ids", pl.List(ID), "fragments that were rewritten"),
    Column("new_fragment_ids", pl.List(ID), "fragments that their rows were written to"),
    Column("rows_in", COUNT, "rows of the old fragments, including deleted ones"),
    Column("rows_moved", COUNT, "rows of the new fragments"),
    Column("rows_dropped", COUNT, "deleted rows, which were not rewritten"),
    Column("bitmap_bytes", BYTES, "size of the bitmap of the addresses of live rows", unit="bytes"),
)

FRAGMENT_REUSE = FrameSchema(
    "fragment_reuse",
    (
        VERSION,
        BRANCH,
        Column("entry", COUNT, "number of the entry, oldest first"),
        *_ENTRY,
        Column("storage", TEXT, "where the index stores all entries: inline or external"),
        Column("history_bytes", BYTES, "size of all entries together", unit="bytes"),
        Column(
            "indices_behind",
            pl.List(TEXT),
            "indices that still need the entry; [] means that it can be trimmed",
            nullable=True,
        ),
        Column(
            "indices_caught_up",
            pl.List(TEXT),
            "indices that no longer need the entry",
            nullable=True,
        ),
    ),
)
"""The columns of ``inspect.fragment_reuse()``. The indices that need a transition are unknown."""

ALL_FRAGMENT_REUSE = FrameSchema("all_fragment_reuse", (BRANCH, *_ENTRY, *INTERVAL))
"""The columns of ``inspect.all_fragment_reuse()``."""


def fragment_reuse_entries(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each entry of the reuse history of a version, oldest first."""
    record = view.version(version).records[0]
    entries = fragment_reuse(view, record)
    index = reuse_index(record)
    storage, size = ("inline", 0) if index is None else reuse_bytes(index)
    behind, caught_up = _indices(record, entries)
    return FRAGMENT_REUSE.build(
        {
            "version": [version] * len(entries),
            "branch": [view.branch] * len(entries),
            "entry": range(len(entries)),
            **_entry_columns(entries),
            "storage": [storage] * len(entries),
            "history_bytes": [size] * len(entries),
            "indices_behind": behind,
            "indices_caught_up": caught_up,
        }
    )


def all_fragment_reuse(view: HistoryView) -> pl.DataFrame:
    """Return one row for each entry of any version and each interval of it."""
    history = view.history
    entries, intervals = intervals_of(_of_all_versions(view, history.records))
    some = [entries[key] for key in intervals.keys.tolist()]
    return ALL_FRAGMENT_REUSE.build(
        {
            "branch": [view.branch] * len(some),
            **_entry_columns(some),
            **interval_columns(history, intervals),
        }
    )


def _of_all_versions(
    view: HistoryView, records: Sequence[VersionRecord]
) -> list[tuple[ReuseEntry, ...]]:
    """Return the entries of each version; neighbours with one index entry share them."""
    all_entries, entries = list[tuple[ReuseEntry, ...]](), tuple[ReuseEntry, ...]()
    before: IndexMetadata | None = None
    for record in records:
        index = reuse_index(record)
        if index != before:
            before = index
            try:
                entries = fragment_reuse(view, record)
            except (FormatError, StorageError):
                entries = ()
        all_entries.append(entries)
    return all_entries


def _entry_columns(entries: Sequence[ReuseEntry]) -> dict[str, Any]:
    old = [[digest for group in entry.groups for digest in group.old_frags] for entry in entries]
    new = [[digest for group in entry.groups for digest in group.new_frags] for entry in entries]
    rows_in, rows_moved = [_rows(some) for some in old], [_rows(some) for some in new]
    return {
        "kind": [entry.kind for entry in entries],
        "dataset_version": [entry.dataset_version for entry in entries],
        "num_groups": [len(entry.groups) for entry in entries],
        "old_fragment_ids": [[digest.id for digest in some] for some in old],
        "new_fragment_ids": [[digest.id for digest in some] for some in new],
        "rows_in": rows_in,
        "rows_moved": rows_moved,
        "rows_dropped": [a - b for a, b in zip(rows_in, rows_moved, strict=True)],
        "bitmap_bytes": [
            sum([len(group.changed_row_addrs) for group in entry.groups]) for entry in entries
        ],
    }


def _rows(digests: Sequence[FragDigest]) -> int:
    return sum([digest.physical_rows or 0 for digest in digests])


def _indices(
    record: VersionRecord, entries: Sequence[ReuseEntry]
) -> tuple[list[list[str] | None], list[list[str] | None]]:
    """Return for each entry which indices are behind, and which have caught up."""
    behind, caught_up = list[list[str] | None](), list[list[str] | None]()
    segments = [index for index in record.indices if index.name not in SYSTEM_INDICES]
    names = sorted({segment.name for segment in segments})
    for entry in entries:
        states = [(segment.name, has_caught_up(entry, entries, segment)) for segment in segments]
        if None in [state for _, state in states]:
            behind.append(None)
            caught_up.append(None)
            continue
        waiting = {name for name, state in states if not state}
        behind.append(sorted(waiting))
        caught_up.append([name for name in names if name not in waiting])
    return behind, caught_up
