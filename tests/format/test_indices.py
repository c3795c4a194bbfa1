"""The index section against what pylance says about the same indices, and the reuse history.

That the reuse history is read right is shown by following rows through it and comparing with
pylance, and with the transaction of the same compaction.
"""

import json
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap, BitMap64

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._pb import table_pb2
from lance_explorer.format.fragments import ExternalFile
from lance_explorer.format.indices import (
    FRAGMENT_REUSE_INDEX,
    MEM_WAL_INDEX,
    SYSTEM_INDICES,
    FragDigest,
    FragmentReuse,
    FragReuseGroup,
    FragReuseTransition,
    FragReuseVersion,
    IndexMetadata,
    OrderedCompaction,
    StablePartition,
    decode_fragment_reuse,
    decode_fragment_reuse_details,
    decode_index_section,
    index_details,
    index_type,
)
from lance_explorer.format.operations import Rewrite
from lance_explorer.format.transactions import decode_transaction
from tests.format import samples

UUID_BYTES = bytes(range(16))
UUID_TEXT = "00010203-0405-0607-0809-0a0b0c0d0e0f"

TYPE_IN_PYLANCE = {
    "BTREE": "BTree",
    "BITMAP": "Bitmap",
    "LABEL_LIST": "LabelList",
    "INVERTED": "Inverted",
    "NGRAM": "NGram",
    "ZONE_MAP": "ZoneMap",
    "BLOOM_FILTER": "BloomFilter",
}


def indices_of(path: Path, version: int | None = None) -> list[IndexMetadata]:
    """Return the indices of a version of the main branch."""
    section = samples.index_section(samples.manifest_of(path, version))
    return list(decode_index_section(section or b""))


def described(table: lance.LanceDataset) -> set[tuple[Any, ...]]:
    """Return what pylance says about each segment of each index."""
    facts = set()
    for index in table.describe_indices():
        for segment in index.segments if index.name not in SYSTEM_INDICES else ():
            created = segment.created_at and round(segment.created_at.timestamp() * 1000)
            facts.add(
                (
                    *(index.name, segment.uuid, segment.dataset_version_at_last_update),
                    *(frozenset(segment.fragment_ids), segment.index_version, created),
                    *(index.type_url, tuple(index.fields), segment.size_bytes, segment.base_id),
                )
            )
    return facts


def decoded(indices: list[IndexMetadata]) -> set[tuple[Any, ...]]:
    """Return the same of the records, as pylance shows it: where fragments were rewritten since."""
    reuse = [
        decode_fragment_reuse_details(index.details)
        for index in indices
        if index.name == FRAGMENT_REUSE_INDEX
    ]
    facts = set()
    for index in indices:
        if index.name not in SYSTEM_INDICES:
            covered = set(index.fragment_ids() or ())
            for history in reuse:
                assert isinstance(history, FragmentReuse)
                covered = covered_since(covered, history)
            sizes = [file.size_bytes or 0 for file in index.files]
            facts.add(
                (
                    *(index.name, index.uuid, index.dataset_version),
                    *(frozenset(covered), index.index_version, index.created_at_ms),
                    *(index.type_url, index.fields, sum(sizes) if sizes else None, index.base_id),
                )
            )
    return facts


def covered_since(covered: set[int], history: FragmentReuse) -> set[int]:
    """Return the fragments that hold the covered rows after all compactions of the history."""
    for version in history.versions:
        for group in version.groups:
            old = {fragment.id for fragment in group.old_frags}
            if old <= covered:
                covered = covered - old | {fragment.id for fragment in group.new_frags}
    return covered


def entry(**details: Any) -> IndexMetadata:
    """Return an entry that holds little but its details."""
    message = pb.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=UUID_BYTES), index_details=pb.AnyDetails(**details)
    )
    section = pb.IndexSection(indices=[message]).SerializeToString()
    [index] = decode_index_section(section)
    return index


@pytest.fixture(scope="module", params=[False, True], ids=["addresses", "stable_row_ids"])
def life_cycle(request, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("indices") / "life_cycle.lance"
    return samples.write_life_cycle(path, stable_row_ids=request.param)


@pytest.fixture(scope="module")
def deferred(tmp_path_factory) -> Path:
    """Make a table with two compactions that left an index behind."""
    path: Path = tmp_path_factory.mktemp("deferred")
    samples.write(samples.rows(0, 60), path, "create")
    table = lance.dataset(path)
    table.create_scalar_index("id", "BTREE")
    table.delete("id % 7 = 0")
    table.optimize.compact_files(defer_index_remap=True)
    table.delete("id < 10")
    table.optimize.compact_files(defer_index_remap=True)
    return path


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


# ------------------------------------------------------------------------------- against pylance


def test_segments_of_all_versions_are_what_pylance_describes(life_cycle):
    seen = set()
    for version in lance.dataset(life_cycle).versions():
        indices = indices_of(life_cycle, version["version"])
        table = lance.dataset(life_cycle, version["version"])
        assert decoded(indices) == described(table)
        seen |= {index.name for index in indices}
    assert seen == {"id_idx", "kind_idx", "vector_idx"}


@pytest.mark.parametrize("writer", ["8.0.1", "13.0.0", "14.0.2"])
def test_segments_of_stored_tables_are_what_pylance_describes(writer):
    for path in (samples.DATA / writer).glob("*.lance"):
        assert decoded(indices_of(path)) == described(lance.dataset(path))


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
    kinds = {index.name: index_type(index) for index in indices_of(every_type)}
    theirs = {
        index.name: index.index_type for index in lance.dataset(every_type).describe_indices()
    }
    assert kinds.pop("vector_idx") == "VECTOR"
    assert theirs.pop("vector_idx") == "IVF_PQ"
    assert {name: TYPE_IN_PYLANCE[kind] for name, kind in kinds.items()} == theirs
    assert set(kinds.values()) == set(TYPE_IN_PYLANCE)


def test_settings_are_shown_by_the_numbers_of_their_fields(every_type):
    details = {index_type(index): index_details(index) for index in indices_of(every_type)}
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
    [index] = [index for index in indices_of(tmp_path) if index.name == MEM_WAL_INDEX]
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


# ----------------------------------------------------------------------------- fragment reuse index


def reuse_entry(path: Path) -> IndexMetadata:
    [index] = [index for index in indices_of(path) if index.name == FRAGMENT_REUSE_INDEX]
    return index


def follow(addresses: list[int], reuse: FragmentReuse) -> list[int | None]:
    """Follow row addresses through the history; None is a row that had been deleted."""
    followed: list[int | None] = list(addresses)
    for version in reuse.versions:
        for group in version.groups:
            old = {fragment.id for fragment in group.old_frags}
            destinations = [
                fragment.id << 32 | offset
                for fragment in group.new_frags
                for offset in range(fragment.physical_rows or 0)
            ]
            moved = dict(zip(group.row_addresses(), destinations, strict=True))
            followed = [
                moved.get(address) if address is not None and address >> 32 in old else address
                for address in followed
            ]
    return followed


def test_rows_followed_through_the_history_arrive_where_pylance_says(deferred):
    index = reuse_entry(deferred)
    reuse = decode_fragment_reuse_details(index.details)
    assert isinstance(reuse, FragmentReuse)
    addresses = [fragment << 32 | offset for fragment in range(3) for offset in range(20)]
    theirs = lance.dataset(deferred).remap_row_addrs(pa.array(addresses, pa.uint64()))
    assert theirs is not None
    assert follow(addresses, reuse) == theirs.to_pylist()


def test_the_history_agrees_with_the_transactions_of_the_compactions(deferred):
    reuse = decode_fragment_reuse_details(reuse_entry(deferred).details)
    assert isinstance(reuse, FragmentReuse)
    rewrites = [
        operation
        for data in samples.transaction_files(deferred)
        if isinstance(operation := decode_transaction(data).operation, Rewrite)
    ]
    rewrites.sort(key=lambda rewrite: rewrite.groups[0].new_fragments[0].id)
    assert [
        [
            ([f.id for f in group.old_frags], [f.id for f in group.new_frags])
            for group in version.groups
        ]
        for version in reuse.versions
    ] == [
        [
            ([f.id for f in group.old_fragments], [f.id for f in group.new_fragments])
            for group in rewrite.groups
        ]
        for rewrite in rewrites
    ]
    assert [rewrite.rewritten_indices for rewrite in rewrites] == [(), ()]


def test_a_digest_counts_the_rows_that_the_compaction_found(deferred):
    reuse = decode_fragment_reuse_details(reuse_entry(deferred).details)
    assert isinstance(reuse, FragmentReuse)
    [group] = reuse.versions[0].groups
    assert group.old_frags == (FragDigest(0, 20, 3), FragDigest(1, 20, 3), FragDigest(2, 20, 3))
    assert [(f.physical_rows, f.num_deleted_rows) for f in group.new_frags] == [(51, 0)]
    assert len(group.row_addresses()) == 51


def test_the_reuse_index_is_summed_up(deferred):
    index = reuse_entry(deferred)
    assert index_type(index) == "FRAGMENT_REUSE"
    assert index.fields == ()
    assert index_details(index) == {
        "kind": "inline",
        "versions": 2,
        "groups": 2,
        "transitions": 0,
        "old_fragments": 4,
        "new_fragments": 2,
    }


def test_a_large_history_lies_in_a_file_of_its_own(tmp_path):
    rows = 1_900_000
    numbers = pa.table({"id": pa.array(np.arange(rows, dtype=np.int32))})
    table = lance.write_dataset(numbers, tmp_path, max_rows_per_file=rows // 2)
    table.create_scalar_index("id", "BTREE")
    table.delete("id % 3 = 0")
    table.optimize.compact_files(defer_index_remap=True, target_rows_per_fragment=rows)
    index = reuse_entry(tmp_path)
    place = decode_fragment_reuse_details(index.details)
    assert isinstance(place, ExternalFile)
    file = (tmp_path / "_indices" / index.uuid / place.path).read_bytes()
    assert (place.offset, place.size) == (0, len(file))
    shown = {"path": place.path, "offset": 0, "size_bytes": len(file)}
    assert index_details(index) == {"kind": "external", **shown}
    addresses = [3, 4, 5, 1 << 32, 1 << 32 | 949_999]
    theirs = table.remap_row_addrs(pa.array(addresses, pa.uint64()))
    assert theirs is not None
    assert follow(addresses, decode_fragment_reuse(file)) == theirs.to_pylist()


def test_transitions_are_read():
    digest = pb.FragmentDigest(id=1, physical_rows=10, num_deleted_rows=2)
    content = pb.FragmentReuseContent(
        transitions=[
            pb.FragmentReuseTransition(
                sources=[digest],
                destinations=[digest],
                ordered_compaction=pb.OrderedCompaction(changed_row_addrs=b"rows"),
            ),
            pb.FragmentReuseTransition(
                stable_partition=pb.StablePartition(map_id="m", map_size_bytes=9, base_id=0)
            ),
            pb.FragmentReuseTransition(),
        ]
    )
    record = FragDigest(1, 10, 2)
    assert decode_fragment_reuse(content.SerializeToString()) == FragmentReuse(
        versions=(),
        transitions=(
            FragReuseTransition((record,), (record,), OrderedCompaction(b"rows")),
            FragReuseTransition((), (), StablePartition("m", 9, 0)),
            FragReuseTransition((), (), None),
        ),
    )


def test_a_history_is_the_same_inline_and_in_a_file():
    content = pb.FragmentReuseContent(
        versions=[
            pb.FragmentReuseVersion(
                dataset_version=7,
                groups=[pb.FragmentReuseGroup(changed_row_addrs=BitMap64([1]).serialize())],
            )
        ]
    )
    group = FragReuseGroup(BitMap64([1]).serialize(), (), ())
    expected = FragmentReuse((FragReuseVersion(7, (group,)),), ())
    inline = pb.FragmentReuseDetails(inline=content).SerializeToString()
    assert decode_fragment_reuse(content.SerializeToString()) == expected
    assert decode_fragment_reuse_details(inline) == expected
    assert group.row_addresses() == BitMap64([1])


# ----------------------------------------------------------------------------- unknown and odd ones


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


def test_unknown_is_none():
    index = entry()
    assert (index.uuid, index.type_url, index.fragment_ids()) == (UUID_TEXT, None, None)
    assert (index.index_version, index.created_at_ms, index.base_id) == (None, None, None)


def test_zero_is_a_value():
    message = pb.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=UUID_BYTES), index_version=0, base_id=0, created_at=0
    )
    [index] = decode_index_section(pb.IndexSection(indices=[message]).SerializeToString())
    assert (index.index_version, index.created_at_ms, index.base_id) == (0, 0, 0)


def test_an_empty_section_holds_no_index():
    assert decode_index_section(b"") == ()


# ------------------------------------------------------------------------------------ damaged bytes


def test_an_index_without_a_uuid_is_refused():
    section = pb.IndexSection(indices=[pb.IndexMetadata(name="x")]).SerializeToString()
    with pytest.raises(CorruptFileError, match="UUID"):
        decode_index_section(section)


def test_a_damaged_bitmap_is_refused_by_the_name_of_its_index():
    message = pb.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=UUID_BYTES), name="idx", fragment_bitmap=b"nonsense"
    )
    [index] = decode_index_section(pb.IndexSection(indices=[message]).SerializeToString())
    with pytest.raises(CorruptFileError, match="'idx'"):
        index.fragment_ids()


@pytest.mark.parametrize("data", [b"", b"\xff"], ids=["empty", "cut"])
def test_reuse_details_without_a_history_are_refused(data):
    with pytest.raises(CorruptFileError):
        decode_fragment_reuse_details(data)


def test_damaged_row_addresses_are_refused():
    for data in (b"", b"nonsense", BitMap([1]).serialize()):
        with pytest.raises(CorruptFileError, match="row addresses"):
            FragReuseGroup(data, (), ()).row_addresses()


@pytest.fixture(scope="module")
def section_samples(life_cycle, deferred, every_type) -> list[bytes]:
    files = [
        file for path in (life_cycle, deferred, every_type) for file in samples.manifest_files(path)
    ]
    return [section for file in files if (section := samples.index_section(file))]


@given(data=st.data())
def test_damaged_sections_give_records_or_an_error_of_ours(section_samples, data):
    damaged = data.draw(samples.damaged(section_samples))
    try:
        for index in decode_index_section(damaged):
            json.dumps([index_type(index), index_details(index)])
            index.fragment_ids()
    except CorruptFileError:
        pass


@given(data=st.data())
def test_damaged_histories_give_records_or_an_error_of_ours(deferred, data):
    details = reuse_entry(deferred).details
    content = pb.FragmentReuseDetails.FromString(details).inline.SerializeToString()
    for decode, sample in (
        (decode_fragment_reuse_details, details),
        (decode_fragment_reuse, content),
    ):
        damaged = data.draw(samples.damaged([sample]))
        try:
            history = decode(damaged)
            if isinstance(history, FragmentReuse):
                for version in history.versions:
                    for group in version.groups:
                        group.row_addresses()
        except CorruptFileError:
            pass
