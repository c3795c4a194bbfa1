"""Where the files of fragments lie, and what is said when they are not there."""

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import CorruptFileError, StorageError
from lance_explorer.format.fragments import BasePath, DataFile
from lance_explorer.history.file_roots import data_file, find_base
from lance_explorer.storage import open_storage

BASES = (
    BasePath(id=7, path="/b/table.lance", is_dataset_root=True, name=None),
    BasePath(id=0, path="/b/files", is_dataset_root=False, name="files"),
)


def place(path: str, base_id: int | None = None) -> str:
    """Return where a data file of a table lies that may lead anywhere."""
    file = DataFile(path, (), (), 2, 1, None, base_id)
    root, below = data_file(file, BASES, open_storage("/t.lance", allow_bases=["/b"]))
    return f"{root.uri}/{below}"


@pytest.mark.parametrize(
    ("base_id", "uri"),
    [
        (None, "/t.lance/data/x.lance"),
        (7, "/b/table.lance/data/x.lance"),
        (0, "/b/files/x.lance"),
    ],
)
def test_a_base_is_found_by_its_id_and_not_by_its_place(base_id, uri):
    assert place("x.lance", base_id) == uri


def test_a_base_that_is_not_there_is_refused():
    with pytest.raises(CorruptFileError, match="base path 3 is not among the base paths"):
        find_base(3, BASES)


@pytest.mark.parametrize("path", ["../x.lance", "/etc/passwd", "a/../../x", "", "."])
@pytest.mark.parametrize("base_id", [None, 7, 0])
def test_a_data_file_outside_of_its_root_is_refused(path, base_id):
    with pytest.raises(CorruptFileError, match="outside its folder"):
        place(path, base_id)


@pytest.fixture(params=[False, True], ids=["absolute", "relative"])
def clone_of_moved(request, tmp_path, monkeypatch):
    """A shallow clone whose source, with deleted rows, has gone to another place."""
    monkeypatch.chdir(tmp_path)
    uri = "source.lance" if request.param else str(tmp_path / "source.lance")
    source = lance.write_dataset(pa.table({"id": range(10)}), uri, enable_stable_row_ids=True)
    source.delete("id < 3")
    clone = source.shallow_clone(str(tmp_path / "clone.lance"), source.version)
    assert clone.count_rows() == 7
    before = lx.open_table(tmp_path / "clone.lance").latest.row_ids()["_rowid"].to_list()
    assert before == list(range(3, 10))
    (tmp_path / "source.lance").rename(tmp_path / "moved.lance")
    return lx.open_table(tmp_path / "clone.lance"), uri


def test_a_table_whose_base_was_moved_names_the_path_that_is_not_there(clone_of_moved, tmp_path):
    table, uri = clone_of_moved
    place = f"{tmp_path}/source.lance/_deletions/.* is missing"
    with pytest.raises(StorageError, match=f"{place}; base path 0 .*'{uri}': was that table moved"):
        table.latest.row_ids()


def test_values_whose_base_was_moved_name_the_path_that_is_not_there(clone_of_moved):
    table, _ = clone_of_moved
    with pytest.raises(StorageError, match=r"source\.lance/"):
        table.latest.read()


def test_the_history_of_a_clone_shows_without_its_source(clone_of_moved):
    table, uri = clone_of_moved
    assert table.versions()["operation"].to_list() == ["Clone"]
    assert table.latest.num_rows == 7
    assert table.inspect.base_paths()["path"].to_list() == [uri]


def test_files_of_several_bases_are_found(tmp_path):
    bases = [str(tmp_path / name) for name in ("one", "two")]
    for base in bases:
        (tmp_path / base).mkdir()
    table = lance.write_dataset(
        pa.table({"id": [1, 2]}),
        tmp_path / "t.lance",
        enable_stable_row_ids=True,
        initial_bases=[lance.DatasetBasePath(base, name=base[-3:]) for base in bases],
        target_bases=["one"],
    )
    table = lance.write_dataset(pa.table({"id": [3]}), table, mode="append", target_bases=["two"])
    table.delete("id = 1")
    opened = lx.open_table(tmp_path / "t.lance")
    assert opened.latest.row_ids()["_rowid"].to_list() == [1, 2]
    assert opened.inspect.base_paths()["num_data_files"].to_list() == [1, 1]
    assert opened.latest.read()["id"].to_list() == [2, 3]
