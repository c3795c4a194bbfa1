"""Fragments: what tells two states apart, what is unknown, and numbers that cannot be."""

from typing import Any

import lance
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.fragments import (
    HIDDEN_FIELDS,
    SHORTENED,
    TOMBSTONE,
    DataFile,
    DeletionFile,
    DeletionFileType,
    ExternalFile,
    Fragment,
    StoredSequence,
    decode_fragment,
    shortened,
)
from lance_explorer.format.manifest import decode_manifest
from tests.format import samples


def fragment(**fields: Any) -> Fragment:
    """Decode a fragment with these fields."""
    return decode_fragment(pb.DataFragment(**fields).SerializeToString())


def latest(name: str) -> tuple[Fragment, ...]:
    """Return the fragments of the latest version of a stored table."""
    table = samples.DATA / "14.0.2" / f"{name}.lance"
    files = sorted(samples.manifest_files(table), key=lambda f: samples.read_manifest(f).version)
    return decode_manifest(files[-1])[2]


def test_what_a_writer_did_not_store_is_none():
    assert fragment() == Fragment(0, (), None, None, None, None, None, (), None, ())


def test_sizes_and_bases_that_are_not_stored_are_none():
    [file] = fragment(files=[pb.DataFile(path="a.lance")]).files
    assert file == DataFile("a.lance", (), (), 0, 0, None, None)


def test_the_first_base_is_a_base():
    [file] = fragment(files=[pb.DataFile(base_id=0)]).files
    assert file.base_id == 0


@pytest.mark.parametrize(
    ("file_type", "name"),
    [(DeletionFileType.ARROW_ARRAY, "7-3-11.arrow"), (DeletionFileType.BITMAP, "7-3-11.bin")],
)
def test_a_deletion_file_is_named_by_what_it_is(file_type, name):
    assert DeletionFile(file_type, 3, 11, None, None).path(7) == f"_deletions/{name}"


@pytest.mark.parametrize("name", ["bitmap_deletions", "life_cycle", "stable_row_ids"])
def test_deletion_files_lie_where_their_names_say(name):
    table = samples.DATA / "14.0.2" / f"{name}.lance"
    paths = {
        fragment.deletion_file.path(fragment.id)
        for file in samples.manifest_files(table)
        for fragment in decode_manifest(file)[2]
        if fragment.deletion_file
    }
    found = {str(path.relative_to(table)) for path in (table / "_deletions").iterdir()}
    assert paths == found


@pytest.mark.parametrize(
    "fields",
    [
        {"id": 2**32 + 1},
        {"id": 2**64 - 1},
        {"physical_rows": 2**32 + 1},
        {"deletion_file": {"num_deleted_rows": 2**32 + 1}},
        {"files": [{"file_size_bytes": 2**63}]},
        {"overlays": [{"data_file": {"file_size_bytes": 2**64 - 1}}]},
    ],
    ids=str,
)
def test_numbers_that_no_table_can_reach_are_refused(fields):
    with pytest.raises(CorruptFileError):
        fragment(**fields)


def test_sequences_are_told_apart_by_their_bytes_alone():
    one, same, other = (fragment(inline_row_ids=data) for data in (b"abc", b"abc", b"abd"))
    assert one == same != other
    assert one.row_ids is not None
    assert (one.row_ids.storage, one.row_ids.num_bytes) == ("inline", 3)


def test_an_empty_sequence_is_a_sequence():
    stored = fragment(inline_created_at=b"").created_at
    assert stored is not None
    assert (stored.storage, stored.num_bytes) == ("inline", 0)


def test_a_sequence_may_lie_in_another_file():
    file = pb.ExternalFile(path="seq.bin", offset=4, size=2**40)
    assert fragment(external_row_ids=file).row_ids == StoredSequence(
        "external", file=ExternalFile("seq.bin", 4, 2**40)
    )


def test_spilled_sequences_are_in_hidden_columns():
    stored = latest("spilled")
    spilled = [f for f in stored if f.row_ids and f.row_ids.storage == "spilled"]
    columns = {field for f in spilled for file in f.files for field in file.fields}
    assert spilled
    assert min(HIDDEN_FIELDS.keys(), key=abs) in columns


def test_a_replaced_column_leaves_a_tombstone():
    fields = [file.fields for f in latest("data_replacement") for file in f.files]
    assert TOMBSTONE in {number for numbers in fields for number in numbers}


def test_a_sparse_overlay_has_a_coverage_for_each_column():
    [overlay] = [overlay for f in latest("data_overlay") for overlay in f.overlays]
    assert (overlay.shared, len(overlay.coverage)) == (False, 2)
    assert overlay.covered_offsets() == BitMap([0, 2, 3, 10])


def test_a_dense_overlay_has_one_coverage_for_all_columns():
    dense = pb.DataOverlayFile(shared_offset_bitmap=BitMap([1, 4]).serialize())
    [overlay] = fragment(overlays=[dense]).overlays
    assert (overlay.shared, overlay.covered_offsets()) == (True, BitMap([1, 4]))


def test_an_overlay_without_coverage_covers_nothing():
    [overlay] = fragment(overlays=[pb.DataOverlayFile()]).overlays
    assert overlay.covered_offsets() == BitMap()


def test_a_coverage_that_is_no_bitmap_is_refused_when_it_is_asked_for():
    [overlay] = fragment(overlays=[pb.DataOverlayFile(shared_offset_bitmap=b"junk")]).overlays
    with pytest.raises(CorruptFileError, match="the rows of an overlay"):
        overlay.covered_offsets()


@pytest.mark.parametrize("name", ["life_cycle", "schema_changes", "format_2_2", "update_columns"])
def test_files_are_those_that_pylance_lists(name):
    dataset: Any = lance.dataset(samples.DATA / "14.0.2" / f"{name}.lance")
    listed = [
        (f.id, file.path, tuple(file.fields), file.file_size_bytes)
        for f in (fragment.metadata for fragment in dataset.get_fragments())
        for file in f.files
    ]
    assert [
        (f.id, file.path, file.fields, file.size_bytes) for f in latest(name) for file in f.files
    ] == listed


@given(
    st.binary(max_size=600), st.binary(max_size=600), st.binary(max_size=600), st.integers(0, 10)
)
def test_a_shortened_fragment_is_the_same_record(row_ids, created, updated, number):
    message = pb.DataFragment(
        id=number,
        files=[pb.DataFile(path="x" * 60, fields=[1, 2])],
        inline_row_ids=row_ids,
        inline_created_at=created,
        inline_last_updated_at=updated,
    ).SerializeToString()
    short = shortened(message)
    assert decode_fragment(short) == decode_fragment(message)
    assert len(short) <= len(message)
    assert shortened(short) == short


def test_fragments_whose_long_sequences_differ_stay_different():
    one, other = (
        pb.DataFragment(id=1, inline_row_ids=bytes(999) + bytes([last])).SerializeToString()
        for last in (0, 1)
    )
    assert len(shortened(one)) < 100
    assert shortened(one) != shortened(other)
    assert shortened(b"\xff" * 600) == b"\xff" * 600


def test_a_forged_short_sequence_claims_no_impossible_size():
    forged = SHORTENED + b"\xff" * 28
    stored = fragment(id=1, inline_row_ids=forged).row_ids
    assert stored is not None
    assert stored.num_bytes < 1 << 32
