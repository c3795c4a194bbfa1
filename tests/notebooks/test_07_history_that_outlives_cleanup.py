"""What the seventh notebook shows: with a ledger, cleanup takes nothing from a row's history."""

from collections.abc import Callable

import pytest

import lance_explorer as lx
from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("07_history_that_outlives_cleanup.ipynb")


def test_all_versions_are_recorded(notebook, samples):
    versions = lx.open_table(samples[0]).versions()
    recorded = notebook.frame("ledger.record(path)")
    assert recorded.row(0) == (None, len(versions), 1, versions["version"].max())


def test_cleanup_leaves_little_of_the_history_of_a_row(notebook, samples):
    before = lx.open_table(samples[0]).row(42).history()
    assert "1 version " in notebook.text("dataset.cleanup_old_versions")
    assert len(notebook.frame("lx.open_table(path).row(42)")) < len(before)


def test_with_the_ledger_the_history_is_whole(notebook, samples):
    before = lx.open_table(samples[0]).row(42).history()
    remembered = notebook.frame("remembered = table.row(42)")
    assert remembered["event"].to_list() == before["event"].to_list()
    assert remembered["known_from"].unique().to_list() == ["ledger"]
    assert notebook.text("remembered.drop") == "True"


def test_pale_commits_are_in_the_legend(notebook):
    traces = notebook.picture("lx.figures.lineage")["data"]
    assert "known from the ledger" in [trace.get("name") for trace in traces]


def test_what_is_missing_of_a_recorded_version_is_said(notebook):
    assert notebook.text("version = table.at(20)").endswith("known from the ledger")
    [line] = notebook.printed("version.head()")
    assert line.startswith("version 20 is known from the ledger alone, and its values are lost")


def test_changes_have_null_for_lost_values(notebook):
    assert notebook.frame("changes = table.changes")["photo_id"].null_count() == 3
    assert len(notebook.frame("changes.findings()")) > 0


def test_the_ledger_tells_of_a_table_that_is_gone(notebook, samples):
    events = len(lx.open_table(samples[0]).row(42).history())
    assert notebook.text("shutil.rmtree(path)").startswith(f"({events}, ")
