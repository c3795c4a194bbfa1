"""Deletion files against the rows that pylance still shows, hand-made ones, and damaged ones."""

import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError, UnsupportedFeatureError
from lance_explorer.format.deletions import decode_deletion_file
from lance_explorer.format.fragments import DeletionFileType, decode_fragment
from tests.format import samples

ARROW = DeletionFileType.ARROW_ARRAY
BITMAP = DeletionFileType.BITMAP
OFFSETS = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])


def arrow_file(
    *batches: Any, schema: pa.Schema = OFFSETS, compression: str | None = "zstd"
) -> bytes:
    """Return an Arrow file of one column."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, schema, options=options) as writer:
        for values in batches:
            column = pa.array(values, schema.field(0).type)
            writer.write_batch(pa.record_batch([column], schema=schema))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def deletion_files(table: Path) -> list[tuple[Path, int, int, int]]:
    """Return file, type, physical rows and fragment of all deletions of the latest version."""
    found = []
    for data in samples.read_manifest(samples.manifest_of(table)).fragments:
        fragment = decode_fragment(data)
        if fragment.deletion_file and fragment.deletion_file.base_id is None:
            path = table / fragment.deletion_file.path(fragment.id)
            rows = fragment.physical_rows or 0
            found.append((path, fragment.deletion_file.file_type, rows, fragment.id))
    return found


def live_offsets(table: Path, fragment_id: int) -> set[int]:
    """Return the offsets of the rows that pylance finds in a fragment."""
    fragment: Any = lance.dataset(table).get_fragment(fragment_id)
    rows = fragment.scanner(columns=[], with_row_address=True).to_table()
    addresses = rows.column("_rowaddr").to_numpy()
    return set((addresses & 0xFFFFFFFF).tolist())


@pytest.fixture(scope="module")
def few_and_many(tmp_path_factory) -> Path:
    """Make a table with an Arrow file and a bitmap."""
    path: Path = tmp_path_factory.mktemp("deletions")
    numbers = pa.table({"id": pa.array(range(40_000), pa.int32())})
    table = lance.write_dataset(numbers, path, max_rows_per_file=20_000)
    table.delete("(id < 20000 AND id % 11 = 0) OR (id >= 20000 AND id % 3 != 0)")
    return path


@pytest.fixture(scope="module")
def real_files(few_and_many) -> dict[int, bytes]:
    files = deletion_files(few_and_many)
    return {file_type: path.read_bytes() for path, file_type, _, _ in files}


def test_deleted_offsets_are_those_that_pylance_does_not_show(few_and_many):
    files = deletion_files(few_and_many)
    assert [file_type for _, file_type, _, _ in files] == [ARROW, BITMAP]
    for path, file_type, rows, fragment_id in files:
        deleted = decode_deletion_file(path.read_bytes(), file_type, rows)
        assert set(deleted) == set(range(rows)) - live_offsets(few_and_many, fragment_id)


def test_deletion_files_of_stored_tables_are_read():
    count = 0
    for table in samples.stored_tables():
        for path, file_type, rows, fragment_id in deletion_files(table):
            deleted = decode_deletion_file(path.read_bytes(), file_type, rows)
            assert set(deleted) == set(range(rows)) - live_offsets(table, fragment_id)
            count += 1
    assert count > 20


def test_the_rows_of_the_fragment_need_not_be_known(few_and_many):
    for path, file_type, rows, _ in deletion_files(few_and_many):
        data = path.read_bytes()
        assert decode_deletion_file(data, file_type) == decode_deletion_file(data, file_type, rows)


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("count", [0, 1, 1000])
@pytest.mark.drawn(1)
def test_compression_and_order_do_not_matter(compression, count, seed):
    values = np.random.default_rng(seed).permutation(1000)[:count]
    data = arrow_file(values, compression=compression)
    assert decode_deletion_file(data, ARROW, 1000) == BitMap(values.tolist())


def test_all_batches_count():
    assert decode_deletion_file(arrow_file([5, 1], [], [7]), ARROW, 8) == BitMap([1, 5, 7])
    assert decode_deletion_file(arrow_file(), ARROW, 8) == BitMap()


def test_a_nullable_column_without_nulls_is_read():
    data = arrow_file([3], schema=pa.schema([("row_id", pa.uint32())]))
    assert decode_deletion_file(data, ARROW, 8) == BitMap([3])


def test_the_largest_offset_is_read():
    last = 2**32 - 1
    assert decode_deletion_file(arrow_file([last]), ARROW) == BitMap([last])
    assert decode_deletion_file(BitMap([last]).serialize(), BITMAP) == BitMap([last])


def test_an_unknown_type_is_unsupported():
    with pytest.raises(UnsupportedFeatureError, match="type 2"):
        decode_deletion_file(b"", 2)


@pytest.mark.parametrize("file_type", [ARROW, BITMAP])
def test_an_offset_behind_the_fragment_is_refused(file_type):
    data = arrow_file([3, 9]) if file_type == ARROW else BitMap([3, 9]).serialize()
    assert decode_deletion_file(data, file_type, 10) == BitMap([3, 9])
    with pytest.raises(CorruptFileError, match="offset 9 is deleted from a fragment of 9 rows"):
        decode_deletion_file(data, file_type, 9)


def test_more_offsets_than_rows_are_refused():
    with pytest.raises(CorruptFileError, match="found 2 deleted offsets where 1 are possible"):
        decode_deletion_file(arrow_file([0], [1, 2]), ARROW, 2)


@pytest.mark.parametrize("file_type", [ARROW, BITMAP])
@pytest.mark.parametrize("data", [b"", b"ARROW1", b"x" * 100, b"ARROW1" + bytes(100) + b"ARROW1"])
def test_other_bytes_are_refused(file_type, data):
    with pytest.raises(CorruptFileError):
        decode_deletion_file(data, file_type, 10)


def test_a_file_of_the_other_type_is_refused(real_files):
    for file_type, data in real_files.items():
        with pytest.raises(CorruptFileError):
            decode_deletion_file(data, 1 - file_type)


def test_a_cut_file_is_refused(real_files):
    for file_type, data in real_files.items():
        for length in range(0, len(data), 97):
            with pytest.raises(CorruptFileError):
                decode_deletion_file(data[:length], file_type)


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([("row_id", pa.int32())]),
        pa.schema([("row_id", pa.uint64())]),
        pa.schema([("row_id", pa.dictionary(pa.int8(), pa.uint32()))]),
        pa.schema([("other", pa.uint32())]),
    ],
    ids=["int32", "uint64", "dictionary", "name"],
)
def test_another_column_is_refused(schema):
    with pytest.raises(CorruptFileError, match="row_id: uint32"):
        decode_deletion_file(arrow_file([1], schema=schema), ARROW, 10)


def test_a_second_column_is_refused():
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({"row_id": pa.array([1], pa.uint32()), "more": pa.array([1])})
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(CorruptFileError, match="one column"):
        decode_deletion_file(sink.getvalue().to_pybytes(), ARROW, 10)


def test_an_arrow_file_is_read_without_pandas():
    program = """
import sys
from lance_explorer.format.deletions import decode_deletion_file
assert len(decode_deletion_file(sys.stdin.buffer.read(), 0)) == 3
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], input=arrow_file([5, 1, 7]), check=True)


def test_missing_values_are_refused():
    data = arrow_file([1, None], schema=pa.schema([("row_id", pa.uint32())]))
    with pytest.raises(CorruptFileError):
        decode_deletion_file(data, ARROW, 10)


@pytest.mark.parametrize("size", [2**62, 2**40, 2**32, 2**22, -2])
def test_a_buffer_that_claims_to_be_huge_is_refused_before_it_is_made(size):
    data = arrow_file(list(range(1000)))
    claim = struct.pack("<q", 4000)
    assert data.count(claim + b"\x28\xb5\x2f\xfd") == 1
    data = data.replace(claim, struct.pack("<q", size), 1)
    with pytest.raises(CorruptFileError, match="claim to need"):
        decode_deletion_file(data, ARROW, 1000)


def test_a_small_file_that_holds_a_huge_one_is_refused():
    data = arrow_file(np.zeros(100_000_000, np.uint32))
    assert len(data) < 100_000
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    for physical_rows in (1000, None):
        with pytest.raises(CorruptFileError, match="found 100000000 deleted offsets"):
            decode_deletion_file(data, ARROW, physical_rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    assert pool.bytes_allocated() == before


def test_a_batch_of_more_rows_than_its_buffer_holds_is_refused():
    data = arrow_file(list(range(1000)), compression=None)
    rows = struct.pack("<q", 1000)
    assert data.count(rows) == 2  # of the batch, and of its column
    with pytest.raises(CorruptFileError):
        decode_deletion_file(data.replace(rows, struct.pack("<q", 5000)), ARROW, 10_000)


def test_a_schema_that_says_it_is_something_else_is_refused():
    """Arrow checks a message as what it says it is, then reads it as what it was asked for."""
    data = arrow_file([1])
    start = data.index(b"\xff\xff\xff\xff")
    disguised = []
    for position in range(start + 8, start + 64):
        changed = data[:position] + b"\x00" + data[position + 1 :]
        try:
            reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(changed[start:]))
            if reader.read_next_message().type == "unknown":
                disguised.append(changed)
        except (pa.ArrowInvalid, OSError):
            continue
    assert disguised
    for changed in disguised:
        with pytest.raises(CorruptFileError, match="expected a schema"):
            decode_deletion_file(changed, ARROW, 10)


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_any_one_changed_byte_gives_a_bitmap_or_an_error_of_ours(compression):
    data = arrow_file([5, 1], [7], compression=compression)
    for position in range(len(data)):
        for value in (0, 1, 2, 4, 127, 128, 255):
            changed = data[:position] + bytes([value]) + data[position + 1 :]
            try:
                assert len(decode_deletion_file(changed, ARROW, 100)) <= 3
            except CorruptFileError:
                continue


@pytest.mark.slow
@given(data=st.data(), physical_rows=st.none() | st.integers(0, 30_000))
def test_damaged_files_give_a_bitmap_or_an_error_of_ours(real_files, data, physical_rows):
    files = [*real_files.values(), arrow_file([5, 1], [7], compression=None), arrow_file([5, 1])]
    damaged = data.draw(samples.damaged(files))
    for file_type in DeletionFileType:
        try:
            deleted = decode_deletion_file(damaged, file_type, physical_rows)
        except CorruptFileError:
            continue
        assert physical_rows is None or len(deleted) <= physical_rows


@given(offsets=st.sets(st.integers(0, 2**32 - 1), max_size=200), split=st.integers(0, 200))
def test_what_was_written_is_read(offsets, split):
    values = list(offsets)
    written = arrow_file(values[:split], values[split:])
    assert decode_deletion_file(written, ARROW) == BitMap(values)
    assert decode_deletion_file(BitMap(values).serialize(), BITMAP) == BitMap(values)
