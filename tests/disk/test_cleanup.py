"""What a cleanup would remove, compared with what pylance says of it, over random lives."""

import os
import random
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.disk.agreement import check_cleanup, explained, removed_by_us
from tests.disk.lives import Life, rows
from tests.synthetic.manifests import ManifestFile


@pytest.mark.slow
@pytest.mark.drawn(15)
def test_the_files_of_a_cleanup_are_those_of_pylance(seed: int, tmp_path: Path) -> None:
    life = Life(tmp_path / "t.lance", seed)
    life.live(14)
    chosen = random.Random(seed)
    for _ in range(4):
        check_cleanup(life.path, life.branches, chosen)


def files_in(path: Path) -> dict[str, int]:
    every = [file for file in path.rglob("*") if file.is_file()]
    return {str(file.relative_to(path)): file.stat().st_size for file in every}


@pytest.mark.drawn(12)
def test_a_cleanup_removes_what_the_preview_lists(seed: int, tmp_path: Path) -> None:
    life = Life(tmp_path / "t.lance", seed)
    life.live(12)
    preview = lx.open_table(life.path).cleanup_preview(timedelta(0), 2, delete_unverified=True)
    kept = preview.versions().filter(~pl.col("is_removed"))["version"].to_list()
    before = files_in(life.path)
    stats = lance.dataset(str(life.path)).cleanup_old_versions(
        timedelta(0), 2, delete_unverified=True, error_if_tagged_old_versions=False
    )
    gone = before.keys() - files_in(life.path).keys()
    assert gone == set(preview.files()["path"])
    assert preview.freed_bytes == sum(before[file] for file in gone) == stats.bytes_removed
    assert preview.num_versions == stats.old_versions
    assert preview.summary()["size_bytes"].sum() == stats.bytes_removed
    assert [v["version"] for v in lance.dataset(str(life.path)).versions()] == kept


def grown(path: Path) -> lance.LanceDataset:
    lance.write_dataset(rows(6), str(path))
    lance.write_dataset(rows(6, 6), str(path), mode="append")
    return lance.write_dataset(rows(3, 20), str(path), mode="overwrite")


def losses(path: Path, **options: Any) -> list[tuple[str, int, bool]]:
    preview = lx.open_table(path).cleanup_preview(timedelta(0), **options)
    return preview.losses().select("what", "count", "ledger_keeps").rows()


def test_what_is_lost_and_what_a_ledger_keeps(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    grown(path)
    assert losses(path) == [
        ("time_travel", 2, False),
        ("values", 2, False),
        ("row_history", 2, True),
    ]
    lance.dataset(str(path)).create_scalar_index("id", "BTREE")
    lance.dataset(str(path)).create_scalar_index("id", "BTREE", replace=True)
    for first in (30, 40):
        lance.write_dataset(rows(3, first), str(path), mode="append")
    lance.dataset(str(path)).optimize.compact_files()
    lance.write_dataset(rows(3, 50), str(path), mode="append")
    found = losses(path)
    assert ("compaction_lineage", 1, True) in found
    assert [what for what, _, _ in found][-1] == "index"


def test_nothing_is_lost_where_nothing_is_removed(tmp_path: Path) -> None:
    grown(tmp_path / "t.lance")
    preview = lx.open_table(tmp_path / "t.lance").cleanup_preview()
    assert preview.losses().is_empty()
    assert preview.freed_bytes == 0
    assert preview.sentence == "frees nothing"
    assert preview.code == "dataset.cleanup_old_versions(older_than=timedelta(days=14))"


def test_lance_does_not_look_for_files_of_detached_versions(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = grown(path)
    fragment = lance.fragment.LanceFragment.create(str(path), rows(2, 50))
    append = lance.LanceOperation.Append([fragment])
    detached = lance.LanceDataset.commit(str(path), append, read_version=3, detached=True)
    assert losses(path)[0][0] != "damage"
    found = losses(path, delete_unverified=True)
    assert found[0] == ("damage", 1, False)
    dataset.cleanup_old_versions(timedelta(0), delete_unverified=True)
    with pytest.raises((OSError, pa.ArrowInvalid), match=r"(?i)not found"):
        lance.dataset(str(path), version=detached.version).to_table()


def test_versions_of_one_time_are_cleaned_up_as_lance_does(tmp_path: Path) -> None:
    """Lance looks at no newer files unless a version goes that is newer than one that stays."""
    path = tmp_path / "t.lance"
    for _ in range(2):
        lance.write_dataset(rows(0, 4), path, mode="overwrite")
    newest, oldest = sorted((path / "_versions").glob("*.manifest"))
    files = [ManifestFile.from_bytes(manifest.read_bytes()) for manifest in (newest, oldest)]
    files[1].message.timestamp.CopyFrom(files[0].message.timestamp)
    oldest.write_bytes(files[1].to_bytes())
    [transaction] = (path / "_transactions").glob("0-*.txn")
    later = time.time_ns() + 10**9
    os.utime(transaction, ns=(later, later))
    theirs = explained(path, None, retain_versions=1)
    assert removed_by_us(path, None, retain_versions=1) == theirs
    assert transaction.name not in str(theirs)


def test_a_clone_that_is_named_tells_what_it_would_lose(tmp_path: Path) -> None:
    path, clone = tmp_path / "t.lance", tmp_path / "clone.lance"
    grown(path)
    lance.dataset(str(path), version=2).shallow_clone(str(clone), 2)
    assert losses(path)[0][0] == "time_travel"
    assert losses(path, clones=[clone])[0] == ("damage", 2, False)


def test_a_commit_under_way_would_lose_its_files(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    grown(path)
    lance.fragment.LanceFragment.create(str(path), rows(2, 50))
    assert losses(path, delete_unverified=True)[0] == ("damage", 1, False)


def test_what_holds_files_back(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = grown(path)
    dataset.tags.create("gold", 1)
    dataset.create_branch("dev", 2)
    preview = lx.open_table(path).cleanup_preview(timedelta(0))
    held = dict(preview.held().select("holder", "num_files").iter_rows())
    assert held["branch dev, tag gold"] == 1
    reasons = preview.versions()["reason"].to_list()
    assert reasons == ["tag gold", "branch dev was created from it", "it is the latest version"]
    assert "error_if_tagged_old_versions=False" in preview.code


def test_a_manifest_that_cannot_be_read_stops_lance(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    grown(path)
    manifest = path / "_versions" / f"{2**64 - 1 - 1}.manifest"
    manifest.write_bytes(b"nothing of use here")
    preview = lx.open_table(path).cleanup_preview(timedelta(0))
    assert "cannot be read" in str(preview.problem)
    assert preview.files().is_empty()
    with pytest.raises(OSError, match=r"(?i)manifest|magic|invalid"):
        lance.dataset(str(path)).cleanup_old_versions(timedelta(0))


@pytest.mark.parametrize("days", [-1, 3, "14 days"])
def test_an_age_is_a_timedelta(days: object, tmp_path: Path) -> None:
    grown(tmp_path / "t.lance")
    given: Any = timedelta(days=-1) if days == -1 else days
    with pytest.raises(lx.InvalidArgumentError, match="older_than is a timedelta"):
        lx.open_table(tmp_path / "t.lance").cleanup_preview(given)
