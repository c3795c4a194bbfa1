"""Clones, branches of clones and tables with several bases say what pylance says of them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.errors import RowNotFoundError, StorageError
from lance_explorer.inspect.catalogue import FRAMES, frame

COLUMNS = ["id", "score"]
SYSTEM = ["_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"]

Place = tuple[str, str | None]
"""A table below the folder, and a branch of it."""


def rows(first: int, count: int) -> pa.Table:
    ids = range(first, first + count)
    return pa.table({"id": ids, "score": [float(number) for number in ids]})


def source_table(path: Path) -> Any:
    """Write a table of four versions, with a deletion, an index, a tag and a branch."""
    table = lance.write_dataset(rows(0, 10), path, enable_stable_row_ids=True)
    table.delete("id = 3")
    table.tags.create("gold", 2)
    table = lance.write_dataset(rows(10, 5), table, mode="append")
    table.create_scalar_index("id", "BTREE")
    table.create_branch("dev").delete("id = 7")
    return lance.dataset(path)


def deep_clone(folder: Path) -> Place:
    clone = source_table(folder / "source.lance").deep_clone(folder / "clone.lance", 2)
    clone.delete("id = 5")
    clone = lance.write_dataset(rows(100, 3), clone, mode="append")
    clone.update({"score": "score + 1"}, where="id in (1, 101)")
    return "clone.lance", None


def deep_clone_of_a_tag(folder: Path) -> Place:
    source_table(folder / "source.lance").deep_clone(folder / "clone.lance", "gold")
    return "clone.lance", None


def shallow_clone(folder: Path) -> Place:
    clone = source_table(folder / "source.lance").shallow_clone(folder / "clone.lance", 3)
    clone.update({"score": "score + 1"}, where="id in (1, 12)")
    clone.delete("id = 12")
    clone.optimize.compact_files()
    return "clone.lance", None


def clone_of_a_clone(folder: Path) -> Place:
    shallow_clone(folder)
    clone = lance.dataset(folder / "clone.lance").shallow_clone(folder / "again.lance", 4)
    clone.delete("id = 2")
    return "again.lance", None


def clone_of_a_branch(folder: Path) -> Place:
    branch = source_table(folder / "source.lance").checkout_version(("dev", None))
    branch.shallow_clone(folder / "clone.lance", branch.version).delete("id = 8")
    return "clone.lance", None


def branch_of_a_clone(folder: Path) -> Place:
    shallow_clone(folder)
    clone = lance.dataset(folder / "clone.lance")
    branch = clone.create_branch("fix", 4)
    branch.delete("id = 9")
    branch.update({"score": "0.0"}, where="id = 8")
    return "clone.lance", "fix"


def several_bases(folder: Path) -> Place:
    names = ("one", "two", "three")
    bases = {name: lance.DatasetBasePath(str(folder / name), name=name) for name in names}
    bases["two"] = lance.DatasetBasePath(str(folder / "two"), name="two", is_dataset_root=True)
    path = folder / "t.lance"
    table = lance.write_dataset(
        rows(0, 4),
        path,
        enable_stable_row_ids=True,
        initial_bases=[bases["one"], bases["two"]],
        target_bases=["one"],
    )
    table = lance.write_dataset(rows(4, 4), table, mode="append", target_bases=["two"])
    table = lance.write_dataset(rows(8, 4), table, mode="append")
    table.add_bases([bases["three"]])
    table = lance.write_dataset(rows(12, 4), path, mode="append", target_bases=["three"])
    table.delete("id in (1, 5, 13)")
    table.update({"score": "0.5"}, where="id in (2, 6)")
    table.optimize.compact_files()
    return "t.lance", None


SCENARIOS: list[Callable[[Path], Place]] = [
    deep_clone,
    deep_clone_of_a_tag,
    shallow_clone,
    clone_of_a_clone,
    clone_of_a_branch,
    branch_of_a_clone,
    several_bases,
]


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda scenario: scenario.__name__)
def place(request, tmp_path_factory) -> tuple[Path, str | None]:
    folder = tmp_path_factory.mktemp(request.param.__name__)
    name, branch = request.param(folder)
    return folder / name, branch


@pytest.fixture
def table(place) -> lx.Table:
    return lx.open_table(*place)


@pytest.fixture
def theirs(place) -> Callable[[int | None], Any]:
    path, branch = place
    return lambda version: lance.dataset(path).checkout_version(
        version if branch is None and version is not None else (branch, version)
    )


def test_versions(table, theirs):
    listed = [version["version"] for version in theirs(None).versions()]
    assert table.versions()["version"].to_list() == listed
    counted = [theirs(version).count_rows() for version in listed]
    assert table.versions()["num_rows"].to_list() == counted


def test_rows_and_values(table, theirs):
    for version in table.versions()["version"]:
        expected = theirs(version).to_table(columns=[*SYSTEM, *COLUMNS])
        found = table.at(version).row_ids(columns=COLUMNS)
        assert found.select(expected.column_names).to_dict(as_series=False) == expected.to_pydict()


def test_inspect(table):
    for name in FRAMES:
        frame(table._view, name)
    assert table.inspect.findings().is_empty()
    assert table.check_row_ids().is_empty()


def test_base_paths(table, theirs):
    latest = theirs(None)
    bases = {base_id: base.path for base_id, base in latest.base_paths().items()}
    found = table.inspect.base_paths()
    assert dict(found.select("base_id", "path").iter_rows()) == bases
    used = [
        file.base_id
        for fragment in latest.get_fragments()
        for file in fragment.metadata.files
        if file.base_id is not None
    ]
    counts = dict(found.select("base_id", "num_data_files").iter_rows())
    assert counts == {base_id: used.count(base_id) for base_id in bases}


def test_net_changes(table, theirs):
    first = int(table.versions()["version"][0])
    ids = [{*theirs(v).to_table(columns=["id"])["id"].to_pylist()} for v in (first, None)]
    summary = table.changes(first).summary().row(0, named=True)
    assert summary["inserted"] == len(ids[1] - ids[0])
    assert summary["deleted"] == len(ids[0] - ids[1])
    changes = table.changes(first, images="both").to_polars()
    assert {*changes.filter(_change_type="insert")["id"]} == ids[1] - ids[0]
    assert {*changes.filter(_change_type="delete")["id"]} == ids[0] - ids[1]


def test_every_row_has_a_history_that_ends_where_it_is(table):
    latest = table.latest.row_ids()
    followed = table.follow(latest["_rowid"].to_list())
    assert {*followed["_rowid"]} == {*latest["_rowid"]}
    last = followed.group_by("_rowid", maintain_order=True).last()
    assert_frame_equal(
        last.select("_rowid", _rowaddr="_rowaddr_after").sort("_rowid"),
        latest.select("_rowid", "_rowaddr").sort("_rowid"),
    )
    created = followed.filter(event="created").select("_rowid", "version")
    expected = latest.select("_rowid", version="_row_created_at_version")
    assert_frame_equal(created.sort("_rowid"), expected.sort("_rowid"), check_dtypes=False)
    for row in latest["_rowid"]:
        history = table.row(row).history(values=True)
        assert history["event"][0] == "created"


def test_lineage_knows_the_fragments_that_are_there(table):
    latest = table._view.latest_version
    fragments = table.lineage().fragments()
    there = {*table.inspect.fragments()["fragment_id"]}
    assert there <= {*fragments["fragment_id"]}
    assert table.at(latest).num_rows == len(table.latest.row_ids())


def test_a_deep_clone_needs_its_source_no_more(tmp_path):
    name, _ = deep_clone(tmp_path)
    shutil.rmtree(tmp_path / "source.lance")
    table = lx.open_table(tmp_path / name)
    assert len(table.latest.read()) == len(table.latest.row_ids()) == table.latest.num_rows


@pytest.mark.parametrize("base", ["one", "two", "three"])
def test_a_base_that_was_moved_is_named_when_its_values_are_read(tmp_path, base):
    several_bases(tmp_path)
    (tmp_path / base).rename(tmp_path / "elsewhere")
    table = lx.open_table(tmp_path / "t.lance")
    version = table.versions().filter(kind="append")["version"].to_list()[-1]
    assert len(table.at(version).row_ids()) == table.at(version).num_rows
    with pytest.raises(StorageError, match=f"{tmp_path.name}/{base}/"):
        table.at(version).read()


def test_a_row_that_a_clone_never_had_is_told_as_such(tmp_path):
    name, _ = shallow_clone(tmp_path)
    table = lx.open_table(tmp_path / name)
    with pytest.raises(RowNotFoundError, match="row 3 is not in version"):
        table.row(3).history()
    assert table.row(0).history().select("version", "event", "evidence").rows() == [
        (1, "created", "derived"),
        (7, "moved", "recorded"),
    ]
