"""Files that say what cannot be: what others can tell better is refused, with its place."""

import struct
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lance_explorer as lx
from lance_explorer.errors import (
    CorruptFileError,
    FormatError,
    RefNotFoundError,
    UnsupportedFeatureError,
)
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.deletions import decode_deletion_file
from lance_explorer.format.fragments import DeletionFileType
from tests.format.samples import DATA
from tests.synthetic import ManifestFile, SyntheticTable
from tests.synthetic.deletions import ARROW_ARRAY, BITMAP, deletion_file
from tests.synthetic.sequences import row_id_sequence, version_sequence
from tests.synthetic.wire import record

Lie = Callable[[pb.DataFragment], None]

NUM_ROWS = 4


@pytest.fixture
def table(tmp_path: Path) -> SyntheticTable:
    """Two fragments, of which the first has deleted rows."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=5).append(rows=NUM_ROWS)
    return table.delete({0: [1, 2]}).update_config(kept="well")


def amend(table: SyntheticTable, number: int, lie: Lie, times: int = 1) -> lx.Table:
    """Write a version in which one fragment lies."""
    messages = []
    for key, fragment in sorted(table.state.fragments.items()):
        message = pb.DataFragment.FromString(fragment.message.SerializeToString())
        if key == number:
            lie(message)
        messages += [message] * (times if key == number else 1)
    table.amend(fragments=b"".join([record(2, m.SerializeToString()) for m in messages]))
    return lx.open_table(table.path)


def refused(opened: lx.Table, match: str) -> bytes:
    """Check that rows are refused and no other answer suffers; return what the place points at."""
    with pytest.raises(CorruptFileError, match=match) as refusal:
        opened.latest.row_ids()
    assert opened.versions()["version"].to_list() == [1, 2, 3, 4]
    assert len(opened.at(3).row_ids()) == 7
    error = refusal.value
    assert error.path
    assert error.offset is not None
    return Path(opened.uri, error.path).read_bytes()[error.offset :]


@pytest.mark.parametrize("count", [1, 3, 5, 1000])
def test_another_number_of_deleted_rows_than_the_file_has(table, count):
    def lie(message: pb.DataFragment) -> None:
        message.deletion_file.num_deleted_rows = count

    refused(amend(table, 0, lie), f"found 2 deleted offsets where the manifest says {count}")


@pytest.mark.parametrize(("rows", "match"), [(3, "4 values where 3 rows"), (9, "4 values for 9")])
def test_another_number_of_rows_than_row_ids(table, rows, match):
    def lie(message: pb.DataFragment) -> None:
        message.physical_rows = rows

    refused(amend(table, 1, lie), match)


@pytest.mark.parametrize("count", [0, 3, 5, 1 << 40])
def test_another_number_of_row_ids_than_rows(table, count):
    sequence = record(1, record(1, _range(5, 5 + count)))

    def lie(message: pb.DataFragment) -> None:
        message.inline_row_ids = sequence

    found = refused(amend(table, 1, lie), f"fragment 1: .* {count} values")
    if count > NUM_ROWS:
        assert found.startswith(record(1, _range(5, 5 + count)))


@pytest.mark.parametrize("kind", ["inline_created_at", "inline_last_updated_at"])
@pytest.mark.parametrize("count", [3, 5])
def test_another_number_of_row_versions_than_rows(table, kind, count):
    versions = version_sequence(np.full(count, 2, dtype=np.uint64))

    def lie(message: pb.DataFragment) -> None:
        setattr(message, kind, versions)

    refused(amend(table, 1, lie), f"fragment 1: .* {count} values")


@pytest.mark.parametrize("number", [0, 1])
def test_two_fragments_with_one_id(table, number):
    def lie(message: pb.DataFragment) -> None:
        message.id = 0

    opened = amend(table, number, lie, times=2 - number)
    with pytest.raises(CorruptFileError, match="fragment"):
        opened.latest.row_ids()


def test_a_sequence_that_breaks_off_is_told_by_its_place_in_the_manifest(table):
    broken = row_id_sequence([np.arange(5, 7, dtype="u8")]) + b"\x0a\x20???"

    def lie(message: pb.DataFragment) -> None:
        message.inline_row_ids = broken

    assert refused(amend(table, 1, lie), "a record of 32 bytes").startswith(b"\x0a\x20???")


@pytest.mark.parametrize("damage", [b"\x12\x03\x0a\x7fx", b"\x12\x04\x0a\x02\xff\xff"])
def test_a_nested_message_that_is_none_is_told_by_its_place_in_the_manifest(table, damage):
    broken = record(2, table.state.fragments[0].message.SerializeToString() + damage)
    table.amend(fragments=broken)
    (finding,) = lx.open_table(table.path).inspect.findings().to_dicts()
    assert finding["code"] == "unreadable_manifest"
    place = int(finding["statement"].partition("at byte ")[2].partition(":")[0])
    manifest = table.folder.manifest_path(4).read_bytes()
    assert manifest[place : place + 2] == damage[2:4]


def _range(start: int, stop: int) -> bytes:
    from lance_explorer.format._pb import row_ids_pb2

    return row_ids_pb2.U64Segment.Range(start=start, end=stop).SerializeToString()


# ------------------------------------------------------------------------------ deletion files

NUMBERS = [-1, -2, 0, 1, 4, 64, 1 << 20, 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63)]


def lies(data: bytes) -> Iterable[bytes]:
    """Yield a file with each of its numbers, of 4 and of 8 bytes, replaced by others."""
    for at in range(0, min(len(data), 1400), 4):
        for number in NUMBERS:
            for size in (4, 8):
                lie = struct.pack("<q", number)[:size]
                yield data[:at] + lie + data[at + size :]


@pytest.mark.parametrize("file_type", [*DeletionFileType])
def test_deletion_files_that_lie_about_sizes_are_refused(file_type):
    suffix = "arrow" if file_type == DeletionFileType.ARROW_ARRAY else "bin"
    stored = min(DATA.glob(f"14.0.2/*.lance/_deletions/*.{suffix}"), key=_size)
    refusals = list[FormatError]()
    for data in lies(stored.read_bytes()):
        try:
            deleted = decode_deletion_file(data, file_type, 1000)
        except FormatError as error:
            refusals.append(error)
        else:
            assert not deleted or deleted.max() < 1000
    assert len(refusals) > 100
    assert all(error.offset is not None for error in refusals)


def _size(path: Path) -> int:
    return path.stat().st_size


# ---------------------------------------------------------------------------------------- paths


@pytest.mark.parametrize("uri", ["http://127.0.0.1:1/x", "memory://x", "file://elsewhere/x"])
def test_a_base_path_of_a_kind_that_is_not_served_is_refused(table, uri):
    def lie(manifest: pb.ManifestEnvelope) -> None:
        manifest.base_paths.add(id=3, path=uri, is_dataset_root=True)

    message = pb.DataFragment.FromString(table.state.fragments[0].message.SerializeToString())
    message.deletion_file.base_id = 3
    table.amend(lie, fragments=record(2, message.SerializeToString()))
    opened = lx.open_table(table.path)
    with pytest.raises(UnsupportedFeatureError, match="base path 3 of the manifest: "):
        opened.latest.row_ids()
    assert opened.inspect.base_paths()["path"].to_list() == [uri]


@pytest.mark.parametrize(
    "name", ["../other", "a/../../b", "%2e%2e/other", "a%2f..%2fb", "/etc", ""]
)
def test_a_branch_whose_name_leads_elsewhere_is_not_there(table, name):
    table.tag("gold")
    ref = table.path / "_refs" / "tags" / "gold.json"
    ref.write_text(f'{{"version": 1, "branch": "{name}"}}')
    with pytest.raises(RefNotFoundError):
        lx.open_table(table.path).at("gold")


# ------------------------------------------------------------------------------ absent counts


@pytest.fixture
def plain(tmp_path: Path) -> SyntheticTable:
    """Two fragments without stable row IDs, of which the first has deleted rows."""
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    return table.append(rows=5).append(rows=NUM_ROWS).delete({0: [1, 2]}).update_config(kept="well")


ROWS = {
    "rows": lambda table: table.latest.row_ids(),
    "index": lambda table: table.latest.row_id_index(),
    "history": lambda table: table.row(0, at=4).history(),
    "follow": lambda table: table.follow([0], 4),
    "follow_addresses": lambda table: table.follow_addresses([0], 1),
    "changes": lambda table: table.changes(1).summary(),
    "feed": lambda table: table.changes(1, mode="per_commit", images=None).to_polars(),
    "diff": lambda table: table.diff(1, 4).summary(),
}


@pytest.mark.parametrize("question", ROWS)
def test_rows_of_a_fragment_that_does_not_say_how_many_are_refused_by_name(plain, question):
    opened = amend(plain, 1, lambda message: message.ClearField("physical_rows"))
    with pytest.raises(UnsupportedFeatureError, match="fragment 1 does not store how many"):
        ROWS[question](opened)
    assert len(opened.at(3).row_ids()) == 7


@pytest.mark.parametrize("question", [name for name in ROWS if name != "follow"])
def test_a_table_that_never_counts_its_rows_is_refused_by_name(tmp_path, question):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=5)
    for _ in range(3):
        table.update_config(some="thing")
    for version in range(1, 5):
        for file in (table.path / "_versions").glob("*.manifest"):
            manifest = ManifestFile.from_bytes(file.read_bytes())
            if manifest.message.version == version:
                fragment = pb.DataFragment.FromString(
                    next(iter(table.state.fragments.values())).message.SerializeToString()
                )
                fragment.ClearField("physical_rows")
                lie = replace(manifest, fragments=record(2, fragment.SerializeToString()))
                file.write_bytes(lie.to_bytes())
    opened = lx.open_table(table.path)
    assert opened.versions()["num_rows"].to_list() == [None] * 4
    with pytest.raises(UnsupportedFeatureError, match="fragment 0 does not store how many"):
        ROWS[question](opened)
    assert [f.code for f in opened._view.history.findings] == ["rows_not_counted"]


def test_a_count_that_is_absent_is_null_and_a_finding(plain):
    opened = amend(plain, 1, lambda message: message.ClearField("physical_rows"))
    assert opened.versions()["num_rows"].to_list() == [5, 9, 7, None]
    assert opened.latest.num_rows is None
    assert opened.inspect.fragments()["num_rows"].to_list() == [3, None]
    [finding] = opened._view.history.findings
    assert (finding.code, finding.first_version, finding.subject.name) == (
        "rows_not_counted",
        4,
        "1",
    )


def test_more_deleted_rows_than_rows_are_null_and_a_finding(plain):
    def lie(message: pb.DataFragment) -> None:
        message.deletion_file.num_deleted_rows = 6

    opened = amend(plain, 0, lie)
    assert opened.latest.num_rows is None
    assert opened.versions()["num_rows"].to_list() == [5, 9, 7, None]
    [finding] = opened._view.history.findings
    assert (finding.code, finding.first_version, finding.subject.name) == (
        "too_many_deleted",
        4,
        "0",
    )
    with pytest.raises(CorruptFileError):
        opened.latest.row_ids()


@pytest.mark.parametrize("rows", [3, 7, 1000])
def test_a_count_that_other_versions_contradict_is_null_and_a_finding(plain, rows):
    def lie(message: pb.DataFragment) -> None:
        message.physical_rows = rows

    opened = amend(plain, 1, lie)
    assert opened.versions()["num_rows"].to_list() == [5, None, None, None]
    assert opened.latest.num_rows is None
    assert opened.inspect.fragments()["physical_rows"].to_list() == [5, None]
    found = opened.check().filter(code="rows_contradict_versions")
    assert set(found["subject_name"]) == {"1"}


@pytest.mark.parametrize("rows", [3, 7])
def test_a_count_that_row_ids_contradict_is_null_and_a_finding(table, rows):
    def lie(message: pb.DataFragment) -> None:
        message.physical_rows = rows

    opened = amend(table, 1, lie)
    assert opened.latest.num_rows is None
    assert opened.inspect.fragments()["physical_rows"].to_list() == [5, None]
    assert "rows_contradict_row_ids" in opened.check()["code"].to_list()


@pytest.mark.parametrize("deleted", [[0], [0, 1, 2], [0, 7]])
def test_a_deletion_file_that_contradicts_its_manifest_is_found_at_once(plain, deleted):
    [file] = Path(plain.path, "_deletions").iterdir()
    file.write_bytes(deletion_file(deleted, BITMAP if file.suffix == ".bin" else ARROW_ARRAY))
    found = lx.open_table(plain.path).check().filter(code="deletion_file_contradicts")
    assert found.select("severity", "subject_name").rows() == [("error", "0")]


def test_a_manifest_without_a_writer_does_not_tell_how_many_rows_are_there(plain):
    def lie(manifest: pb.ManifestEnvelope) -> None:
        manifest.ClearField("writer_version")

    def left(message: pb.DataFragment) -> None:
        message.physical_rows -= message.deletion_file.num_deleted_rows

    message = pb.DataFragment.FromString(plain.state.fragments[0].message.SerializeToString())
    left(message)
    other = plain.state.fragments[1].message.SerializeToString()
    plain.amend(lie, fragments=record(2, message.SerializeToString()) + record(2, other))
    opened = lx.open_table(plain.path)
    assert opened.versions()["num_rows"].to_list() == [5, 9, 7, None]
    assert opened.latest.num_rows is None
    assert opened.inspect.fragments()["physical_rows"].to_list() == [None, 4]
    found = opened.check().filter(code="rows_miscounted")
    assert found.select("first_version", "subject_name").rows() == [(4, "0")]


@pytest.mark.parametrize("question", ROWS)
def test_two_fragments_with_one_id_are_null_counts_a_finding_and_no_rows(plain, question):
    opened = amend(plain, 1, lambda message: None, times=2)
    assert opened.versions()["num_rows"].to_list() == [5, 9, 7, None]
    assert opened.latest.num_rows is None
    [finding] = opened._view.history.findings
    assert (finding.code, finding.first_version) == ("duplicate_fragment_ids", 4)
    with pytest.raises(CorruptFileError, match=r"same ID|manifest twice"):
        ROWS[question](opened)
    assert opened.refresh().versions()["num_rows"].to_list() == [5, 9, 7, None]


def test_fragments_with_one_id_are_seen_until_they_are_gone(plain):
    amend(plain, 1, lambda message: None, times=2)
    opened = lx.open_table(plain.path)
    assert opened._view.history.duplicated == {4}
    plain.append(rows=2)
    later = opened.refresh()
    assert later._view.history.duplicated == {4}
    assert later.versions()["num_rows"].to_list() == [5, 9, 7, None, 9]
