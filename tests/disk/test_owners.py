"""Whose each object is, compared with what pylance lists and what it tracks, over random lives."""

import os
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.disk.agreement import check_storage
from tests.disk.lives import Life, rows
from tests.stored_tables import is_main, stored_check


@pytest.mark.slow
@pytest.mark.drawn(15)
def test_every_object_of_a_random_life_has_its_owner(seed: int, tmp_path: Path) -> None:
    life = Life(tmp_path / "t.lance", seed)
    life.live(14)
    check_storage(life.path)


def statuses(path: Path, **options: object) -> dict[str, str]:
    found = lx.open_table(path).inspect.storage(**options)  # type: ignore[arg-type]
    return dict(found.select("path", "status").iter_rows())


def made(path: Path) -> lance.LanceDataset:
    lance.write_dataset(rows(6), str(path))
    lance.write_dataset(rows(6, 6), str(path), mode="append")
    return lance.write_dataset(rows(3, 20), str(path), mode="overwrite")


def of_kind(path: Path, kind: str) -> pl.DataFrame:
    return lx.open_table(path).inspect.storage().filter(kind=kind)


def age(file: Path, days: float) -> None:
    then = file.stat().st_mtime - days * 86400
    os.utime(file, (then, then))


def test_a_file_that_nobody_names_is_in_flight_for_seven_days(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    made(path)
    left = path / "data" / "left.lance"
    left.write_bytes(b"half")
    assert statuses(path)["data/left.lance"] == "in_flight"
    age(left, 6.9)
    assert statuses(path)["data/left.lance"] == "in_flight"
    age(left, 0.2)
    assert statuses(path)["data/left.lance"] == "orphan"


def test_what_an_unreadable_version_may_name_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = made(path)
    left = path / "data" / "left.lance"
    left.write_bytes(b"half")
    age(left, 30)
    manifest = next((path / "_versions").glob(f"{2**64 - 1 - 2}.manifest"))
    manifest.write_bytes(manifest.read_bytes()[:-20])
    found = statuses(path)
    assert found["data/left.lance"] == "unknown"
    assert found[f"_versions/{manifest.name}"] == "old"
    assert dataset.version == 3
    appended = lance.dataset(str(path), version=1).get_fragments()[0].data_files()[0].path
    assert found[f"data/{appended}"] == "old"


@pytest.mark.parametrize("folder", ["tags", "branches"])
def test_an_unreadable_ref_makes_what_nobody_names_unknown(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    made(path)
    left = path / "data" / "left.lance"
    left.write_bytes(b"half")
    age(left, 30)
    assert statuses(path)["data/left.lance"] == "orphan"
    (path / "_refs" / folder).mkdir(parents=True)
    (path / "_refs" / folder / "x.json").write_text("{")
    assert statuses(path)["data/left.lance"] == "unknown"


def test_a_missing_file_and_one_of_another_size(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = made(path)
    latest = path / "data" / dataset.get_fragments()[0].data_files()[0].path
    first = lance.dataset(str(path), version=2).get_fragments()
    gone, cut = [path / "data" / fragment.data_files()[0].path for fragment in first]
    size = gone.stat().st_size
    gone.unlink()
    cut.write_bytes(b"cut off")
    found = {row["path"]: row for row in lx.open_table(path).inspect.storage().to_dicts()}
    row = found[f"data/{gone.name}"]
    assert (row["status"], row["size_bytes"], row["named_bytes"]) == ("missing", None, size)
    assert (row["first_version"], row["last_version"], row["written_by"]) == (1, 2, 1)
    row = found[f"data/{cut.name}"]
    assert (row["status"], row["size_bytes"]) == ("wrong_size", 7)
    assert found[f"data/{latest.name}"]["status"] == "live"


def test_a_clone_pins_what_it_reads_if_it_is_named(tmp_path: Path) -> None:
    path, clone = tmp_path / "t.lance", tmp_path / "clone.lance"
    dataset = made(path)
    lance.dataset(str(path), version=2).shallow_clone(str(clone), 2)
    old = lance.dataset(str(path), version=2).get_fragments()[0].data_files()[0].path
    assert statuses(path)[f"data/{old}"] == "old"
    assert statuses(path, clones=[clone])[f"data/{old}"] == "pinned"
    assert statuses(path, clones=[lance.dataset(str(clone))])[f"data/{old}"] == "pinned"
    assert dataset.version == 3


def test_of_another_place_only_files_that_are_named_have_a_row(tmp_path: Path) -> None:
    path, clone = tmp_path / "t.lance", tmp_path / "clone.lance"
    made(path)
    lance.dataset(str(path), version=2).shallow_clone(str(clone), 2)
    found = lx.open_table(clone).inspect.storage()
    there = found.filter(pl.col("base_uri") == str(path))
    names = [f.data_files()[0].path for f in lance.dataset(str(path), version=2).get_fragments()]
    assert sorted(there["path"]) == sorted(f"data/{name}" for name in names)
    assert set(there["status"]) == {"live"}
    (path / "data" / names[0]).unlink()
    found = lx.open_table(clone).inspect.storage()
    assert found.filter(status="missing")["path"].to_list() == [f"data/{names[0]}"]


def test_files_in_a_place_that_may_not_be_read_are_unknown(tmp_path: Path) -> None:
    far = tmp_path / "far" / "away"
    path = tmp_path / "here" / "t.lance"
    lance.write_dataset(
        rows(3),
        str(path),
        initial_bases=[lance.DatasetBasePath(str(far), name="far", id=1)],
        target_bases=["far"],
    )
    found = lx.open_table(path).inspect.storage().filter(kind="data")
    assert found.select("base_uri", "status").rows() == [(str(far), "unknown")]
    assert "allow_bases" in found["reason"].item()
    found = lx.open_table(path, allow_bases=[far]).inspect.storage().filter(kind="data")
    assert found["status"].to_list() == ["live"]


def test_blobs_beside_a_data_file_share_its_lot(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    values = lance.blob_array([b"x" * 200_000, b"y" * 300_000])
    table = pa.table([values], schema=pa.schema([lance.blob_field("image")]))
    lance.write_dataset(table, str(path), data_storage_version="2.2")
    blobs = of_kind(path, "blob")
    assert set(blobs["status"]) == {"live"}
    assert blobs["size_bytes"].sum() >= 500_000
    lance.write_dataset(table, str(path), mode="overwrite", data_storage_version="2.2")
    assert sorted(of_kind(path, "blob")["status"]) == sorted(["live", "old"] * len(blobs))


def test_the_branch_that_is_opened_is_the_one_that_lives(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    made(path).create_branch("dev", 2).delete("id = 1")
    main = statuses(path)
    assert {s for p, s in main.items() if p.startswith("tree/")} == {"pinned"}
    found = lx.open_table(path, branch="dev").inspect.storage()
    of_tree = found.filter(pl.col("path").str.starts_with("tree/"))
    assert {"live", "old"} == set(of_tree["status"])
    assert sorted(found["path"]) == sorted(main)


def test_a_tree_without_its_branch_is_left_over(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    made(path).create_branch("dev", 2).delete("id = 1")
    (path / "_refs" / "branches" / "dev.json").unlink()
    of_tree = {s for p, s in statuses(path).items() if p.startswith("tree/")}
    assert of_tree == {"in_flight"}


@stored_check(is_main)
def check_objects_of_stored_tables(asked):
    found = asked.table.inspect.storage()
    own = found.filter(pl.col("size_bytes").is_not_null(), base_uri=str(asked.root))
    files = {f: f.stat().st_size for f in asked.root.rglob("*") if f.is_file()}
    found_files = own.select("path", "size_bytes").iter_rows()
    assert {asked.root / path: size for path, size in found_files} == files
    assert found.filter(pl.col("status").is_in(["wrong_size"])).is_empty()
