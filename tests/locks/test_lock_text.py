"""The text of a lock: what it says, that it is always the same, and how a wrong one is refused."""

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError, TableNotFoundError
from lance_explorer.locks.lock_text import read_lock
from lance_explorer.snapshot import Snapshot
from tests.format.samples import DATA
from tests.inspect.tables import manifest_paths
from tests.locks.tables import locked, numbers, write
from tests.stored_tables import is_main, stored_check
from tests.synthetic import SyntheticTable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path / "t.lance")
    return tmp_path / "t.lance"


def test_a_lock_says_what_pylance_says(path):
    dataset = lance.dataset(path)
    told = json.loads(locked(path))
    manifest = manifest_paths(path)[4].read_bytes()
    assert told == {
        "lance_explorer_lock": 1,
        "uri": str(path),
        "branch": None,
        "branch_id": None,
        "version": dataset.version,
        "tags": ["gold"],
        "committed_at": told["committed_at"],
        "manifest_bytes": len(manifest),
        "manifest_sha256": sha256(manifest).hexdigest(),
        "num_rows": dataset.count_rows(),
        "num_fragments": len(dataset.get_fragments()),
        "data_format": dataset.data_storage_version,
        "has_stable_row_ids": False,
        "schema_sha256": told["schema_sha256"],
        "columns": {"id": "int64", "city": "string"},
    }


def test_a_lock_is_the_same_however_often_it_is_made(path, monkeypatch):
    text = locked(path)
    lance.dataset(path).insert(numbers(50))
    monkeypatch.chdir(path.parent)
    assert {locked(path, 4), locked(Path("t.lance")), locked(path, -2)} == {text}
    assert lx.lock(lx.open_table(f"file://{path}/").at("gold")) == text


@stored_check(is_main)
def check_a_version_of_any_release_is_locked_and_found(asked):
    text = lx.lock(asked.table.latest)
    assert lx.verify(text, check_files=False).status == "unmoved"
    assert read_lock(text).uri == str(asked.root)


def test_tags_that_came_later_are_locked_too(path):
    snapshot = lx.open_table(path).at("gold")
    lance.dataset(path).tags.create("best", 4)
    lance.dataset(path).tags.create("old", 1)
    assert json.loads(lx.lock(snapshot))["tags"] == ["best", "gold"]


def test_a_lock_has_nested_fields_and_names_as_they_are(tmp_path):
    place = pa.StructArray.from_arrays([pa.array([1.0])], ["lät"])
    lance.write_dataset(pa.table({"place": place, "tags": [["a"]]}), tmp_path / "t.lance")
    text = locked(tmp_path / "t.lance", 1)
    assert json.loads(text)["columns"] == {
        "place": "struct",
        "place.lät": "double",
        "tags": "list",
        "tags.item": "string",
    }
    assert "place.lät" in text


def test_a_lock_shows_no_control_characters(tmp_path):
    lance.write_dataset(pa.table({"\x1b[31m\u202e": [1]}), tmp_path / "t.lance")
    text = locked(tmp_path / "t.lance", 1)
    assert text.replace("\n", "").isprintable()
    assert [*json.loads(text)["columns"]] == ["\x1b[31m\u202e"]


def test_what_is_not_known_is_null(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append()
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    assert json.loads(locked(tmp_path / "t.lance", 1))["num_rows"] is None


def test_a_table_that_was_made_again_meanwhile_is_not_locked(path):
    snapshot = lx.open_table(path).at("gold")
    shutil.rmtree(path)
    write(path)
    with pytest.raises(TableNotFoundError):
        lx.lock(snapshot)


def test_a_lock_is_read_from_a_file(path, tmp_path):
    file = tmp_path / "t.lock"
    file.write_text(locked(path), encoding="utf-8")
    assert read_lock(file) == read_lock(str(file)) == read_lock(locked(path))


def test_what_people_add_to_a_lock_is_passed_over(path):
    text = json.dumps({**json.loads(locked(path)), "run": "2026-11-23"})
    assert read_lock(text) == read_lock(locked(path))


WRONG = {
    "uri": 7,
    "branch": ["dev"],
    "branch_id": 7,
    "version": -1,
    "tags": "gold",
    "committed_at": "2026-11-23T12:00:00",
    "manifest_bytes": 1.5,
    "manifest_sha256": "ABC",
    "num_rows": True,
    "num_fragments": 2**64,
    "data_format": None,
    "has_stable_row_ids": 1,
    "schema_sha256": "0" * 63,
    "columns": {"id": 7},
}


@pytest.mark.parametrize(("key", "value"), WRONG.items())
def test_a_damaged_lock_is_refused_with_what_is_wrong(path, key, value):
    members = json.loads(locked(path))
    with pytest.raises(InvalidArgumentError, match=f"damaged: '{key}': expected .*, found "):
        read_lock(json.dumps({**members, key: value}))
    del members[key]
    with pytest.raises(InvalidArgumentError, match=f"damaged: '{key}' is missing"):
        read_lock(json.dumps(members))


def test_a_lock_that_was_cut_short_is_refused(path):
    text = locked(path).rstrip()
    for length in range(1, len(text)):
        with pytest.raises(InvalidArgumentError):
            read_lock(text[:length])


def test_each_member_of_a_lock_is_checked(path):
    assert {*WRONG, "lance_explorer_lock"} == json.loads(locked(path)).keys()


def test_text_that_no_file_can_hold_is_refused(path):
    members = json.loads(locked(path))
    with pytest.raises(InvalidArgumentError, match="'uri': expected text"):
        read_lock(json.dumps({**members, "uri": "\ud800"}))


def test_a_lock_of_a_newer_format_is_refused_by_its_number(path):
    text = locked(path).replace('"lance_explorer_lock": 1', '"lance_explorer_lock": 2')
    with pytest.raises(InvalidArgumentError, match="lock of format 2, and this release knows 1"):
        lx.verify(text)


@pytest.mark.parametrize("text", ["{", "{}", '{"lance_explorer_lock": true}', "{" * 100_000])
def test_what_is_no_lock_is_refused(text):
    with pytest.raises(InvalidArgumentError, match="the lock is not a lock"):
        lx.verify(text)


@pytest.mark.parametrize("content", [b"\xff", b"[]", b"7", b"", b"{}"])
def test_a_file_that_is_no_lock_is_refused_by_its_name(tmp_path, content):
    file = tmp_path / "t.lock"
    file.write_bytes(content)
    with pytest.raises(InvalidArgumentError, match=r"t\.lock is not a lock: "):
        lx.verify(file)


def test_a_file_that_no_lock_can_fill_is_not_read_whole(tmp_path):
    file = tmp_path / "t.lock"
    with file.open("wb") as opened:
        opened.truncate(1 << 40)
    with pytest.raises(InvalidArgumentError, match="larger than"):
        lx.verify(file)


def test_what_is_no_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "none", "."):
        with pytest.raises(InvalidArgumentError, match="there is no file"):
            lx.verify(tmp_path / name)


def test_a_detached_version_is_locked_to_the_last_digit():
    table = lx.open_table(DATA / "14.0.2" / "detached.lance")
    version = table._view.listing.detached[0].version
    text = lx.lock(Snapshot(table._view, version))
    assert json.loads(text)["version"] == version > 2**63
    assert lx.verify(text).status == "unmoved"
