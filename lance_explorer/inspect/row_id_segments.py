"""Row-ID sequences segment by segment: how each is stored, and in which form it would be smallest.

``encoded_bytes`` is what a segment adds to its sequence: the segment with its own tag and length.
So those of a fragment add up to ``row_ids_bytes`` of ``inspect.fragments()``.
"""

from collections.abc import Iterable
from typing import get_args

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
from lance_explorer.history.source import TableSource
from lance_explorer.history.stored_sequences import FragmentSequence, read_row_ids, sequences_of
from lance_explorer.inspect.sequence_frames import sequence_rows, sequence_rows_of_all
from lance_explorer.rowids.arrays import MAX_U64
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
from lance_explorer.rowids.sequence import Part, Ranges, RowIdSequence
from lance_explorer.rowids.sizes import nested, range_sizes, segment_size

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
    Column("encoding", ENCODING, "form of the segment; null if it is spilled", nullable=True),
    Column(
        "array_width",
        COUNT,
        "bits of each number in its array, or in the one of its holes; else null",
        nullable=True,
    ),
    Column("start", ID, "lowest row ID; null in an array without any", nullable=True),
    Column("stop", ID, "number after the highest one; null also for 2^64", nullable=True),
    Column("num_values", COUNT, "row IDs, those of deleted rows too"),
    Column("num_holes", COUNT, "row IDs that a range leaves out; else null", nullable=True),
    Column("density", pl.Float64(), "row IDs for each number from start to stop", nullable=True),
    Column(
        "encoded_bytes",
        BYTES,
        "size in the sequence, tag and length too; null if it is spilled",
        nullable=True,
        unit="bytes",
    ),
    Column("best_encoding", ENCODING, "the form that takes the fewest bytes"),
    Column("best_bytes", BYTES, "size in that form", unit="bytes"),
)

_SEGMENT = (
    Column("fragment_id", ID, "fragment that the sequence belongs to"),
    Column("position", COUNT, "number of the segment in its sequence, from 0"),
    Column("storage", TEXT, "inline, external or spilled: the last is shown as one segment"),
    *_PART,
)

ROW_ID_SEGMENTS = FrameSchema("row_id_segments", (VERSION, BRANCH, *_SEGMENT))
"""The columns of ``inspect.row_id_segments()``."""

ALL_ROW_ID_SEGMENTS = FrameSchema("all_row_id_segments", (BRANCH, *_SEGMENT, *INTERVAL))
"""The columns of ``inspect.all_row_id_segments()``."""

_NOT_OF_SPILLED = ("encoding", "array_width", "num_holes", "encoded_bytes")

_PARTS = FrameSchema("parts", _PART)
_SEGMENTS = FrameSchema("segments", _SEGMENT)


def row_id_segments(source: TableSource, version: int) -> pl.DataFrame:
    """Return one row for each segment of the row-ID sequences of a version."""
    return sequence_rows(ROW_ID_SEGMENTS, source, version, stored_row_ids, read_row_ids, _segments)


def all_row_id_segments(source: TableSource) -> pl.DataFrame:
    """Return one row for each segment of every sequence and each interval in which it was there."""
    return sequence_rows_of_all(
        ALL_ROW_ID_SEGMENTS, source, stored_row_ids, read_row_ids, _segments
    )


def stored_row_ids(fragment: Fragment) -> Iterable[FragmentSequence]:
    """Return the row-ID sequence of a fragment, if it has one."""
    return sequences_of(fragment, "row_ids")


def num_holes(segment: U64Segment) -> int | None:
    """Return how many numbers a range leaves out; None for arrays, which have none."""
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
    """Return how many stretches of consecutive row IDs there are, whatever segments they are in."""
    starts, stops = row_ids.ranges()
    begins = (starts[1:] != stops[:-1]) | (stops[:-1] == 0)
    return int(begins.sum()) + min(len(starts), 1)


def _segments(sequence: FragmentSequence, row_ids: RowIdSequence) -> pl.DataFrame:
    """Return the segments of one sequence."""
    storage = sequence.stored.storage
    nothing = pl.DataFrame(schema=_PARTS.polars_schema)
    parts = pl.concat([nothing, *[_columns(part) for part in row_ids.parts]])
    if storage == "spilled":
        nulls = {name: pl.lit(None, parts.schema[name]) for name in _NOT_OF_SPILLED}
        parts = parts.with_columns(**nulls)
    return _SEGMENTS.build(
        {
            "fragment_id": [sequence.fragment_id] * len(parts),
            "position": np.arange(len(parts)),
            "storage": [storage] * len(parts),
            **parts.to_dict(),
        }
    )


def _columns(part: Part) -> pl.DataFrame:
    if isinstance(part, Ranges):
        return _of_ranges(part)
    count, (first, last) = len(part), _hull(part)
    best = best_encoding(part)
    return _PARTS.build(
        {
            "encoding": [encoding_of(part)],
            "array_width": [_array_width(part)],
            "start": [first],
            "stop": [None if last is None or last == MAX_U64 else last + 1],
            "num_values": [count],
            "num_holes": [num_holes(part)],
            "density": [
                None if not count or first is None or last is None else count / (last + 1 - first)
            ],
            "encoded_bytes": [_size(part)],
            "best_encoding": [encoding_of(best)],
            "best_bytes": [_size(best)],
        }
    )


def _of_ranges(ranges: Ranges) -> pl.DataFrame:
    """Return many ranges at once, for which there is no better form."""
    count = len(ranges.starts)
    sizes = nested(range_sizes(ranges.starts, ranges.stops)).astype(np.int64)
    encoding = pl.Series(["range"], dtype=ENCODING).new_from_index(0, count)
    values = ranges.counts()
    density = pl.Series(np.where(values > 0, 1.0, np.nan)).fill_nan(None)
    return _PARTS.build(
        {
            "encoding": encoding,
            "array_width": [None] * count,
            "start": ranges.starts,
            "stop": ranges.stops,
            "num_values": values,
            "num_holes": np.zeros(count, dtype=np.int64),
            "density": density,
            "encoded_bytes": sizes,
            "best_encoding": encoding,
            "best_bytes": sizes,
        }
    )


def _hull(segment: U64Segment) -> tuple[int | None, int | None]:
    """Return the lowest and the highest number that a segment may have."""
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
