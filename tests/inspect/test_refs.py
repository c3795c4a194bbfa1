"""Tags and branches against pylance's lists, and whether their versions are still there."""

import json
import shutil

import lance
import pytest

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.refs import refs
from tests.format.samples import DATA
from tests.inspect.tables import manifest_paths, rows_of, stored
from tests.stored_tables import is_main, stored_check

BRANCHES = "14.0.2/branches.lance"


@pytest.fixture
def branches(tmp_path):
    shutil.copytree(DATA / BRANCHES, tmp_path / "t")
    return tmp_path / "t"


def kept(path):
    return dict(rows_of(refs(HistoryView.open(str(path))), "name", "is_kept"))


@stored_check(is_main)
def check_versions_with_tags_are_kept(asked):
    assert refs(asked.view).filter(kind="tag")["is_kept"].all()


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
    [row] = refs(HistoryView.open(str(branches))).filter(name="base").iter_rows(named=True)
    assert (row["kind"], row["version"], row["is_kept"]) == ("tag", None, None)
    assert "not JSON" in row["problem"]
