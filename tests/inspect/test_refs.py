"""Tags and branches against pylance's lists, and whether their versions are still there."""

import json
import shutil
from datetime import UTC, datetime

import lance
import pytest

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.refs import refs
from tests.format.samples import DATA, covering_tables
from tests.inspect.tables import manifest_paths, rows_of, stored

BRANCHES = "14.0.2/branches.lance"


@pytest.fixture
def branches(tmp_path):
    shutil.copytree(DATA / BRANCHES, tmp_path / "t")
    return tmp_path / "t"


def kept(path):
    return dict(rows_of(refs(HistoryView(str(path))), "name", "is_kept"))


@pytest.mark.parametrize(
    "path", covering_tables(), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_tags_are_those_that_pylance_lists(path):
    tags = lance.dataset(path).tags.list()
    expected = [
        (
            name,
            tag["branch"],
            tag["version"],
            tag["created_at"],
            tag["updated_at"],
            tag["manifest_size"],
            json.dumps(tag["metadata"]),
        )
        for name, tag in sorted(tags.items())
    ]
    columns = ("name", "branch", "version", "created_at", "updated_at", "manifest_bytes")
    frame = refs(HistoryView(str(path))).filter(kind="tag")
    assert rows_of(frame, *columns, "metadata") == expected
    assert frame["is_kept"].all()


@pytest.mark.parametrize(
    "path", covering_tables(), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_branches_are_those_that_pylance_lists(path):
    branches = lance.dataset(path).branches.list()
    expected = [
        (
            name,
            branch["parent_branch"],
            branch["parent_branch"],
            branch["parent_version"],
            datetime.fromtimestamp(branch["create_at"], UTC),
            branch["manifest_size"],
        )
        for name, branch in sorted(branches.items())
    ]
    columns = ("name", "branch", "parent_branch", "version", "created_at", "manifest_bytes")
    frame = refs(HistoryView(str(path))).filter(kind="branch")
    assert rows_of(frame, *columns) == expected


def test_identifiers_tell_the_ancestry():
    frame = refs(stored(BRANCHES)).filter(name="dev/deep")
    expected = lance.dataset(DATA / BRANCHES).branches.list()["dev/deep"]["branch_identifier"]
    [identifier] = frame["identifier"]
    assert json.loads(identifier) == [list(pair) for pair in expected]


def test_refs_are_the_same_from_every_branch():
    expected = refs(stored(BRANCHES))
    for branch in ("dev", "dev/deep", "early"):
        assert refs(stored(BRANCHES).on_branch(branch)).equals(expected)


def test_a_tag_of_a_detached_version_is_kept():
    assert set(refs(stored("14.0.2/detached.lance"))["is_kept"]) == {True}


def test_a_version_on_main_that_is_gone_is_not_kept(branches):
    manifest_paths(branches)[1].unlink()
    assert kept(branches) == {
        "base": False,
        "dev-updated": True,
        "dev": True,
        "dev/deep": True,
        "early": True,
    }


def test_a_version_on_a_branch_that_is_gone_is_not_kept(branches):
    manifest_paths(branches / "tree" / "dev")[6].unlink()
    assert kept(branches)["dev-updated"] is False


def test_nothing_of_a_branch_that_is_gone_is_kept(branches):
    shutil.rmtree(branches / "tree" / "dev")
    assert kept(branches) == {
        "base": True,
        "dev-updated": False,
        "dev": True,
        "dev/deep": False,
        "early": True,
    }


def test_what_cannot_be_told_is_null(branches):
    versions = branches / "tree" / "dev" / "_versions"
    (versions / "9.manifest").write_bytes(b"")  # the other scheme of names
    assert kept(branches)["dev-updated"] is None
    assert kept(branches)["base"] is True


def test_a_damaged_ref_is_listed_as_unreadable(branches):
    (branches / "_refs" / "tags" / "base.json").write_bytes(b"{")
    [row] = refs(HistoryView(str(branches))).filter(name="base").iter_rows(named=True)
    assert (row["kind"], row["version"], row["is_kept"]) == ("tag", None, None)
    assert "not JSON" in row["problem"]
