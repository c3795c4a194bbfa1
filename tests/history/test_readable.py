"""Histories without the versions whose reader flags nobody knows; values that may be read."""

import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from lance.blob import blob_array

import lance_explorer as lx
from lance_explorer.errors import CorruptFileError, UnsupportedFeatureError
from lance_explorer.history.readable import check_readable, readable_history
from lance_explorer.history.value_files import check_values
from lance_explorer.history.view import HistoryView
from lance_explorer.widgets.code_lines import opening_code
from tests.synthetic import SyntheticTable


def with_unknown_flag(table: SyntheticTable) -> SyntheticTable:
    return table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 2 | 512))


def test_a_history_whose_flags_are_known_stays_as_it_is(tmp_path):
    history = HistoryView.open(str(SyntheticTable(tmp_path / "t").append().append().path)).history
    assert readable_history(history) is history


def test_versions_with_unknown_flags_are_as_if_not_kept(tmp_path):
    table = with_unknown_flag(SyntheticTable(tmp_path / "t").append().append()).append()
    history = readable_history(HistoryView.open(str(table.path)).history)
    assert history.versions.tolist() == [1, 3]
    assert history.follows_previous.tolist() == [True, False]
    assert history.states_at(0) == [0]
    assert history.states_at(1) == [0, 1, 2]


def test_the_error_names_the_version_and_the_flag(tmp_path):
    table = with_unknown_flag(SyntheticTable(tmp_path / "t").append())
    record = HistoryView.open(str(table.path)).history.records[0]
    with pytest.raises(UnsupportedFeatureError, match=r"version 1.*fragment_reuse_with_stable"):
        check_readable(record)


# ----------------------------------------------------------------------------------- values


@pytest.fixture
def places(tmp_path) -> tuple[Path, Path]:
    """Where a table is, and where it has files without being allowed to lead there."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "files").mkdir()
    return tmp_path / "tables" / "t.lance", tmp_path / "files"


@pytest.fixture
def table(places) -> lance.LanceDataset:
    """Three versions; the rows that the second one added lie elsewhere. It has a branch."""
    path, files = places
    base = lance.DatasetBasePath(str(files), name="files")
    rows = pa.table({"id": [1, 2, 3]})
    table = lance.write_dataset(rows, path, initial_bases=[base], enable_stable_row_ids=True)
    rows = pa.table({"id": [4, 5]})
    table = lance.write_dataset(rows, table, mode="append", target_bases=["files"])
    table.delete("id = 1")
    table.create_branch("dev").delete("id = 5")
    return lance.dataset(path)


def test_only_values_of_versions_with_rows_elsewhere_are_refused(table, places):
    opened = lx.open_table(places[0])
    assert opened.at(1).read()["id"].to_list() == [1, 2, 3]
    for ask in (
        opened.at(2).read,
        opened.at(3).scan,
        lambda: opened.at(3).row_ids(["id"]),
        opened.changes(1, images="after").to_polars,
        opened.changes(0, mode="per_commit", images="both").to_polars,
        opened.diff(1, 3).same_content,
    ):
        with pytest.raises(UnsupportedFeatureError, match=r"fragment 1 of version .* base path 1"):
            ask()
    assert opened.inspect.findings().select("code", "first_version").rows() == [
        ("base_not_allowed", 1)
    ]


def test_what_needs_no_file_elsewhere_shows(table, places):
    opened = lx.open_table(places[0])
    assert opened.versions()["num_rows"].to_list() == [3, 5, 4]
    assert opened.latest.row_ids()["_rowid"].to_list() == [1, 2, 3, 4]
    assert opened.latest.row_id_index().locate(4) == (1, 1)
    assert opened.changes(1).summary()["inserted"].item() == 2
    assert opened.row(4).history()["event"].to_list() == ["created"]
    assert opened.sql("SELECT count(*) AS n FROM versions")["n"].item() == 3
    assert opened._repr_html_()


def test_leave_is_kept_by_all_that_comes_from_a_table(table, places, monkeypatch):
    path, files = places
    monkeypatch.chdir(path.parent)
    opened = lx.open_table(path, allow_bases=["../files"])
    monkeypatch.chdir("/")
    table.delete("id = 2")
    opened.refresh()
    assert opened.latest.read()["id"].to_list() == [3, 4, 5]
    assert opened.at(("dev", 4)).read()["id"].to_list() == [2, 3, 4]
    assert lx.open_table(path, "dev", allow_bases=[files]).latest.num_rows == 3
    assert lx.open_table(table, allow_bases=[files]).latest.read().height == 3
    assert pickle.loads(pickle.dumps(opened)).latest.read().height == 3
    assert opened.changes(0, mode="per_commit", images="both").to_polars()["id"].null_count() == 0
    assert f'allow_bases=["{files}"]' in opening_code(opened, "")


def test_a_clone_reads_its_source_wherever_that_is(tmp_path):
    source = lance.write_dataset(pa.table({"id": [1, 2, 3]}), tmp_path / "a" / "source.lance")
    source.delete("id = 1")
    source.shallow_clone(str(tmp_path / "b" / "clone.lance"), 2)
    clone = lx.open_table(tmp_path / "b" / "clone.lance")
    assert clone.latest.read()["id"].to_list() == [2, 3]
    assert clone.latest.row_ids()["_rowaddr"].to_list() == [1, 2]
    assert clone.inspect.findings().is_empty()
    assert clone.lineage().fragments()["table"].null_count() == 1


def test_a_data_file_that_is_a_link_is_read_as_far_as_it_may_lead(places):
    path, files = places
    lance.write_dataset(pa.table({"id": [1, 2, 3]}), path)
    [file] = (path / "data").iterdir()
    file.rename(files / file.name)
    file.symlink_to(files / file.name)
    with pytest.raises(
        UnsupportedFeatureError, match=f"data/{file.name}: .*a link to a place outside"
    ):
        lx.open_table(path).latest.read()
    assert lx.open_table(path, allow_bases=[files]).latest.read().height == 3


def test_an_index_that_is_a_link_is_read_as_far_as_it_may_lead(places):
    path, files = places
    lance.write_dataset(pa.table({"id": [1, 2, 3]}), path).create_scalar_index("id", "BTREE")
    [index] = (path / "_indices").iterdir()
    index.rename(files / index.name)
    index.symlink_to(files / index.name)
    with pytest.raises(
        UnsupportedFeatureError, match=r"version 2, index 'id_idx',.*a link to a place outside"
    ):
        lx.open_table(path).latest.read(filter="id = 2")
    assert lx.open_table(path, allow_bases=[files]).latest.read(filter="id = 2").height == 1


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "a/../../b", "s3://b/x"])
def test_a_data_file_that_leads_out_is_not_read(tmp_path, name):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=2)
    fragment = table.state.fragments[0]
    fragment.message.files[0].path = name
    table.state.fragments[0] = replace(fragment)  # whose bytes are made anew
    table.append()
    with pytest.raises(CorruptFileError, match=r"fragment 0 of version 2 .*outside its folder"):
        check_values(HistoryView.open(str(table.path)), 2)


# ------------------------------------------------------------------------------------ blobs


@pytest.fixture
def blobs(places: tuple[Path, Path]) -> Path:
    """A table with blobs in files elsewhere, and in one in the folder of the table."""
    path, files = places
    (files / "blob").write_bytes(b"elsewhere")
    (path.parent / "blob").write_bytes(b"beside")
    uris = [(files / "blob").as_uri(), (path.parent / "blob").as_uri()]
    rows = pa.table({"id": [0, 1, 2], "blob": blob_array([*uris, b"inside"])})
    table: Any = lance.write_dataset(
        rows, path, data_storage_version="2.2", allow_external_blob_outside_bases=True
    )
    table.delete("id = 2")
    return path


def test_blobs_elsewhere_are_told_of_and_not_read(blobs, places):
    table = lx.open_table(blobs)
    assert table.latest.read()["blob"].struct.field("blob_uri").str.ends_with("/blob").sum() == 2
    for ask in (table.changes(0, images="after").to_polars, table.diff(1, 2).same_content):
        with pytest.raises(UnsupportedFeatureError, match="files/blob' is not opened"):
            ask()
    assert table.row(0).history(values=True)["values"].to_list() == [None]
    values = table.row(1).history(values=True)["values"].struct.field("blob")
    assert values.to_list() == [b"beside"]


def test_blobs_elsewhere_are_read_where_it_is_allowed(blobs, places):
    table = lx.open_table(blobs, allow_bases=[places[1]])
    values = table.changes(0, images="after").to_polars()["blob"]
    assert values.to_list() == [b"elsewhere", b"beside"]
    assert not table.diff(1, 2).same_content()


@pytest.mark.parametrize("kind", ["struct", "list", "base"])
def test_blobs_elsewhere_are_found_wherever_a_column_has_them(places, kind):
    path, files = places
    (files / "blob").write_bytes(b"elsewhere")
    values = blob_array([(files / "blob").as_uri()])
    if kind == "struct":
        values = pa.StructArray.from_arrays([values], fields=[pa.field("b", values.type)])
    elif kind == "list":
        values = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), values)
    bases = [lance.DatasetBasePath(str(files))] if kind == "base" else None
    lance.write_dataset(
        pa.table({"b": values}),
        path,
        data_storage_version="2.2",
        initial_bases=bases,
        allow_external_blob_outside_bases=not bases,
    )
    with pytest.raises(UnsupportedFeatureError, match=r"files(/blob)?' is not opened"):
        lx.open_table(path).changes(0, images="after").to_polars()
    allowed = lx.open_table(path, allow_bases=[files]).changes(0, images="after").to_polars()
    assert "elsewhere" in str(allowed["b"].to_list())


def test_whoever_has_values_read_checks_them_first():
    reading = re.compile(
        r"\b(read_rows|read_rows_at|take_rows|scan_rows|row_batches|content_b\w+)\("
    )
    package = Path(lx.__file__).parent
    modules = [path for path in package.rglob("*.py") if path.parent.name != "values"]
    readers = [path for path in modules if reading.search(path.read_text())]
    assert len(readers) > 5
    assert [path.name for path in readers if "check_values(" not in path.read_text()] == []
