"""Locks of tables in object stores: the same verdicts, with few requests, and nothing secret."""

import json
from pathlib import Path

import obstore
import pytest

import lance_explorer as lx
from lance_explorer.errors import StorageError
from lance_explorer.locks.lock_text import read_lock
from lance_explorer.storage.objects import ObjectStorage
from tests.locks.tables import data_files, write
from tests.remote.bucket import KEY_ID, SECRET, Bucket


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("locks") / "t.lance"
    write(path, appends=10)
    return path


def test_a_table_in_a_bucket_is_locked_and_found(bucket: Bucket, path, monkeypatch):
    uri = bucket.copy(path, "locked.lance")
    text = lx.lock(bucket.table("locked.lance").at("gold"))
    assert json.loads(text)["uri"] == uri
    assert not any(secret in text for secret in (SECRET, KEY_ID, "127.0.0.1"))
    local = lx.lock(lx.open_table(path).at("gold"))
    assert {**json.loads(text), "uri": ""} == {**json.loads(local), "uri": ""}
    read = list[str]()
    submit = ObjectStorage._submit

    def noted(storage, part):
        read.append(part.path)
        return submit(storage, part)

    monkeypatch.setattr(ObjectStorage, "_submit", noted)
    assert lx.verify(text, storage_options=bucket.options).status == "unmoved"
    assert [name for name in read if name.startswith(("data/", "_deletions/"))] == []
    assert lx.verify(local, uri, bucket.options).status == "unmoved"


def test_what_is_missing_in_a_bucket_is_named(bucket: Bucket, path):
    bucket.copy(path, "lost.lance")
    text = lx.lock(bucket.table("lost.lance").at("gold"))
    store, lost = bucket.store("lost.lance"), f"data/{data_files(path)[3].name}"
    obstore.delete(store, lost)
    verified = lx.verify(text, storage_options=bucket.options)
    assert (verified.status, verified.ok) == ("damaged", False)
    assert lost in verified.sentence
    [deletions] = [entry["path"] for entry in obstore.list(store, "_deletions").collect()]
    obstore.put(store, lost, (path / lost).read_bytes())
    obstore.delete(store, deletions)
    assert deletions in lx.verify(text, storage_options=bucket.options).sentence


def test_a_table_that_is_gone_from_its_bucket_is_told(bucket: Bucket, path):
    text = lx.lock(lx.open_table(path).at("gold"))
    verified = lx.verify(text, bucket.uri("nowhere.lance"), bucket.options)
    assert verified.status == "table_gone"


def test_a_store_that_does_not_answer_is_no_verdict(bucket: Bucket, path):
    text = lx.lock(lx.open_table(path).at("gold"))
    options = {**bucket.options, "aws_endpoint": "http://127.0.0.1:1", "client_max_retries": "0"}
    with pytest.raises(StorageError):
        lx.verify(text, bucket.uri("locked.lance"), options)


def test_the_user_of_a_uri_is_not_locked(bucket: Bucket, path):
    bucket.copy(path, "named.lance")
    uri = bucket.uri("named.lance").replace("s3://", "S3://somebody@")
    opened = lx.open_table(uri, storage_options=bucket.options)
    assert read_lock(lx.lock(opened.latest)).uri == bucket.uri("named.lance")
