"""Events of rows in pieces of work, against the local engine."""

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.frames.followed import FOLLOWED
from lance_explorer.lineage.following import follow
from lance_explorer.spark.history_source import HistorySource
from tests.spark.engines import as_local, read_by_tasks


@pytest.fixture(params=[False, True], ids=["addresses", "stable"])
def path(request, tmp_path) -> str:
    """Forty rows in four fragments: updated, deleted, compacted."""
    path = str(tmp_path / "t.lance")
    table = lance.write_dataset(
        pa.table({"id": range(40)}), path, max_rows_per_file=10, enable_stable_row_ids=request.param
    )
    table.delete("id % 9 = 4")
    table.optimize.compact_files()
    table.delete("id = 30")
    return path


def read(options: dict[str, str]) -> pl.DataFrame:
    return as_local(read_by_tasks(HistorySource(options)), FOLLOWED.polars_schema)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_all_rows_are_followed_once(path, size):
    table = lx.open_table(path)
    ids = np.arange(40) if table.latest.has_stable_row_ids else table.latest.row_ids()["_rowid"]
    found = read({"path": path, "rows_per_partition": str(size)})
    assert found.equals(follow(table._view, ids))


def test_events_are_those_between_two_versions(path):
    table = lx.open_table(path)
    ids = np.arange(40) if table.latest.has_stable_row_ids else table.at(1).row_ids()["_rowid"]
    found = read({"path": path, "begin_version": "1", "end_version": "3"})
    assert found.equals(follow(table._view, ids, 1, 3))
    assert set(found["version"]) <= {2, 3}


def test_some_rows_are_given_by_their_ids(path):
    some = lx.open_table(path).latest.row_ids()["_rowid"].to_list()[:3]
    found = read({"path": path, "row_ids": str(some).replace("[", "").replace("]", "")})
    assert found.equals(follow(lx.open_table(path)._view, some))


def test_ids_that_are_none_are_told(path):
    source = HistorySource({"path": path, "row_ids": "1,x"})
    with pytest.raises(lx.InvalidArgumentError, match="not 'x'"):
        source.reader(source.schema()).partitions()


def test_versions_in_the_wrong_order_are_told(path):
    source = HistorySource({"path": path, "begin_version": "2", "end_version": "1"})
    with pytest.raises(lx.InvalidArgumentError, match="begin_version 2 is later than end_version"):
        source.reader(source.schema())
