"""What pylance refuses is found by a deep check, and nothing in a damaged table runs for ever."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.checks.index_truth import index_truth
from lance_explorer.errors import CorruptFileError, FormatError, StorageError
from lance_explorer.format._pb import index_pb2
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.ledger.places import Place
from tests.inspect.tables import manifest_paths
from tests.synthetic.manifests import ManifestFile
from tests.synthetic.wire import record, varint

UNKNOWN = (17, 27, 28, 29, 30)
"""Numbers that no field of a manifest has in pylance 14."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two versions of three columns, one of which is a struct, with an index."""
    path = tmp_path / "t.lance"
    rows = pa.table({"a": [1, 2, 3], "s": [{"x": 1, "y": 2}] * 3, "b": [3, 4, 5]})
    lance.write_dataset(rows, path)
    lance.dataset(path).create_scalar_index("a", "BTREE")
    return path


def edit(path: Path, change: Callable[[ManifestFile], ManifestFile]) -> None:
    """Change the manifests of all versions."""
    for file in manifest_paths(path).values():
        file.write_bytes(change(ManifestFile.from_bytes(file.read_bytes())).to_bytes())


def edit_field(path: Path, which: str, **changes: object) -> None:
    def change(manifest: ManifestFile) -> ManifestFile:
        [field] = [field for field in manifest.message.fields if field.name == which]
        for key, value in changes.items():
            setattr(field, key, value)
        return manifest

    edit(path, change)


def codes(path: Path) -> list[str]:
    return lx.open_table(path).check(depth="deep", severity="warning")["code"].to_list()


def is_opened(path: Path) -> bool:
    try:
        lance.dataset(path).to_table()
    except (ValueError, OSError):
        return False
    return True


@pytest.mark.parametrize(
    ("name", "parent"), [("b", 4), ("b", 99), ("a", 4), ("b", -2), ("s", 2)], ids=str
)
def test_a_field_without_a_parent_before_it_is_damage(path, name, parent):
    edit_field(path, name, parent_id=parent)
    assert not is_opened(path)
    assert "unreadable_manifest" in codes(path)
    assert lx.open_table(path).log().is_empty()
    with pytest.raises(CorruptFileError) as caught:
        _ = lx.open_table(path).latest.num_rows
    assert caught.value.path
    assert caught.value.offset is not None


@pytest.mark.parametrize("number", range(1, 31))
def test_pylance_and_we_know_the_same_fields_by_their_wire_types(path, number):
    more = varint(number << 3 | 5) + bytes(4)  # no field has this type
    edit(path, lambda manifest: replace(manifest, more=more))
    assert is_opened(path) == ("unreadable_manifest" not in codes(path)) == (number in UNKNOWN)


def test_a_deep_check_says_what_pylance_cannot_read(tmp_path):
    path = tmp_path / "without_index.lance"
    lance.write_dataset(pa.table({"a": [1], "b": [2]}), path)
    assert codes(path) == []
    edit_field(path, "b", name="a")
    found = lx.open_table(path).check(depth="deep").filter(code="not_opened")
    assert found.select("topic", "severity", "first_version").rows() == [("metadata", "error", 1)]
    assert "pylance cannot" in found["statement"].item()


def test_a_tagged_version_that_pylance_cannot_read_is_found(path):
    lance.dataset(path).tags.create("gold", 1)
    lance.write_dataset(pa.table({"a": [1]}), path, mode="overwrite")
    file = manifest_paths(path)[1]
    manifest = ManifestFile.from_bytes(file.read_bytes())
    manifest.message.fields[-1].name = "a"
    file.write_bytes(manifest.to_bytes())
    found = lx.open_table(path).check(depth="deep").filter(code="not_opened")
    assert found["first_version"].to_list() == [1]


def test_an_index_without_fields_is_found(path):
    def change(manifest: ManifestFile) -> ManifestFile:
        if manifest.index_section is None:
            return manifest
        section = index_pb2.IndexSection.FromString(manifest.index_section)
        del section.indices[0].fields[:]
        return replace(manifest, index_section=section.SerializeToString())

    edit(path, change)
    assert "index_without_fields" in lx.open_table(path).check(severity="error")["code"].to_list()


def test_a_deletion_file_whose_end_is_damaged_is_found(path):
    lance.dataset(path).delete("a = 2")
    [file] = (path / "_deletions").iterdir()
    data = bytearray(file.read_bytes())
    data[-20:-14] = b"\xff" * 6
    file.write_bytes(data)
    assert not is_opened(path)
    assert "not_opened" in codes(path)
    with pytest.raises(CorruptFileError):
        _ = lx.open_table(path).latest.row_ids()


def test_a_locked_version_that_cannot_be_decoded_is_not_unmoved(path):
    text = lx.lock(lx.open_table(path).latest)
    edit_field(path, "b", parent_id=4)
    assert lx.verify(text, check_files=False).status == "damaged"


def test_a_base_path_without_a_name_is_a_place_that_is_not_read(path):
    def change(manifest: ManifestFile) -> ManifestFile:
        manifest.message.base_paths.add(id=1, path="", is_dataset_root=True)
        fragment = pb.DataFragment.FromString(manifest.fragments[2:])
        for file in fragment.files:
            file.base_id = 1
        return replace(manifest, fragments=record(2, fragment.SerializeToString()))

    edit(path, change)
    assert "base_not_allowed" in codes(path)
    assert lx.open_table(path).disk_usage().total_bytes


def test_a_cleanup_without_any_readable_version_removes_nothing(path):
    for file in manifest_paths(path).values():
        file.write_bytes(b"nothing of use here")
    preview = lx.open_table(path).cleanup_preview(timedelta(0), retain_versions=1)
    assert preview.num_versions == 0
    with pytest.raises(FormatError):
        _ = lx.open_table(path).latest.num_rows


@pytest.mark.slow
def test_a_large_manifest_of_zeros_is_not_recorded(path, tmp_path):
    last = manifest_paths(path)[2]
    damaged = last.with_name(f"{(1 << 64) - 1 - 3:020}.manifest")
    size = 64 << 20
    for begin in (b"", b"\x12\xf0\xff\xff\x1f"):  # and one fragment of zeros
        with damaged.open("wb") as file:
            file.write(size.to_bytes(4, "little") + begin)
            file.truncate(4 + size)
            file.seek(4 + size)
            file.write(bytes(8) + b"\0\0\2\0LANC")
        ledger = lx.Ledger(tmp_path / f"ledger {len(begin)}")
        ledger.record(path)
        assert ledger.tables()["last_version"].to_list() == [2]
        files = [file for file in (tmp_path / f"ledger {len(begin)}").rglob("*") if file.is_file()]
        assert sum(file.stat().st_size for file in files) < 1 << 20


def test_what_cannot_be_deleted_from_a_ledger_is_an_error_of_ours(tmp_path):
    (tmp_path / "ledger" / "folder").mkdir(parents=True)
    with pytest.raises(StorageError):
        Place(tmp_path / "ledger").delete("folder")


@pytest.mark.parametrize("parents", [{"dev": "dev"}, {"dev": "sub", "sub": "dev"}], ids=str)
def test_branches_that_are_their_own_ancestors_are_found(tmp_path, parents):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"a": [1]}), path)
    dev = lance.dataset(path).create_branch("dev", 1)
    lance.write_dataset(pa.table({"a": [9]}), dev, mode="append")
    lance.dataset(path / "tree" / "dev").optimize.compact_files()
    lance.dataset(path).checkout_version(("dev", None)).create_branch("sub")
    for name, parent in parents.items():
        file = path / "_refs" / "branches" / f"{name}.json"
        told = json.loads(file.read_text())
        del told["identifier"]
        more = {"parentBranch": parent, "parentVersion": 1 << 40}
        file.write_text(json.dumps({**told, **more}))
    found = lx.open_table(path).check().filter(code="corrupt_ref")
    assert len(found) == len(parents)
    assert all("its own ancestor" in message for message in found["statement"])
    branch = lx.open_table(path, "dev")
    assert len(branch.inspect.rewrite_groups()) == 2
    assert len(branch.log()) >= 3
    assert len(branch.versions(inherited=True)) >= 3


def test_an_index_of_billions_of_rows_is_not_compared(path):
    def change(manifest: ManifestFile) -> ManifestFile:
        fragment = pb.DataFragment.FromString(manifest.fragments[2:])
        fragment.physical_rows = 1 << 31
        return replace(manifest, fragments=record(2, fragment.SerializeToString()))

    edit(path, change)
    [found] = index_truth(lx.open_table(path)._view)
    assert found.code == "not_checked"
    assert "2,147,483,648 rows" in found.statement


def test_a_type_of_a_million_letters_is_refused(tmp_path):
    path = tmp_path / "without_index.lance"
    lance.write_dataset(pa.table({"a": [1], "b": [2]}), path)
    edit_field(path, "b", logical_type="x/" * 500_000)  # a search that goes back never ends
    assert "not_opened" in codes(path)
