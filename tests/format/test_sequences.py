"""Sequences against an independent parser, the bytes that writers wrote, and hostile bytes."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import row_ids_pb2 as pb
from lance_explorer.format._pb import table_pb2
from lance_explorer.format.sequences import (
    decode_row_id_sequence,
    decode_row_version_sequence,
    decode_row_version_spans,
    encode_row_id_sequence,
    encode_row_version_sequence,
)
from lance_explorer.rowids.arrays import MAX_U64
from lance_explorer.rowids.encoding import encode_segment
from lance_explorer.rowids.segments import Range, encoding_of
from lance_explorer.rowids.sequence import Ranges, RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns
from tests.format import samples
from tests.rowids.strategies import numbers, segments, uint64
from tests.synthetic.wire import record, varint

Start = pb.U64Segment.Range
Holes = pb.U64Segment.RangeWithHoles
Bitmap = pb.U64Segment.RangeWithBitmap
Array = pb.EncodedU64Array

SINGLE = st.builds(
    lambda number: Range(number, number + 1), numbers().filter(lambda n: n < MAX_U64)
)
SEQUENCES = st.lists(st.one_of(SINGLE, SINGLE, segments()), max_size=40).map(RowIdSequence.of)


def fragments_of(tables: list[Path]) -> Iterator[table_pb2.DataFragment]:
    for table in tables:
        for file in samples.manifest_files(table):
            for data in samples.read_manifest(file).fragments:
                yield table_pb2.DataFragment.FromString(data)


@pytest.fixture(scope="module")
def written(tmp_path_factory, seed) -> list[Path]:
    """Return tables of some 10,000 rows after updates, merges and compactions."""
    root = tmp_path_factory.mktemp("written")
    return [write_table(root / name, n, seed + n) for n, name in enumerate(["one", "two", "three"])]


def write_table(path: Path, rest: int, seed: int) -> Path:
    random = np.random.default_rng(seed)
    lance.write_dataset(
        rows(np.arange(30_000)), path, max_rows_per_file=7_000, enable_stable_row_ids=True
    )
    for step in range(4):
        table: Any = lance.dataset(path)
        table.delete(f"id % {[11, 97, 3, 1009][step]} = {rest}")
        table = lance.dataset(path)
        table.update({"score": "score + 1"}, where=f"id % {[701, 5, 13, 2][step]} = 1")
        table = lance.dataset(path)
        changed = random.choice(40_000, [100, 3_000, 6_000, 20][step], replace=False)
        merge = table.merge_insert("id").when_matched_update_all()
        if step % 2 == 0:
            merge = merge.when_not_matched_insert_all()
        merge.execute(rows(changed))
        if step == 2:
            lance.dataset(path).optimize.compact_files(target_rows_per_fragment=12_000)
    lance.write_dataset(rows(np.arange(50_000, 55_000)), path, mode="append")
    lance.dataset(path).delete("id % 1009 = 5")
    lance.dataset(path).optimize.compact_files(target_rows_per_fragment=1 << 20)
    return path


def rows(ids) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "score": pa.array(ids * 1.0)})


# ------------------------------------------------------------------------------------ round trips


@given(SEQUENCES)
def test_a_sequence_comes_back(sequence):
    data = encode_row_id_sequence(sequence)
    decoded = decode_row_id_sequence(data, len(sequence))
    assert decoded == sequence
    assert encode_row_id_sequence(decoded) == data


@given(st.lists(st.tuples(numbers(), st.integers(1, 9)), max_size=40))
def test_version_runs_come_back(some):
    counts = np.array([count for _, count in some], dtype=np.int64)
    runs = RowVersionRuns(counts, uint64([version for version, _ in some]))
    data = encode_row_version_sequence(runs)
    assert decode_row_version_sequence(data, len(runs)) == runs


@pytest.mark.slow
@given(SEQUENCES, st.data())
def test_spans_come_back(spans, data):
    versions = uint64(
        data.draw(st.lists(numbers(), min_size=(n := spans.num_segments), max_size=n))
    )
    runs = RowVersionRuns(spans.counts(), versions)
    encoded = encode_row_version_sequence(runs, spans)
    assert decode_row_version_sequence(encoded, len(runs)) == runs
    again, same_versions = decode_row_version_spans(encoded, len(runs))
    assert again == spans
    assert same_versions.tolist() == versions.tolist()


@given(SEQUENCES, st.data())
def test_ranges_are_read_as_protobuf_would(sequence, data):
    """Cut and changed bytes give the same records, or are refused by both."""
    encoded = bytearray(encode_row_id_sequence(sequence))
    for _ in range(data.draw(st.integers(0, 3))):
        if encoded:
            place = data.draw(st.integers(0, len(encoded) - 1))
            encoded[place] = data.draw(st.sampled_from([0, 8, 9, 10, 12, 16, 127, 128, 255]))
    try:
        expected = pb.RowIdSequence.FromString(bytes(encoded))
    except Exception:  # noqa: BLE001 (whatever the parser raises)
        with pytest.raises(CorruptFileError):
            decode_row_id_sequence(bytes(encoded))
        return
    try:
        decoded = decode_row_id_sequence(bytes(encoded))
    except CorruptFileError:
        return
    assert pb.RowIdSequence.FromString(encode_row_id_sequence(decoded)) == known(expected)


def known(message: pb.RowIdSequence) -> pb.RowIdSequence:
    message.DiscardUnknownFields()
    return message


@pytest.mark.parametrize("count", [1, 7, 8, 9, 2_000])
@pytest.mark.parametrize("edge", [0, 127, 1 << 14, 1 << 32, (1 << 56) - 1_000, MAX_U64 - 2_000])
def test_many_ranges_are_read_as_columns(count, edge):
    starts = np.arange(count, dtype=np.uint64) + np.uint64(edge)
    sequence = RowIdSequence.of([Ranges(starts, starts + np.uint64(1))])
    decoded = decode_row_id_sequence(encode_row_id_sequence(sequence), count)
    assert decoded.values().tolist() == starts.tolist()
    assert decoded.num_segments == count
    assert len(decoded.parts) == 1


def test_other_segments_between_ranges_are_kept_in_place():
    single = [Range(number, number + 1) for number in range(0, 60, 2)]
    other = encode_segment(uint64([9, 3, 5]))
    sequence = RowIdSequence.of([*single, other, *single[:3], other, other, *single])
    assert decode_row_id_sequence(encode_row_id_sequence(sequence)) == sequence


def test_unknown_fields_are_skipped():
    known = encode_row_id_sequence(RowIdSequence.of([Range(3, 9)]))
    fields = record(7, b"abc"), varint(9 << 3) + varint(300), varint(11 << 3 | 1) + bytes(8)
    unknown = b"".join(fields) + varint(12 << 3 | 5) + bytes(4)
    decoded = decode_row_id_sequence(unknown + known + unknown)
    assert decoded.segments == (Range(3, 9),)


@pytest.mark.parametrize("rows", [0, 5, None])
def test_nothing_is_an_empty_sequence(rows):
    assert len(decode_row_id_sequence(b"", rows)) == 0
    assert len(decode_row_version_sequence(b"", rows)) == 0
    assert decode_row_id_sequence(bytes.fromhex("0a020a00"), rows).segments == (Range(0, 0),)


def test_a_bitmap_begins_with_its_least_significant_bit():
    message = Bitmap(start=8, end=18, bitmap=bytes([0b0000_0011, 0b10]))
    data = record(1, pb.U64Segment(range_with_bitmap=message).SerializeToString())
    assert decode_row_id_sequence(data, 3).values().tolist() == [8, 9, 17]


# ---------------------------------------------------------------------------------- real writers


def check_fragment(fragment: table_pb2.DataFragment) -> list[str]:
    """Check that the sequences of a fragment come back, byte for byte; return their encodings."""
    ids = decode_row_id_sequence(fragment.inline_row_ids, fragment.physical_rows)
    assert len(ids) == fragment.physical_rows
    assert encode_row_id_sequence(ids) == fragment.inline_row_ids
    chosen = [encode_segment(segment.values()) for segment in ids.segments]
    assert encode_row_id_sequence(RowIdSequence.of(chosen)) == fragment.inline_row_ids
    for data in (fragment.inline_created_at, fragment.inline_last_updated_at):
        if data:
            spans, versions = decode_row_version_spans(data, fragment.physical_rows)
            runs = decode_row_version_sequence(data, fragment.physical_rows)
            assert len(runs) == fragment.physical_rows
            assert runs.versions.tolist() == versions.tolist()
            assert encode_row_version_sequence(runs, spans) == data
            chosen = [encode_segment(segment.values()) for segment in spans.segments]
            assert encode_row_version_sequence(runs, RowIdSequence.of(chosen)) == data
    return [encoding_of(segment) for segment in ids.segments]


@pytest.mark.parametrize("writer", sorted({table.parent.name for table in samples.stored_tables()}))
def test_segments_of_stored_tables_are_encoded_as_their_writers_did(writer):
    tables = [table for table in samples.stored_tables() if table.parent.name == writer]
    checked = [
        check_fragment(fragment)
        for fragment in fragments_of(tables)
        if fragment.HasField("inline_row_ids")
    ]
    assert checked or writer in ("0.10.18", "0.20.0")  # these know no stable row IDs


@pytest.mark.slow
@pytest.mark.drawn(1, scope="module")
def test_segments_of_many_rows_are_encoded_as_the_writer_does(written):
    encodings = [encoding for f in fragments_of(written) for encoding in check_fragment(f)]
    assert set(encodings) == {
        "range",
        "range_with_holes",
        "range_with_bitmap",
        "sorted_array",
        "array",
    }


@pytest.mark.slow
@pytest.mark.drawn(1, scope="module")
def test_row_ids_and_versions_are_those_that_the_writer_reads(written):
    names = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]
    for path in written:
        table: Any = lance.dataset(path)
        [data] = samples.read_manifest(samples.manifest_of(path)).fragments
        fragment = table_pb2.DataFragment.FromString(data)
        expected = table.to_table(columns=names)
        ids = decode_row_id_sequence(fragment.inline_row_ids)
        created = decode_row_version_sequence(fragment.inline_created_at)
        updated = decode_row_version_sequence(fragment.inline_last_updated_at)
        for name, found in zip(
            names, (ids.values(), created.expand(), updated.expand()), strict=True
        ):
            assert found.tolist() == expected.column(name).to_pylist()


# --------------------------------------------------------------------------------- hostile bytes


def u16(*offsets: int, base: int = 0) -> Array:
    data = np.array(offsets, dtype="<u2").tobytes()
    return Array(u16_array=Array.U16Array(base=base, offsets=data))


HOSTILE: dict[str, pb.U64Segment] = {
    "a range of 2^63": pb.U64Segment(range=Start(start=5, end=5 + (1 << 63))),
    "a range of all numbers": pb.U64Segment(range=Start(end=MAX_U64)),
    "a range backwards": pb.U64Segment(range=Start(start=9, end=8)),
    "one row too many": pb.U64Segment(range=Start(start=100, end=1_101)),
    "no form": pb.U64Segment(),
    "holes below": pb.U64Segment(range_with_holes=Holes(start=5, end=9, holes=u16(4))),
    "holes above": pb.U64Segment(range_with_holes=Holes(start=5, end=9, holes=u16(6, 9))),
    "holes unsorted": pb.U64Segment(range_with_holes=Holes(start=5, end=9, holes=u16(7, 6))),
    "holes twice": pb.U64Segment(range_with_holes=Holes(start=5, end=9, holes=u16(7, 7))),
    "more holes than range": pb.U64Segment(range_with_holes=Holes(end=1, holes=u16(0, 1, 2))),
    "holes of no form": pb.U64Segment(range_with_holes=Holes(start=5, end=9)),
    "holes in a range of 2^62": pb.U64Segment(range_with_holes=Holes(end=1 << 62, holes=u16(1))),
    "holes in a range backwards": pb.U64Segment(
        range_with_holes=Holes(start=5, end=1, holes=u16())
    ),
    "a short bitmap": pb.U64Segment(range_with_bitmap=Bitmap(end=17, bitmap=b"\1\1")),
    "a long bitmap": pb.U64Segment(range_with_bitmap=Bitmap(end=8, bitmap=b"\1\1")),
    "no bitmap": pb.U64Segment(range_with_bitmap=Bitmap(end=1 << 62)),
    "a bitmap backwards": pb.U64Segment(range_with_bitmap=Bitmap(start=9, end=1, bitmap=b"\1")),
    "bits behind the end": pb.U64Segment(range_with_bitmap=Bitmap(end=3, bitmap=b"\x0f")),
    "too many bits": pb.U64Segment(range_with_bitmap=Bitmap(end=1_008, bitmap=b"\xff" * 126)),
    "not sorted": pb.U64Segment(sorted_array=u16(1, 0)),
    "array of no form": pb.U64Segment(array=Array()),
    "half an offset": pb.U64Segment(
        array=Array(u16_array=Array.U16Array(base=1, offsets=b"\0\0\0"))
    ),
    "half a wide offset": pb.U64Segment(
        sorted_array=Array(u32_array=Array.U32Array(base=1, offsets=b"\0\0"))
    ),
    "half a number": pb.U64Segment(array=Array(u64_array=Array.U64Array(values=b"\0" * 12))),
    "an offset above 2^64": pb.U64Segment(array=u16(0, 9, base=MAX_U64 - 8)),
    "too many values": pb.U64Segment(array=u16(*range(1_001))),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("before", [0, 1, 50])
def test_impossible_segments_are_refused_at_once(name, before):
    good = record(1, pb.U64Segment(range=Start(start=7, end=8)).SerializeToString())
    bad = record(1, HOSTILE[name].SerializeToString())
    tracemalloc.start()
    with pytest.raises(CorruptFileError):
        decode_row_id_sequence(good * before + bad, 1_000)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("name", HOSTILE)
def test_impossible_spans_are_refused_at_once(name):
    run = pb.RowVersionRun(span=HOSTILE[name], version=3)
    with pytest.raises(CorruptFileError):
        decode_row_version_sequence(record(1, run.SerializeToString()), 1_000)


@pytest.mark.parametrize(
    ("starts", "stops"),
    [
        ([0] * 20, [100] * 20),  # together too many
        ([0] * 20, [0] * 19 + [MAX_U64]),
        ([9] * 20, [8] * 20),
        ([0] * 20, [1 << 63] * 20),  # the sum of two is 0 in 64 bits
    ],
)
def test_impossible_ranges_in_columns_are_refused_at_once(starts, stops):
    sequence = RowIdSequence.of([Ranges(uint64(starts), uint64(stops))])
    with pytest.raises(CorruptFileError, match="rows are left"):
        decode_row_id_sequence(encode_row_id_sequence(sequence), 1_000)
    encoded = [
        record(
            1,
            pb.RowVersionRun(
                span=pb.U64Segment(range=Start(start=a, end=b)), version=1
            ).SerializeToString(),
        )
        for a, b in zip(starts, stops, strict=True)
    ]
    with pytest.raises(CorruptFileError, match="rows are left"):
        decode_row_version_sequence(b"".join(encoded), 1_000)


def test_without_a_row_count_no_more_rows_than_offsets_are_possible():
    data = encode_row_id_sequence(RowIdSequence.of([Range(5, 5 + (1 << 32))]))
    assert len(decode_row_id_sequence(data)) == 1 << 32
    data = encode_row_id_sequence(RowIdSequence.of([Range(5, 6 + (1 << 32))]))
    with pytest.raises(CorruptFileError):
        decode_row_id_sequence(data)


def test_a_shorter_sequence_than_rows_is_for_others_to_judge():
    data = encode_row_id_sequence(RowIdSequence.of([Range(0, 3)]))
    assert len(decode_row_id_sequence(data, 4)) == 3


@pytest.mark.parametrize("data", [b"\x0a", b"\x0a\x05\x0a", b"\x0b", b"\xff" * 11, b"\x0a\x80\x80"])
def test_cut_off_records_are_refused(data):
    for decode in (decode_row_id_sequence, decode_row_version_sequence):
        with pytest.raises(CorruptFileError):
            decode(data)
