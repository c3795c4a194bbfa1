"""Objects are listed and read as files are."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future

import lance
import obstore
import pytest

import lance_explorer as lx
from lance_explorer.errors import StorageError
from lance_explorer.storage import FilePart, IoCounts, open_storage
from lance_explorer.storage.objects import ObjectStorage
from lance_explorer.widgets import TimeTravel
from tests.format.samples import DATA
from tests.remote.bucket import KEY_ID, SECRET, Bucket


@pytest.fixture(scope="module")
def folder(bucket: Bucket) -> str:
    store = bucket.store("a folder%20")
    for name in ("a.bin", "inner/c.bin", "inner/ü%2F +.bin"):
        obstore.put(store, name, b"inside" if "inner" in name else b"hello")
    return bucket.uri("a folder%20")


@pytest.fixture
def storage(bucket: Bucket, folder: str) -> ObjectStorage:
    opened = open_storage(folder, bucket.options)
    assert isinstance(opened, ObjectStorage)
    return opened


def test_files_are_listed_without_folders(storage):
    assert [(info.name, info.size_bytes) for info in storage.list_files("")] == [("a.bin", 5)]
    assert {info.name for info in storage.list_files("inner")} == {"c.bin", "ü%2F +.bin"}


def test_folders_are_listed_without_files(storage):
    assert (storage.list_folders(""), storage.list_folders("inner")) == (["inner"], [])


def test_a_listing_tells_one_file_from_another_in_its_place(storage):
    (info,) = storage.list_files("")
    assert info.etag
    assert info.modified_ns % 1_000_000_000 == 0


@pytest.mark.parametrize("missing", ["missing", "a.bin", "nul\0", "../x", ".", "x" * 2000])
def test_what_is_not_there_is_missing(storage, missing):
    assert (storage.list_files(missing), storage.list_folders(missing)) == ([], [])
    with pytest.raises(FileNotFoundError):
        storage.get(f"{missing}/file")


@pytest.mark.parametrize("path", ["inner/c.bin", "inner/ü%2F +.bin"])
def test_a_file_is_read_whole(storage, path):
    assert storage.get(path) == b"inside"


@pytest.mark.parametrize(
    ("offset", "length", "data"),
    [(0, 2, b"he"), (3, 2, b"lo"), (3, 100, b"lo"), (5, 1, b""), (100, 1, b""), (2, 0, b"")],
)
def test_a_range_ends_with_the_file(storage, offset, length, data):
    assert storage.get_range("a.bin", offset, length) == data


def test_a_range_of_a_missing_file_is_missing(storage):
    with pytest.raises(FileNotFoundError):
        storage.get_range("missing.bin", 0, 5)


def test_a_place_before_the_file_is_refused(storage):
    with pytest.raises(StorageError, match=r"cannot read s3://.*/a\.bin: "):
        storage.get_range("a.bin", -1, 1)


def test_many_files_come_in_the_order_of_their_names(storage):
    paths = ["inner/c.bin", "missing.bin", "a.bin"] * 50
    assert list(storage.get_many(paths)) == [b"inside", None, b"hello"] * 50
    assert storage.io == IoCounts(150, 550)


@pytest.mark.parametrize(("size", "begun"), [(40 << 20, 2), (1 << 40, 1), (100, 64)])
def test_large_files_are_begun_as_far_as_they_fit_into_memory(storage, monkeypatch, size, begun):
    submitted = list[FilePart]()
    submit: Callable[[FilePart], Future[bytes]] = storage._submit

    def noting(part: FilePart) -> Future[bytes]:
        submitted.append(part)
        return submit(part)

    monkeypatch.setattr(storage, "_submit", noting)
    contents = storage.get_many(["a.bin"] * 100, [size] * 100)
    assert (next(contents), len(submitted)) == (b"hello", begun)
    assert (next(contents), len(submitted)) == (b"hello", begun + 1)
    assert list(contents) == [b"hello"] * 98


def test_what_was_read_ahead_is_not_read_again(storage):
    parts = [FilePart("a.bin"), FilePart("missing.bin"), FilePart("a.bin", 1, 2)]
    with storage.reading_ahead(parts):
        assert storage.get_range("a.bin", 1, 2) == b"el"
        with pytest.raises(FileNotFoundError):
            storage.get("missing.bin")
        assert storage.get("inner/c.bin") == b"inside"
        assert storage.get("a.bin") == b"hello"
    assert storage.io == IoCounts(3, 13)


def test_it_works_where_an_event_loop_runs(bucket):
    bucket.copy(DATA / "14.0.2" / "stable_row_ids.lance", "loop.lance")

    async def cell() -> int:
        table = bucket.table("loop.lance")
        return len(table.versions()) + len(table.latest.row_ids()) + len(table.latest.read())

    assert asyncio.run(cell()) > 0


def test_nothing_that_is_shown_lets_in(bucket, caplog, capfd):
    caplog.set_level("DEBUG")
    bucket.copy(DATA / "14.0.2" / "branches.lance", "shown.lance")
    table = bucket.table("shown.lance")
    lineage = table.lineage()
    shown = [
        repr(table),
        table._repr_html_(),
        repr(table.latest),
        table.latest._repr_html_(),
        repr(table._view),
        repr(table._view.storage),
        repr(table.io),
        repr(table.latest.scan()),
        table.latest.scan().explain(),
        table.inspect.base_paths().write_json(),
        table.inspect.refs().write_json(),
        lineage.to_json(),
        lineage.to_graphml(),
        lineage.to_dot(),
        str(lineage.to_openlineage("here")),
        lx.figures.history(table).to_json(),
        str(TimeTravel(table).get_state()),
        caplog.text,
        *capfd.readouterr(),
    ]
    assert not [text for text in shown if SECRET in text or KEY_ID in text]


def test_an_opened_table_brings_its_options(bucket):
    bucket.copy(DATA / "14.0.2" / "branches.lance", "opened.lance")
    dataset = lance.dataset(bucket.uri("opened.lance"), storage_options=bucket.options)
    table = lx.open_table(dataset)
    assert len(table.latest.read()) == dataset.count_rows()
    assert lx.open_table(dataset, "dev").branch == "dev"


def test_a_lancedb_table_brings_its_options(bucket):
    import lancedb

    bucket.copy(DATA / "14.0.2" / "one_version.lance", "database/one.lance")
    database = lancedb.connect(bucket.uri("database"), storage_options=bucket.options)
    opened = lx.open_table(database.open_table("one"))
    assert len(opened.latest.read()) == opened.latest.num_rows
