"""What the twelfth notebook shows: four tables on one screen, their waste, one time for all."""

from collections.abc import Callable

import pytest

from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("12_one_screen_for_a_database.ipynb")


def test_the_table_that_cannot_be_read_comes_first(notebook: RunNotebook) -> None:
    shown = notebook.shown("database = lx.open_database(folder)")["text/html"]
    assert "1 table that cannot be read" in shown
    assert notebook.frame("database.tables()")["name"][0] == "dropped"


def test_waste_and_the_calls_that_free_it_are_shown(notebook: RunNotebook) -> None:
    assert "the latest versions" in notebook.shown("database.disk_usage()")["text/html"]
    shown = notebook.shown("database.cleanup_preview(")["text/html"]
    assert "cleanup_old_versions" in shown


def test_all_tables_at_one_time_and_their_lock(notebook: RunNotebook) -> None:
    assert "a version of 3 tables" in notebook.text("moment = database.at(when)")
    assert "3 tables are as they were locked" in notebook.text("database.refresh().verify(text)")


def test_a_deleted_row_and_numbers_for_a_monitor(notebook: RunNotebook) -> None:
    assert "1 row found" in notebook.text("database.find(")
    numbers = notebook.frame("numbers.filter")
    rows = dict(numbers.select("metric", "value").iter_rows())
    assert rows["lance_table_rows"] == 29
