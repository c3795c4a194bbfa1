"""How much is on disk, by kind and status and by version."""

from pathlib import Path

import lance
import pytest

import lance_explorer as lx
from tests.disk.lives import Life, rows


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


@pytest.mark.drawn(12)
def test_usage_adds_up_to_what_is_on_disk(seed: int, tmp_path: Path) -> None:
    life = Life(tmp_path / "t.lance", seed)
    life.live(12)
    usage = lx.open_table(life.path).disk_usage()
    assert usage.total_bytes == size_of(life.path)
    assert usage.summary()["size_bytes"].sum() == usage.total_bytes
    versions = usage.versions()
    assert versions["total_bytes"][-1] == versions["size_bytes"].sum() == usage.total_bytes
    parts = [f"{part}_bytes" for part in ("data", "deletion", "index", "manifest", "other")]
    assert versions.select(parts).sum().sum_horizontal().item() == usage.total_bytes
    assert versions["live_bytes"].sum() <= usage.live_bytes
    numbers = [version["version"] for version in lance.dataset(str(life.path)).versions()]
    assert versions["version"].drop_nulls().to_list() == numbers


def test_bytes_are_put_down_to_the_version_that_wrote_them(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(1000), str(path))
    lance.write_dataset(rows(10, 2000), str(path), mode="append")
    lance.dataset(str(path)).delete("id < 5")
    versions = lx.open_table(path).disk_usage().versions()
    first, second, third, rest = versions.to_dicts()
    assert first["data_bytes"] > second["data_bytes"] > 0 == third["data_bytes"]
    assert third["deletion_bytes"] > 0 == first["deletion_bytes"]
    assert rest["version"] is None


def test_the_sentence_says_what_takes_most(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    for _ in range(3):
        lance.write_dataset(rows(3000), str(path), mode="overwrite")
    usage = lx.open_table(path).disk_usage()
    assert "the latest version" in usage.sentence
    assert "old data files" in usage.sentence.split(",")[1]
    assert "DiskUsage(t.lance" in repr(usage)
