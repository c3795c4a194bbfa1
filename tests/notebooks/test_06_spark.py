"""What the notebook about Spark shows of a small table, against what its commits must do."""

from collections.abc import Callable

import pytest

from tests.notebooks.running import RunNotebook

pytestmark = pytest.mark.spark

ROWS = 20_000
NEW, UPDATED, DELETED = ROWS // 100, ROWS // 100 + 2, ROWS // 1000 + 1


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("06_spark.ipynb")


def test_rows_say_which_version_wrote_them_last(notebook):
    by_version = notebook.frame("SELECT _row_last_updated_at_version")
    assert by_version["version"].to_list() == [1, 2, 3]
    assert by_version["rides"].sum() == ROWS + NEW - DELETED


def test_the_feed_in_parquet_has_every_change(notebook):
    written = notebook.frame('feed.write.mode("overwrite")')
    assert written.rows() == [
        (2, "insert", NEW),
        (3, "update_postimage", UPDATED),
        (4, "delete", DELETED),
    ]


def test_counts_from_metadata_are_those_of_the_feed(notebook):
    counts = notebook.frame(".summary()")
    sums = counts.select("created", "updated", "deleted").sum().row(0)
    assert sums == (NEW, UPDATED, DELETED)


def test_the_stream_keeps_up(notebook):
    assert int(notebook.text("def keep_up()")) == NEW + UPDATED + DELETED
    later = int(notebook.text('dataset.delete("ride % 1000 = 14")'))
    assert later == int(notebook.text("len(table.refresh()"))
    assert later > NEW + UPDATED + DELETED + 1000


def test_events_are_those_of_the_commits(notebook):
    events = notebook.frame('format("lance_explorer.history")')
    counts = {(version, event): count for version, _, event, count in events.rows()}
    assert counts[2, "created"] == NEW
    assert counts[3, "updated"] == UPDATED
    assert counts[4, "deleted"] == DELETED


def test_a_compaction_changed_no_row(notebook):
    assert notebook.text("lx.spark.same_content") == "True"


def test_the_diff_of_an_update_is_what_it_wrote(notebook):
    differing = notebook.frame("lx.spark.diff(")
    assert differing.rows() == [("update", ["fare"], UPDATED)]


def test_all_fifty_tables_are_looked_at(notebook):
    worst = notebook.frame('alias("rows_per_fragment")')
    assert worst["fragments"].to_list() == [5, 5, 5]
    assert worst["table"].to_list() == ["table_04.lance", "table_09.lance", "table_14.lance"]
    assert "error" not in notebook.frame('str(many), "findings"')["severity"]


def test_rows_of_a_data_frame_are_followed_and_located(notebook):
    assert notebook.text("lx.spark.count(spark, path), ").startswith(f"({ROWS + NEW - DELETED}, ")
    followed = notebook.frame("lx.spark.follow(dear, path)")
    assert {"created", "moved"} <= set(followed["event"])
    places = notebook.frame("lx.spark.locate(dear, path, 1)")
    assert places["count"].sum() > 0


def test_a_ledger_of_fifty_tables_outlives_a_cleanup(notebook):
    assert notebook.frame("lx.spark.record(spark, str(many), ledger)\nadded").row(0) == (50, 150, 0)
    assert notebook.text("again = ") == "(0, [('ledger', 8), ('live', 142)])"
