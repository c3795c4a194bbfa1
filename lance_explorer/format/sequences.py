"""Row-ID and row-version sequences: bytes to segments and back (docs/FORMAT.md 3).

The claims of a sequence are checked before anything of that size is allocated: no more rows than
the fragment has, holes within their range, bitmaps as long as their range, arrays of whole numbers.
"""

from collections.abc import Iterable
from typing import assert_never

import numpy as np

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format._pb import row_ids_pb2 as pb
from lance_explorer.format._range_records import read_records
from lance_explorer.format._wire import decoder, parse
from lance_explorer.format.fragments import LARGEST_FRAGMENT
from lance_explorer.rowids.arrays import MAX_U64, EncodedU64Array, Uint64Array, Width
from lance_explorer.rowids.segments import (
    Array,
    Range,
    RangeWithBitmap,
    RangeWithHoles,
    SortedArray,
    U64Segment,
)
from lance_explorer.rowids.sequence import Part, Ranges, RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = [
    "decode_row_id_sequence",
    "decode_row_version_sequence",
    "decode_row_version_spans",
    "encode_row_id_sequence",
    "encode_row_version_sequence",
]

_LARGEST_OFFSETS = {2: 0xFFFF, 4: 0xFFFF_FFFF, 8: 0}
"""By the bytes of an offset; numbers of 8 bytes have no base."""


@decoder
def decode_row_id_sequence(data: bytes, physical_rows: int | None = None) -> RowIdSequence:
    """Decode a RowIdSequence message.

    Parameters
    ----------
    data : bytes
        The message.
    physical_rows : int, optional
        The rows of the fragment, deleted ones included: a sequence may be shorter, never longer.

    Examples
    --------
    >>> from lance_explorer.format.sequences import decode_row_id_sequence, encode_row_id_sequence
    >>> sequence = decode_row_id_sequence(bytes.fromhex("0a060a0408051008"), physical_rows=3)
    >>> sequence.segments
    (Range(start=5, stop=8),)
    >>> encode_row_id_sequence(sequence).hex()
    '0a060a0408051008'
    """
    limit = _limit(physical_rows)
    parts, positions = list[Part](), list[int]()
    for position, record in read_records(data, with_versions=False):
        try:
            if isinstance(record, bytes):
                part: Part = _segment(parse(pb.U64Segment, record, "row-ID segment"), limit)
            else:
                part = _ranges(record.starts, record.stops, limit)
        except FormatError as error:
            raise _placed(error, position) from error
        limit -= len(part)
        parts.append(part)
        positions.append(position)
    _check_sorted(parts, positions)
    return RowIdSequence.of(parts)


@decoder
def decode_row_version_sequence(data: bytes, physical_rows: int | None = None) -> RowVersionRuns:
    """Decode a RowDatasetVersionSequence message into the version of each row.

    Parameters
    ----------
    data : bytes
        The message.
    physical_rows : int, optional
        The rows of the fragment, deleted ones included: a sequence may be shorter, never longer.

    Examples
    --------
    >>> from lance_explorer.format.sequences import decode_row_version_sequence
    >>> runs = decode_row_version_sequence(bytes.fromhex("0a080a040a0210031001"), physical_rows=3)
    >>> runs.counts.tolist(), runs.versions.tolist()
    ([3], [1])
    """
    spans, versions = decode_row_version_spans(data, physical_rows)
    return RowVersionRuns(spans.counts(), versions)


@decoder
def decode_row_version_spans(
    data: bytes, physical_rows: int | None = None
) -> tuple[RowIdSequence, Uint64Array]:
    """Decode a RowDatasetVersionSequence message as it is stored.

    Returns
    -------
    spans : RowIdSequence
        The span of each run as a segment, of which only the length means anything.
    versions : ndarray of uint64
        The version of each run.
    """
    limit = _limit(physical_rows)
    spans, positions, versions = list[Part](), list[int](), list[Uint64Array]()
    for position, record in read_records(data, with_versions=True):
        try:
            if isinstance(record, bytes):
                run = parse(pb.RowVersionRun, record, "row-version run")
                span: Part = _segment(run.span, limit)
                versions.append(np.array([run.version], dtype=np.uint64))
            else:
                span = _ranges(record.starts, record.stops, limit)
                versions.append(record.versions)
        except FormatError as error:
            raise _placed(error, position) from error
        limit -= len(span)
        spans.append(span)
        positions.append(position)
    _check_sorted(spans, positions)
    joined = np.concatenate([np.empty(0, dtype=np.uint64), *versions])
    return RowIdSequence.of(spans), joined


def encode_row_id_sequence(sequence: RowIdSequence) -> bytes:
    """Encode a sequence as the message that decodes to it."""
    segments = [_segment_to_pb(segment) for segment in sequence.segments]
    return pb.RowIdSequence(segments=segments).SerializeToString()


def encode_row_version_sequence(runs: RowVersionRuns, spans: RowIdSequence | None = None) -> bytes:
    """Encode the version of each row.

    Parameters
    ----------
    runs : RowVersionRuns
        The versions.
    spans : RowIdSequence, optional
        The span of each run; the offsets of its rows by default, as writers do in new fragments.
    """
    if spans is None:
        ends = np.cumsum(runs.counts).astype(np.uint64)
        spans = RowIdSequence.of([Ranges(ends - runs.counts.astype(np.uint64), ends)])
    messages = [
        pb.RowVersionRun(span=_segment_to_pb(segment), version=version)
        for segment, version in zip(spans.segments, runs.versions.tolist(), strict=True)
    ]
    return pb.RowVersionSequence(runs=messages).SerializeToString()


def _placed(error: FormatError, position: int) -> FormatError:
    """Return an error of the record at a position, with its offset in the sequence."""
    return type(error)(error.message, offset=position + (error.offset or 0))


def _limit(physical_rows: int | None) -> int:
    return LARGEST_FRAGMENT if physical_rows is None else physical_rows


def _check(count: int, limit: int) -> None:
    if count > limit:
        raise CorruptFileError(f"a segment of {count} values where {limit} rows are left")


def _ranges(starts: Uint64Array, stops: Uint64Array, limit: int) -> Ranges:
    counts = stops - starts  # a range that stops before it starts has far too many values
    _check(int(counts.max()), limit)
    _check(int(counts.sum()), limit)
    return Ranges(starts, stops)


def _check_sorted(parts: Iterable[Part], positions: Iterable[int]) -> None:
    """Raise CorruptFileError at the first unsorted sorted array; all are checked as one."""
    pairs = zip(parts, positions, strict=True)
    arrays = [(part.array, place) for part, place in pairs if isinstance(part, SortedArray)]
    if not arrays:
        return
    values = EncodedU64Array.joined_values([array for array, _ in arrays])
    ends = np.cumsum([len(array) for array, _ in arrays], dtype=np.int64)
    falls = np.setdiff1d(np.flatnonzero(values[1:] < values[:-1]) + 1, ends)
    if len(falls):
        place = arrays[np.searchsorted(ends, falls[0], side="right")][1]
        raise CorruptFileError("the values of a sorted array are not sorted", offset=place)


def _segment(message: pb.U64Segment, limit: int) -> U64Segment:
    """Return a segment; the order of a sorted array is not checked yet."""
    match message.WhichOneof("segment"):
        case "range":
            return _range(message.range, limit)
        case "range_with_holes":
            return _range_with_holes(message.range_with_holes, limit)
        case "range_with_bitmap":
            return _range_with_bitmap(message.range_with_bitmap, limit)
        case "sorted_array":
            return SortedArray(_array(message.sorted_array, limit))
        case "array":
            return Array(_array(message.array, limit))
        case _:
            raise CorruptFileError("a segment of a form that is not known")


def _range(message: pb.U64Segment.Range, limit: int) -> Range:
    _check_width(message.start, message.end)
    _check(message.end - message.start, limit)
    return Range(message.start, message.end)


def _check_width(start: int, stop: int) -> None:
    if stop < start:
        raise CorruptFileError(f"a range from {start} to {stop}")


def _range_with_holes(message: pb.U64Segment.RangeWithHoles, limit: int) -> RangeWithHoles:
    start, stop = message.start, message.end
    _check_width(start, stop)
    holes = _array(message.holes, stop - start)
    _check(stop - start - len(holes), limit)
    values = holes.values()
    if (values[1:] <= values[:-1]).any():
        raise CorruptFileError("the holes in a range are not in ascending order")
    if len(values) and not start <= int(values[0]) <= int(values[-1]) < stop:
        raise CorruptFileError(
            f"holes from {values[0]} to {values[-1]} in a range from {start} to {stop}"
        )
    return RangeWithHoles(start, stop, holes)


def _range_with_bitmap(message: pb.U64Segment.RangeWithBitmap, limit: int) -> RangeWithBitmap:
    start, stop, bitmap = message.start, message.end, message.bitmap
    _check_width(start, stop)
    if len(bitmap) != -(-(stop - start) // 8):
        raise CorruptFileError(
            f"a bitmap of {len(bitmap)} bytes for the range from {start} to {stop}"
        )
    behind = (stop - start) % 8
    if behind and bitmap[-1] >> behind:
        raise CorruptFileError(f"a bitmap has values behind the end of its range, {stop}")
    segment = RangeWithBitmap(start, stop, bitmap)
    _check(len(segment), limit)
    return segment


def _array(message: pb.EncodedU64Array, limit: int) -> EncodedU64Array:
    match message.WhichOneof("array"):
        case "u16_array":
            narrow = message.u16_array
            return _checked(narrow.base, 2, narrow.offsets, limit)
        case "u32_array":
            wide = message.u32_array
            return _checked(wide.base, 4, wide.offsets, limit)
        case "u64_array":
            return _checked(0, 8, message.u64_array.values, limit)
        case _:
            raise CorruptFileError("an array of a form that is not known")


def _checked(base: int, width: Width, data: bytes, limit: int) -> EncodedU64Array:
    count, rest = divmod(len(data), width)
    if rest:
        raise CorruptFileError(f"an array of {len(data)} bytes, with {width} bytes for each value")
    _check(count, limit)
    array = EncodedU64Array(base, width, data)
    if base > MAX_U64 - _LARGEST_OFFSETS[width] and base > MAX_U64 - int(array.offsets.max()):
        raise CorruptFileError(f"an array of values above 2^64, with the base {base}")
    return array


def _segment_to_pb(segment: U64Segment) -> pb.U64Segment:
    match segment:
        case Range(start, stop):
            return pb.U64Segment(range=pb.U64Segment.Range(start=start, end=stop))
        case RangeWithHoles(start, stop, holes):
            with_holes = pb.U64Segment.RangeWithHoles(
                start=start, end=stop, holes=_array_to_pb(holes)
            )
            return pb.U64Segment(range_with_holes=with_holes)
        case RangeWithBitmap(start, stop, bitmap):
            with_bitmap = pb.U64Segment.RangeWithBitmap(start=start, end=stop, bitmap=bitmap)
            return pb.U64Segment(range_with_bitmap=with_bitmap)
        case SortedArray(array):
            return pb.U64Segment(sorted_array=_array_to_pb(array))
        case Array(array):
            return pb.U64Segment(array=_array_to_pb(array))
        case _:
            assert_never(segment)


def _array_to_pb(array: EncodedU64Array) -> pb.EncodedU64Array:
    match array.width:
        case 2:
            narrow = pb.EncodedU64Array.U16Array(base=array.base, offsets=array.data)
            return pb.EncodedU64Array(u16_array=narrow)
        case 4:
            wide = pb.EncodedU64Array.U32Array(base=array.base, offsets=array.data)
            return pb.EncodedU64Array(u32_array=wide)
        case 8:
            return pb.EncodedU64Array(u64_array=pb.EncodedU64Array.U64Array(values=array.data))
        case _:
            assert_never(array.width)
