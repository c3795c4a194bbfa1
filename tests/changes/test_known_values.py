"""Values that a feed has by default: those that there are, and findings on those that are lost."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance.blob import blob_array
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer import InvalidArgumentError, StorageError, Table, UnsupportedFeatureError
from lance_explorer.changes.change_feed import Changes
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.history.view import HistoryView
from tests.changes.parts import as_parts_of
from tests.differential.twin import Keys, Twin
from tests.synthetic.manifests import ManifestFile

VALUES = ["key", "value", "label", "place", "parts"]
MODES = ["net", "per_commit"]


@pytest.fixture(params=[True, False], ids=["stable", "plain"])
def twin(request, tmp_path) -> Twin:
    """Twelve rows in three fragments; versions that write and delete rows of all of them."""
    twin = Twin.create(str(tmp_path / "t.lance"), 12, stable_row_ids=request.param)
    twin.update(Keys(5, 2))
    twin.delete(Keys(4, 3))
    twin.append(3)
    twin.delete(Keys(5, 2))
    twin.compact()
    twin.update(Keys(3, 0))
    twin.delete(Keys(6, 4))
    return twin


def opened(twin: Twin) -> Table:
    return lx.open_table(twin.uri)


def stored(twin: Twin, version: int) -> dict[int, dict[str, Any]]:
    """Return the rows of a version as pylance reads them, by their addresses."""
    dataset = lance.dataset(twin.uri, version=version)
    rows = dataset.scanner(with_row_address=True).to_table().to_pylist()
    return {row.pop("_rowaddr"): row for row in rows}


def joined(changes: Changes, batch_size: int, num_rows: int, whole: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of all parts of a feed, in the order of the whole."""
    empty = changes.schema.to_frame()
    parts = [
        pl.concat([empty, *changes.batches(batch_size, part=part, progress=False)])
        for part in changes.parts(num_rows)
    ]
    return as_parts_of(whole, parts, changes.mode)


def findings(changes: Changes, *names: str) -> list[tuple[Any, ...]]:
    found = changes.findings()
    assert found.schema == FINDINGS.polars_schema
    assert set(found["code"]) <= {"values_lost", "value_file_missing"}
    assert all(found["remedy"].str.len_chars() > 0)
    return found.select(names).rows()


def is_told(changes: Changes) -> bool:
    told = {"some values are lost" in text for text in (repr(changes), changes._repr_html_())}
    assert len(told) == 1
    return told.pop()


# ------------------------------------------------------------------------- what there is


def test_net_values_are_those_after_and_of_deleted_rows_those_at_the_beginning(twin):
    for begin, end in ((0, twin.version), (1, 5), (1, twin.version), (4, 8)):
        changes = opened(twin).changes(begin, end, include="moved")
        lines = changes.to_polars()
        after, before = stored(twin, end), stored(twin, begin) if begin else {}
        for line in lines.iter_rows(named=True):
            there = before if line["_change_type"] == "delete" else after
            assert {name: line[name] for name in VALUES} == there[line["_rowaddr"]]
        assert changes.findings().is_empty()
        assert not is_told(changes)
    assert "delete" in lines["_change_type"]


def test_commits_show_values_after_them_and_of_deleted_rows_those_before(twin):
    lines = opened(twin).changes(0, mode="per_commit", include="moved").to_polars()
    rows = {version: stored(twin, version) for version in range(1, twin.version + 1)}
    for line in lines.iter_rows(named=True):
        version = line["_commit_version"] - (line["_change_type"] == "delete")
        assert {name: line[name] for name in VALUES} == rows[version][line["_rowaddr"]]
    assert (lines["_change_type"] == "delete").sum() > 4


@pytest.mark.parametrize("mode", MODES)
def test_other_images_have_the_same_lines(twin, mode):
    table = opened(twin)
    known = table.changes(1, mode=mode).to_polars()
    assert_frame_equal(known, table.changes(1, mode=mode, images="known").to_polars())
    assert_frame_equal(known.drop(VALUES), table.changes(1, mode=mode, images=None).to_polars())
    is_deleted = pl.col("_change_type") == "delete"
    after = table.changes(1, mode=mode, images="after").to_polars()
    assert_frame_equal(after.filter(~is_deleted), known.filter(~is_deleted))
    both = table.changes(1, mode=mode, images="both").to_polars()
    kept = both.filter(pl.col("_change_type") != "update_preimage").drop("changed_columns")
    assert_frame_equal(kept, known)


@pytest.mark.parametrize("mode", MODES)
def test_deleted_rows_have_columns_that_were_dropped_since(tmp_path, mode):
    twin = Twin.create(str(tmp_path / "t.lance"), 8, stable_row_ids=True)
    twin.add_column("evidence")
    twin.add_column("gone")
    twin.delete(Keys(4, 1))
    twin.rename_column("label", "title")
    twin.drop_column("gone")
    before = stored(twin, 3)
    lines = opened(twin).changes(3, mode=mode).to_polars().filter(_change_type="delete")
    assert len(lines) == 2
    for line in lines.iter_rows(named=True):
        row = before[line["_rowaddr"]]
        shown = line["title"], line["evidence_"], line["gone"]
        assert shown == (row["label"], row["evidence"], row["gone"])
    assert "changed_columns" not in lines.columns


def test_a_diff_has_the_same_values(twin):
    table = opened(twin)
    diff = table.diff(1, twin.version)
    assert_frame_equal(diff.rows(), table.changes(1).to_polars())
    assert diff.rows(images=None).columns == table.changes(1, images=None).to_polars().columns
    assert diff.findings().is_empty()
    back = {line["key"]: line for line in table.diff(4, 3).rows().iter_rows(named=True)}
    assert {key: line["value"] for key, line in back.items()} == {12: 3, 13: 3, 14: 3}


def test_sql_has_no_values(twin):
    assert "key" not in opened(twin).sql("SELECT * FROM changes").columns


def test_other_names_of_images_are_refused(twin):
    with pytest.raises(InvalidArgumentError, match=r"images is one of .*'known'"):
        opened(twin).changes(0, images="all")  # type: ignore[arg-type]


# --------------------------------------------------------------------------- lost versions


def test_a_gap_is_a_finding_and_its_rows_have_what_is_kept(tmp_path):
    twin = Twin.create(str(tmp_path / "t.lance"), 10, stable_row_ids=True)
    twin.append(2)
    twin.delete(Keys(5, 3))
    twin.append(1)
    first = stored(twin, 1)
    twin.clean_up(versions=[2, 3])
    changes = opened(twin).changes(1, mode="per_commit")
    assert findings(changes) == []
    lines = changes.to_polars()
    [lost] = lines.filter(_event="lost").select(VALUES).rows()
    assert set(lost) == {None}
    deleted = lines.filter(_change_type="delete")
    assert deleted["key"].to_list() == [first[a]["key"] for a in deleted["_rowaddr"]] == [3, 8]
    assert lines.filter(_change_type="insert")["key"].to_list() == [10, 11, 12]
    names = "first_version", "last_version", "severity", "statement", "consequence"
    [(*where, severity, statement, consequence)] = findings(changes, *names)
    assert (where, severity) == ([2, 3], "info")
    assert statement.startswith("versions 2 to 3 are not kept")
    assert "version 1" in consequence
    assert is_told(changes)
    assert findings(opened(twin).changes(1), "first_version") == []
    again = opened(twin).changes(1, mode="per_commit")
    assert_frame_equal(joined(again, 2, 3, lines), lines)
    assert_frame_equal(again.findings(), changes.findings())


# ----------------------------------------------------------------------------- lost files


def files_of(twin: Twin, version: int) -> list[str]:
    dataset = lance.dataset(twin.uri, version=version)
    return [file.path for fragment in dataset.get_fragments() for file in fragment.data_files()]


@pytest.mark.parametrize(("mode", "number"), [("net", 1), ("per_commit", 0)])
def test_values_of_a_missing_file_are_null_however_they_are_read(twin, mode, number):
    whole = opened(twin).changes(1, mode=mode).to_polars()
    first = Path(twin.uri) / "data" / files_of(twin, 1)[number]
    first.unlink()
    changes = opened(twin).changes(1, mode=mode)
    lines = changes.to_polars()
    own = lines.columns[: -len(VALUES)]
    assert_frame_equal(lines.select(own), whole.select(own))
    removed = (whole["_rowaddr"] // 2**32 == number) & (whole["_change_type"] == "delete")
    # A compaction wrote some of the rows again before they were deleted.
    is_lost = removed & lines["key"].is_null()
    assert is_lost.any()
    assert {*lines.filter(is_lost).select(VALUES).row(0)} == {None}
    assert_frame_equal(lines.filter(~is_lost), whole.filter(~is_lost))
    [(fragment, severity, message)] = findings(changes, "subject_name", "severity", "statement")
    assert (fragment, severity) == (str(number), "error")
    assert first.name in message
    assert is_told(changes)
    again = opened(twin).changes(1, mode=mode)
    for batch_size, num_rows in ((1, 2), (4, 5), (1000, 1)):
        assert_frame_equal(joined(again, batch_size, num_rows, lines), lines)
    assert_frame_equal(again.findings(), changes.findings())
    with pytest.raises(StorageError, match=first.name):
        opened(twin).changes(1, mode=mode, images="both").to_polars()
    assert len(opened(twin).changes(1, mode=mode, images=None).to_polars()) == len(lines)


def test_versions_are_listed_again_only_if_more_files_are_missing(twin, monkeypatch):
    listed, look = list[int](), HistoryView.without_vanished

    def noting(view: HistoryView) -> HistoryView | None:
        listed.append(1)
        return look(view)

    monkeypatch.setattr(HistoryView, "without_vanished", noting)
    table = opened(twin)
    changes, numbers = table.changes(1), list[int]()
    for name in files_of(twin, 1)[1:]:
        (Path(twin.uri) / "data" / name).unlink()
        for _ in range(2):
            changes.to_polars()
            numbers.append(len(listed))
    assert numbers == [1, 1, 2, 2]
    table.changes(1).to_polars()
    assert len(listed) == 3


@pytest.mark.slow
def test_a_version_that_a_cleanup_removes_in_two_steps_is_a_gap_in_the_end(twin):
    changes = opened(twin).changes(0, mode="per_commit")
    (Path(twin.uri) / "data" / files_of(twin, 1)[1]).unlink()
    damaged = changes.to_polars()
    assert damaged["_commit_version"].min() == 1
    for path in Path(twin.uri, "_versions").glob(f"{2**64 - 1 - 1:020}.manifest"):
        path.unlink()
    for _ in range(2):
        lines = changes.to_polars()
        assert_frame_equal(lines, opened(twin).changes(0, mode="per_commit").to_polars())
        assert not lines.equals(damaged)


def test_images_after_need_all_files(twin):
    for name in files_of(twin, twin.version):
        (Path(twin.uri) / "data" / name).unlink()
    with pytest.raises(StorageError, match="Not found"):
        opened(twin).changes(1, images="after").to_polars()
    changes = opened(twin).changes(1)
    lines = changes.to_polars()
    is_deleted = lines["_change_type"] == "delete"
    assert lines.filter(is_deleted)["key"].null_count() == 0
    assert lines.filter(~is_deleted)["key"].null_count() == (~is_deleted).sum() > 0
    assert set(findings(changes, "first_version")) == {(twin.version,)}


def test_only_columns_of_a_missing_file_are_null(tmp_path):
    twin = Twin.create(str(tmp_path / "t.lance"), 6, stable_row_ids=True)
    (old,) = {*files_of(twin, 1)[:1]}
    twin.add_column("more")
    twin.delete(Keys(2, 1))
    (Path(twin.uri) / "data" / old).unlink()
    changes = opened(twin).changes(2, columns=["key", "more"])
    lines = changes.to_polars()
    assert lines["more"].null_count() == 0
    assert lines["key"].to_list() == [None, None, 5]
    alone = opened(twin).changes(2, columns=["more"])
    assert alone.to_polars()["more"].equals(lines["more"])
    assert alone.findings().is_empty()


def test_a_damaged_file_is_an_error(twin):
    (Path(twin.uri) / "data" / files_of(twin, 1)[1]).write_bytes(b"no data file")
    with pytest.raises(StorageError):
        opened(twin).changes(1).to_polars()


def test_a_version_with_an_unknown_format_has_no_values(tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": [1, 2]}), path)
    dataset = lance.write_dataset(pa.table({"id": [3]}), path, mode="append")
    dataset.delete("id = 1")
    dataset.delete("id = 3")
    for version in (2, 4):
        file = path / "_versions" / f"{2**64 - 1 - version}.manifest"
        manifest = ManifestFile.from_bytes(file.read_bytes())
        file.write_bytes(replace(manifest, fragments=of_later_format(manifest)).to_bytes())
    lines = lx.open_table(path).changes(0, 2).to_polars()
    assert "id" not in lines.columns
    changes = lx.open_table(path).changes(1, 4, mode="per_commit")
    lines = changes.to_polars()
    assert lines.select("_change_type", "id").rows() == [
        ("insert", 3),  # as version 3 has it
        ("delete", None),
        ("delete", 3),
    ]
    assert [row[:2] for row in findings(changes, "first_version", "severity")] == [(2, "warning")]
    assert lx.open_table(path).diff(1, 4).rows()["id"].to_list() == [1]
    with pytest.raises(StorageError, match="9"):
        lx.open_table(path).changes(1, 2, images="after").to_polars()


def of_later_format(manifest: ManifestFile) -> bytes:
    fragments = pb.ManifestEnvelope.FromString(manifest.fragments).fragments
    found = b""
    for data in fragments:
        fragment = pb.DataFragment.FromString(data)
        for file in fragment.files:
            file.file_major_version = 9
        found += pb.ManifestEnvelope(fragments=[fragment.SerializeToString()]).SerializeToString()
    return found


def test_values_of_versions_that_are_cleaned_up_between_batches_are_lost(twin):
    changes = opened(twin).changes(1)
    whole = changes.to_polars()
    batches = changes.batches(1, progress=False)
    head = next(batches)
    lance.dataset(twin.uri).cleanup_old_versions(retain_versions=1, delete_unverified=True)
    lines = pl.concat([head, *batches])
    is_lost = pl.Series([False, *(whole["_change_type"] == "delete")[1:]])
    assert_frame_equal(lines.filter(~is_lost), whole.filter(~is_lost))
    assert lines.filter(is_lost)["key"].null_count() == is_lost.sum() > 0
    assert findings(changes, "first_version", "severity") == [(1, "warning")]


# -------------------------------------------------------------------------- files elsewhere


@pytest.fixture
def places(tmp_path) -> tuple[Path, Path]:
    """Where a table is, and where it has files without being allowed to lead there."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "files").mkdir()
    return tmp_path / "tables" / "t.lance", tmp_path / "files"


@pytest.mark.parametrize("mode", MODES)
def test_values_below_a_base_path_that_is_refused_are_null(places, mode):
    path, files = places
    base = lance.DatasetBasePath(str(files), name="files")
    rows = pa.table({"id": [1, 2, 3]})
    dataset = lance.write_dataset(rows, path, initial_bases=[base], enable_stable_row_ids=True)
    dataset.delete("id = 3")
    rows = pa.table({"id": [4, 5]})
    dataset = lance.write_dataset(rows, dataset, mode="append", target_bases=["files"])
    dataset.delete("id = 5")
    table = lx.open_table(path)
    changes = table.changes(1, mode=mode)
    lines = changes.to_polars()
    assert lines.filter(_rowid=2)["id"].to_list() == [3]
    assert lines.filter(pl.col("_rowid") > 2)["id"].null_count() == len(lines) - 1 > 0
    [(message, advice)] = findings(changes, "statement", "remedy")
    assert re.search("values are not read: base path 1 .* is not opened", message)
    assert "allow_bases" in advice
    assert_frame_equal(joined(table.changes(1, mode=mode), 1, 1, lines), lines)
    diff = table.diff(1, 4)
    assert diff.rows()["id"].to_list() == [3, None]
    assert len(diff.findings()) == 1
    assert "some values are lost" in repr(diff)
    with pytest.raises(UnsupportedFeatureError, match="base path 1"):
        table.changes(1, mode=mode, images="after").to_polars()
    allowed = lx.open_table(path, allow_bases=[files]).changes(1, mode=mode)
    assert allowed.to_polars()["id"].null_count() == 0
    assert allowed.findings().is_empty()


@pytest.mark.parametrize("kind", ["flat", "struct"])
def test_blobs_elsewhere_are_null_each_by_itself(places, kind):
    path, files = places
    (files / "blob").write_bytes(b"elsewhere")
    (path.parent / "blob").write_bytes(b"beside")
    uris = [(files / "blob").as_uri(), (path.parent / "blob").as_uri()]
    values = blob_array([*uris, b"inside", b"more"])
    if kind == "struct":
        values = pa.StructArray.from_arrays([values], fields=[pa.field("b", values.type)])
    rows = pa.table({"id": [0, 1, 2, 3], "blob": values})
    lance.write_dataset(
        rows, path, data_storage_version="2.2", allow_external_blob_outside_bases=True
    )
    changes = lx.open_table(path).changes(0)
    lines = changes.to_polars()
    blobs = lines["blob"].struct.field("b") if kind == "struct" else lines["blob"]
    assert blobs.to_list() == [None, b"beside", b"inside", b"more"]
    assert lines["id"].to_list() == [0, 1, 2, 3]
    assert len(findings(changes, "statement")) == 1
    assert_frame_equal(joined(lx.open_table(path).changes(0), 1, 2, lines), lines)
    with pytest.raises(UnsupportedFeatureError, match="is not opened"):
        lx.open_table(path).changes(0, images="after").to_polars()
