"""Notebook 13: each evening ends with what is wrong, and what mends it."""

from collections.abc import Callable

import pytest

from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("13_what_is_wrong_with_my_table.ipynb")


def test_an_index_that_lies_is_found_and_mended(notebook: RunNotebook) -> None:
    health = notebook.shown("lx.open_table(prices).health()")["text/html"]
    assert "values of price were written after it" in health
    assert notebook.printed('exec(found["remedy_code"][0]') == ["1 row is found"]
    assert "1 finding" not in notebook.shown("exec(")["text/html"]


def test_a_lost_file_and_double_keys_are_judged(notebook: RunNotebook) -> None:
    assert "None is lost: version 4" in notebook.shown("Path(orders,")["text/html"]
    assert "restore version 4" in notebook.text("plan_recovery()")
    assert "2 keys of id are there more than once" in notebook.text('duplicates("id")')


def test_an_old_index_of_vectors_and_half_a_table_are_told(notebook: RunNotebook) -> None:
    assert "has centroids of version 2" in notebook.shown("def embedded")["text/html"]
    assert "80 rows of id in 1 file" in notebook.shown("lx.salvage(half)")["text/html"]
    assert any("LanceFileReader" in line for line in notebook.printed("print(left.code)"))
