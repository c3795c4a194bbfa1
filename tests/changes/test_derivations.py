"""What LanceDB derives: beside how many rows its own refresh fills."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lance
import lancedb
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.synthetic.tables import SyntheticTable


def rows(start: int, stop: int) -> pa.Table:
    numbers = range(start, stop)
    return pa.table({"x": pa.array(numbers, pa.int64()), "y": [float(n) for n in numbers]})


def compacted(table: Any) -> Any:
    lance.dataset(table.uri).optimize.compact_files()
    return table.checkout_latest()


STEPS: dict[str, Callable[[Any], object]] = {
    "update": lambda table: table.update(where="x = 1", values={"y": 5.0}),
    "update of an input": lambda table: table.update(where="x = 2", values={"x": 50}),
    "delete": lambda table: table.delete("x = 4"),
    "append": lambda table: table.add(rows(70, 72)),
    "compaction": compacted,
    "append and compaction": lambda table: [table.add(rows(80, 81)), compacted(table)],
    "upsert": lambda table: (
        table.merge_insert("x")
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .execute(rows(5, 7))
    ),
    "rename": lambda table: table.alter_columns({"path": "y", "rename": "z"}),
    "column": lambda table: table.add_columns({"w": "x + 1"}),
}


@pytest.fixture(params=[False, True], ids=["addresses", "stable"])
def computed(request, tmp_path) -> Any:
    options = {"new_table_enable_stable_row_ids": "true"} if request.param else None
    database = lancedb.connect(tmp_path, storage_options=options)
    table = database.create_table("t", rows(0, 10))
    table.add_columns(computed={"c": "x * 2"})
    return table


def told(table: Any, column: str = "c") -> dict[str, Any]:
    frame = lx.open_table(table.uri).derivations().filter(column=column)
    return frame.row(0, named=True)


def test_a_column_that_was_never_computed_has_all_rows_to_refresh(computed):
    row = told(computed)
    assert (row["kind"], row["language"], row["expression"]) == (
        "computed_column",
        "sql",
        "x * 2",
    )
    assert row["inputs"] == ["x"]
    assert row["defined_since"] == 2
    assert row["refreshed_version"] is None
    assert row["num_rows_to_refresh"] == computed.refresh_column("c").rows_filled == 10


def test_rows_to_refresh_are_those_that_lancedb_fills(computed):
    computed.refresh_column("c")
    assert told(computed)["num_rows_to_refresh"] == 0
    for name, step in STEPS.items():
        step(computed)
        ours = told(computed)["num_rows_to_refresh"]
        assert ours == computed.refresh_column("c").rows_filled, name


def test_a_column_computed_from_another_names_it(computed):
    computed.refresh_column("c")
    computed.add_columns(computed={"d": "c + y"})
    row = told(computed, "d")
    assert row["inputs"] == ["c", "y"]
    assert row["defined_since"] == computed.version


def test_another_expression_is_another_definition(computed):
    before = told(computed)
    computed.drop_columns(["c"])
    computed.add_columns(computed={"c": "x * 3"})
    after = told(computed)
    assert after["expression"] == "x * 3"
    assert after["defined_since"] > before["defined_since"]


def test_a_view_names_its_query_and_the_version_of_its_source(tmp_path):
    database = lancedb.connect(
        tmp_path, storage_options={"new_table_enable_stable_row_ids": "true"}
    )
    source = database.create_table("source", rows(0, 10))
    source.add(rows(20, 22))
    before = datetime.now(UTC)
    database.create_materialized_view("view", "source", select=["x"], where="x > 3")
    [row] = lx.open_table(tmp_path / "view.lance").derivations().rows(named=True)
    assert row["kind"] == "materialized_view"
    assert row["expression"] == "SELECT x FROM source WHERE x > 3"
    assert row["inputs"] == ["source"]
    assert row["refreshed_version"] == source.version
    assert abs((row["refreshed_at"] - before).total_seconds()) < 600
    assert row["num_rows_to_refresh"] == 0


def test_a_view_is_stale_by_the_rows_of_its_source_that_changed(tmp_path):
    database = lancedb.connect(
        tmp_path, storage_options={"new_table_enable_stable_row_ids": "true"}
    )
    source = database.create_table("source", rows(0, 10))
    view = database.create_materialized_view("view", "source", select=["x"], where="x > 3")

    def to_refresh() -> object:
        frame = lx.open_table(tmp_path / "view.lance").derivations()
        return frame["num_rows_to_refresh"].item()

    source.add(rows(20, 22))
    source.delete("x = 5")
    source.update(where="x = 7", values={"x": 70})
    assert to_refresh() == 2 + 1 + 1
    view.refresh()
    assert to_refresh() == 0
    database.drop_table("source")
    assert to_refresh() is None
    database.create_table("source", rows(0, 10)).add(rows(20, 22))
    assert to_refresh() is None  # another table of that name


def test_versions_without_the_column_have_no_row(computed):
    assert lx.open_table(computed.uri).derivations(1).is_empty()


@pytest.mark.parametrize(
    "metadata",
    [
        {"computed_column.inputs": "nothing", "computed_refresh.recorded_at_version": "x"},
        {"computed_column.inputs": "{}", "computed_refresh.recorded_at_version": "9" * 30},
        {"computed_column.inputs": "[" * 5000, "computed_refresh.recorded_at_version": "99"},
    ],
)
def test_metadata_that_is_none_of_lancedb_does_no_harm(tmp_path: Path, metadata):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3)
    field = table.state.manifest.fields[0]
    for key, value in {"computed_column.expression": "x", **metadata}.items():
        field.metadata[key] = value.encode()
    table.state.manifest.schema_metadata["mv.definition"] = json.dumps([1]).encode()
    table.append(rows=1)
    frame = lx.open_table(table.path).derivations()
    assert frame["inputs"].to_list() == [[], []]
    assert frame["num_rows_to_refresh"].null_count() >= 1
    assert frame.filter(pl.col("kind") == "materialized_view")["language"].to_list() == ["unknown"]
