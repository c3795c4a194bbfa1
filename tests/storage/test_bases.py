"""Where a table may lead: what is near it, what somebody allowed, and nothing else."""

import os
from pathlib import Path

import pytest

from lance_explorer.errors import InvalidArgumentError, UnsupportedFeatureError
from lance_explorer.storage import Bases, Storage, open_beside, open_storage

AZURE = "abfss://files@mine.dfs.core.windows.net"


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    """A folder of tables, one of which lies elsewhere, and the working directory."""
    for name in ("tables/t.lance/_versions", "elsewhere/u.lance/_versions", "elsewhere/files"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "tables" / "link").symlink_to(tmp_path / "elsewhere" / "files")
    (tmp_path / "tables" / "beside.lance").symlink_to(tmp_path / "elsewhere" / "u.lance")
    monkeypatch.chdir(tmp_path / "tables")
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    return tmp_path


def access(own: str, uri: str, allowed: tuple[str, ...] = (), **options: str) -> str:
    return Bases(own, options, allowed).access(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "{home}/tables/t.lance",
        "{home}/tables/t.lance/tree/dev",
        "{home}/tables/other.lance",
        "{home}/tables/t.lance/../other",
        "{home}/elsewhere/u.lance",
        "{home}/elsewhere/u.lance/tree/dev",
        "{home}/tables/beside.lance",
        "other.lance",
        "./other.lance",
        "../elsewhere/u.lance",
        "~/u.lance",
        "file://{home}/tables/other.lance",
        "FILE://localhost{home}/tables/other.lance",
        "file://{home}/tables/50%25%20off",
        "file-object-store://{home}/tables/other.lance",
    ],
)
def test_near_a_local_table_is_its_folder_and_every_lance_table(home, uri):
    assert access(f"{home}/tables/t.lance", uri.format(home=home)) == "near"


@pytest.mark.parametrize(
    "uri",
    [
        "{home}/elsewhere/files",
        "{home}/elsewhere",
        "{home}/tables.old/x",
        "{home}",
        "{home}/tables/link",
        "{home}/tables/link/deeper",
        "../elsewhere/files",
        "~/files",
        "/etc",
        "file:///etc",
        "file://{home}/tables/%2e%2e/elsewhere/files",
        "s3://bucket/x",
        "az://files/x",
        "memory://x",
        "http://127.0.0.1:80/x",
        "hf://datasets/a/b",
        "/" + "x" * 5000,
    ],
)
def test_all_else_is_far(home, uri):
    assert access(f"{home}/tables/t.lance", uri.format(home=home)) == "far"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        " /etc",
        "/etc ",
        " s3://bucket/x",
        "s3\t://bucket/x",
        "fi\nle:///etc",
        "file:/etc",
        "file:etc",
        "file://host/etc",
        "file://",
        "C:/x",
        "C:\\x",
        "~root/x",
        "nul\0",
        "file:///nul%00",
        "link/../other.lance",
        "s3://key:hush@bucket/x",
        "s3://key@bucket/x",
        "s3://bucket:90/x",
        "s3://bucket/a/../b",
        "s3://bucket/a/%2E%2e/b",
        "s3://bucket//b",
        "s3://bucket/a?b",
        "s3://bucket/a#b",
        "s3://buck%20et/a",
        "s3:///a",
        "abfss://files@mine.evil.com/x",
        "abfss://files@mine.dfs.core.windows.net.evil.com/x",
        "abfss://files@mine.dfs.core.windows.net:80/x",
        "abfss://files:hush@mine.dfs.core.windows.net/x",
    ],
    ids=ascii,
)
def test_what_readers_may_take_for_different_places_is_not_clear(home, uri):
    assert access(f"{home}/tables/t.lance", uri) == "unclear"
    with pytest.raises(InvalidArgumentError, match=r"not clear which place .* is"):
        Bases("s3://tables/t.lance", {}, [uri])


def test_of_a_table_at_the_root_of_the_disk_only_the_table_is_near():
    assert access("/t.lance", "/etc") == "far"
    assert access("/t.lance", "/t.lance/tree/dev") == "near"


@pytest.mark.parametrize(
    ("own", "uri", "expected"),
    [
        ("s3://tables/t.lance", "s3://tables/u.lance", "near"),
        ("s3://tables/t.lance", "S3a://tables/u.lance", "near"),
        ("s3://tables/t.lance", "s3://more/u.lance", "another_bucket"),
        ("s3://tables/t.lance", "gs://tables/u.lance", "far"),
        ("s3://tables/t.lance", "s3+ddb://tables/u.lance", "far"),
        ("s3://tables/t.lance", "/tables/t.lance", "far"),
        ("s3://tables/t.lance", "t.lance", "far"),
        ("gs://tables/t.lance", "gs://more/u.lance", "another_bucket"),
        (f"{AZURE}/t.lance", f"{AZURE}/u.lance", "near"),
        (f"{AZURE}/t.lance", "abfs://files@MINE.blob.core.windows.net/u.lance", "near"),
        (f"{AZURE}/t.lance", "abfss://more@mine.dfs.core.windows.net/u.lance", "another_bucket"),
        (f"{AZURE}/t.lance", "abfss://files@evil.dfs.core.windows.net/u.lance", "far"),
        (f"{AZURE}/t.lance", "abfss://files@mine.dfs.fabric.microsoft.com/u.lance", "far"),
        (f"{AZURE}/t.lance", "az://files/u.lance", "far"),
        (f"{AZURE}/t.lance", "https://mine.blob.core.windows.net/files/u.lance", "far"),
        (f"{AZURE}/t.lance", "wasb://files@mine.blob.core.windows.net/u.lance", "far"),
        ("az://files/t.lance", "az://more/u.lance", "another_bucket"),
    ],
)
def test_near_a_table_in_a_store_is_the_same_kind_of_store_and_account(home, own, uri, expected):
    assert access(own, uri) == expected


def test_an_account_may_be_named_by_options_or_the_environment(home, monkeypatch):
    own = "az://files/t.lance"
    assert access(own, f"{AZURE}/u.lance", Account_Name="Mine") == "near"
    assert access(own, f"{AZURE}/u.lance", azure_storage_account_name="other") == "far"
    fabric = "abfss://files@mine.dfs.fabric.microsoft.com/u.lance"
    assert access(own, fabric, account_name="mine", use_fabric_endpoint="true") == "near"
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "mine")
    assert access(own, f"{AZURE}/u.lance") == "near"
    assert access(own, f"{AZURE}/u.lance", account_name="other") == "far"


@pytest.mark.parametrize(
    ("allowed", "uri", "expected"),
    [
        ("s3://bucket", "s3://bucket/a/b", "allowed"),
        ("s3://bucket/a/", "s3://bucket/a", "allowed"),
        ("s3://bucket/a", "s3a://bucket/a/b", "allowed"),
        ("s3://bucket/a", "s3://bucket/ab", "far"),
        ("s3://bucket/a", "s3://bucket", "far"),
        ("s3://bucket/a", "s3://other/a", "far"),
        ("s3://bucket/a", "gs://bucket/a", "far"),
        (AZURE, f"{AZURE}/x", "allowed"),
        (AZURE, "abfss://files@evil.dfs.core.windows.net/x", "far"),
        ("../elsewhere/files", "{home}/elsewhere/files/x", "allowed"),
        ("{home}/elsewhere/files", "link", "allowed"),
        ("{home}/elsewhere/files", "file://{home}/elsewhere/files/x", "allowed"),
        ("{home}/elsewhere/files", "{home}/elsewhere/files.old", "far"),
        ("{home}/tables/link", "{home}/elsewhere/files/x", "allowed"),
        ("hf://datasets/a", "hf://datasets/a/b", "allowed"),
        ("http://host:80/a", "http://host:81/a", "far"),
    ],
)
def test_what_is_allowed_is_allowed_with_all_below(home, allowed, uri, expected):
    allowed, uri = allowed.format(home=home), uri.format(home=home)
    assert access(f"{home}/tables/t.lance", uri, (allowed,)) == expected


def test_what_is_allowed_stays_when_the_working_directory_changes(home, monkeypatch):
    bases: Bases[Storage] = Bases(
        f"{home}/tables/t.lance", {}, ["../elsewhere/files", Path("link")]
    )
    monkeypatch.chdir("/")
    assert bases.access(f"{home}/elsewhere/files") == "allowed"
    assert bases.allowed == (f"{home}/elsewhere/files", f"{home}/tables/link")


@pytest.mark.parametrize("allowed", ["s3://bucket", Path("files"), 3, None, [3], [None], [b"x"]])
def test_what_is_no_list_of_paths_and_uris_is_refused(allowed):
    with pytest.raises(InvalidArgumentError, match="allow_bases is a list of paths and URIs"):
        Bases("/t.lance", {}, allowed)


def test_a_root_that_is_far_is_not_opened(home):
    storage = open_storage(home / "tables" / "t.lance", {"aws_secret_access_key": "hush"})
    with pytest.raises(UnsupportedFeatureError, match=r"in another store .* the same storage_op"):
        open_beside(storage, "s3://bucket/x")
    with pytest.raises(
        UnsupportedFeatureError, match="neither a Lance table nor in the parent folder"
    ):
        open_beside(storage, "/etc")
    with pytest.raises(UnsupportedFeatureError, match="not clear which location it means"):
        open_beside(storage, "file:/etc")
    assert storage.bases.opened == {}


def test_whether_there_is_something_does_not_show(home):
    storage = open_storage(home / "tables" / "t.lance")
    messages = []
    for name in ("files", "there", "files/../there"):
        with pytest.raises(UnsupportedFeatureError) as refused:
            open_beside(storage, f"{home}/elsewhere/{name}")
        messages.append(str(refused.value).replace(f"{home}/elsewhere/{name}", "PLACE"))
    assert len(set(messages)) == 1


def test_a_root_that_is_allowed_is_let_in_and_leads_as_far(home):
    options = {"aws_access_key_id": "a", "aws_secret_access_key": "hush", "aws_region": "r"}
    storage = open_storage(home / "tables" / "t.lance", options, allow_bases=["s3://bucket"])
    other = open_beside(storage, "s3://bucket/x")
    assert other.options == options
    with pytest.raises(UnsupportedFeatureError):
        open_beside(other, "s3://more/y")
    assert open_beside(other, os.fspath(home / "tables" / "u.lance")).uri
