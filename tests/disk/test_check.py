"""All checks as one: what is found of damage on disk, of known bugs, and of nothing else."""

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.checks.storage_checks import LARGE_OLD_BYTES
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.manifest import fragment_messages
from lance_explorer.frames.sizes import byte_size
from lance_explorer.history.listing import FIRST_DETACHED
from tests.disk.lives import Life, rows
from tests.format.samples import DATA
from tests.synthetic import ManifestFile
from tests.synthetic.wire import record


def codes(path: Path, **options: Any) -> list[str]:
    """Return the codes of what is found, without those of what a depth leaves out."""
    found = lx.open_table(path).check(**options)
    left_out = (pl.col("code") == "not_checked") & (pl.col("severity") == "info")
    return found.filter(~left_out)["code"].to_list()


def made(path: Path) -> lance.LanceDataset:
    lance.write_dataset(rows(6), str(path))
    return lance.write_dataset(rows(6, 6), str(path), mode="append")


def test_a_healthy_table_has_no_findings(tmp_path: Path) -> None:
    made(tmp_path / "t.lance")
    assert codes(tmp_path / "t.lance", depth="deep") == []


@pytest.mark.drawn(12)
def test_a_random_life_leaves_no_error(seed: int, tmp_path: Path) -> None:
    life = Life(tmp_path / "t.lance", seed)
    life.live(12)
    found = lx.open_table(life.path).check(severity="error", depth="deep")
    # A detached commit takes row IDs that later commits take as well, and a cleanup may remove
    # deletion files that only a detached version needs.
    known = ["row_ids_reused", "duplicate_row_ids", "next_row_id_fell", "row_id_beyond_next"]
    is_detached = (pl.col("code") == "missing_files") & (pl.col("first_version") >= FIRST_DETACHED)
    assert found.filter(~(pl.col("code").is_in(known) | is_detached)).is_empty(), found


def test_missing_and_cut_files_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = made(path)
    first, second = [path / "data" / f.data_files()[0].path for f in dataset.get_fragments()]
    first.unlink()
    assert codes(path) == ["missing_files"]
    second.write_bytes(second.read_bytes()[:-9])
    assert sorted(codes(path)) == ["files_of_wrong_size", "missing_files"]
    found = lx.open_table(path).check(depth="deep")
    assert found.filter(topic="values", severity="error")["code"].to_list() == ["corrupt_data_file"]
    assert found.filter(topic="values", severity="info")["code"].to_list() == ["not_checked"]


def test_what_writers_left_is_told_once_it_is_old(tmp_path: Path) -> None:
    import os

    path = tmp_path / "t.lance"
    made(path)
    left = path / "data" / "left.lance"
    left.write_bytes(b"x" * 2_000_000)
    assert codes(path) == []
    then = left.stat().st_mtime - 8 * 86400
    os.utime(left, (then, then))
    found = lx.open_table(path).check(severity="warning")
    assert found.select("code", "severity").rows() == [("files_left_over", "warning")]
    (path / "notes.txt").write_text("mine")
    assert codes(path, severity="warning") == ["files_left_over"]
    assert codes(path) == ["files_left_over", "files_of_unknown_use"]


def test_refs_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = made(path)
    dataset.tags.create("gold", 1)
    dataset.create_branch("dev", 1)
    shutil.rmtree(path / "tree")
    next((path / "_versions").glob(f"{2**64 - 2}.manifest")).unlink()
    found = codes(path)
    assert "tag_without_version" in found
    assert "branch_without_versions" in found


def known_bugs(table: str) -> dict[str, str]:
    found = lx.open_table(DATA / table).check().drop_nulls("known_bug")
    return dict(found.select("code", "known_bug").iter_rows())


@pytest.mark.parametrize("release", ["1.0.4", "8.0.1"])
def test_row_ids_given_again_after_a_restore_are_told_from_the_release(release: str) -> None:
    found = known_bugs(f"{release}/stable_row_ids.lance")
    assert {"next_row_id_fell", "row_ids_reused"} <= found.keys()
    assert "fixed in 12.0.0" in found["next_row_id_fell"]


def test_versions_that_were_not_set_are_told_from_the_release() -> None:
    assert "1.0.4" in known_bugs("1.0.4/stable_row_ids.lance")["created_at_wrong"]
    assert "created_at_wrong" not in known_bugs("8.0.1/stable_row_ids.lance")


def test_an_index_that_a_compaction_left_behind_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(12), str(path), max_rows_per_file=3)
    dataset = lance.dataset(str(path))
    dataset.create_scalar_index("score", "ZONEMAP")
    dataset.optimize.compact_files()
    found = lx.open_table(path).check().filter(code="index_covers_nothing")
    assert len(found) == 1
    assert "a compaction that left this index behind" in found["known_bug"].item()
    assert f"version {lance.dataset(str(path)).version}" in found["known_bug"].item()


def test_a_bug_is_told_of_the_index_that_has_it_and_of_no_other(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(12), str(path), max_rows_per_file=3)
    dataset = lance.dataset(str(path))
    dataset.create_scalar_index("score", "ZONEMAP", name="id")
    dataset.optimize.compact_files()
    lance.dataset(str(path)).create_scalar_index("id", "BTREE", name="video_id_idx", train=False)
    found = lx.open_table(path).check().filter(code="index_covers_nothing")
    bugs = dict(found.select("subject_name", "known_bug").iter_rows())
    assert bugs["id"] is not None
    assert bugs["video_id_idx"] is None


def test_an_index_whose_rows_were_overwritten_is_no_bug(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    made(path).create_scalar_index("id", "BTREE")
    lance.dataset(str(path)).delete("id < 100")
    lance.write_dataset(rows(6, 20), str(path), mode="append")
    found = lx.open_table(path).check().filter(code="index_covers_nothing")
    assert found["known_bug"].to_list() == [None] * len(found)


def test_an_unknown_level_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "t.lance")
    with pytest.raises(lx.InvalidArgumentError, match="severity"):
        codes(tmp_path / "t.lance", severity="all")


def test_what_only_old_versions_need_is_what_a_cleanup_frees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(rows(500), str(path))
    dataset.tags.create("kept", 1)
    dataset = lance.write_dataset(rows(500, 500), str(path), mode="overwrite")
    dataset = lance.write_dataset(rows(20, 1000), str(path), mode="overwrite")
    assert codes(path) == []
    assert LARGE_OLD_BYTES == 10**9
    monkeypatch.setattr("lance_explorer.checks.storage_checks.LARGE_OLD_BYTES", 1)
    found = lx.open_table(path).check().row(0, named=True)
    assert (found["code"], found["severity"], found["first_version"]) == (
        "old_version_bytes",
        "warning",
        None,
    )
    usage = lx.open_table(path).disk_usage()
    old = int(usage.summary().filter(status="old")["size_bytes"].sum())
    before = bytes_below(path)
    dataset.cleanup_old_versions(timedelta(0), error_if_tagged_old_versions=False)
    assert before - bytes_below(path) == old > 0
    assert found["statement"].startswith(f"{byte_size(old)} are needed by old versions only: ")
    assert found["statement"].endswith(f"the latest version needs {byte_size(usage.live_bytes)}")


def bytes_below(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


@pytest.mark.parametrize("data_format", ["legacy", "2.0", "2.1", "2.2"])
def test_a_fragment_with_other_rows_than_its_data_file_is_found_by_a_deep_check(
    data_format: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(9), str(path), data_storage_version=data_format)
    assert codes(path, depth="deep") == []
    [file] = (path / "_versions").glob("*.manifest")
    manifest = ManifestFile.from_bytes(file.read_bytes())
    fragment = pb.DataFragment.FromString(fragment_messages(file.read_bytes())[0])
    fragment.physical_rows -= 2
    changed = replace(manifest, fragments=record(2, fragment.SerializeToString()))
    file.write_bytes(changed.to_bytes())
    found = lx.open_table(path).check(depth="deep").filter(code="rows_contradict_file")
    assert found.select("severity", "subject_name").rows() == [("error", "0")]
    assert "has 7 rows" in found["statement"].item()
    assert "has 9" in found["statement"].item()
