"""Row-ID sequences segment by segment: the stored form of each, and its smallest form.

``encoded_bytes`` is what a segment adds to its sequence: the segment with its own tag and length.
So those of a fragment add up to ``row_ids_bytes`` of ``inspect.fragments()``.
"""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np
import polars as pl

from lance_explorer.format.fragments import Fragment
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
from lance_explorer.history.reading.stored_sequences import (
    FragmentSequence,
    read_row_ids,
    sequences_of,
)
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import PartRows
from lance_explorer.inspect.sequence_frames import sequence_rows, sequence_rows_of_all
from lance_explorer.rowids.arrays import MAX_U64, aranges
from lance_explorer.rowids.encoding import best_encoding
from lance_explorer.rowids.segments import (
    Array,
    Encoding,
    Range,
    RangeWithBitmap,
    RangeWithHoles,
    SortedArray,
    U64Segment,
    encoding_of,
)
from lance_explorer.rowids.sequence import Part, Ranges, RowIdSequence, all_ranges, num_segments
from lance_explorer.rowids.sizes import best_range_sizes, nested, range_sizes, segment_size

__all__ = [
    "ALL_ROW_ID_SEGMENTS",
    "ENCODING",
    "ROW_ID_SEGMENTS",
    "all_row_id_segments",
    "num_holes",
    "num_runs",
    "row_id_segments",
    "stored_row_ids",
]

ENCODING = pl.Enum(get_args(Encoding))

_PART = (
    Column("encoding", ENCODING, "encoding of the segment; null if spilled", nullable=True),
    Column(
        "array_width",
        COUNT,
        "bits of each number in its array, or in its array of holes; null if there is none",
        nullable=True,
    ),
    Column("start", ID, "lowest row ID; null if the segment is an empty array", nullable=True),
    Column("stop", ID, "highest row ID + 1; null also for 2^64", nullable=True),
    Column("num_values", COUNT, "number of row IDs, including those of deleted rows"),
    Column("num_holes", COUNT, "missing row IDs in a range; null for arrays", nullable=True),
    Column("density", pl.Float64(), "number of row IDs divided by stop - start", nullable=True),
    Column(
        "encoded_bytes",
        BYTES,
        "size in the sequence, including tag and length; null if spilled",
        nullable=True,
        unit="bytes",
    ),
    Column("best_encoding", ENCODING, "the smallest encoding of these row IDs"),
    Column("best_bytes", BYTES, "size in that encoding", unit="bytes"),
)

_SEGMENT = (
    Column("fragment_id", ID, "fragment that the sequence belongs to"),
    Column("position", COUNT, "number of the segment in its sequence, from 0"),
    Column(
        "storage", TEXT, "where the sequence is: inline, external or spilled (shown as one segment)"
    ),
    *_PART,
)

ROW_ID_SEGMENTS = FrameSchema("row_id_segments", (VERSION, BRANCH, *_SEGMENT))
"""The columns of ``inspect.row_id_segments()``."""

ALL_ROW_ID_SEGMENTS = FrameSchema("all_row_id_segments", (BRANCH, *_SEGMENT, *INTERVAL))
"""The columns of ``inspect.all_row_id_segments()``."""

_NOT_OF_SPILLED = ("encoding", "array_width", "num_holes", "encoded_bytes")

_PARTS = FrameSchema("parts", _PART)
_SEGMENTS = FrameSchema("segments", _SEGMENT)


def row_id_segments(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each segment of the row-ID sequences of a version."""
    return sequence_rows(ROW_ID_SEGMENTS, view, version, stored_row_ids, read_row_ids, _segments)


def all_row_id_segments(view: HistoryView) -> pl.DataFrame:
    """Return one row for each segment of every sequence and each interval of it."""
    return sequence_rows_of_all(ALL_ROW_ID_SEGMENTS, view, stored_row_ids, read_row_ids, _segments)


def stored_row_ids(fragment: Fragment) -> Iterable[FragmentSequence]:
    """Return the row-ID sequence of a fragment, if it has one."""
    return sequences_of(fragment, "row_ids")


def num_holes(segment: U64Segment) -> int | None:
    """Return how many numbers a range leaves out; None for arrays."""
    match segment:
        case Range():
            return 0
        case RangeWithHoles():
            return len(segment.holes)
        case RangeWithBitmap():
            return segment.stop - segment.start - len(segment)
        case SortedArray() | Array():
            return None


def num_runs(row_ids: RowIdSequence) -> int:
    """Return how many runs of consecutive row IDs there are, across segments."""
    starts, stops = row_ids.ranges()
    begins = (starts[1:] != stops[:-1]) | (stops[:-1] == 0)
    return int(begins.sum()) + min(len(starts), 1)


def _segments(sequences: Sequence[tuple[FragmentSequence, RowIdSequence]]) -> PartRows:
    """Return the segments of sequences."""
    counts = np.array([row_ids.num_segments for _, row_ids in sequences], dtype=np.int64)
    owner = np.repeat(np.arange(len(counts)), counts)
    storage = pl.Series([s.stored.storage for s, _ in sequences], dtype=TEXT)[owner]
    parts = _in_order([part for _, row_ids in sequences for part in row_ids.parts])
    parts = parts.with_columns(pl.when(storage != "spilled").then(pl.col(_NOT_OF_SPILLED)))
    rows = _SEGMENTS.build(
        {
            "fragment_id": np.array([s.fragment_id for s, _ in sequences], np.uint64)[owner],
            "position": aranges(np.zeros_like(counts), counts),
            "storage": storage,
            **parts.to_dict(),
        }
    )
    return PartRows(rows, counts)


def _in_order(parts: list[Part]) -> pl.DataFrame:
    """Return the segments of parts, concatenated."""
    ranges = all_ranges([part for part in parts if isinstance(part, Range | Ranges)])
    others = [part for part in parts if not isinstance(part, Range | Ranges)]
    is_range = [isinstance(part, Range | Ranges) for part in parts]
    is_other = ~np.repeat(np.array(is_range, dtype=np.bool_), [num_segments(p) for p in parts])
    order = np.argsort(is_other, kind="stable")
    return pl.concat([_of_ranges(ranges), _of_others(others)])[np.argsort(order)]


def _of_ranges(ranges: Ranges) -> pl.DataFrame:
    """Return ranges, all at once."""
    count = len(ranges.starts)
    values = ranges.counts()
    sizes = nested(range_sizes(ranges.starts, ranges.stops))
    best = nested(best_range_sizes(ranges.starts, ranges.stops))
    is_best = (best == sizes) | (values == 0)
    return _PARTS.build(
        {
            "encoding": np.full(count, "range"),
            "array_width": [None] * count,
            "start": ranges.starts,
            "stop": ranges.stops,
            "num_values": values,
            "num_holes": np.zeros(count, dtype=np.int64),
            "density": pl.Series(np.where(values > 0, 1.0, np.nan)).fill_nan(None),
            "encoded_bytes": sizes.astype(np.int64),
            "best_encoding": np.where(is_best, "range", "sorted_array"),
            "best_bytes": best.astype(np.int64),
        }
    )


def _of_others(segments: Sequence[U64Segment]) -> pl.DataFrame:
    """Return segments one by one: each has values to read."""
    rows = [_row(segment) for segment in segments]
    return _PARTS.build({name: [row[name] for row in rows] for name in _PARTS.names})


def _row(segment: U64Segment) -> dict[str, Any]:
    count, (first, last) = len(segment), _hull(segment)
    best = best_encoding(segment)
    return {
        "encoding": encoding_of(segment),
        "array_width": _array_width(segment),
        "start": first,
        "stop": None if last is None or last == MAX_U64 else last + 1,
        "num_values": count,
        "num_holes": num_holes(segment),
        "density": (
            None if not count or first is None or last is None else count / (last + 1 - first)
        ),
        "encoded_bytes": _size(segment),
        "best_encoding": encoding_of(best),
        "best_bytes": _size(best),
    }


def _hull(segment: U64Segment) -> tuple[int | None, int | None]:
    """Return the lowest and the highest number that a segment may contain."""
    match segment:
        case SortedArray(array) | Array(array):
            values = array.values()
            return (int(values.min()), int(values.max())) if len(values) else (None, None)
        case _:
            return segment.start, segment.stop - 1


def _array_width(segment: U64Segment) -> int | None:
    match segment:
        case RangeWithHoles(_, _, array) | SortedArray(array) | Array(array):
            return 8 * array.width
        case _:
            return None


def _size(segment: U64Segment) -> int:
    """Return the bytes of a segment in a sequence."""
    return int(nested(np.array([segment_size(segment)], dtype=np.uint64))[0])
