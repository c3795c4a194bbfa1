"""Rows as pylance reads them, what a lazy frame leaves unread, and whose fault a failure is."""

from pathlib import Path

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.values import (
    ROW_VERSIONS,
    SYSTEM_COLUMNS,
    content_batches,
    read_rows,
    read_rows_at,
    row_batches,
    row_schema,
    row_types,
    scan_rows,
    take_rows,
)
from lance_explorer.values.opening import to_polars

LATEST = 3


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    """A table of ten rows, of which one is deleted in version 2 and one updated in version 3."""
    path = tmp_path_factory.mktemp("values") / "t.lance"
    return write(path)


def write(path: Path) -> Path:
    ids = list(range(10))
    rows = pa.table({"id": ids, "name": [f"n{n}" for n in ids], "half": [n / 2 for n in ids]})
    table = lance.write_dataset(rows, path, max_rows_per_file=4, enable_stable_row_ids=True)
    table.delete("id = 3")
    table.update({"name": "'new'"}, where="id = 5")
    return path


# ------------------------------------------------------------------------------------------ reading


def test_all_columns_of_the_table_are_read_by_default(path):
    rows = read_rows(str(path), 1)
    assert rows.columns == ["id", "name", "half"]
    assert rows.row(9) == (9, "n9", 4.5)


@pytest.mark.parametrize(("version", "count"), [(1, 10), (2, 9), (3, 9)])
def test_rows_are_those_of_the_version(path, version, count):
    assert len(read_rows(str(path), version)) == count


def test_rows_come_in_the_order_of_a_scan(path):
    ids = read_rows(str(path), LATEST, columns=["id"])["id"].to_list()
    assert ids == [0, 1, 2, 4, 6, 7, 8, 9, 5]


def test_columns_come_in_the_order_asked_for_with_system_columns(path):
    rows = read_rows(str(path), LATEST, columns=["_rowaddr", "id", "_rowid"], filter="id = 5")
    assert rows.schema == {"_rowaddr": pl.UInt64, "id": pl.Int64, "_rowid": pl.UInt64}
    assert rows.rows() == [(3 << 32, 5, 5)]


def test_a_filter_works_on_columns_that_are_not_read(path):
    assert read_rows(str(path), 1, columns=["name"], filter="id > 7").rows() == [("n8",), ("n9",)]


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (3, 3), (100, 10)])
def test_a_limit_is_the_most_there_can_be(path, limit, count):
    assert len(read_rows(str(path), 1, limit=limit)) == count


def test_no_rows_have_the_same_columns(path):
    assert read_rows(str(path), 1, filter="false").schema == read_rows(str(path), 1).schema


# ----------------------------------------------------------------------------------------- scanning


def test_a_scan_knows_its_columns_without_reading(path):
    schema = scan_rows(str(path), LATEST).collect_schema()
    values = {"id": pl.Int64, "name": pl.String, "half": pl.Float64}
    assert schema == {**values, **SYSTEM_COLUMNS, **ROW_VERSIONS}


def test_a_scan_gives_what_reading_gives(path):
    columns = ["id", "name", "half", *SYSTEM_COLUMNS, *ROW_VERSIONS]
    whole = read_rows(str(path), LATEST, columns=columns)
    assert scan_rows(str(path), LATEST).collect().equals(whole)


QUERIES = {
    "columns": lambda rows: rows.select("half", "_rowid"),
    "filter": lambda rows: rows.filter(pl.col("id") % 2 == 0),
    "filter on another column": lambda rows: rows.filter(pl.col("name") == "new").select("id"),
    "head": lambda rows: rows.head(5),
    "head of no rows": lambda rows: rows.head(0),
    "tail": lambda rows: rows.tail(2),
    "slice": lambda rows: rows.slice(3, 4),
    "filter, then head": lambda rows: rows.filter(pl.col("id") > 1).head(3),
    "head, then filter": lambda rows: rows.head(5).filter(pl.col("id") > 1),
    "count": lambda rows: rows.select(pl.len()),
    "count of some": lambda rows: rows.filter(pl.col("id") > 5).select(pl.len()),
    "sum": lambda rows: rows.select(pl.col("half").sum()),
    "nothing found": lambda rows: rows.filter(pl.col("id") < 0),
    "group": lambda rows: rows.group_by(pl.col("id") % 3).agg(pl.len()).sort("id"),
}


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_queries_over_a_scan_give_what_they_give_over_all_rows(path, query, engine):
    scan = scan_rows(str(path), LATEST)
    assert query(scan).collect(engine=engine).equals(query(scan.collect().lazy()).collect())


def test_without_stable_row_ids_a_scan_has_no_row_versions(tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": [1, 2]}), path)
    assert scan_rows(str(path), 1).select(*ROW_VERSIONS, "id").collect().rows() == [
        (None, None, 1),
        (None, None, 2),
    ]


def test_a_scan_stays_at_its_version(tmp_path):
    path = write(tmp_path / "t.lance")
    scan = scan_rows(str(path), LATEST)
    lance.dataset(path).delete("true")
    assert len(scan.collect()) == 9


def test_a_schema_is_known_without_data(tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": [1]}), path)
    assert row_schema(str(path), 1) == {"id": pl.Int64}


# --------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    "arguments",
    [
        {"columns": ["nope"]},
        {"columns": ["id", "id"]},
        {"filter": "nope = 1"},
        {"filter": "id >"},
        {"filter": "id = 'text'"},
        {"filter": "id / 0 = 1"},
        {"limit": -1},
    ],
    ids=str,
)
def test_arguments_that_do_not_fit_are_at_fault(path, arguments):
    with pytest.raises(InvalidArgumentError, match=r"^version 1 cannot be read like this: "):
        read_rows(str(path), 1, **arguments)


ODD_NAMES = ["a`b", "`", "``", "", " ", 'a"b', "a'b", "a b", "column_1"]


@pytest.mark.parametrize("data_format", ["legacy", "2.0", "2.2"])
def test_columns_that_pylance_does_not_read_by_their_names_are_read(tmp_path, data_format):
    path = str(tmp_path / "t.lance")
    nested = [{name: number for name in [*ODD_NAMES, "a.b"] if name} for number in range(3)]
    values = {name: [f"{name} {number}" for number in range(3)] for name in ODD_NAMES}
    written = pa.table({"k": range(3), **values, "nested`": nested})
    lance.write_dataset(written, path, data_storage_version=data_format, max_rows_per_file=2)
    lance.dataset(path).delete("k = 0")
    rows = to_polars(written[1:])
    assert rows.columns == written.column_names
    assert read_rows(path, 2).equals(rows)
    assert read_rows(path, 2, ["``", "k"], filter="k = 2").rows() == [("`` 2", 2)]
    assert row_schema(path, 2) == rows.schema
    assert row_types(path, 2).names == written.column_names
    assert scan_rows(path, 2).select(rows.columns).collect().equals(rows)
    assert scan_rows(path, 2).filter(pl.col("a`b") == "a`b 2").select("").collect().item() == " 2"
    assert take_rows(path, 2, pl.Series([1, 0]), rows.columns).equals(rows.reverse())
    assert pl.concat(content_batches(path, 2, [0, 1], rows.columns)).equals(rows)
    [one, _] = row_batches(path, 2, [0, 1], ["", "a`b"])
    assert one.to_pylist() == [{"": " 1", "a`b": "a`b 1"}]
    places = np.array([2**32, 1], dtype=np.uint64)
    assert read_rows_at(path, 2, places, places, rows.columns).equals(rows.reverse())


def test_places_in_sources_of_others_are_left_out(path):
    with pytest.raises(InvalidArgumentError) as refusal:
        read_rows(str(path), 1, filter="id = 'text'")
    assert str(refusal.value).endswith("could not convert to literal of type 'Int64'")


@pytest.mark.parametrize("read", [read_rows, scan_rows])
def test_a_version_that_is_not_there_cannot_be_opened(path, read):
    with pytest.raises(StorageError, match=r"^version 99 cannot be opened: .*99\.manifest$"):
        read(str(path), 99)


@pytest.fixture
def damaged(tmp_path) -> Path:
    """A table whose data files are gone."""
    path = write(tmp_path / "t.lance")
    for file in (path / "data").iterdir():
        file.unlink()
    return path


def test_a_missing_file_is_a_failure_of_storage(damaged):
    with pytest.raises(StorageError, match=r"^version 1 cannot be read: .*Not found.*\.lance$"):
        read_rows(str(damaged), 1)


def test_a_file_that_goes_missing_before_a_scan_is_collected_is_one_too(damaged):
    scan = scan_rows(str(damaged), 1)
    with pytest.raises(StorageError, match=r"^version 1 cannot be read: .*Not found"):
        scan.collect()


def test_a_damaged_file_is_a_failure_of_storage(tmp_path):
    path = write(tmp_path / "t.lance")
    for file in (path / "data").iterdir():
        file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(StorageError, match=r"^version 1 cannot be read: "):
        read_rows(str(path), 1)
