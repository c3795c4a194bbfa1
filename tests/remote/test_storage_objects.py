"""Whose the objects of a bucket are: the same as of a folder, for few requests."""

from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.remote.bucket import Bucket


@pytest.fixture
def path(tmp_path: Path) -> Path:
    for mode in ("create", "append", "overwrite"):
        lance.write_dataset(pa.table({"id": [1, 2]}), str(tmp_path / "t.lance"), mode=mode)
    lance.dataset(str(tmp_path / "t.lance")).tags.create("gold", 1)
    (tmp_path / "t.lance" / "data" / "left.lance").write_bytes(b"left")
    return tmp_path / "t.lance"


def test_objects_of_a_bucket_have_the_owners_of_files(path: Path, bucket: Bucket) -> None:
    bucket.copy(path, "owners.lance")
    columns = ["path", "kind", "size_bytes", "status", "written_by"]
    here = lx.open_table(path).inspect.storage().select(columns)
    there = bucket.table("owners.lance").inspect.storage().select(columns)
    assert there.rows() == here.rows()


def test_a_page_of_a_listing_is_one_request(path: Path, bucket: Bucket) -> None:
    for number in range(1200):
        (path / "data" / f"{number:04}.lance").write_bytes(b"")
    bucket.copy(path, "many.lance")
    storage = bucket.table("many.lance")._view.storage
    before = storage.io.requests
    found = [info.name for info in storage.list_all()]
    assert storage.io.requests - before == 2
    files = [str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()]
    assert sorted(found) == sorted(files)
