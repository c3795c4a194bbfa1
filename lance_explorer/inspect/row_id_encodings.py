"""How well the row IDs of each fragment are encoded: the bytes they take, and the fewest possible.

All sizes are those of whole sequences in a manifest.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

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
from lance_explorer.history.reading.stored_sequences import FragmentSequence, read_row_ids
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import PartRows
from lance_explorer.inspect.row_id_segments import num_runs, stored_row_ids
from lance_explorer.inspect.sequence_frames import sequence_rows, sequence_rows_of_all
from lance_explorer.rowids.optimum import OptimalSizes, optimal_sizes_of
from lance_explorer.rowids.sequence import RowIdSequence

__all__ = [
    "ALL_ROW_ID_ENCODINGS",
    "ROW_ID_ENCODINGS",
    "all_row_id_encodings",
    "row_id_encodings",
]


def _size(name: str, meaning: str, *, nullable: bool = False) -> Column:
    return Column(name, BYTES, meaning, nullable=nullable, unit="bytes")


_SEQUENCE = (
    Column("fragment_id", ID, "fragment ID"),
    Column("storage", TEXT, "where the sequence is: inline, external or spilled"),
    Column("num_values", COUNT, "number of row IDs, including those of deleted rows"),
    Column("num_segments", COUNT, "number of stored segments; null if spilled", nullable=True),
    Column("num_runs", COUNT, "number of stretches of consecutive row IDs"),
    _size("encoded_bytes", "stored size; null if spilled", nullable=True),
    _size(
        "as_is_bytes",
        "size with every stored segment in its smallest encoding; null if spilled",
        nullable=True,
    ),
    _size("one_segment_bytes", "size with all row IDs in one segment"),
    _size("split_bytes", "size if cut into the segments that save most"),
    _size("best_bytes", "the smallest of these sizes"),
    _size(
        "saving_bytes", "bytes that the best encoding would save; null if spilled", nullable=True
    ),
)

ROW_ID_ENCODINGS = FrameSchema("row_id_encodings", (VERSION, BRANCH, *_SEQUENCE))
"""The columns of ``inspect.row_id_encodings()``."""

ALL_ROW_ID_ENCODINGS = FrameSchema("all_row_id_encodings", (BRANCH, *_SEQUENCE, *INTERVAL))
"""The columns of ``inspect.all_row_id_encodings()``."""

_SIZES = FrameSchema("sizes", _SEQUENCE)


def row_id_encodings(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each fragment of a version that has row IDs, in the order of a scan."""
    return sequence_rows(ROW_ID_ENCODINGS, view, version, stored_row_ids, read_row_ids, _sizes)


def all_row_id_encodings(view: HistoryView) -> pl.DataFrame:
    """Return one row for each distinct sequence and each interval of it."""
    return sequence_rows_of_all(ALL_ROW_ID_ENCODINGS, view, stored_row_ids, read_row_ids, _sizes)


def _sizes(sequences: Sequence[tuple[FragmentSequence, RowIdSequence]]) -> PartRows:
    """Return one row for each sequence."""
    sizes = optimal_sizes_of([row_ids for _, row_ids in sequences])
    rows = [
        _row(sequence, row_ids, of_one)
        for (sequence, row_ids), of_one in zip(sequences, sizes, strict=True)
    ]
    columns = {name: [row[name] for row in rows] for name in _SIZES.names}
    return PartRows(_SIZES.build(columns), np.ones(len(rows), dtype=np.int64))


def _row(
    sequence: FragmentSequence, row_ids: RowIdSequence, sizes: OptimalSizes
) -> dict[str, str | int | None]:
    encoded = _stored_bytes(sequence)
    best = min(sizes.as_one, sizes.cut)
    if encoded is not None:
        best = min(best, encoded, sizes.by_segment)
    return {
        "fragment_id": sequence.fragment_id,
        "storage": sequence.stored.storage,
        "num_values": len(row_ids),
        "num_segments": None if encoded is None else row_ids.num_segments,
        "num_runs": num_runs(row_ids),
        "encoded_bytes": encoded,
        "as_is_bytes": None if encoded is None else sizes.by_segment,
        "one_segment_bytes": sizes.as_one,
        "split_bytes": sizes.cut,
        "best_bytes": best,
        "saving_bytes": None if encoded is None else encoded - best,
    }


def _stored_bytes(sequence: FragmentSequence) -> int | None:
    """Return the bytes of a sequence; None if it is spilled into a column with others."""
    stored = sequence.stored
    if stored.storage == "spilled":
        return None
    return stored.num_bytes if stored.file is None else stored.file.size
