"""A large past that tasks read is the one that the driver reads."""

import subprocess
import sys
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.frames.followed import FOLLOWED
from lance_explorer.lineage.following import follow
from lance_explorer.spark import temporary_ledger, unread
from lance_explorer.spark.changes_source import ChangesSource
from tests.differential.lives import LIVES, Life
from tests.spark.engines import as_local

NAMES = ("ordinary_days", "compactions", "restores", "cleanups")
LIFE = [Life(s, stable, "2.2") for s in LIVES if s.__name__ in NAMES for stable in (False, True)]


@pytest.fixture
def jobs(monkeypatch) -> list[str]:
    """Let every past be a large one; what tasks have read since, a table each time."""
    found, record = list[str](), temporary_ledger._record
    monkeypatch.setattr(unread, "MOST_BYTES", 30_000)

    def recorded(spark, ref, source, ledger):
        found.append(source.uri)
        record(spark, ref, source, ledger)

    monkeypatch.setattr(temporary_ledger, "_record", recorded)
    return found


@pytest.mark.parametrize("life", LIFE, ids=str)
def test_answers_are_those_of_the_local_engine(spark, jobs, monkeypatch, tmp_path, life):
    monkeypatch.setattr(unread, "MOST_BYTES", 1)
    path = life.live(tmp_path).uri
    table = lx.open_table(path)
    begin = max(table.inspect.gaps()["last_version"], default=-1) + 1
    expected = table.changes(begin, mode="per_commit", images=None)
    options = {"begin_version": begin, "mode": "per_commit"}
    found = lx.spark.load(spark, "changes", path, **options)
    assert jobs == [path]
    assert as_local(found, expected.schema).equals(expected.to_polars())
    ids = table.at(-2).row_ids()["_rowid"].to_list()
    rows = spark.createDataFrame([(one,) for one in ids], "_rowid bigint")
    followed = as_local(lx.spark.follow(rows, path), FOLLOWED.polars_schema)
    order = ["_rowid", "version", "event"]
    assert followed.sort(order).equals(follow(table._view, ids).sort(order))
    frame = table.sql("SELECT * FROM all_fragments")
    all_fragments = lx.spark.load(spark, "metadata", path, frame="all_fragments")
    assert pl.DataFrame(all_fragments.drop("table").toArrow()).cast(frame.schema).equals(frame)
    assert jobs == [path]  # what was read is kept


def test_only_what_is_new_is_read_again(spark, jobs, tmp_path):
    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(pa.table({"id": [0]}), path, enable_stable_row_ids=True)
    for number in range(40):
        dataset.insert(pa.table({"id": [number]}))
    for _ in range(2):
        found = lx.spark.load(spark, "changes", path, begin_version=0)
        assert found.count() == dataset.count_rows()
        dataset.insert(pa.table({"id": [7]}))
    assert jobs == [path]


def test_no_job_reads_what_a_question_does_not_need(spark, jobs, tmp_path):
    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(pa.table({"id": [0]}), path, enable_stable_row_ids=True)
    for number in range(40):
        dataset.insert(pa.table({"id": [number]}))
    assert lx.spark.load(spark, "changes", path, begin_version=39).count() == 2
    assert lx.spark.load(spark, "changes", path, startingVersion=40, endingVersion=41).count() == 2
    assert lx.spark.load(spark, "rows", path, columns="id").count() == 41
    ledger = str(tmp_path / "ledger")
    assert lx.spark.load(spark, "changes", path, begin_version=0, ledger=ledger).count() == 41
    assert jobs == []


def test_the_driver_says_that_tasks_could_read(jobs, tmp_path):
    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(pa.table({"id": [0]}), path, enable_stable_row_ids=True)
    for number in range(40):
        dataset.insert(pa.table({"id": [number]}))
    source = ChangesSource({"path": path, "begin_version": "0"})
    with pytest.warns(UserWarning, match=r"lx\.spark\.load"):
        source.reader(source.schema())


def test_the_folder_is_removed_at_the_end_of_the_process_without_a_warning():
    program = "from lance_explorer.spark.temporary_ledger import _folder; print(_folder())"
    run = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    folder = Path(run.stdout.strip())
    assert folder.name.startswith("lance_explorer-")
    assert not folder.exists()
    assert run.stderr == ""
