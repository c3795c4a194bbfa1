"""Tables of a catalog: a session that knows nothing of us reads them, and nothing is written."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException

import lance_explorer as lx
from lance_explorer.spark.any_source import AnySource
from pyspark_lance_explorer import DefaultSource


@pytest.fixture
def path(tmp_path) -> str:
    path = str(tmp_path / "people.lance")
    rows = pa.table({"id": range(10), "city": ["a"] * 10})
    lance.write_dataset(rows, path, enable_stable_row_ids=True).insert(
        pa.table({"id": [10], "city": ["b"]})
    )
    return path


@pytest.fixture
def fresh(spark) -> Iterator[Any]:
    """A session in which nothing of ours was registered, and its tables."""
    session = spark.newSession()
    yield session
    for table in session.catalog.listTables():
        session.sql(f"DROP TABLE IF EXISTS {table.name}")


def files_of(path: str) -> dict[str, int]:
    return {str(file): file.stat().st_mtime_ns for file in Path(path).rglob("*")}


def test_a_table_of_a_catalog_is_read_as_it_is_whenever_it_is_read(fresh, path):
    fresh.sql(f"CREATE TABLE people USING lance_explorer OPTIONS (path '{path}')")
    assert fresh.sql("SELECT max(id) FROM people").first()[0] == 10
    lance.dataset(path).insert(pa.table({"id": [77], "city": ["c"]}))
    found = fresh.sql("SELECT id, city, _rowid FROM people ORDER BY id DESC LIMIT 1").first()
    assert tuple(found) == (77, "c", 11)
    comments = {row.col_name: row.comment for row in fresh.sql("DESCRIBE people").collect()}
    assert comments["_rowid"].endswith("(as it is whenever it is read)")
    assert "stored" in comments["_row_created_at_version"]


@pytest.mark.parametrize(
    ("options", "query", "expected"),
    [
        ("version '1'", "count(*)", 10),
        ("view 'versions'", "count(*)", 2),
        ("view 'metadata', frame 'versions'", "max(version)", 2),
        ("view 'changes', begin_version '1', images 'after'", "max(city)", "b"),
        ("readChangeFeed 'true', startingVersion '1'", "count(*)", 11),
        ("view 'history'", "count(*)", 11),
    ],
)
def test_all_that_there_is_can_be_a_table(fresh, path, options, query, expected):
    fresh.sql(f"CREATE TABLE t USING lance_explorer OPTIONS ({options}) LOCATION '{path}'")
    assert fresh.sql(f"SELECT {query} FROM t").first()[0] == expected


def test_properties_and_comments_of_a_table_are_let_through(fresh, path):
    fresh.sql(
        f"CREATE TABLE t USING lance_explorer OPTIONS (view 'versions') LOCATION '{path}' "
        "COMMENT 'of people' TBLPROPERTIES ('team' = 'a', 'view' = 'nonsense')"
    )
    assert fresh.table("t").count() == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("`storage.aws_secret_access_key` 'hush'", "may be a secret"),
        ("colums 'id'", "did you mean 'columns'"),
        ("view 'nonsense'", "no view 'nonsense'"),
        ("where 'town = 1'", "town"),
    ],
)
def test_what_does_not_fit_is_told_when_a_table_is_created(fresh, path, options, told):
    with pytest.raises(AnalysisException, match=told) as error:
        fresh.sql(f"CREATE TABLE t USING lance_explorer OPTIONS ({options}) LOCATION '{path}'")
    assert "hush" not in str(error.value)
    assert not fresh.catalog.tableExists("t")


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t SELECT * FROM t",
        "INSERT OVERWRITE t SELECT * FROM t",
        "CREATE TABLE u USING lance_explorer OPTIONS (path '{path}') AS SELECT 1 AS id",
        "TRUNCATE TABLE t",
    ],
)
def test_a_table_is_never_written(fresh, path, statement):
    fresh.sql(f"CREATE TABLE t USING lance_explorer OPTIONS (path '{path}')")
    before = files_of(path)
    with pytest.raises(AnalysisException, match=r"only reads|does not support"):
        fresh.sql(statement.format(path=path))
    assert files_of(path) == before


def test_a_table_that_is_dropped_stays_where_it_is(fresh, path):
    before = files_of(path)
    fresh.sql(f"CREATE TABLE t USING lance_explorer OPTIONS (path '{path}')")
    fresh.sql("DROP TABLE t PURGE")
    with pytest.raises(AnalysisException, match="only reads"):
        fresh.range(3).write.format("lance_explorer").mode("overwrite").save(path)
    assert files_of(path) == before


def test_the_module_that_spark_finds_makes_our_source_and_needs_nothing_for_it():
    assert DefaultSource.name() == AnySource.name()
    with pytest.raises(lx.InvalidArgumentError, match="needs path"):
        DefaultSource({}).schema()


def test_the_version_stands_in_the_comment_of_a_frame(path):
    def first(**options: str) -> str:
        return str(AnySource({"path": path, **options}).schema()[0].metadata["comment"])

    assert first().endswith("(version 2)")
    assert first(version="1").endswith("(version 1)")
    assert first(columns="id") == "version 2"
    assert first(view="changes", begin_version="1").endswith("(up to version 2)")
    assert first(view="versions") == "up to version 2"


def test_no_option_is_kept_where_others_could_read_it_but_in_a_catalog(path):
    schema = AnySource({"path": path, "storage.region": "x"}).schema()
    assert "region" not in json.dumps([field.metadata for field in schema])
