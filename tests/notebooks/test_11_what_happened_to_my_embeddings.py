"""Notebook 11: the commit that changed the model, the rows that moved most, the day of a filter."""

from collections.abc import Callable

import pytest

from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("11_what_happened_to_my_embeddings.ipynb")


def test_the_commit_that_changed_the_model_is_found(notebook: RunNotebook) -> None:
    assert "`embedding` moved furthest in version 16" in notebook.text("profile = table.profile()")
    assert "Embeddings by encoder-2" in notebook.shown("shifts = profile")["text/html"]


def test_the_rows_that_moved_most_are_told(notebook: RunNotebook) -> None:
    assert "1200" in notebook.shown("drift.summary()")["text/html"]
    assert "doc_id" in notebook.shown("drift.top(5)")["text/html"]


def test_the_day_of_the_filter_is_told(notebook: RunNotebook) -> None:
    [line] = notebook.printed("lost = shifts")
    assert "369 rows deleted where `score < 0.35`" in line
    assert line.endswith("By scheduler, job quality-filter: Quality filter 0.35.")
