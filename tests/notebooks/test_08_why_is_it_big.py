"""What the eighth notebook shows: whose each byte is, and a cleanup that frees what was said."""

from collections.abc import Callable

import pytest

from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("08_why_is_it_big.ipynb")


def test_the_first_answer_is_how_much_and_why(notebook: RunNotebook) -> None:
    assert " on disk: " in notebook.text("table.disk_usage()")


def test_every_object_has_a_status(notebook: RunNotebook) -> None:
    objects = notebook.frame("table.inspect.storage()")
    assert {"live", "old", "pinned"} <= set(objects["status"].to_list())


def test_a_cleanup_frees_what_the_preview_said(notebook: RunNotebook) -> None:
    assert notebook.text("stats = lance.dataset(path)") == "True"


def test_the_photos_are_whole(notebook: RunNotebook) -> None:
    assert "error" not in notebook.frame("table.check()")["severity"].to_list()
