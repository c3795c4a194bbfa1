"""Ledgers that workers build are those that one machine builds."""

import shutil
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.ledger.ledger import ADDED
from tests.differential.twin import Twin

NAMES = ("all_fragments", "transactions", "all_row_id_segments", "refs", "all_config", "gaps")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Small tables at several depths, one with branches and a tag, and one of many versions."""
    folder: Path = tmp_path_factory.mktemp("lake")
    for name in ("a.lance", "deep/b.lance", "deep/er/c.lance"):
        lance.write_dataset(pa.table({"id": [1, 2]}), str(folder / name))
    main = Twin.create(str(folder / "branches.lance"), 10, stable_row_ids=True)
    dev = lance.dataset(main.uri).create_branch("dev")
    dev.delete("key = 1")
    lance.dataset(main.uri).tags.create("first", 1)
    long = lance.write_dataset(
        pa.table({"id": range(100)}), str(folder / "long.lance"), enable_stable_row_ids=True
    )
    for number in range(50):
        long.delete(f"id = {number}")
        long.insert(pa.table({"id": [number + 100]}))
    return folder


def check_same(one: lx.Ledger, other: lx.Ledger, uri: str, branch: str | None = None) -> None:
    """Compare what two ledgers say of a table."""
    first, second = (ledger.open(uri, branch) for ledger in (one, other))
    assert first.versions().equals(second.versions())
    for name in NAMES:
        query = f"SELECT * FROM {name}"
        assert first.sql(query).equals(second.sql(query)), name
    assert first.tags == second.tags


@pytest.mark.parametrize("size", [20_000, 64 << 20])
def test_a_ledger_is_the_one_that_the_driver_makes(spark, folder, tmp_path, size):
    ledger, expected = lx.Ledger(tmp_path / "spark"), lx.Ledger(tmp_path / "driver")
    added = lx.spark.record(spark, str(folder), ledger, bytes_per_task=size)
    uris = sorted(
        str(path.parent) for path in folder.rglob("_versions") if "tree" not in path.parts
    )
    assert added["uri"].unique(maintain_order=True).to_list() == uris
    assert added["error"].null_count() == len(added)
    for uri in uris:
        of_uri = added.filter(uri=uri).select(ADDED.names)
        told = expected.record(uri).select(ADDED.names)
        assert of_uri.drop("bytes_read").equals(told.drop("bytes_read"))
        for branch in told["branch"]:
            check_same(ledger, expected, uri, branch)
    again = lx.spark.record(spark, str(folder), ledger, bytes_per_task=size)
    assert again["new_versions"].sum() == again["bytes_read"].sum() == 0


def test_what_is_new_is_added_by_ranges(spark, folder, tmp_path):
    path = tmp_path / "long.lance"
    shutil.copytree(folder / "long.lance", path)
    ledger, expected = lx.Ledger(tmp_path / "spark"), lx.Ledger(tmp_path / "driver")
    lx.spark.record(spark, str(path), ledger, bytes_per_task=20_000)
    dataset = lance.dataset(str(path))
    for number in range(40):
        dataset.insert(pa.table({"id": [number]}))
    dataset.tags.create("later", 100)
    added = lx.spark.record(spark, str(path), ledger, bytes_per_task=20_000)
    assert added.select("new_versions", "first_version", "last_version").row(0) == (40, 102, 141)
    expected.record(str(path))
    check_same(ledger, expected, str(path))
    assert ledger.tables()["segments"].item() <= 2  # merged when all had been there
    assert ledger.refs(str(path))["name"].to_list() == ["later"]


def test_words_can_be_left_out(spark, folder, tmp_path):
    path = str(folder / "long.lance")
    ledger = lx.Ledger(tmp_path / "ledger")
    lx.spark.record(spark, [path], ledger, words=False, bytes_per_task=20_000)
    told, left_out = lx.open_table(path).inspect.transactions(), ledger.open(path).inspect
    assert told["summary"].str.contains("id = ").sum() == 50
    assert not left_out.transactions()["summary"].str.contains("id = ").any()


def test_a_table_that_cannot_be_read_is_told_and_the_others_are_recorded(spark, folder, tmp_path):
    shutil.copytree(folder / "a.lance", tmp_path / "good.lance")
    (tmp_path / "bad.lance").mkdir()
    added = lx.spark.record(spark, str(tmp_path), tmp_path / "ledger")
    errors = dict(added.select("uri", "error").iter_rows())
    assert errors[str(tmp_path / "good.lance")] is None
    assert "no Lance table at" in errors[str(tmp_path / "bad.lance")]
    shutil.rmtree(tmp_path / "good.lance")
    with pytest.raises(lx.LanceExplorerError, match=r"no table was recorded; .*bad\.lance"):
        lx.spark.record(spark, str(tmp_path), tmp_path / "ledger")


def test_a_ledger_in_a_table_is_refused(spark, folder):
    path = folder / "a.lance"
    with pytest.raises(lx.InvalidArgumentError, match="outside of tables"):
        lx.spark.record(spark, str(path), path / "ledger")


def test_what_workers_recorded_outlives_a_cleanup(spark, folder, tmp_path):
    path = tmp_path / "long.lance"
    shutil.copytree(folder / "long.lance", path)
    ledger = lx.Ledger(tmp_path / "ledger")
    lx.spark.record(spark, str(path), ledger, bytes_per_task=20_000)
    lance.dataset(str(path)).cleanup_old_versions(retain_versions=3)
    recorded = lx.open_table(str(path), ledger=ledger).versions()
    assert recorded["known_from"].value_counts().sort("known_from").rows() == [
        ("live", 3),
        ("ledger", 98),
    ]


def test_values_are_kept_as_one_machine_keeps_them(spark, folder, tmp_path):
    ledger, expected = lx.Ledger(tmp_path / "spark"), lx.Ledger(tmp_path / "driver")
    uri = str(folder / "long.lance")
    added = lx.spark.record(spark, [uri], ledger, values=True, bytes_per_task=20_000)
    told = expected.record(uri, values=True)
    kept = ["kept_rows", "left_out_rows", "lost_rows"]
    assert added.select(kept).rows() == told.select(kept).rows() == [(50, 0, 0)]
    assert added["new_versions"].to_list() == [101]
    again = lx.spark.record(spark, [uri], ledger, values=["id"])
    assert again["kept_rows"].to_list() == [0]
