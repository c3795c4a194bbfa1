"""Which URIs lead to local files, and how the others are refused."""

from pathlib import Path

import pytest

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.storage import LocalStorage, open_beside, open_storage


@pytest.fixture(autouse=True)
def in_a_folder_that_is_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize("uri", ["t.lance", "~/t.lance", "./a/../t.lance", "t.lance/"])
def test_paths_are_those_of_the_shell(tmp_path, uri):
    assert open_storage(uri).uri == str(tmp_path / "t.lance")


def test_path_objects_are_paths(tmp_path):
    assert open_storage(Path("~") / "t.lance").uri == str(tmp_path / "t.lance")


@pytest.mark.parametrize("scheme", ["file", "FILE", "file-object-store"])
def test_files_have_uris_too(scheme):
    assert open_storage(f"{scheme}:///tables/t.lance").uri == "/tables/t.lance"


def test_uris_are_percent_encoded_and_paths_are_not():
    assert open_storage("file:///tables/50%25%20off.lance").uri == "/tables/50% off.lance"
    assert open_storage("/tables/50%25.lance").uri == "/tables/50%25.lance"


def test_a_relative_path_is_not_taken_for_another_one():
    with pytest.raises(InvalidArgumentError, match="tables is not this machine"):
        open_storage("file://tables/t.lance")


def test_a_colon_alone_makes_no_scheme(tmp_path):
    assert open_storage("a:b.lance").uri == str(tmp_path / "a:b.lance")


def test_what_is_opened_is_read(tmp_path):
    (tmp_path / "a file.bin").write_bytes(b"x")
    storage = open_storage(tmp_path.as_uri())
    assert isinstance(storage, LocalStorage)
    assert storage.get("a file.bin") == b"x"


def test_an_external_manifest_store_goes_with_the_objects():
    storage = open_storage("s3+ddb://bucket/t.lance?ddbTableName=commits")
    assert storage.uri == "s3://bucket/t.lance"
    assert storage.commits is not None
    assert storage.commits.name == "commits"
    assert open_beside(storage, "s3://bucket/t.lance/tree/dev").commits is storage.commits


@pytest.mark.parametrize("rest", ["", "?ddbTableName=", "?ddbTableName=t&x=1", "?x=1"])
def test_an_external_manifest_store_has_a_name(rest):
    with pytest.raises(InvalidArgumentError, match="with the name of the table of DynamoDB"):
        open_storage(f"s3+ddb://bucket/t.lance{rest}")


@pytest.mark.parametrize("uri", ["http://host/t", "lance+x://t"])
def test_other_schemes_are_refused_by_name(uri):
    scheme = uri.partition(":")[0].replace("+", r"\+")
    with pytest.raises(
        InvalidArgumentError, match=f"start with {scheme}:// are not supported: use"
    ):
        open_storage(uri)
