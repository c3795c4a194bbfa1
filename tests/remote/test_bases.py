"""Base paths of tables in object stores: who is asked for what, and with which credentials."""

from urllib.request import Request, urlopen

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import StorageError, UnsupportedFeatureError
from lance_explorer.storage import open_beside, open_storage
from tests.hostile.watching import Connections
from tests.remote.bucket import Bucket

SAS = "sv=2024&sig=SASSENTINEL"
TABLE = "abfss://files@mine.dfs.core.windows.net/t.lance"


@pytest.fixture
def connections() -> Connections:
    return Connections()


@pytest.fixture
def options(connections) -> dict[str, str]:
    """A token, and a way for all requests that is watched."""
    return {
        "azure_storage_sas_token": SAS,
        "proxy_url": f"http://127.0.0.1:{connections.port}",
        "allow_http": "true",
        "client_max_retries": "0",
    }


def hosts(connections: Connections) -> set[bytes]:
    return {request.split()[1] for request in connections.requests}


@pytest.mark.parametrize(
    "uri",
    [
        "abfss://files@evil.dfs.core.windows.net/x",
        "abfss://files@evil.blob.core.windows.net/x",
        "abfss://files@mine.dfs.fabric.microsoft.com/x",
        "az://files/x",
        "https://evil.blob.core.windows.net/files/x",
    ],
)
def test_a_token_goes_to_no_other_account(connections, options, uri, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "evil")
    table = open_storage(TABLE, options)
    with pytest.raises(UnsupportedFeatureError, match="is not opened: it is in another store"):
        open_beside(table, uri)
    with pytest.raises(StorageError):
        table.get("x")
    assert hosts(connections) == {b"mine.blob.core.windows.net:443"}


def test_a_token_goes_to_another_container_of_the_account(connections, options):
    other = open_beside(open_storage(TABLE, options), "abfss://more@Mine.blob.core.windows.net/x")
    with pytest.raises(StorageError):
        other.get("x")
    assert {host.lower() for host in hosts(connections)} == {b"mine.blob.core.windows.net:443"}


def test_a_token_goes_to_an_account_that_is_allowed(connections, options):
    evil = "abfss://files@evil.dfs.core.windows.net"
    table = open_storage(TABLE, options, allow_bases=[evil])
    with pytest.raises(StorageError):
        open_beside(table, f"{evil}/x").get("x")
    assert hosts(connections) == {b"evil.blob.core.windows.net:443"}


def test_a_base_in_another_bucket_is_read_and_told(bucket: Bucket):
    urlopen(Request(f"{bucket.options['aws_endpoint']}/more", method="PUT")).close()
    uri, more = bucket.uri("several.lance"), "s3://more/files"
    lance.write_dataset(
        pa.table({"id": [1, 2, 3]}),
        uri,
        initial_bases=[lance.DatasetBasePath(more, name="more")],
        target_bases=["more"],
        storage_options=bucket.options,
    ).delete("id = 2")
    table = bucket.table("several.lance")
    assert table.latest.read()["id"].to_list() == [1, 3]
    assert table.latest.row_ids()["_rowaddr"].to_list() == [0, 2]
    [found] = (
        table.inspect.findings().select("code", "severity", "first_version", "statement").rows()
    )
    assert found[:3] == ("base_in_another_bucket", "info", 1)
    assert more in found[3]


def test_a_local_table_asks_no_bucket_unless_it_is_allowed(bucket: Bucket, tmp_path):
    base = bucket.uri("files")
    lance.write_dataset(
        pa.table({"id": [1, 2, 3]}),
        tmp_path / "t.lance",
        initial_bases=[lance.DatasetBasePath(base, name="files")],
        target_bases=["files"],
        storage_options=bucket.options,
    )
    table = lx.open_table(tmp_path / "t.lance", storage_options=bucket.options)
    assert table.inspect.findings()["code"].to_list() == ["base_not_allowed"]
    assert table.versions()["num_rows"].to_list() == [3]
    for read in (table.latest.read, table.latest.scan, lambda: table.latest.row_ids(["id"])):
        with pytest.raises(UnsupportedFeatureError, match=r"fragment 0 of version 1 .*base path 1"):
            read()
    allowed = lx.open_table(tmp_path / "t.lance", None, bucket.options, [base])
    assert allowed.latest.read()["id"].to_list() == [1, 2, 3]
    assert allowed.inspect.findings().is_empty()
