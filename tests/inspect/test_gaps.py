"""Gaps: removed and damaged versions, and numbers that never were any."""

import shutil

import pytest

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.gaps import gaps
from tests.format.samples import DATA
from tests.inspect.tables import manifest_paths, rows_of, stored

COLUMNS = ("first_version", "last_version", "num_versions", "reason")


@pytest.fixture
def table(tmp_path):
    shutil.copytree(DATA / "14.0.2/v2_names.lance", tmp_path / "t")
    return tmp_path / "t"


def gaps_after(table, removed=(), damaged=()):
    """Return the gaps of a table of eleven versions after some were removed or damaged."""
    paths = manifest_paths(table)
    for version in removed:
        paths[version].unlink()
    for version in damaged:
        paths[version].write_bytes(b"nothing of use here")
    return rows_of(gaps(HistoryView.open(str(table))), *COLUMNS)


def test_a_whole_history_has_no_gaps(table):
    assert gaps_after(table) == []


def test_neighbours_that_are_gone_are_one_gap(table):
    assert gaps_after(table, removed=(1, 2, 3, 5, 8, 9)) == [
        (1, 3, 3, "removed"),
        (5, 5, 1, "removed"),
        (8, 9, 2, "removed"),
    ]


def test_damaged_versions_are_gaps_of_their_own(table):
    assert gaps_after(table, removed=(3, 6, 8), damaged=(1, 4, 5, 7, 10, 11)) == [
        (1, 1, 1, "unreadable"),
        (3, 3, 1, "removed"),
        (4, 5, 2, "unreadable"),
        (6, 6, 1, "removed"),
        (7, 7, 1, "unreadable"),
        (8, 8, 1, "removed"),
        (10, 11, 2, "unreadable"),
    ]


def test_a_history_of_damaged_versions_is_one_gap(table):
    assert gaps_after(table, damaged=range(1, 12)) == [(1, 11, 11, "unreadable")]


def test_gaps_are_what_is_not_kept_of_cleaned_tables():
    for path in DATA.glob("*/cleaned*.lance"):
        view = HistoryView.open(str(path))
        kept = {file.version for file in view.listing.versions}
        missing = set(range(1, max(kept) + 1)) - kept
        frame = gaps(view)
        assert set(frame["reason"]) == {"removed"}
        ranges = [range(first, last + 1) for first, last in rows_of(frame, *COLUMNS[:2])]
        assert {version for numbers in ranges for version in numbers} == missing


@pytest.mark.parametrize("branch", ["dev", "dev/deep", "early"])
def test_versions_below_a_fork_are_no_gap(branch):
    assert gaps(stored("14.0.2/branches.lance").on_branch(branch)).is_empty()


def test_versions_before_a_clone_are_no_gap():
    assert gaps(stored("14.0.2/shallow_clone.lance")).is_empty()


@pytest.fixture
def branches(tmp_path):
    shutil.copytree(DATA / "14.0.2/branches.lance", tmp_path / "t")
    return tmp_path / "t"


def test_a_fork_version_that_is_gone_is_a_gap(branches):
    manifest_paths(branches / "tree" / "dev")[3].unlink()
    frame = gaps(HistoryView.open(str(branches), "dev"))
    assert rows_of(frame, *COLUMNS, "branch") == [(3, 3, 1, "removed", "dev")]


def test_the_beginning_of_a_branch_that_nothing_tells_is_no_gap(branches):
    manifest_paths(branches / "tree" / "dev")[3].unlink()
    (branches / "_refs" / "branches" / "dev.json").unlink()
    assert gaps(HistoryView.open(str(branches), "dev")).is_empty()
