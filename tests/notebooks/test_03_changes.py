"""What the fifth notebook shows, against pylance's scans of the two versions."""

import json
from collections.abc import Callable

import lance
import polars as pl
import pytest

import lance_explorer as lx
from tests.notebooks.running import RunNotebook

BEGIN, END = 12, 45


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("03_changes.ipynb")


@pytest.fixture(scope="module")
def path(samples) -> str:
    return str(samples[0])


@pytest.fixture(scope="module")
def titles(path):
    """Return the titles of both versions by row ID, as pylance scans them."""

    def of(version, column):
        scan = lance.dataset(path, version=version).to_table(columns=["_rowid", column])
        return dict(pl.DataFrame(scan).select("_rowid", column).rows())

    return of(BEGIN, "caption"), of(END, "title")


def test_the_counts_are_those_of_two_scans(notebook, titles):
    before, after = titles
    summary = notebook.frame("table.changes(done).summary()").row(0, named=True)
    assert summary["inserted"] == len(after.keys() - before.keys())
    assert summary["deleted"] == len(before.keys() - after.keys())
    stayed = ("updated", "column_rewritten", "column_added", "moved", "unchanged")
    assert sum(summary[name] for name in stayed) == len(before.keys() & after.keys())


def test_only_what_needs_it_is_embedded_again(notebook, titles):
    before, after = titles
    other = [row for row in before.keys() & after.keys() if before[row] != after[row]]
    new, gone = after.keys() - before.keys(), before.keys() - after.keys()
    new_line, written, one, work = notebook.printed("is_new = pl.col")
    assert new_line == f"{len(new):,} photos are new"
    assert written == f"{len(before.keys() & after.keys()):,} photos were rewritten"
    assert one == f"{len(other)} of them has a new title"
    assert work.startswith(f"{len(new) + len(other):,} embeddings to make, {len(gone)} to forget")


def test_the_changed_title_has_both_images(notebook, titles):
    before, after = titles
    old, new = notebook.frame('feed.filter(pl.col("changed_columns")').rows(named=True)
    assert (old["_rowid"], old["title"]) == (new["_rowid"], before[new["_rowid"]])
    assert new["title"] == after[new["_rowid"]] != old["title"]
    assert notebook.frame("widget.frame()")["title"].to_list() == [new["title"]]


def test_the_mirror_is_the_table(notebook):
    assert notebook.text("mirror = dict(") == "True"


def test_pictures_are_of_the_table(notebook, path):
    table = lx.open_table(path)
    pictures = {
        "lx.figures.changes_over_time": lx.figures.changes_over_time(
            table.changes(0, mode="per_commit")
        ),
        "lx.figures.churn": lx.figures.churn(
            table.changes(BEGIN, mode="per_commit", include=["moved"])
        ),
    }
    for code, figure in pictures.items():
        assert notebook.picture(code)["data"] == json.loads(figure.to_json())["data"]


def test_the_queries_of_the_specification_find_what_pylance_finds(notebook, path):
    delta = lance.dataset(path).delta(compared_against=BEGIN)
    inserted = delta.get_inserted_rows().read_all().num_rows
    updated = delta.get_updated_rows().read_all().num_rows
    assert notebook.text("inserted = table.sql(") == str((inserted, updated))


@pytest.mark.parametrize(
    ("case", "latest_only", "net", "feed"),
    [
        (
            "inserted_then_deleted",
            "1 inserted, 0 updated, 0 deleted",
            "1 inserted, 6 unchanged",
            "1 deleted, 2 created",
        ),
        (
            "updated_twice",
            "0 inserted, 1 updated, 0 deleted",
            "1 updated, 5 unchanged",
            "2 updated",
        ),
        (
            "restored",
            "0 inserted, 0 updated, 0 deleted",
            "3 updated, 3 unchanged",
            "3 restored",
        ),
        (
            "compacted",
            "0 inserted, 0 updated, unknown deleted",
            "1 deleted, 7 moved",
            "1 deleted",
        ),
        (
            "column_added",
            "0 inserted, 6 updated, 0 deleted",
            "1 updated, 5 column_added",
            "1 updated",
        ),
    ],
)
def test_asking_only_the_latest_version_misleads(notebook, case, latest_only, net, feed):
    answers = dict([line.split(maxsplit=1) for line in notebook.printed(f'new_table("{case}"')])
    assert answers == {"latest_only": latest_only, "net": net, "feed": feed}


def test_a_key_turns_halves_into_an_update(notebook):
    without, with_key = notebook.frame('new_table("upsert"').rows(named=True)
    assert (without["inserted"], without["deleted"], without["uncertain"]) == (2, 1, 3)
    assert (with_key["inserted"], with_key["updated"], with_key["uncertain"]) == (1, 1, 0)
