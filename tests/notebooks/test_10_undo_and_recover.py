"""What the tenth notebook shows: a commit that is undone, a row put back, a table repaired."""

from collections.abc import Callable

import pytest

from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("10_undo_and_recover.ipynb")


def test_a_job_is_undone_and_what_others_did_stays(notebook: RunNotebook) -> None:
    assert "write <code>thumbnail</code> of 644 rows" in notebook.shown("plan = ")["text/html"]
    assert notebook.frame("plan.conflicts()")["_rowid"].to_list() == [42]
    assert "644 updated" in notebook.shown("undone.diff(")["text/html"]


def test_a_damaged_table_is_repaired(notebook: RunNotebook) -> None:
    shown = notebook.shown("recovery = ")["text/html"]
    assert "replace 1 damaged fragment by 245 rows" in shown
    [*_, printed] = notebook.printed("carry_out(recovery.save")
    assert printed.startswith("930 rows; 1 file is damaged. The latest version needs none")
