"""Types of indices and their settings, beside what pylance says of the same indices."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._pb import table_pb2
from lance_explorer.format.index_details import index_details, index_type
from lance_explorer.format.indices import (
    MEM_WAL_INDEX,
    IndexMetadata,
    decode_index_section,
)
from tests.format import samples

TYPE_IN_PYLANCE = {
    "BTREE": "BTree",
    "BITMAP": "Bitmap",
    "LABEL_LIST": "LabelList",
    "INVERTED": "Inverted",
    "NGRAM": "NGram",
    "ZONE_MAP": "ZoneMap",
    "BLOOM_FILTER": "BloomFilter",
}


def entry(**details: Any) -> IndexMetadata:
    """Return an entry that holds little but its details."""
    message = pb.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=bytes(16)), index_details=pb.AnyDetails(**details)
    )
    section = pb.IndexSection(indices=[message]).SerializeToString()
    [index] = decode_index_section(section)
    return index


@pytest.fixture(scope="module")
def every_type(tmp_path_factory) -> Path:
    """Make a table with an index of every type."""
    path: Path = tmp_path_factory.mktemp("every_type")
    data = samples.rows(0, 300)
    data = data.append_column("tags", pa.array([["a", "b"]] * 300))
    table = lance.write_dataset(data, path)
    kinds: list[tuple[str, Any]] = [
        ("id", "BTREE"),
        ("kind", "BITMAP"),
        ("tags", "LABEL_LIST"),
        ("kind", "INVERTED"),
        ("kind", "NGRAM"),
        ("score", "ZONEMAP"),
        ("id", "BLOOMFILTER"),
    ]
    for column, kind in kinds:
        table.create_scalar_index(column, kind, name=f"{column}_{kind}")
    table.create_index("vector", "IVF_PQ", num_partitions=1, num_sub_vectors=2)
    return path


def test_indices_of_the_oldest_writers_have_no_details():
    indices = [
        index
        for path in samples.DATA.glob("0.10.18/*.lance")
        for file in samples.manifest_files(path)
        for index in decode_index_section(samples.index_section(file) or b"")
    ]
    assert indices
    for index in indices:
        assert (index.type_url, index.details, index.files) == (None, b"", ())
        assert index_type(index) == "unknown"
        assert index_details(index) == {"type_url": None, "num_bytes": 0}


def test_all_index_sections_of_all_writers_are_read():
    for path in samples.stored_tables():
        for file in samples.manifest_files(path):
            for index in decode_index_section(samples.index_section(file) or b""):
                json.dumps(
                    [index_type(index), index_details(index), len(index.fragment_ids() or ())]
                )


def test_every_type_has_its_name_and_pylance_agrees(every_type):
    kinds = {index.name: index_type(index) for index in samples.indices_of(every_type)}
    theirs = {
        index.name: index.index_type for index in lance.dataset(every_type).describe_indices()
    }
    assert kinds.pop("vector_idx") == "VECTOR"
    assert theirs.pop("vector_idx") == "IVF_PQ"
    assert {name: TYPE_IN_PYLANCE[kind] for name, kind in kinds.items()} == theirs
    assert set(kinds.values()) == set(TYPE_IN_PYLANCE)


def test_settings_are_shown_by_the_numbers_of_their_fields(every_type):
    details = {index_type(index): index_details(index) for index in samples.indices_of(every_type)}
    assert details["BTREE"] == {}
    assert details["ZONE_MAP"]["1"] == 8192
    assert details["INVERTED"]["1"] == "simple"
    assert {"1": "lance.ivf.max_iters", "2": "50"} in details["VECTOR"]["9"]
    json.dumps(details)


def test_the_write_ahead_log_is_what_pylance_shows(tmp_path):
    data = samples.rows(0, 10)
    key = {"lance-schema:unenforced-primary-key": "true"}
    id_field = data.schema.field("id").with_nullable(False).with_metadata(key)
    table = samples.write(data.cast(data.schema.set(0, id_field)), tmp_path, "create")
    table.create_scalar_index("id", "BTREE")
    table.initialize_mem_wal(
        bucket_column="id", num_buckets=4, maintained_indexes=["id_idx"], max_memtable_rows=100
    )
    [index] = [index for index in samples.indices_of(tmp_path) if index.name == MEM_WAL_INDEX]
    ours = index_details(index)
    assert index_type(index) == "MEM_WAL"
    assert index.fragment_ids() is None
    theirs = table.mem_wal_index_details() or {}
    assert {name: ours.pop(name) for name in theirs} == theirs
    assert theirs["num_shards"] == 4
    assert ours == {
        "snapshot_ts_millis": 0,
        "inline_snapshots_bytes": None,
        "compacted_sstables": [],
    }


@pytest.mark.parametrize(
    ("type_url", "kind"),
    [
        ("/lance.table.BTreeIndexDetails", "BTREE"),
        ("/LANCE.TABLE.BTREEINDEXDETAILS", "BTREE"),
        ("/lance.table.VectorIndexDetails", "VECTOR"),
        ("/lance.index.pb.VectorIndexDetails", "VECTOR"),
        ("type.googleapis.com/lance.table.NewIndexDetails", "NewIndexDetails"),
        ("Bare", "Bare"),
        ("", "unknown"),
    ],
)
def test_the_type_is_the_last_part_of_its_url(type_url, kind):
    assert index_type(entry(type_url=type_url)) == kind


def test_details_of_an_unknown_type_are_counted_only():
    index = entry(type_url="/x.NewIndexDetails", value=b"\x08\x05")
    assert index_details(index) == {"type_url": "/x.NewIndexDetails", "num_bytes": 2}


@pytest.mark.parametrize(
    "value", [b"\xff", b"\x0a\xff", bytes(1 << 17)], ids=["cut", "bad", "huge"]
)
def test_details_that_cannot_be_shown_are_counted_only(value):
    index = entry(type_url="/lance.table.BTreeIndexDetails", value=value)
    assert index_details(index) == {
        "type_url": "/lance.table.BTreeIndexDetails",
        "num_bytes": len(value),
    }


def test_bytes_are_shown_as_what_they_look_like():
    value = b"\x0a\x02ab" + b"\x12\x02\x08\x01" + b"\x1a\x02\xff\xfe" + b"\x22\x40" + b"\xff" * 64
    index = entry(type_url="/lance.table.BTreeIndexDetails", value=value)
    assert index_details(index) == {"1": "ab", "2": {"1": 1}, "3": "fffe", "4": {"num_bytes": 64}}


def test_messages_in_messages_are_shown_to_a_certain_depth():
    value = b"\x08\x01"
    for _ in range(20):
        value = bytes([0x0A, len(value)]) + value
    shown = index_details(entry(type_url="/lance.table.BTreeIndexDetails", value=value))
    assert json.dumps(shown).count("{") < 10


def test_unknown_fields_of_the_write_ahead_log_are_kept():
    value = pb.MemWalDetails(num_shards=2).SerializeToString() + b"\x52\x02\x08\x05"
    details = index_details(entry(type_url="/lance.table.MemWalIndexDetails", value=value))
    assert details["num_shards"] == 2
    assert details["other_fields"] == {"10": {"1": 5}}


@pytest.fixture(scope="module")
def details(every_type) -> list[IndexMetadata]:
    """Return indices of every type that have details."""
    tables = (every_type, samples.DATA / "14.0.2" / "deferred_remap.lance")
    return [index for table in tables for index in samples.indices_of(table) if index.details]


@given(data=st.data())
def test_damaged_details_are_shown_or_give_an_error_of_ours(details, data):
    index = data.draw(st.sampled_from(details))
    damaged = data.draw(samples.damaged([index.details]))
    with suppress(CorruptFileError):
        json.dumps(index_details(entry(type_url=index.type_url, value=damaged)))
