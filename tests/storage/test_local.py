"""Local files: what is missing, what fails, and what is counted."""

import os
import socket
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest

from lance_explorer.errors import CorruptFileError, StorageError, UnsupportedFeatureError
from lance_explorer.storage import FileInfo, LocalStorage, open_storage

SPECIAL = {"pipe": "pipe", "socket": "socket"}

READS = [
    LocalStorage.get,
    lambda storage, path: storage.get_range(path, 0, 1 << 40),
]


@contextmanager
def special_files(folder: Path) -> Iterator[None]:
    """Put into a folder what is neither file nor folder."""
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as server, chdir(folder):
        server.bind("socket")
        yield


@pytest.fixture
def storage(tmp_path) -> LocalStorage:
    """A folder with two files, and a folder with another one."""
    (tmp_path / "a.bin").write_bytes(b"hello")
    (tmp_path / "b.bin").write_bytes(b"")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "c.bin").write_bytes(b"inside")
    return LocalStorage(tmp_path)


def test_the_root_is_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert LocalStorage("tables/t.lance").uri == f"{tmp_path}/tables/t.lance"


def test_files_are_listed_without_folders(storage):
    assert {info.name for info in storage.list_files("")} == {"a.bin", "b.bin"}


def test_folders_are_listed_without_files(storage):
    assert storage.list_folders("") == ["inner"]


def test_a_listing_shows_size_and_time(storage, tmp_path):
    os.utime(tmp_path / "inner" / "c.bin", ns=(0, 1_767_225_600_123_456_789))
    assert storage.list_files("inner") == [FileInfo("c.bin", 6, 1_767_225_600_123_456_789)]


def test_a_link_is_listed_as_what_it_leads_to(storage, tmp_path):
    (tmp_path / "inner" / "link.bin").symlink_to(tmp_path / "a.bin")
    sizes = {info.name: info.size_bytes for info in storage.list_files("inner")}
    assert sizes["link.bin"] == 5


@pytest.mark.parametrize("target", ["never.bin", "a.bin/never", "link"])
def test_a_link_that_leads_nowhere_is_not_listed(storage, tmp_path, target):
    (tmp_path / "link").symlink_to(tmp_path / target)
    assert "link" not in {info.name for info in storage.list_files("")}
    assert "link" not in storage.list_folders("")


def test_a_name_that_is_no_text_is_not_listed(storage, tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path / "inner") + b"/\xff.bin")).touch()
    (tmp_path / "inner" / "\u00ff.bin").touch()
    assert {info.name for info in storage.list_files("inner")} == {"c.bin", "\u00ff.bin"}


@pytest.mark.parametrize("folder", ["missing", "a.bin", "missing/deeper", "nul\0", "x" * 5000])
def test_a_folder_that_is_not_there_is_empty(storage, folder):
    assert (storage.list_files(folder), storage.list_folders(folder)) == ([], [])


def test_a_listing_that_fails_says_which(storage, tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(StorageError, match="cannot list 'loop': Too many levels"):
        storage.list_files("loop")


def test_a_file_is_read_whole(storage):
    assert storage.get("inner/c.bin") == b"inside"


@pytest.mark.parametrize(
    ("offset", "length", "data"),
    [(0, 2, b"he"), (3, 2, b"lo"), (3, 100, b"lo"), (5, 1, b""), (100, 1, b""), (2, 0, b"")],
)
def test_a_range_ends_with_the_file(storage, offset, length, data):
    assert storage.get_range("a.bin", offset, length) == data


@pytest.mark.parametrize(
    "path",
    ["missing.bin", "missing/deeper.bin", "a.bin/inside", "nul\0.bin", "x" * 5000, "\ud800.bin"],
    ids=["file", "folder", "file as folder", "NUL", "too long", "no text"],
)
def test_a_file_that_is_not_there_is_not_found(storage, path):
    with pytest.raises(FileNotFoundError):
        storage.get(path)


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(("name", "kind"), [("inner", "folder"), *SPECIAL.items()])
def test_what_is_no_file_is_refused_at_once(storage, tmp_path, name, kind, read):
    with (
        special_files(tmp_path),
        pytest.raises(CorruptFileError, match=f"^{name}: expected a file, found a {kind}"),
    ):
        read(storage, name)


@pytest.mark.parametrize("read", READS)
def test_a_device_is_refused_at_once(read):
    with pytest.raises(CorruptFileError, match=r"^zero: expected a file, found a device"):
        read(LocalStorage("/dev"), "zero")


def test_what_is_neither_file_nor_folder_is_listed(storage, tmp_path):
    with special_files(tmp_path):
        assert {info.name for info in storage.list_files("")} == {"a.bin", "b.bin", *SPECIAL}


def test_what_is_no_file_among_many_is_told_and_the_others_are_read(storage, tmp_path):
    with special_files(tmp_path):
        first, error, missing, last = storage.get_many(["a.bin", "pipe", "no.bin", "inner/c.bin"])
    assert (first, str(error), missing, last) == (
        b"hello",
        "pipe: expected a file, found a pipe; it is not read",
        None,
        b"inside",
    )


@pytest.mark.parametrize("read", READS)
def test_a_file_that_claims_to_be_huge_is_refused_unread(storage, tmp_path, read):
    with (tmp_path / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(CorruptFileError, match=r"^huge\.bin: 1,099,511,627,776 bytes are more"):
        read(storage, "huge.bin")


def test_a_part_of_a_huge_file_is_read(storage, tmp_path):
    with (tmp_path / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    assert storage.get_range("huge.bin", 1 << 39, 3) == b"\0\0\0"


def test_a_file_that_does_not_fit_into_memory_is_refused_by_name(storage, monkeypatch):
    def pread(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(os, "pread", pread)
    with pytest.raises(StorageError, match=r"'a\.bin' does not fit into memory: 5 bytes"):
        storage.get("a.bin")


def test_the_cause_of_a_refusal_is_kept(storage, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(StorageError) as refusal:
        storage.get("loop")
    assert isinstance(refusal.value.__cause__, OSError)


def test_a_place_before_the_file_is_refused(storage):
    with pytest.raises(StorageError, match=r"cannot read 'a\.bin': Invalid argument"):
        storage.get_range("a.bin", -1, 1)


def test_many_files_come_in_the_order_of_their_names(storage):
    paths = ["inner/c.bin", "b.bin", "a.bin"]
    assert list(storage.get_many(paths)) == [b"inside", b"", b"hello"]


def test_a_file_that_vanishes_before_its_turn_is_none_or_whole(storage, tmp_path):
    names = [f"{number:02}.bin" for number in range(100)]
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    contents = storage.get_many(names)
    assert next(contents) == b"00.bin"
    for name in names:
        (tmp_path / name).unlink()
    found = list(contents)
    assert found[-1] is None
    assert all(data in (None, name.encode()) for data, name in zip(found, names[1:], strict=True))


def test_whoever_stops_among_many_files_leaves_none_open(storage, tmp_path):
    handles = Path("/dev/fd")
    before = len(list(handles.iterdir()))
    contents = storage.get_many(["a.bin", "b.bin", "missing.bin", "inner/c.bin"])
    next(contents)
    assert len(list(handles.iterdir())) > before
    contents.close()
    assert len(list(handles.iterdir())) == before


def test_many_files_are_read_one_by_one(storage):
    contents = storage.get_many(["a.bin", "inner/c.bin"])
    next(contents)
    assert storage.io.bytes_read == 5


def test_a_failure_among_many_files_is_not_taken_for_a_missing_file(storage, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(StorageError):
        list(storage.get_many(["a.bin", "loop"]))


def test_listings_and_reads_are_requests(storage):
    storage.list_files("")
    storage.list_folders("inner")
    storage.get("a.bin")
    storage.get_range("a.bin", 1, 2)
    list(storage.get_many(["a.bin", "b.bin"]))
    assert storage.io.requests == 6


def test_what_is_missing_was_a_request_too(storage):
    list(storage.get_many(["missing.bin"]))
    storage.list_files("missing")
    assert (storage.io.requests, storage.io.bytes_read) == (2, 0)


def test_bytes_are_counted_as_returned(storage):
    storage.get("a.bin")
    storage.get_range("a.bin", 3, 100)
    assert storage.io.bytes_read == 7


@pytest.mark.parametrize("read", [LocalStorage.get, lambda s, path: s.get_range(path, 0, 100)])
def test_a_file_larger_than_one_read_is_complete(storage, monkeypatch, read):
    # Linux hands out 2 GiB at most in one call; here it is two bytes.
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda file, size, at: pread(file, min(size, 2), at))
    assert read(storage, "a.bin") == b"hello"


@pytest.mark.parametrize(
    "path", [".", "..", "../outside.bin", "inner/../a.bin", "inner/..", "/etc/passwd"]
)
def test_nothing_outside_of_the_root_is_there(tmp_path, path):
    (tmp_path / "outside.bin").touch()
    (tmp_path / "root" / "inner").mkdir(parents=True)
    (tmp_path / "root" / "a.bin").touch()
    inside = LocalStorage(tmp_path / "root")
    assert list(inside.get_many([path])) == [None]
    assert (inside.list_files(path), inside.list_folders(path)) == ([], [])


# ------------------------------------------------------------------------------------- links


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The root of a table, in a folder beside one with a file that is none of its."""
    (tmp_path / "tables" / "t.lance" / "inner").mkdir(parents=True)
    (tmp_path / "tables" / "beside.bin").write_bytes(b"beside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.bin").write_bytes(b"secret")
    return tmp_path / "tables" / "t.lance"


def refused(storage: LocalStorage, path: str) -> None:
    for read in (storage.get, lambda path: storage.get_range(path, 0, 1)):
        with pytest.raises(UnsupportedFeatureError, match="a link to a place outside the table"):
            read(path)
    with pytest.raises(UnsupportedFeatureError, match="a link to a place outside the table"):
        storage.check_files([path])
    [error] = storage.get_many([path])
    assert isinstance(error, UnsupportedFeatureError)


@pytest.mark.parametrize("target", ["../../../outside/secret.bin", "../../../outside/never.bin"])
def test_a_file_that_leads_out_is_listed_without_facts_and_not_read(table, target):
    (table / "inner" / "link.bin").symlink_to(target)
    storage = LocalStorage(table)
    assert storage.list_files("inner") == [FileInfo("link.bin", 0, 0)]
    refused(storage, "inner/link.bin")


def test_a_folder_that_leads_out_is_neither_listed_nor_read(table, tmp_path):
    (table / "link").symlink_to(tmp_path / "outside")
    storage = LocalStorage(table)
    refused(storage, "link/secret.bin")
    refused(storage, "link/never.bin")
    assert storage.list_folders("") == ["inner"]
    for look in (storage.list_files, storage.list_folders, storage.check_folder):
        with pytest.raises(UnsupportedFeatureError, match="a link to a place outside the table"):
            look("link")


def test_a_link_below_a_folder_is_found(table, tmp_path):
    (table / "inner" / "deep").mkdir()
    storage = LocalStorage(table)
    storage.check_folder("inner")
    (table / "inner" / "deep" / "link").symlink_to(tmp_path / "outside" / "secret.bin")
    with pytest.raises(UnsupportedFeatureError, match="inner/deep/link: it is a link"):
        storage.check_folder("inner")


def test_links_that_stay_near_are_followed(table, tmp_path):
    (table / "a.bin").write_bytes(b"a")
    (table / "inner" / "within.bin").symlink_to("../a.bin")
    (table / "inner" / "beside.bin").symlink_to(tmp_path / "tables" / "beside.bin")
    (table / "folder").symlink_to("inner")
    storage = LocalStorage(table)
    assert storage.get("inner/within.bin") == b"a"
    assert storage.get("folder/beside.bin") == b"beside"
    storage.check_files(["inner/within.bin", "folder/beside.bin", "never.bin", "nul\0/x"])
    storage.check_folder("folder")


def test_a_link_may_lead_where_it_is_allowed(table, tmp_path):
    (table / "link.bin").symlink_to(tmp_path / "outside" / "secret.bin")
    storage = open_storage(table, allow_bases=[tmp_path / "outside"])
    assert storage.get("link.bin") == b"secret"
    assert [info.size_bytes for info in storage.list_files("")] == [6]


def test_a_root_that_is_reached_by_a_link_is_what_it_leads_to(table, tmp_path):
    (table / "a.bin").write_bytes(b"a")
    (tmp_path / "link.lance").symlink_to(table)
    storage = LocalStorage(tmp_path / "link.lance")
    assert storage.get("a.bin") == b"a"
    (table / "out.bin").symlink_to(tmp_path / "outside" / "secret.bin")
    refused(storage, "out.bin")
