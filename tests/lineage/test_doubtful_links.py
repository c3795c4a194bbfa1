"""Over some lost versions only counts and order lead: what lies behind may be of other rows."""

from datetime import timedelta
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer import Table, open_table

FRAGMENT = 1 << 32

PLAIN = pa.schema([("key", pa.int64()), ("label", pa.string())])
NESTED = pa.schema([("key", pa.int64()), ("place", pa.struct([("x", pa.int64())]))])


def rows(keys: range, schema: pa.Schema = PLAIN) -> pa.Table:
    values = {"label": [f"label {key}" for key in keys], "place": [{"x": key} for key in keys]}
    columns = {"key": [*keys]} | {name: values[name] for name in schema.names if name in values}
    return pa.table(columns, schema=schema)


def fourteen_rows(path: str, **how: Any) -> Any:
    """Return a table of three fragments, fourteen of whose rows live in version 4."""
    lance.write_dataset(rows(range(5)), path, **how)
    for first in (5, 10):
        lance.write_dataset(rows(range(first, first + 5)), path, mode="append")
    lance.dataset(path).delete("key = 4")
    return lance.dataset(path)


def overwritten(path: str, schema: pa.Schema = PLAIN, **how: Any) -> Table:
    """Overwrite the table by as many rows, in versions that are lost, and go on to version 8."""
    lance.write_dataset(rows(range(100, 107), schema), path, mode="overwrite", **how)
    lance.write_dataset(rows(range(107, 114), schema), path, mode="append")
    lance.write_dataset(rows(range(200, 203), schema), path, mode="append")
    dataset = lance.dataset(path)
    dataset.delete("key = 108")
    lance.dataset(path).cleanup_old_versions(versions=[5, 6])
    return open_table(path)


@pytest.fixture
def table(tmp_path) -> Table:
    """A table whose lost overwrite looks like a compaction."""
    path = str(tmp_path / "t.lance")
    fourteen_rows(path)
    return overwritten(path)


def groups(table: Table) -> int:
    return len(table.inspect.rewrite_groups())


def test_an_overwrite_by_as_many_rows_of_the_same_columns_is_uncertain_everywhere(table):
    followed = table.follow_addresses([0, FRAGMENT + 4], 4, 8)
    assert followed.select("outcome", "is_uncertain", "evidence").rows() == [
        ("live", True, "inferred"),
        ("deleted", True, "inferred"),
    ]
    back = table.follow_addresses([3 * FRAGMENT], 8, 1)
    assert back.select("outcome", "is_uncertain", "evidence").row(0) == ("live", True, "inferred")
    changes = table.changes(4, 8, include="moved").to_polars()
    doubts = dict(changes.group_by("_event").agg(pl.col("is_uncertain").unique()).iter_rows())
    assert doubts == {"moved": [True], "deleted": [True], "inserted": [False]}
    edges = table.lineage().edges().filter(kind="rewrite")
    assert edges["is_uncertain"].to_list() == [True] * 4


def test_events_behind_such_a_link_are_uncertain_seen_from_either_side(table):
    def seen_from(address: int, version: int) -> list[tuple[object, ...]]:
        alone = table.row(address, version).history()
        together = table.follow([address], None, version).drop("_rowid")
        until = alone.filter(pl.col("version") <= version).select(together.columns)
        assert until.equals(together)
        return [*alone.select("event", "is_uncertain", "evidence").iter_rows()]

    assert seen_from(FRAGMENT + 4, 4) == [
        ("created", False, "recorded"),
        ("moved", True, "inferred"),
        ("deleted", True, "inferred"),
    ]
    assert seen_from(4 * FRAGMENT + 1, 7) == [
        ("created", True, "inferred"),
        ("moved", True, "inferred"),
        ("deleted", False, "recorded"),
    ]
    assert seen_from(5 * FRAGMENT, 8) == [("created", False, "recorded")]


def test_a_cell_of_such_a_row_may_be_of_another_one(table):
    cells = table.blame("key = 107").to_polars()
    assert cells["is_uncertain"].all()
    assert table.blame("key = 200").to_polars()["is_uncertain"].to_list() == [False, False]


def test_rows_on_both_sides_of_such_a_link_are_found_apart(table):
    dataset = lance.dataset(table.uri)
    dataset.add_columns(pa.field("nothing", pa.int64()))
    found = open_table(table.uri).find("key >= 0", columns="nothing").to_polars()
    assert not len(found.filter(pl.col("first_version") <= 4, pl.col("last_version") >= 7))


def test_a_restore_over_such_a_link_brings_back_who_was_there(table):
    lance.dataset(table.uri, version=4).restore()
    lance.dataset(table.uri).delete("key = 1")
    table = open_table(table.uri)
    followed = table.follow_addresses([0, 1], 4, 10)
    assert followed.select("outcome", "is_uncertain").rows() == [
        ("live", False),
        ("deleted", False),
    ]
    of_others = table.follow_addresses([3 * FRAGMENT], 7, 10)
    assert of_others.select("outcome", "is_uncertain").row(0) == ("live", True)


def test_a_recorded_compaction_behind_such_a_link_stays_certain(table):
    lance.dataset(table.uri).optimize.compact_files()
    table = open_table(table.uri)
    version = int(table.versions()["version"][-1])
    followed = table.follow_addresses([3 * FRAGMENT, 5 * FRAGMENT], 8, version)
    assert (
        followed.select("outcome", "is_uncertain", "evidence").rows()
        == [("live", False, "recorded")] * 2
    )
    older = table.follow_addresses([0], 4, version)
    assert older.select("is_uncertain", "evidence").row(0) == (True, "inferred")


@pytest.mark.parametrize(
    ("schema", "how"),
    [(NESTED, {}), (PLAIN, {"data_storage_version": "2.2"})],
    ids=["field IDs begin anew", "another storage format"],
)
def test_a_lost_overwrite_that_anything_gives_away_leads_nowhere(tmp_path, schema, how):
    path = str(tmp_path / "t.lance")
    fourteen_rows(path, data_storage_version="2.1")
    table = overwritten(path, schema, **how)
    assert not groups(table)
    assert table.follow_addresses([0], 4, 8)["outcome"].to_list() == ["unknown"]


def test_a_lost_overwrite_that_took_an_index_along_leads_nowhere(tmp_path):
    path = str(tmp_path / "t.lance")
    dataset = fourteen_rows(path)
    dataset.create_scalar_index("key", "BTREE")
    dataset = lance.dataset(path)
    lance.write_dataset(rows(range(100, 107)), path, mode="overwrite")
    lance.write_dataset(rows(range(107, 114)), path, mode="append")
    lance.write_dataset(rows(range(200, 203)), path, mode="append")
    lance.dataset(path).cleanup_old_versions(versions=[6, 7])
    assert not groups(open_table(path))


def test_a_lost_compaction_that_the_reuse_history_records_stays_certain(tmp_path):
    path = str(tmp_path / "t.lance")
    dataset: Any = fourteen_rows(path)
    dataset.create_scalar_index("key", "BTREE")
    lance.dataset(path).optimize.compact_files(defer_index_remap=True)
    lance.write_dataset(rows(range(200, 203)), path, mode="append")
    dataset = lance.dataset(path)
    dataset.alter_columns({"path": "label", "name": "title"})
    kept = dataset.version
    lance.dataset(path).cleanup_old_versions(
        versions=[*range(6, kept)], error_if_tagged_old_versions=False
    )
    table = open_table(path)
    followed = table.follow_addresses([0, 2 * FRAGMENT], 4, kept)
    assert (
        followed.select("outcome", "is_uncertain", "evidence").rows()
        == [("live", False, "recorded")] * 2
    )


def test_a_lost_compaction_with_stable_row_ids_stays_certain(tmp_path):
    path = str(tmp_path / "t.lance")
    fourteen_rows(path, enable_stable_row_ids=True)
    lance.dataset(path).optimize.compact_files()
    lance.write_dataset(rows(range(200, 203)), path, mode="append")
    lance.dataset(path).cleanup_old_versions(versions=[5, 6], older_than=timedelta(0))
    followed = open_table(path).follow_addresses([0], 4)
    assert followed.select("outcome", "is_uncertain", "evidence").row(0) == (
        "live",
        False,
        "derived",
    )


def test_a_row_that_a_lost_compaction_moved_is_not_certainly_deleted(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(rows(range(5)), path)
    lance.write_dataset(rows(range(5, 10)), path, mode="append")
    dataset = lance.dataset(path)
    dataset.optimize.compact_files()
    dataset.insert(rows(range(10, 14)))
    dataset.delete("key = 1")
    lance.dataset(path).cleanup_old_versions(versions=[3, 4, 5])
    table = open_table(path)
    assert table.follow_addresses([3], 2, 6)["outcome"].to_list() == ["unknown"]
    old = table.row(3, at=2).history().select("version", "event", "is_uncertain").rows()
    assert old == [(1, "created", False), (6, "deleted", True)]
    new = table.row(2 * FRAGMENT + 2).history().select("version", "event", "is_uncertain").rows()
    assert new == [(6, "created", True)]
