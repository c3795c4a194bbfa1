"""Manifest files: where their parts lie, what the stored tables hold, and damaged bytes."""

import re
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.fragments import BasePath
from lance_explorer.format.manifest import (
    Manifest,
    ManifestLayout,
    Section,
    WriterVersion,
    decode_manifest,
    decode_schema,
    read_layout,
    read_section,
)
from tests.format import samples
from tests.synthetic import ManifestFile, column, record

STORED_FILES = [file for table in samples.stored_tables() for file in samples.manifest_files(table)]
VERSIONS = re.compile(r"(\d+) (\w+) (\d+)")

MESSAGE = pb.ManifestEnvelope(version=3, fields=[column(0, "a")])


def file_of(**parts: Any) -> bytes:
    """Return a small manifest file, some of its parts other than usual."""
    return ManifestFile(message=MESSAGE, **parts).to_bytes()


def manifest_with(**fields: Any) -> Manifest:
    """Return what is decoded of a manifest with these fields."""
    return decode_manifest(ManifestFile(message=pb.ManifestEnvelope(**fields)).to_bytes())[0]


# ---------------------------------------------------------------------------------------- layout


def test_the_message_fills_the_room_before_the_footer():
    data = file_of(index_section=b"index", transaction=b"commit", minor_version=2)
    start = 4 + len(b"index") + 4 + len(b"commit") + 4
    assert read_layout(data) == ManifestLayout(Section(start, len(data) - 16 - start), 0, 2)


def test_what_lies_before_the_sections_does_no_harm():
    data = file_of()
    moved = b"dictionary" + data[:-16] + struct.pack("<QHH4s", 10, 0, 2, b"LANC")
    assert decode_manifest(moved) == decode_manifest(data)


@pytest.mark.parametrize("size", range(20))
def test_a_file_that_is_too_short_for_its_footer_is_refused(size):
    with pytest.raises(CorruptFileError, match=f"at byte 0: {size} bytes are too few"):
        read_layout(file_of()[-size:] if size else b"")


def test_a_file_cut_off_anywhere_is_refused():
    data = file_of(transaction=b"commit")
    for size in range(len(data)):
        with pytest.raises(CorruptFileError):
            decode_manifest(data[:size])


def test_another_magic_is_shown_with_its_place():
    data = file_of(magic=b"PAR1")
    expected = re.escape(f"at byte {len(data) - 4}: expected the file to end in b'LANC', found")
    with pytest.raises(CorruptFileError, match=expected):
        read_layout(data)


@pytest.mark.parametrize("start", [1, 2**31, 2**32, 2**63, 2**64 - 1])
def test_a_footer_that_points_elsewhere_is_refused(start):
    with pytest.raises(CorruptFileError):
        read_layout(file_of(start=start))


def test_a_footer_that_points_behind_itself_is_told_where():
    data = file_of(start=2**64 - 1)
    message = f"at byte {len(data) - 16}: the footer puts the manifest at byte {2**64 - 1}"
    with pytest.raises(CorruptFileError, match=message):
        read_layout(data)


@pytest.mark.parametrize("by", [-1, 1, 2**31])
def test_a_length_that_does_not_fit_is_refused(by):
    room = read_layout(file_of()).message.length
    with pytest.raises(CorruptFileError, match=f"of {room} bytes, found the length {room + by}"):
        read_layout(file_of(length=room + by))


def test_an_empty_message_is_an_empty_manifest():
    data = ManifestFile(message=pb.ManifestEnvelope()).to_bytes()
    manifest, schema, fragments = decode_manifest(data)
    assert (manifest.version, schema, fragments) == (0, (), ())


# -------------------------------------------------------------------------------------- sections


def test_sections_stand_behind_their_lengths():
    data = file_of(index_section=b"index", transaction=b"commit")
    layout = read_layout(data)
    offsets = read_offsets(data)
    sections = [read_section(data, offset, layout) for offset in offsets]
    assert [data[section.offset : section.end] for section in sections] == [b"index", b"commit"]


def read_offsets(data: bytes) -> tuple[int, int]:
    manifest, _, _ = decode_manifest(data)
    assert manifest.index_section_offset is not None
    assert manifest.transaction_section_offset is not None
    return manifest.index_section_offset, manifest.transaction_section_offset


def test_an_empty_section_is_a_section():
    data = file_of(transaction=b"")
    assert read_section(data, 0, read_layout(data)) == Section(4, 0)


def test_a_section_may_end_where_the_manifest_begins():
    data = file_of(transaction=b"commit")
    layout = read_layout(data)
    assert read_section(data, 0, layout).end == layout.message.offset - 4


@pytest.mark.parametrize("length", [7, 11, 2**32 - 1])
def test_a_section_does_not_reach_into_the_manifest(length):
    data = struct.pack("<I", length) + file_of(transaction=b"commit")[4:]
    with pytest.raises(CorruptFileError, match=f"a section of {length} bytes does not fit"):
        read_section(data, 0, read_layout(data))


@pytest.mark.parametrize("offset", [7, 10, 14, 100, 2**63, 2**64 - 1])
def test_a_section_does_not_start_inside_the_manifest(offset):
    data = file_of(transaction=b"commit")
    with pytest.raises(CorruptFileError, match=f"at byte {offset}: a section starts behind"):
        read_section(data, offset, read_layout(data))


def test_a_section_of_no_room_is_empty():
    # The offset points at the length before the manifest, less four bytes: room for a length only.
    data = file_of(transaction=b"12\0\0\0\0")
    assert read_section(data, 6, read_layout(data)) == Section(10, 0)


# --------------------------------------------------------------------------------------- records


def test_of_two_places_of_the_transaction_the_newer_field_counts():
    manifest = manifest_with(transaction_section=7, transaction_section_until_13=5)
    assert manifest.transaction_section_offset == 7


def test_a_place_of_the_transaction_in_the_older_field_counts_alone():
    manifest = manifest_with(transaction_section_until_13=5)
    assert manifest.transaction_section_offset == 5


def test_a_place_at_the_beginning_of_the_file_is_a_place():
    manifest = manifest_with(transaction_section=0, transaction_section_until_13=5, index_section=0)
    assert (manifest.transaction_section_offset, manifest.index_section_offset) == (0, 0)


def test_what_a_writer_did_not_store_is_none():
    manifest = manifest_with(version=1)
    unknown = {name for name in Manifest.__struct_fields__ if getattr(manifest, name) is None}
    assert unknown == {
        "timestamp",
        "max_fragment_id",
        "transaction_file",
        "writer",
        "branch",
        "index_section_offset",
        "transaction_section_offset",
        "max_allocated_field_id",
        "max_clustering_id",
    }


def test_the_highest_fragment_id_may_be_zero():
    assert manifest_with(max_fragment_id=0).max_fragment_id == 0


@pytest.mark.parametrize(("stored", "shown"), [("", "legacy"), ("0.1", "legacy"), ("2.2", "2.2")])
def test_the_data_format_goes_by_the_name_that_users_write(stored, shown):
    assert manifest_with(data_format={"version": stored}).data_format == shown


def test_a_manifest_without_data_format_is_of_the_first_one():
    assert manifest_with().data_format == "legacy"


def test_maps_stand_in_the_order_of_their_keys():
    manifest = manifest_with(
        config={"b": "2", "a": "1"},
        table_metadata={"d": "4", "c": "3"},
        schema_metadata={"f": b"\xff", "e": b""},
    )
    assert manifest.config == (("a", "1"), ("b", "2"))
    assert manifest.table_metadata == (("c", "3"), ("d", "4"))
    assert manifest.schema_metadata == (("e", b""), ("f", b"\xff"))


def test_bases_keep_their_order_and_may_have_no_name():
    bases = [
        pb.BasePath(id=1, path="/b", name="spare"),
        pb.BasePath(id=0, path="/a", is_dataset_root=True),
    ]
    assert manifest_with(base_paths=bases).base_paths == (
        BasePath(1, "/b", False, "spare"),
        BasePath(0, "/a", True, None),
    )


@pytest.mark.parametrize(
    ("prerelease", "build", "text"),
    [
        (None, None, "8.0.1"),
        ("beta.2", None, "8.0.1-beta.2"),
        (None, "gabc", "8.0.1+gabc"),
        ("rc.1", "gabc", "8.0.1-rc.1+gabc"),
    ],
)
def test_a_version_of_a_writer_reads_as_writers_say_it(prerelease, build, text):
    assert str(WriterVersion("lance", "8.0.1", prerelease, build)) == text


@pytest.mark.parametrize(
    ("seconds", "nanos", "time"),
    [
        (0, 0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1_767_225_600, 123_456_999, datetime(2026, 1, 1, 0, 0, 0, 123456, UTC)),
        (-1, 999_999_999, datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1)),
    ],
)
def test_times_are_utc_and_cut_to_microseconds(seconds, nanos, time):
    assert manifest_with(timestamp={"seconds": seconds, "nanos": nanos}).timestamp == time


@pytest.mark.parametrize("seconds", [2**63 - 1, -(2**63), 253_402_300_800, -62_135_596_801])
def test_a_time_outside_of_the_calendar_is_refused(seconds):
    with pytest.raises(
        CorruptFileError, match=f"{seconds} s since 1970 is not a possible commit time"
    ):
        manifest_with(timestamp={"seconds": seconds})


def test_a_schema_is_decoded_without_the_rest():
    records = [record(1, column(n, name).SerializeToString()) for n, name in enumerate("ab")]
    assert [(f.id, f.name) for f in decode_schema(b"".join(records))] == [(0, "a"), (1, "b")]


def test_fields_of_later_writers_are_ignored():
    file = ManifestFile(message=MESSAGE)
    later = replace(file, more=record(27, b"unknown") + record(1000, b""))
    assert decode_manifest(later.to_bytes()) == decode_manifest(file.to_bytes())


@pytest.mark.parametrize("field", [1, 2, 7, 13, 15, 16, 18])
def test_a_field_that_is_no_message_is_refused(field):
    broken = ManifestFile(message=MESSAGE, more=record(field, b"\xff\xff\xff"))
    with pytest.raises(CorruptFileError, match="not a valid"):
        decode_manifest(broken.to_bytes())


@pytest.mark.parametrize("field", [12, 20])
def test_text_that_is_none_is_refused(field):
    broken = ManifestFile(message=MESSAGE, more=record(field, b"\xff"))
    with pytest.raises(CorruptFileError, match="not a valid manifest message"):
        decode_manifest(broken.to_bytes())


# --------------------------------------------------------------------------------- stored tables


def documented_rows() -> Iterator[tuple[str, dict[int, int]]]:
    """Yield the versions of each stored table and branch with their rows, as its README tells."""
    for line in (samples.DATA / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3 or not VERSIONS.match(cells[2]):
            continue
        names, writers, story = cells
        rows = {int(version): int(count) for version, _, count in VERSIONS.findall(story)}
        table, _, branch = names.partition(" branch ")
        for writer in writers.split(", "):
            for name in re.findall(r"`([^`]+)`", table):
                tree = f"/tree/{branch.strip('`')}" if branch else ""
                yield f"{writer}/{name}.lance{tree}", rows


def live_rows(file: bytes) -> tuple[int, int]:
    """Return version and live rows of a manifest file."""
    manifest, _, fragments = decode_manifest(file)
    rows = 0
    for fragment in fragments:
        assert fragment.physical_rows is not None
        deletions = fragment.deletion_file
        deleted = deletions.num_deleted_rows if deletions else 0
        assert deleted is not None
        rows += fragment.physical_rows - deleted
    return manifest.version, rows


DOCUMENTED = dict(documented_rows())


def test_every_stored_table_is_documented():
    found = {path.parent for path in samples.DATA.glob("*/**/_versions")}
    roots = {root for root in found if "_mem_wal" not in root.parts}  # a log has tables inside
    assert DOCUMENTED.keys() >= {str(root.relative_to(samples.DATA)) for root in roots}


@pytest.mark.parametrize("root", DOCUMENTED)
def test_stored_manifests_hold_the_rows_that_are_documented(root):
    paths = (samples.DATA / root / "_versions").glob("[0-9]*.manifest")
    found = dict(live_rows(path.read_bytes()) for path in paths)
    documented = DOCUMENTED[root]
    assert {version: found.get(version) for version in documented} == documented


def test_names_of_stored_manifests_are_their_versions():
    for path in samples.DATA.rglob("[0-9]*.manifest"):
        manifest, _, _ = decode_manifest(path.read_bytes())
        number = int(path.stem)
        assert manifest.version == (2**64 - 1 - number if len(path.stem) == 20 else number)


def test_stored_manifests_name_the_writer_of_their_folder():
    for path in samples.DATA.rglob("*.manifest"):
        manifest, _, _ = decode_manifest(path.read_bytes())
        writer = path.relative_to(samples.DATA).parts[0]
        assert manifest.writer is not None
        assert (manifest.writer.library, str(manifest.writer)) == ("lance", writer)


def test_fragments_of_stored_manifests_ascend_and_are_below_the_highest_id():
    for file in STORED_FILES:
        manifest, _, fragments = decode_manifest(file)
        ids = [fragment.id for fragment in fragments]
        assert ids == sorted(set(ids))
        assert max(ids, default=0) <= (manifest.max_fragment_id or 0)


@pytest.mark.parametrize("path", ["13.0.0", "14.0.2"])
def test_stored_manifests_hold_their_transactions_in_the_field_of_their_writer(path):
    field = {"13.0.0": "transaction_section_until_13", "14.0.2": "transaction_section"}[path]
    for table in (samples.DATA / path).glob("*.lance"):
        for file in samples.manifest_files(table):
            manifest, _, _ = decode_manifest(file)
            raw = samples.read_manifest(file)
            assert manifest.transaction_section_offset == getattr(raw, field)
            assert raw.HasField(field)


# --------------------------------------------------------------------------------- damaged bytes


@given(samples.damaged(STORED_FILES))
def test_a_damaged_manifest_is_decoded_or_refused(data):
    decode_or_refuse(data)


@given(samples.damaged([file[read_layout(file).message.offset : -16] for file in STORED_FILES]))
def test_a_damaged_message_is_decoded_or_refused(message):
    footer = struct.pack("<QHH4s", 0, 0, 2, b"LANC")
    decode_or_refuse(len(message).to_bytes(4, "little") + message + footer)


def decode_or_refuse(data: bytes) -> None:
    try:
        manifest, _, _ = decode_manifest(data)
    except CorruptFileError:
        return
    for offset in (manifest.index_section_offset, manifest.transaction_section_offset):
        if offset is not None:
            layout = read_layout(data)
            try:
                section = read_section(data, offset, layout)
            except CorruptFileError:
                continue
            assert section.end <= layout.message.offset - 4
