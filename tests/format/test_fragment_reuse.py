"""The fragment reuse history: rows followed through it arrive where pylance says.

It also agrees with the transactions of the same compactions.
"""

from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap, BitMap64

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format.fragment_reuse import (
    FragDigest,
    FragmentReuse,
    FragReuseGroup,
    FragReuseTransition,
    FragReuseVersion,
    OrderedCompaction,
    StablePartition,
    decode_fragment_reuse,
    decode_fragment_reuse_details,
)
from lance_explorer.format.fragments import ExternalFile
from lance_explorer.format.index_details import index_details, index_type
from lance_explorer.format.indices import (
    FRAGMENT_REUSE_INDEX,
    IndexMetadata,
)
from lance_explorer.format.layout_operations import Rewrite
from lance_explorer.format.transactions import decode_transaction
from tests.format import samples


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


def reuse_entry(path: Path) -> IndexMetadata:
    [index] = [index for index in samples.indices_of(path) if index.name == FRAGMENT_REUSE_INDEX]
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


@pytest.mark.slow
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


@pytest.mark.parametrize("data", [b"", b"\xff"], ids=["empty", "cut"])
def test_reuse_details_without_a_history_are_refused(data):
    with pytest.raises(CorruptFileError):
        decode_fragment_reuse_details(data)


def test_damaged_row_addresses_are_refused():
    for data in (b"", b"nonsense", BitMap([1]).serialize()):
        with pytest.raises(CorruptFileError, match="row addresses"):
            FragReuseGroup(data, (), ()).row_addresses()


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
