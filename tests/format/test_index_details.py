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
from lance.indices import IndexConfig

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
from tests.synthetic.wire import record

VECTOR_TYPES = (
    *("IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ"),
    *("IVF_HNSW_FLAT", "IVF_HNSW_PQ", "IVF_HNSW_SQ"),
)

TYPE_IN_PYLANCE = {
    "BTREE": "BTree",
    "BITMAP": "Bitmap",
    "LABEL_LIST": "LabelList",
    "INVERTED": "Inverted",
    "NGRAM": "NGram",
    "ZONE_MAP": "ZoneMap",
    "BLOOM_FILTER": "BloomFilter",
    "FM": "Fm",
    "MINHASH_LSH": "MinHashLsh",
    "RTREE": "RTree",
    "JSON": "Json",
    **{kind: kind for kind in VECTOR_TYPES},
}
"""Every type that pylance 14.0.2 can build, as we and as it call it."""


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
    data = data.append_column("words", pa.array([f"word{row % 7} text" for row in range(300)]))
    data = data.append_column("document", pa.array(['{"x": 1}'] * 300, pa.json_()))
    place = pa.struct([("x", pa.float64()), ("y", pa.float64())])
    field = pa.field("place", place, metadata={"ARROW:extension:name": "geoarrow.point"})
    data = data.append_column(field, pa.array([{"x": 1.0, "y": 2.0}] * 300, place))
    wide = pa.FixedSizeListArray.from_arrays(pa.array([0.5, 1.5] * 1200, pa.float32()), 8)
    data = data.append_column("wide", wide)  # IVF_RQ asks for 8 dimensions
    table = lance.write_dataset(data, path)
    kinds: list[tuple[str, Any]] = [
        ("id", "BTREE"),
        ("kind", "BITMAP"),
        ("tags", "LABEL_LIST"),
        ("words", "INVERTED"),
        ("kind", "NGRAM"),
        ("score", "ZONEMAP"),
        ("id", "BLOOMFILTER"),
        ("words", "MINHASHLSH"),
        ("place", "RTREE"),
        ("words", IndexConfig("fm", {})),
        ("document", IndexConfig("json", {"target_index_type": "btree", "path": "x"})),
    ]
    for column, kind in kinds:
        table.create_scalar_index(column, kind, name=f"{column}_{kind}")
    table.create_scalar_index("words", "INVERTED", name="code", base_tokenizer="code")
    for kind in VECTOR_TYPES:
        table.create_index(
            "wide",
            kind,
            name=kind,
            num_partitions=1,
            num_sub_vectors=2,
            metric="cosine",
        )
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
    assert {name: TYPE_IN_PYLANCE[kind] for name, kind in kinds.items()} == theirs
    assert set(kinds.values()) == set(TYPE_IN_PYLANCE)


def test_settings_are_those_that_pylance_describes(every_type):
    ours = {index.name: index_details(index) for index in samples.indices_of(every_type)}
    for index in lance.dataset(every_type).describe_indices():
        theirs = index.details
        if index.index_type in ("Inverted", "MinHashLsh"):
            theirs = _without_what_is_not_stored(theirs)
        if index.index_type == "Json":
            assert ours[index.name].pop("target_index_type") == "BTree"
        if index.index_type == "Inverted":
            assert ours[index.name].pop("format_version") in (2, 3)
        if theirs:
            assert ours[index.name] == theirs
    assert ours["code"]["split_on_numerics"] is True


def _without_what_is_not_stored(details: dict[str, Any]) -> dict[str, Any]:
    """Return settings of a tokenizer without those that pylance fills in."""
    filled_in = {"lance_tokenizer", "custom_stop_words"}
    if details.get("base_tokenizer") == "simple":
        filled_in |= {"split_identifiers", "split_on_numerics"}
        filled_in |= {"preserve_original", "index_operators"}
    return {
        name: _without_what_is_not_stored(value) if isinstance(value, dict) else value
        for name, value in details.items()
        if name not in filled_in
    }


def test_settings_that_pylance_does_not_describe_are_shown(every_type):
    details = {index.name: index_details(index) for index in samples.indices_of(every_type)}
    shown = {"rows_per_zone": 8192, "use_seeds": False, "other_fields": {"3": 1}}
    assert details["score_ZONEMAP"] == shown
    assert details["id_BTREE"] == {}
    json.dumps(details)


def test_fields_that_nobody_knows_are_shown_by_their_numbers():
    inside = record(6, bytes([8, 5, 56, 9]))  # of a quantizer: a number 7
    details = index_details(
        entry(type_url="/lance.index.pb.VectorIndexDetails", value=inside + bytes([120, 3]))
    )
    assert details["compression"] == {"type": "rq", "num_bits": 5, "rotation_type": "fast"}
    assert details["other_fields"] == {"15": 3, "rq": {"7": 9}}


def test_the_kind_of_a_vector_index_of_an_early_writer_is_not_known():
    [*kinds] = {
        index_type(index)
        for path in samples.DATA.glob("1.0.4/*.lance")
        for file in samples.manifest_files(path)
        for index in decode_index_section(samples.index_section(file) or b"")
        if index.type_url and index.type_url.endswith("VectorIndexDetails")
    }
    assert kinds == ["VECTOR"]


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
    shown = {"1": "ab", "2": {"1": 1}, "3": "fffe", "4": {"num_bytes": 64}}
    assert index_details(index) == {"other_fields": shown}


def test_messages_in_messages_are_shown_to_a_certain_depth():
    value = b"\x08\x01"
    for _ in range(20):
        value = bytes([0x0A, len(value)]) + value
    shown = index_details(entry(type_url="/lance.table.BTreeIndexDetails", value=value))
    assert json.dumps(shown).count("{") < 10


def test_unknown_fields_of_the_write_ahead_log_are_kept():
    value = pb.MemWalDetails(num_shards=2).SerializeToString() + b"\x6a\x02\x08\x05"
    details = index_details(entry(type_url="/lance.table.MemWalIndexDetails", value=value))
    assert details["num_shards"] == 2
    assert details["other_fields"] == {"13": {"1": 5}}


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
