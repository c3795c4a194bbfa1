"""What became of a locked version: each verdict, on tables that pylance writes."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import CorruptFileError, UnsupportedFeatureError
from lance_explorer.storage import FileInfo, LocalStorage
from tests.format.samples import DATA
from tests.hostile.watching import Openings
from tests.inspect.tables import manifest_paths
from tests.locks.tables import data_files, locked, numbers, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path / "t.lance")
    return tmp_path / "t.lance"


def found(verified: lx.Verification) -> dict[str, Any]:
    """Return what was found, by what was looked at."""
    return dict(verified.to_frame().select("check", "found").iter_rows())


def same(verified: lx.Verification) -> dict[str, bool | None]:
    return dict(verified.to_frame().select("check", "is_same").iter_rows())


def clean_up(path: Path) -> None:
    options: Any = {"older_than": timedelta(0), "delete_unverified": True}
    lance.dataset(path).cleanup_old_versions(**options, error_if_tagged_old_versions=False)


# ---------------------------------------------------------------------------------------- is there


def test_a_version_that_nobody_touched_is_unmoved(path):
    verified = lx.verify(locked(path))
    assert verified
    assert (verified.ok, verified.status) == (True, "unmoved")
    assert verified.sentence == (
        "Version 4 is still there, with its 3 data files and 1 deletion file."
    )
    assert same(verified) == {
        "table": True,
        "version": True,
        "manifest": True,
        "files": True,
        "tag gold": True,
        "later versions": None,
        "schema of the latest version": True,
    }


def test_an_opened_table_is_looked_at_anew(path):
    table, text = lx.open_table(path), locked(path)
    assert (lx.verify(text, table).status, lx.verify(text, table).uri) == ("unmoved", str(path))
    lance.dataset(path).insert(numbers(30))
    assert found(lx.verify(text, table))["later versions"] == "1, up to 5"
    shutil.rmtree(path)
    assert lx.verify(text, table).status == "table_gone"
    write(path)
    assert lx.verify(text, table).status == lx.verify(text, str(path)).status != "unmoved"


def test_versions_beside_it_do_not_matter(path):
    text = locked(path)
    dataset = lance.dataset(path)
    dataset.insert(numbers(40))
    dataset.drop_columns(["city"])
    verified = lx.verify(text)
    assert verified.status == "unmoved"
    assert verified.sentence.endswith("; 2 versions were committed since.")
    assert found(verified)["later versions"] == "2, up to 6"
    assert found(verified)["schema of the latest version"] == "dropped: city"
    assert same(verified)["schema of the latest version"] is False


def test_versions_before_it_do_not_matter(path):
    text = locked(path)
    clean_up(path)
    assert lx.verify(text).status == "unmoved"


def test_a_table_without_rows_is_unmoved(tmp_path):
    lance.write_dataset(numbers(0, 0), tmp_path / "t.lance")
    verified = lx.verify(locked(tmp_path / "t.lance", 1))
    assert verified.sentence == "Version 1 is still there, with its 0 data files."


def test_no_file_of_the_version_but_its_manifest_is_opened(path):
    for number in range(20):
        lance.dataset(path).insert(numbers(100 + number))
    texts = [locked(path), locked(path, -1)]
    watched = [path / "data", path / "_deletions"]
    openings = Openings(watched)
    for text in texts:
        assert lx.verify(text).status == "unmoved"
    opened = openings.take()
    assert {entry.partition(" ")[0] for entry in opened} <= {"os.scandir", *kernel_events(opened)}
    assert len([entry for entry in opened if entry.startswith("os.scandir")]) == 1


def kernel_events(opened: list[str]) -> set[str]:
    """Return what the kernel tells, which sees that a folder is listed as well."""
    return {entry.partition(" ")[0] for entry in opened if "of the kernel" in entry}


@pytest.mark.parametrize("count", [1, 20])
def test_few_files_are_asked_for_and_many_are_listed(path, count, monkeypatch):
    for number in range(count):
        lance.dataset(path).insert(numbers(100 + number))
    text, listed = locked(path, -1), list[str]()
    list_files = LocalStorage.list_files

    def noted(storage: LocalStorage, folder: str) -> list[FileInfo]:
        listed.append(folder)
        return list_files(storage, folder)

    monkeypatch.setattr(LocalStorage, "list_files", noted)
    assert lx.verify(text).status == "unmoved"
    assert listed.count("data") == (count > 8)
    assert listed.count("_deletions") == 0


def test_a_table_that_was_moved_is_found_where_it_is_said_to_be(path):
    text = locked(path)
    moved = path.rename(path.with_name("moved.lance"))
    assert lx.verify(text).status == "table_gone"
    for place in (moved, str(moved), lance.dataset(moved)):
        verified = lx.verify(text, table=place)
        assert (verified.status, verified.uri) == ("unmoved", str(moved))
        assert same(verified)["table"] is None


def test_names_of_manifests_do_not_matter(tmp_path):
    old: Any = lance.write_dataset(numbers(0), tmp_path / "t", enable_v2_manifest_paths=False)
    old.insert(numbers(10))
    text = locked(tmp_path / "t", 1)
    old.migrate_manifest_paths_v2()
    assert lx.verify(text).status == "unmoved"


def test_a_clone_needs_the_files_of_its_source(path):
    clone = path.with_name("clone.lance")
    lance.dataset(path).shallow_clone(str(clone), "gold")
    text = locked(clone, -1)
    verified = lx.verify(text)
    assert verified.sentence == (
        "Version 4 is still there, with its 3 data files and 1 deletion file."
    )
    lost = data_files(path)[0]
    lost.unlink()
    verified = lx.verify(text)
    assert (verified.status, found(verified)[str(lost)]) == ("damaged", None)


def test_a_place_that_is_not_allowed_is_not_asked(path, tmp_path_factory):
    base = tmp_path_factory.mktemp("far")
    there = path.with_name("based.lance")
    lance.write_dataset(
        numbers(0),
        there,
        initial_bases=[lance.DatasetBasePath(str(base), name="far")],
        target_bases=["far"],
    )
    text = locked(there, 1)
    with pytest.raises(UnsupportedFeatureError, match="allow_bases"):
        lx.verify(text)
    assert lx.verify(text, allow_bases=[base]).status == "unmoved"
    assert lx.verify(text, check_files=False).status == "unmoved"


# ---------------------------------------------------------------------------------- tags, branches


def test_a_tag_that_moved_says_where_to(path):
    text = locked(path)
    dataset = lance.dataset(path)
    dataset.insert(numbers(40))
    dataset.tags.update("gold", 5)
    verified = lx.verify(text)
    assert (verified.ok, verified.status) == (True, "tag_moved")
    assert verified.sentence.endswith(
        "; the tag gold, which pointed to it, now points to version 5."
    )
    row = verified.to_frame().row(index=4, named=True)
    assert row == {
        "check": "tag gold",
        "expected": "version 4",
        "found": "version 5",
        "is_same": False,
    }


def test_a_tag_that_was_deleted_is_told(path):
    text = locked(path)
    lance.dataset(path).tags.delete("gold")
    verified = lx.verify(text)
    assert (verified.ok, verified.status) == (True, "tag_moved")
    assert verified.sentence.endswith("; the tag gold, which pointed to it, was deleted.")


def test_a_tag_that_cannot_be_read_is_not_told_to_have_moved(path):
    text = locked(path)
    (path / "_refs/tags/gold.json").write_text("{")
    verified = lx.verify(text)
    assert (verified.status, same(verified)["tag gold"]) == ("unmoved", None)


@pytest.fixture
def branched(path: Path) -> Path:
    branch: Any = lance.dataset(path).create_branch("dev", 2)
    branch.insert(numbers(80))
    branch.delete("id = 80")
    return path


def test_a_version_of_a_branch_is_found(branched):
    text = locked(branched, "dev@-1")
    verified = lx.verify(text)
    assert verified.lock.branch_id
    assert (verified.status, verified.lock.branch, verified.lock.version) == ("unmoved", "dev", 4)
    assert lx.verify(locked(branched / "tree/dev", -1)).lock == verified.lock


def test_a_branch_that_was_deleted_is_told(branched):
    text = locked(branched, "dev@-1")
    lance.dataset(branched).branches.delete("dev")
    verified = lx.verify(text)
    assert (verified.ok, verified.status) == (False, "branch_gone")
    assert verified.sentence == "Branch dev was deleted."


@pytest.mark.parametrize("commits", [0, 2])
def test_a_branch_that_was_made_again_is_another_one(branched, commits):
    text = locked(branched, "dev@-1")
    lance.dataset(branched).branches.delete("dev")
    again: Any = lance.dataset(branched).create_branch("dev", 2)
    for number in range(commits):
        again.insert(numbers(90 + number))
    verified = lx.verify(text)
    assert (verified.ok, verified.status) == (False, "another_branch")
    assert "deleted and recreated" in verified.sentence


def test_a_branch_whose_file_is_damaged_is_not_told_to_be_deleted(branched):
    text = locked(branched, "dev@-1")
    (branched / "_refs/branches/dev.json").write_text("{")
    with pytest.raises(CorruptFileError, match="whether branch 'dev' exists is unknown"):
        lx.verify(text)


# --------------------------------------------------------------------------------------- not there


def test_a_version_that_was_cleaned_up_says_what_remains(path):
    text = locked(path, 2)
    clean_up(path)
    verified = lx.verify(text)
    assert (verified.ok, verified.status) == (False, "cleaned_up")
    assert verified.sentence == (
        "Version 2 was cleaned up; 1 version remains, 4; a tag would have protected it."
    )
    assert found(verified)["later versions"] == "2, up to 4"


def test_a_version_that_lost_its_tag_says_so(path):
    text = locked(path)
    dataset = lance.dataset(path)
    dataset.insert(numbers(40))
    dataset.insert(numbers(50))
    dataset.tags.update("gold", 5)
    clean_up(path)
    verified = lx.verify(text)
    assert verified.status == "cleaned_up"
    assert verified.sentence == (
        "Version 4 was cleaned up; 2 versions remain, 5 to 6; the tag gold, which protected it, "
        "was moved or deleted before."
    )
    assert found(verified)["tag gold"] == "version 5"


def test_a_version_that_vanished_under_its_tag_says_so(path):
    text = locked(path)
    lance.dataset(path).insert(numbers(40))
    manifest_paths(path)[4].unlink()
    assert "; the tag gold still points to it." in lx.verify(text).sentence


@pytest.mark.parametrize("appends", [0, 2, 5])
def test_a_table_that_was_made_again_is_another_one(path, appends):
    text = locked(path)
    shutil.rmtree(path)
    write(path, appends)
    verified = lx.verify(text)
    assert (verified.ok, verified.status) == (False, "rewritten")
    assert "was dropped and recreated" in verified.sentence
    assert "later versions" not in found(verified)
    assert found(verified)["schema of the latest version"] == "the same"


def test_a_table_of_another_schema_says_what_differs(path):
    text = locked(path)
    shutil.rmtree(path)
    rows = (
        numbers(0)
        .append_column("mood", pa.array([1] * 4))
        .cast(pa.schema({"id": pa.int32(), "city": pa.string(), "mood": pa.int64()}))
    )
    lance.write_dataset(rows, path)
    words = found(lx.verify(text))["schema of the latest version"]
    assert words == "added: mood; other type: id"
    lance.write_dataset(numbers(0).rename_columns({"city": "town"}), path, mode="overwrite")
    words = found(lx.verify(text))["schema of the latest version"]
    assert words == "added: town; dropped: city"


def test_a_table_that_is_gone_is_told(path):
    text = locked(path)
    shutil.rmtree(path)
    verified = lx.verify(text)
    assert (verified.ok, verified.status, verified.uri) == (False, "table_gone", str(path))
    assert verified.sentence.startswith("No Lance table at ")
    assert found(verified) == {"table": None}


@pytest.mark.parametrize("kind", ["data", "_deletions"])
@pytest.mark.parametrize("count", [2, 20])
def test_a_file_that_is_missing_is_named(path, kind, count):
    dataset = lance.dataset(path)
    for number in range(count):
        dataset.insert(numbers(100 + number))
    text = locked(path)
    [lost, *_] = [
        file for file in sorted((path / kind).iterdir()) if str(file.name) in files_of(path)
    ]
    lost.unlink()
    verified = lx.verify(text)
    name = f"{kind}/{lost.name}"
    assert (verified.ok, verified.status) == (False, "damaged")
    assert verified.sentence == f"Version 4 is kept, but 1 file is missing: {name}."
    assert found(verified)[name] is None


def files_of(path: Path) -> set[str]:
    """Return the names of the files that the locked version needs."""
    inspect = lx.open_table(path).at("gold").inspect
    deletions = [deletion.rpartition("/")[2] for deletion in inspect.deletions()["path"]]
    return {*inspect.data_files()["path"], *deletions}


def test_many_missing_files_are_counted_and_each_is_a_row(path):
    text = locked(path)
    for file in data_files(path):
        file.unlink()
    verified = lx.verify(text)
    assert "3 files are missing: data/" in verified.sentence
    assert found(verified)["files"] == "3 of them lost"
    assert [name for name in found(verified) if name.startswith("data/")] == [
        f"data/{file}" for file in lx.open_table(path).at(4).inspect.data_files()["path"]
    ]


@pytest.mark.parametrize("size", [0, 10])
@pytest.mark.parametrize("many", [False, True])
def test_a_file_of_another_size_is_named(path, size, many):
    for number in range(10 * many):
        lance.dataset(path).insert(numbers(100 + number))
    text = locked(path, -1)
    short = data_files(path)[0]
    before = short.stat().st_size
    short.write_bytes(b"x" * size)
    verified = lx.verify(text)
    assert verified.status == "damaged"
    assert "1 file is of another size: data/" in verified.sentence
    frame = verified.to_frame().rows_by_key("check", named=True)
    [row] = frame[f"data/{short.name}"]
    assert (row["expected"], row["found"]) == (f"{before:,} bytes", f"{size} bytes")


def test_a_deletion_file_that_is_empty_is_lost(path):
    text = locked(path)
    [deletions] = (path / "_deletions").iterdir()
    deletions.write_bytes(b"")
    assert lx.verify(text).status == "damaged"


def test_a_link_that_leads_out_of_the_table_is_not_followed(path, tmp_path_factory):
    text = locked(path)
    away = tmp_path_factory.mktemp("away")
    file = data_files(path)[0]
    file.rename(away / "file")
    file.symlink_to(away / "file")
    with pytest.raises(UnsupportedFeatureError, match="a link to a place outside the table"):
        lx.verify(text)
    assert lx.verify(text, allow_bases=[away]).status == "unmoved"


def test_a_manifest_that_is_damaged_is_no_other_version(path):
    text = locked(path)
    manifest_paths(path)[4].write_bytes(b"x" * 100)
    verified = lx.verify(text)
    assert (verified.status, verified.ok) == ("damaged", False)
    assert "The manifest of version 4 is damaged" in verified.sentence


def test_a_latest_version_that_is_damaged_does_not_hide_the_locked_one(path):
    text = locked(path)
    lance.dataset(path).insert(numbers(40))
    manifest_paths(path)[5].write_bytes(b"x" * 100)
    verified = lx.verify(text)
    assert verified.status == "unmoved"
    assert found(verified)["schema of the latest version"].startswith("cannot be read")


def test_a_version_that_is_cleaned_up_while_it_is_verified_is_cleaned_up(path, monkeypatch):
    text = locked(path, 1)
    find = LocalStorage.find

    def clean_first(storage: LocalStorage, place: str) -> FileInfo | None:
        if place.startswith("data/") and 1 in manifest_paths(path):
            for file in data_files(path):
                file.unlink()
            manifest_paths(path)[1].unlink()
        return find(storage, place)

    monkeypatch.setattr(LocalStorage, "find", clean_first)
    assert lx.verify(text).status == "cleaned_up"


def test_a_detached_version_that_is_gone_was_cleaned_up(tmp_path):
    path = Path(shutil.copytree(DATA / "14.0.2" / "detached.lance", tmp_path / "t"))
    table = lx.open_table(path)
    file = table._view.listing.detached[0]
    text = lx.lock(lx.Snapshot(table._view, file.version))
    (path / file.path).unlink()
    verified = lx.verify(text)
    assert verified.status == "cleaned_up"
    assert f"Version {file.version} was cleaned up" in verified.sentence


# ------------------------------------------------------------------------------------------- shown


def test_a_verification_shows_itself(path):
    verified = lx.verify(locked(path))
    assert repr(verified).startswith("Verification of t.lance version 4: unmoved. Version 4 is ")
    html = verified._repr_html_()
    assert "Verification of t.lance version 4" in html
    assert "tag gold" in html


def test_a_verification_shows_no_markup_and_no_commands(tmp_path):
    write(tmp_path / "t.lance")
    path = (tmp_path / "t.lance").rename(tmp_path / "<b>\x1b[31m")
    verified = lx.verify(locked(path))
    assert repr(verified).isprintable()
    assert "<b>" not in verified._repr_html_()
    assert "\x1b" not in verified._repr_html_()


def test_a_frame_of_checks_always_has_its_columns(path):
    schema = lx.verify(locked(path)).to_frame().schema
    text = locked(path)
    shutil.rmtree(path)
    assert lx.verify(text).to_frame().schema == schema
