"""Row-ID and row-version sequences as Lance encodes them (docs/FORMAT.md 3)."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format._pb import row_ids_pb2 as pb

__all__ = ["Numbers", "consecutive_runs", "row_id_sequence", "segment", "version_sequence"]

Numbers = NDArray[np.uint64]

_LARGEST = (1 << 64) - 1


def row_id_sequence(pieces: Iterable[Numbers]) -> bytes:
    """Encode row IDs, one segment for each piece."""
    return pb.RowIdSequence(segments=[segment(piece) for piece in pieces]).SerializeToString()


def version_sequence(versions: Numbers) -> bytes:
    """Encode the version of each row."""
    starts = np.flatnonzero(np.diff(versions, prepend=versions[:1] ^ 1))
    stops = np.append(starts, len(versions))[1:]
    runs = [
        pb.RowVersionRun(span=_range(start, stop), version=int(versions[start]))
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    ]
    return pb.RowVersionSequence(runs=runs).SerializeToString()


def consecutive_runs(ids: Numbers) -> list[Numbers]:
    """Cut row IDs where one does not follow the other, as an update does."""
    return np.split(ids, np.flatnonzero(np.diff(ids) != 1) + 1) if len(ids) else []


def segment(values: Numbers) -> pb.U64Segment:
    """Encode numbers as one segment, of the kind that the writer would choose."""
    if not len(values):
        return _range(0, 0)
    if (values[1:] < values[:-1]).any():
        return pb.U64Segment(array=_array(values))
    start, stop = int(values[0]), int(values[-1]) + 1
    span, holes = stop - start, stop - start - len(values)
    if stop > _LARGEST:
        return pb.U64Segment(sorted_array=_array(values))
    if holes == 0:
        return _range(start, stop)
    as_holes, as_bitmap, as_array = 24 + 4 * holes, 24 + -(-span // 8), 24 + 2 * len(values)
    if min(as_holes, as_bitmap) > as_array:
        return pb.U64Segment(sorted_array=_array(values))
    there = np.zeros(span, dtype=np.bool_)
    there[values - np.uint64(start)] = True
    if as_holes <= as_bitmap:
        missing = np.flatnonzero(~there).astype(np.uint64) + np.uint64(start)
        with_holes = pb.U64Segment.RangeWithHoles(start=start, end=stop, holes=_array(missing))
        return pb.U64Segment(range_with_holes=with_holes)
    bitmap = np.packbits(there, bitorder="little").tobytes()
    with_bitmap = pb.U64Segment.RangeWithBitmap(start=start, end=stop, bitmap=bitmap)
    return pb.U64Segment(range_with_bitmap=with_bitmap)


def _range(start: int, stop: int) -> pb.U64Segment:
    return pb.U64Segment(range=pb.U64Segment.Range(start=start, end=stop))


def _array(values: Numbers) -> pb.EncodedU64Array:
    base = values.min()
    offsets = values - base
    if offsets.max() <= 0xFFFF:
        narrow = pb.EncodedU64Array.U16Array(
            base=int(base), offsets=offsets.astype("<u2").tobytes()
        )
        return pb.EncodedU64Array(u16_array=narrow)
    if offsets.max() <= 0xFFFF_FFFF:
        wide = pb.EncodedU64Array.U32Array(base=int(base), offsets=offsets.astype("<u4").tobytes())
        return pb.EncodedU64Array(u32_array=wide)
    full = pb.EncodedU64Array.U64Array(values=values.astype("<u8").tobytes())
    return pb.EncodedU64Array(u64_array=full)
