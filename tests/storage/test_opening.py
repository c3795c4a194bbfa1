"""Which URIs lead to local files, and how the others are refused."""

from pathlib import Path

import pytest

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.storage import LocalStorage, open_storage


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


def test_an_external_manifest_store_is_refused_with_what_to_do():
    with pytest.raises(InvalidArgumentError, match=r"s3\+ddb:// .* open the same path with s3://"):
        open_storage("s3+ddb://bucket/t.lance?ddbTableName=commits")


@pytest.mark.parametrize("uri", ["http://host/t", "lance+x://t"])
def test_other_schemes_are_refused_by_name(uri):
    scheme = uri.partition(":")[0].replace("+", r"\+")
    with pytest.raises(
        InvalidArgumentError, match=f"start with {scheme}:// are not supported: use"
    ):
        open_storage(uri)
