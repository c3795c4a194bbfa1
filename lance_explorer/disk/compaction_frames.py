"""The columns of a compaction preview: its tasks, what they write, and each fragment."""

import polars as pl

from lance_explorer.disk.compaction import REASONS
from lance_explorer.frames.columns import BYTES, COUNT, ID, TEXT, Column, FrameSchema

__all__ = ["FRAGMENTS", "NEW_FRAGMENTS", "SUMMARY", "TASKS"]

_READ = Column("read_bytes", BYTES, "size of their data files; null: not recorded", True, "bytes")
_WRITTEN = Column(
    "written_bytes",
    BYTES,
    "about how much is written: the part of `read_bytes` that its live rows are",
    True,
    "bytes",
)
_ROW_IDS = Column(
    "row_id_bytes",
    BYTES,
    "what their row-ID sequences take in the manifest; null: no stable row IDs",
    True,
    "bytes",
)
_ROW_IDS_AFTER = Column(
    "row_id_bytes_after",
    BYTES,
    "the same of the new fragments; null: no stable row IDs, what is deleted cannot be read, or a "
    "file may reach `max_bytes_per_file`",
    True,
    "bytes",
)

TASKS = FrameSchema(
    "compaction_tasks",
    (
        Column("task", COUNT, "number of the task, from 0"),
        Column("fragment_ids", pl.List(pl.UInt64()), "fragments that are rewritten together"),
        Column("num_fragments", COUNT, "how many they are"),
        Column("num_rows", COUNT, "live rows in them"),
        Column("num_deleted_rows", COUNT, "deleted rows that are dropped"),
        Column(
            "num_new_fragments",
            COUNT,
            "how many fragments they become; more if a file would exceed `max_bytes_per_file`",
        ),
        _READ,
        _WRITTEN,
        Column(
            "memory_bytes",
            BYTES,
            "about how much memory the task takes at most, beside what Lance takes anyway: what "
            "is read and waits, up to `io_buffer_size`, and what is decoded and waits to be "
            "written",
            True,
            "bytes",
        ),
        _ROW_IDS,
        _ROW_IDS_AFTER,
    ),
)

NEW_FRAGMENTS = FrameSchema(
    "compaction_new_fragments",
    (
        Column("task", COUNT, "number of the task that writes it"),
        Column("num_rows", COUNT, "rows that it has"),
        Column("num_row_id_segments", COUNT, "segments of its row-ID sequence", True),
        Column("row_id_bytes", BYTES, "size of that sequence", True, "bytes"),
        Column(
            "row_id_encodings",
            TEXT,
            "how many of the segments have which encoding, as `2 range, 1 array`; null as "
            "`row_id_bytes_after` of the task is",
            True,
        ),
    ),
)

FRAGMENTS = FrameSchema(
    "compaction_fragments",
    (
        Column("fragment_id", ID, "ID of the fragment"),
        Column("physical_rows", COUNT, "rows, deleted ones included", nullable=True),
        Column("num_deleted_rows", COUNT, "deleted rows", nullable=True),
        Column("data_bytes", BYTES, "size of its data files; null: not recorded", True, "bytes"),
        Column("is_rewritten", pl.Boolean(), "whether a task rewrites it"),
        Column("task", COUNT, "number of that task", nullable=True),
        Column(
            "reason",
            pl.Enum(REASONS),
            "`small`, `many_deleted_rows`: why it is rewritten; `large_enough`; "
            "`few_deleted_rows`: large enough, and not more of it is deleted than the threshold; "
            "`alone`: small, but no neighbour is to be rewritten; `walled_in_by_index`: small, but "
            "its neighbours are covered by other index segments; `excluded`; `over_budget`: a "
            "later run would rewrite it; `unknown_rows`: the manifest does not count them",
        ),
        Column("message", TEXT, "the same in words"),
    ),
)

SUMMARY = FrameSchema(
    "compaction_summary",
    (
        Column("num_tasks", COUNT, "how many tasks there are"),
        Column("num_fragments", COUNT, "fragments now"),
        Column("num_rewritten", COUNT, "fragments that are rewritten"),
        Column("num_fragments_after", COUNT, "how many fragments there are then"),
        Column("num_rows", COUNT, "live rows that are rewritten"),
        Column("num_deleted_rows", COUNT, "deleted rows that are dropped"),
        _READ,
        _WRITTEN,
        Column(
            "memory_bytes",
            BYTES,
            "`memory_bytes` of the task that takes most; as many tasks run at a time as "
            "`num_threads` says, by default one on each core",
            True,
            "bytes",
        ),
        _ROW_IDS,
        _ROW_IDS_AFTER,
        Column(
            "indices_to_remap",
            pl.List(pl.String()),
            "indices whose entries are rewritten in the same commit; none with stable row IDs",
        ),
        Column("num_remapped_rows", COUNT, "row addresses that change in them, held in memory"),
        Column(
            "reuse_bytes",
            BYTES,
            "what the fragment reuse history takes, in the manifest or beside it; 0: there is none",
            unit="bytes",
        ),
        Column(
            "reuse_bytes_after",
            BYTES,
            "the same after it: longer if `defer_index_remap` is set and an index covers what is "
            "rewritten; null: what is deleted cannot be read",
            True,
            "bytes",
        ),
    ),
)
