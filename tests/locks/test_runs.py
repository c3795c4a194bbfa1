"""Which runs read which versions, and which of them read a row, against what pylance has."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx


@pytest.fixture
def path(tmp_path) -> str:
    """Four versions: ten people, two more, one under another name, one deleted."""
    path = str(tmp_path / "people.lance")
    rows = pa.table({"id": range(10), "email": [f"p{n}@a.org" for n in range(10)]})
    lance.write_dataset(rows, path, enable_stable_row_ids=True)
    lance.dataset(path).insert(pa.table({"id": [10, 11], "email": ["p10@a.org", "p11@a.org"]}))
    lance.dataset(path).update({"email": "'new@a.org'"}, where="id = 3")
    lance.dataset(path).delete("id = 4")
    return path


def names(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return frame.select("name", "version", "rows").rows()


@pytest.fixture(params=["folder", "ledger"])
def runs(request, tmp_path, path) -> lx.Runs:
    """Two runs, in a folder or in a ledger that has the table, too."""
    if request.param == "folder":
        found = lx.runs(tmp_path / "runs")
    else:
        ledger = lx.Ledger(tmp_path / "ledger")
        ledger.record(path)
        found = lx.runs(ledger)
    table = lx.open_table(path)
    begin = datetime(2026, 11, 1, tzinfo=UTC)
    found.add("first", table.at(1), started_at=begin, link="https://ci.example/1")
    found.add("second", table.at(2), started_at=begin + timedelta(days=1))
    return found


def test_runs_are_told_the_latest_first(runs, path):
    told = runs.to_polars()
    assert told.select("name", "version", "num_rows", "link").rows() == [
        ("second", 2, 12, None),
        ("first", 1, 10, "https://ci.example/1"),
    ]
    assert told["uri"].unique().to_list() == [path]
    assert "2 runs, of 1 table." in repr(runs)
    assert all(lx.verify(Path(runs._place.uri, file)).ok for file in told["file"])


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("id = 4", [("second", 2, 1), ("first", 1, 1)]),  # which the latest version has no more
        ("id >= 9", [("second", 2, 3), ("first", 1, 1)]),
        ("id = 11", [("second", 2, 1)]),
        ("email = 'new@a.org'", [("second", 2, 1), ("first", 1, 1)]),  # it had another name then
        ("email = 'p3@a.org'", [("second", 2, 1), ("first", 1, 1)]),
        ("id = 99", []),
    ],
)
def test_runs_that_read_a_row_are_found(runs, where, expected):
    assert names(runs.reading(where)) == expected


def test_without_stable_row_ids_a_row_counts_that_matched_then(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(5)}), path)
    lance.dataset(path).update({"id": "100"}, where="id = 3")
    runs = lx.runs(tmp_path / "runs")
    runs.add("old", lx.open_table(path).at(1))
    assert names(runs.reading("id = 3")) == [("old", 1, 1)]
    assert names(runs.reading("id = 100")) == []


def test_what_is_not_known_is_said(runs, path):
    lance.dataset(path).cleanup_old_versions(timedelta(0))
    told = runs.reading("id = 99")
    assert told["rows"].to_list() == [None, None]
    assert all("cleaned up" in problem for problem in told["problem"])


def test_a_wrong_expression_is_a_problem_of_each_run(runs):
    told = runs.reading("nowhere = 1")
    assert told["rows"].to_list() == [None, None]
    assert all("nowhere" in problem for problem in told["problem"])


def test_only_runs_of_a_table_that_was_moved(runs, path, tmp_path):
    other = str(tmp_path / "other.lance")
    lance.write_dataset(pa.table({"id": [3]}), other)
    runs.add("third", [lx.open_table(other).latest, lx.open_table(path).latest])
    moved = tmp_path / "moved.lance"
    Path(path).rename(moved)
    told = runs.reading("id = 3", table=str(moved))
    assert {*told["name"]} == {"first", "second", "third"}
    assert told["rows"].to_list() == [1, 1, 1]
    assert names(runs.reading("id = 3", table=other)) == [("third", 1, 1)]
    everywhere = runs.reading("id = 3")
    assert everywhere.filter(uri=path)["rows"].to_list() == [None] * 3


def test_a_run_that_reads_a_version_again_replaces_its_lock(tmp_path, path):
    runs, table = lx.runs(tmp_path / "runs"), lx.open_table(path)
    files = [*runs.add("a b/c", table.at(1)), *runs.add("a b/c", table.at(1))]
    assert files[0] == files[1]
    assert files[0].startswith("a_b_c-")
    assert runs.to_polars()["name"].to_list() == ["a b/c"]


def test_locks_that_were_written_by_hand_are_runs_and_other_files_are_none(tmp_path, path):
    folder = tmp_path / "mlruns" / "0" / "artifacts"
    folder.mkdir(parents=True)
    (folder / "people.lock").write_text(lx.lock(lx.open_table(path).at(2)))
    (folder / "poetry.lock").write_text("[[package]]")
    (folder / "broken.lock").write_text('{"lance_explorer_lock": 1}')
    (folder / "list.lock").write_text(json.dumps([1]))
    told = lx.runs(tmp_path / "mlruns").to_polars()
    assert told.select("name", "started_at").rows() == [("0/artifacts/people", None)]


def test_a_folder_that_is_not_there_has_no_runs(tmp_path):
    runs = lx.runs(tmp_path / "nowhere")
    assert runs.to_polars().is_empty()
    assert runs.reading("id = 1").is_empty()
    assert not (tmp_path / "nowhere").exists()


def test_nothing_is_written_into_a_table(path):
    with pytest.raises(lx.InvalidArgumentError, match="outside of tables"):
        lx.runs(f"{path}/runs").add("a", lx.open_table(path).latest)


@pytest.mark.parametrize(
    ("name", "snapshots", "told"),
    [("", None, "name"), ("a", [], "snapshots is empty"), ("a", 7, "a Snapshot such as table")],
)
def test_what_a_run_needs_is_told(tmp_path, path, name, snapshots, told):
    read = lx.open_table(path).latest if snapshots is None else snapshots
    with pytest.raises(lx.InvalidArgumentError, match=told):
        lx.runs(tmp_path).add(name, read)
