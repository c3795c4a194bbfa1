"""A table's own base paths count to it; what another table wrote there does not."""

import os
import random
import shutil
from datetime import timedelta
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.cli import main
from lance_explorer.widgets.disk_data import disk_data
from lance_explorer.widgets.questions import answer_to
from tests.disk.lives import rows
from tests.disk.test_usage import size_of

FOLDERS = ("flat", "root")


def bases(folder: Path) -> list[lance.DatasetBasePath]:
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    return [
        lance.DatasetBasePath(str(folder / name), name, is_dataset_root=name == "root")
        for name in FOLDERS
    ]


def made(folder: Path, targets: tuple[str, ...] = FOLDERS, num_writes: int = 3) -> Path:
    """Write a table whose data files are in base paths, and overwrite it."""
    path = folder / "t.lance"
    given = bases(folder)
    for number in range(num_writes):
        lance.write_dataset(
            rows(3000, number),
            str(path),
            mode="overwrite" if number else "create",
            initial_bases=None if number else given,
            target_bases=list(targets),
            max_rows_per_file=1000,
        )
    return path


def all_sizes(folder: Path) -> int:
    return sum(size_of(folder / name) for name in ("t.lance", *FOLDERS))


def test_everything_that_shows_sizes_counts_base_paths(tmp_path: Path) -> None:
    path = made(tmp_path)
    table = lx.open_table(path)
    usage = table.disk_usage()
    total = all_sizes(tmp_path)
    assert usage.total_bytes == total > 10 * size_of(path)
    assert usage.summary()["size_bytes"].sum() == usage.versions()["total_bytes"][-1] == total
    data = usage.summary().filter(kind="data")
    named = table.versions()["data_bytes"].to_list()
    assert dict(data.select("status", "size_bytes").iter_rows()) == {
        "live": named[-1],
        "old": sum(named[:-1]),
    }
    assert usage.not_counted == []
    told = CliRunner().invoke(main, ["du", str(path)]).output
    assert usage.sentence in told.replace("\n", " ")
    answer = answer_to(table, "why is it big")
    assert answer is not None
    assert usage.sentence in answer.sentence
    assert usage.sentence in str(disk_data(table, lambda: None))


def test_what_no_version_names_in_a_base_path_is_counted_and_a_finding(tmp_path: Path) -> None:
    path = made(tmp_path)
    preview = lx.open_table(path).cleanup_preview(timedelta(0), delete_unverified=True)
    stays = all_sizes(tmp_path) - preview.freed_bytes
    done = lance.dataset(str(path)).cleanup_old_versions(timedelta(0), delete_unverified=True)
    assert preview.freed_bytes == done.bytes_removed
    assert all_sizes(tmp_path) == stays
    table = lx.open_table(path)
    left = table.inspect.storage().filter(pl.col("first_version").is_null(), kind="data")
    assert "base paths stay" in preview.sentence
    held = preview.held().filter(pl.col("holder").str.starts_with("base paths"))
    assert held["size_bytes"].sum() == left["size_bytes"].sum() > 0
    assert "left_in_bases" in preview.losses()["what"].to_list()
    assert set(left["status"]) == {"in_flight"}
    for row in left.select("base_uri", "path").iter_rows():
        os.utime(Path(*row), (0, 0))
    table = lx.open_table(path)
    assert table.disk_usage().total_bytes == all_sizes(tmp_path)
    # Another table may use the base path, so nobody can call them left over.
    left = table.inspect.storage().filter(pl.col("first_version").is_null(), kind="data")
    assert set(left["status"]) == {"unknown"}
    (finding,) = table.check(severity="info").filter(code="files_left_in_base_paths").to_dicts()
    assert f"{len(left)} files" in finding["statement"]


def test_a_clone_counts_what_it_wrote_and_its_source_the_rest(tmp_path: Path) -> None:
    path = made(tmp_path)
    source = lance.dataset(str(path))
    clone = tmp_path / "c.lance"
    source.shallow_clone(str(clone), source.version)
    there = {f for name in FOLDERS for f in (tmp_path / name).rglob("*.lance")}
    assert lx.open_table(clone).disk_usage().total_bytes == size_of(clone)
    lance.write_dataset(rows(500), str(clone), mode="append", target_bases=["flat"])
    added = {f for name in FOLDERS for f in (tmp_path / name).rglob("*.lance")} - there
    written = sum(f.stat().st_size for f in added)
    usage = lx.open_table(clone).disk_usage()
    assert (usage.total_bytes, usage.not_counted) == (size_of(clone) + written, [])
    usage = lx.open_table(path).disk_usage([clone])
    assert usage.total_bytes == all_sizes(tmp_path) - written
    lance.dataset(str(clone)).delete("id < 3")
    lance.dataset(str(clone)).cleanup_old_versions(timedelta(0))
    usage = lx.open_table(clone).disk_usage()  # which version wrote the files is lost
    assert usage.total_bytes == size_of(clone)
    assert "at least" in usage.sentence
    assert "may be the table's" in usage.not_counted[0]


def test_a_base_path_that_may_not_be_opened_makes_it_at_least(tmp_path: Path) -> None:
    path = tmp_path / "here" / "t.lance"
    lance.write_dataset(
        rows(3000), str(path), initial_bases=bases(tmp_path / "far"), target_bases=["flat"]
    )
    table = lx.open_table(path)
    usage = table.disk_usage()
    assert usage.total_bytes == size_of(path)
    assert usage.sentence.startswith("at least ")
    assert len(usage.not_counted) == 2
    assert all("allow_bases" in why for why in usage.not_counted)
    assert "base_not_allowed" in table.check(severity="info")["code"].to_list()
    usage = lx.open_table(path, allow_bases=[tmp_path / "far"]).disk_usage()
    assert usage.total_bytes == size_of(tmp_path)
    assert usage.not_counted == []


def test_a_base_path_that_cannot_be_listed_is_a_finding(tmp_path: Path) -> None:
    path = made(tmp_path)
    shutil.rmtree(tmp_path / "flat")
    (tmp_path / "flat").symlink_to("flat")  # which leads to itself
    table = lx.open_table(path)
    assert "at least" in table.disk_usage().sentence
    assert "base_path_not_looked_at" in table.check(severity="info")["code"].to_list()


def test_blobs_in_base_paths_belong_to_their_data_file(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    given = bases(tmp_path)
    values = lance.blob_array([b"x" * 200_000, b"y" * 300_000])
    table = pa.table([values], schema=pa.schema([lance.blob_field("image")]))
    for number, name in enumerate(FOLDERS):
        lance.write_dataset(
            table,
            str(path),
            mode="append" if number else "create",
            data_storage_version="2.2",
            initial_bases=None if number else given,
            target_bases=[name],
        )
    lance.write_dataset(table, str(path), mode="overwrite", data_storage_version="2.2")
    opened = lx.open_table(path)
    assert opened.disk_usage().total_bytes == all_sizes(tmp_path)
    blobs = opened.inspect.storage().filter(pl.col("base_uri") != str(path), kind="blob")
    assert blobs["status"].to_list() == ["old", "old"]
    left = opened.cleanup_preview(retain_versions=1).held()
    assert left.filter(pl.col("holder").str.starts_with("base paths"))["num_files"].item() == 4


@pytest.mark.slow
@pytest.mark.drawn(3)
def test_random_lives_over_base_paths_add_up(seed: int, tmp_path: Path) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    path, branch = tmp_path / "t.lance", None
    lance.write_dataset(
        rows(20), str(path), initial_bases=bases(tmp_path), target_bases=[rng.choice(FOLDERS)]
    )
    for number in range(12):
        dataset = lance.dataset(str(path))
        if branch is not None and rng.random() < 0.5:
            dataset = dataset.checkout_version((branch, None))
        targets = rng.choice([None, ["flat"], ["root"], list(FOLDERS)])
        match rng.randrange(7):
            case 0 | 1:
                lance.write_dataset(
                    rows(rng.randrange(1, 40), 100 * number),
                    dataset,
                    mode="append",
                    target_bases=targets,
                )
            case 2:
                lance.write_dataset(rows(5, 7000), dataset, mode="overwrite", target_bases=targets)
            case 3:
                dataset.delete(f"id % 5 = {rng.randrange(5)}")
            case 4:
                dataset.optimize.compact_files()
            case 5 if branch is None:
                branch = "dev"
                dataset.create_branch(branch)
            case _:
                kept = rng.randrange(1, 4)
                if dataset.version != lance.dataset(str(path)).version:
                    continue
                preview = lx.open_table(path).cleanup_preview(retain_versions=kept)
                done = lance.dataset(str(path)).cleanup_old_versions(retain_versions=kept)
                assert preview.freed_bytes == done.bytes_removed
        for name in (None, branch):
            usage = lx.open_table(path, branch=name).disk_usage()
            assert usage.total_bytes == all_sizes(tmp_path)
            assert usage.summary()["size_bytes"].sum() == usage.total_bytes
            assert usage.versions()["total_bytes"][-1] == usage.total_bytes


def test_what_the_fork_version_of_a_branch_needs_is_not_left_in_base_paths(tmp_path: Path) -> None:
    path = made(tmp_path, num_writes=1)
    dataset = lance.dataset(str(path))
    dataset.create_branch("dev", 1)
    lance.write_dataset(rows(10), str(path), mode="overwrite", target_bases=["flat"])
    preview = lx.open_table(path).cleanup_preview(timedelta(0))
    assert "left_in_bases" not in preview.losses()["what"].to_list()
    done = lance.dataset(str(path)).cleanup_old_versions(timedelta(0))
    assert preview.freed_bytes == done.bytes_removed
    assert "files_left_in_base_paths" not in lx.open_table(path).check()["code"].to_list()
