"""What the ninth notebook shows: who deleted a photo, what changed, what made it big, a branch."""

from collections.abc import Callable

import pytest

from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("09_four_questions.ipynb")


def test_who_deleted_the_photo(notebook: RunNotebook) -> None:
    gone = notebook.frame('gone = table.find("photo_id = 42")')
    assert gone["author"].to_list() == ["rui", "scheduler"]


def test_what_changed_in_a_column(notebook: RunNotebook) -> None:
    rated = notebook.frame("changes = table.changes(")
    assert set(rated["_change_type"]) == {"update_preimage", "update_postimage"}


def test_what_made_it_big(notebook: RunNotebook) -> None:
    assert notebook.frame("table.log()")["job"][0] == "thumbnails"


def test_what_a_merge_of_the_branch_would_bring(notebook: RunNotebook) -> None:
    assert "in conflict" in notebook.shown("preview = table.merge")["text/html"]
    assert notebook.frame("preview.cells()")["column"].unique().to_list() == ["rating"]
