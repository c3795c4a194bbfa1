"""A stream over versions with other columns is the feed, however many versions a batch has."""

from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.spark.changes_source import ChangesSource
from lance_explorer.spark.types import spark_schema
from tests.spark.streams import micro_batches

ALL = {"mode": "per_commit", "begin_version": "0"}


def latest(path: str) -> Any:
    return lance.dataset(path)


@pytest.fixture
def path(tmp_path) -> str:
    """Eight versions: one column comes, gets another name, and another one goes."""
    path = str(tmp_path / "t.lance")
    rows = pa.table({"id": range(10), "city": ["a"] * 10})
    lance.write_dataset(rows, path, enable_stable_row_ids=True).add_columns({"age": "id * 2"})
    latest(path).update({"age": "1", "city": "'z'"}, where="id = 5")
    latest(path).alter_columns({"path": "age", "name": "years"})
    latest(path).update({"years": "4"}, where="id = 7")
    latest(path).drop_columns(["city"])
    latest(path).delete("id = 3")
    latest(path).update({"years": "8"}, where="id = 1")
    return path


@pytest.mark.parametrize("step", [1, 3, 8])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"images": "after"},
        {"images": "both"},
        {"images": "after", "columns": "years"},
        {"images": "both", "columns": "years"},
        {"images": "both", **ALL},
        {"images": "both", "columns": "city,years", **ALL},
    ],
)
def test_micro_batches_are_the_feed(path, options, step):
    found = micro_batches(ChangesSource({"path": path, **options}), 0, 8, step)
    names = options["columns"].split(",") if "columns" in options else None
    feed = lx.open_table(path).changes(
        0, mode="per_commit", images=options.get("images"), columns=names
    )
    expected = feed.to_polars().select(found.columns)
    assert found.cast(expected.schema).equals(expected)


def test_a_column_that_goes_while_a_stream_runs_is_null_from_then_on(path):
    source = ChangesSource({"path": path, "images": "after"})
    latest(path).drop_columns(["years"])
    latest(path).insert(pa.table({"id": [20]}))
    assert micro_batches(source, 7, 10, 1)["id", "years"].rows() == [(1, 8), (20, None)]


def test_a_column_with_another_name_while_a_stream_runs_is_told(path):
    source = ChangesSource({"path": path, "images": "after"})
    latest(path).alter_columns({"path": "years", "name": "age"})
    with pytest.raises(lx.InvalidArgumentError, match="'years' of this stream is now 'age'"):
        micro_batches(source, 8, 9, 1)


def test_a_column_that_the_table_has_not_is_told_when_a_stream_is_loaded(path):
    source = ChangesSource({"path": path, "images": "after"})
    with pytest.raises(lx.InvalidArgumentError, match="no column 'town'; there are: _change_type"):
        source.streamReader(spark_schema(pa.schema({"town": pa.string()})))
