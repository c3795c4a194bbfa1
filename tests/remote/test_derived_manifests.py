"""Of a table in a store that only grows, little more is read than what each commit added."""

from pathlib import Path

import obstore
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.history import recorded
from tests.remote.bucket import Bucket
from tests.synthetic import SyntheticTable

NAME = "grows.lance"
NUM_APPENDS = 40


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, bucket: Bucket) -> Path:
    """A table with large manifests, copied into the bucket."""
    path = tmp_path_factory.mktemp("grows")
    table = SyntheticTable(path).append(fragments=600)
    for _ in range(NUM_APPENDS // 2):
        table.append(rows=2)
    table.delete({3: [0]})
    for _ in range(NUM_APPENDS // 2):
        table.append(rows=3)
    bucket.copy(path, NAME)
    return path


def manifest_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in (path / "_versions").glob("*.manifest"))


def test_a_sixth_is_read_and_the_answer_is_the_same(bucket, path):
    table, local = bucket.table(NAME), lx.open_table(path)
    versions = table.versions()
    assert table.io.bytes_read < manifest_bytes(path) / 6
    assert_frame_equal(versions.drop("known_from"), local.versions().drop("known_from"))
    assert_frame_equal(
        table.inspect.all_fragments().drop("known_from", strict=False),
        local.inspect.all_fragments().drop("known_from", strict=False),
    )
    known = versions["known_from"].to_list()
    assert known.count("derived") == NUM_APPENDS - 2  # the last of each run is read whole
    assert (known[0], known[NUM_APPENDS // 2 + 1]) == ("live", "live")


def test_manifests_are_read_whole_on_request(bucket, path):
    table = lx.open_table(bucket.uri(NAME), storage_options=bucket.options, whole_manifests=True)
    assert set(table.versions()["known_from"]) == {"live"}
    assert table.io.bytes_read >= manifest_bytes(path)


def test_the_cache_tells_which_versions_are_derived(bucket, path, tmp_path, monkeypatch):
    monkeypatch.setenv("LANCE_EXPLORER_CACHE", str(tmp_path))
    monkeypatch.setattr(recorded, "_LONG_REQUESTS", 10)
    first = bucket.table(NAME)
    expected = first.versions()
    again = bucket.table(NAME)
    assert_frame_equal(again.versions(), expected)
    assert again.io.requests < first.io.requests / 4


def test_new_versions_are_read_on_refresh(bucket, tmp_path):
    writer = SyntheticTable(tmp_path).append(fragments=600).append()
    bucket.copy(tmp_path, "goes_on.lance")
    table = bucket.table("goes_on.lance")
    assert table.versions()["known_from"].to_list() == ["live", "live"]
    there = {*tmp_path.rglob("*")}
    for _ in range(10):
        writer.append()
    store = bucket.store("goes_on.lance")
    for file in {*tmp_path.rglob("*.manifest")} - there:  # written again, others would look new
        obstore.put(store, file.relative_to(tmp_path).as_posix(), file.read_bytes())
    versions = table.refresh().versions()
    assert versions["num_rows"].to_list() == [*range(600, 612)]
    assert versions["known_from"].to_list().count("derived") == 8


def test_few_manifests_are_read_whole(bucket, path):
    table = bucket.table(NAME)
    table.changes(30, 31).summary()
    assert table.io.requests < 10


def test_a_check_says_what_was_not_read(bucket, path):
    found = (
        bucket.table(NAME).check().filter(pl.col("code") == "not_checked")["statement"].to_list()
    )
    assert f"not read whole: {NUM_APPENDS - 2}." in "\n".join(found)
    whole = lx.open_table(bucket.uri(NAME), storage_options=bucket.options, whole_manifests=True)
    statements = whole.check().filter(pl.col("code") == "not_checked")["statement"].to_list()
    assert "not read whole" not in "\n".join(statements)
