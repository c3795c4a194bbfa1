"""Detached versions that lost versions restored: rows with one row ID are told apart by files."""

from collections.abc import Callable

import lance
import pyarrow as pa
import pytest
from lance.fragment import write_fragments

import lance_explorer as lx
from lance_explorer import Table
from lance_explorer.history.identity.state_rows import state_rows

EVENTS = ("_change_type", "_rowid", "key", "is_uncertain")


def rows_of(*keys: int) -> pa.Table:
    return pa.table({"key": pa.array(keys, pa.int64())})


def append(*keys: int) -> Callable[[str], object]:
    return lambda uri: lance.write_dataset(rows_of(*keys), uri, mode="append")


def restore(version: int) -> Callable[[str], object]:
    return lambda uri: lance.dataset(uri, version=version).restore()


def delete(key: int) -> Callable[[str], object]:
    return lambda uri: lance.dataset(uri).delete(f"key = {key}")


def add_column(uri: str) -> object:
    return lance.dataset(uri).add_columns({"more": "key + 1"})


def written(uri: str, steps: list[Callable[[str], object]], lost: set[int]) -> Table:
    """Return a table whose version 3 restores a detached one; then come the steps.

    That one has keys 10 and 11 under row IDs 0 and 1, which version 2 gives to keys 0 and 1.
    """
    lance.write_dataset(rows_of(), uri, schema=rows_of().schema, enable_stable_row_ids=True)
    operation = lance.LanceOperation.Append(write_fragments(rows_of(10, 11), uri))
    detached = lance.LanceDataset.commit(uri, operation, read_version=1, detached=True)
    append(0, 1)(uri)
    lance.dataset(uri).checkout_version(detached.version).restore()
    for step in steps:
        step(uri)
    lance.dataset(uri).cleanup_old_versions(versions=[*lost])
    return lx.open_table(uri)


@pytest.fixture
def uri(tmp_path) -> str:
    return str(tmp_path / "t.lance")


def test_rows_of_a_detached_version_that_a_lost_one_restored_are_other_rows(uri):
    table = written(uri, [add_column], {1, 3})
    feed = table.changes(2, 4, images="both").to_polars()
    assert feed.select(EVENTS).rows() == [
        ("delete", 0, 0, False),
        ("delete", 1, 1, False),
        ("insert", 0, 10, False),
        ("insert", 1, 11, False),
    ]
    by_key = table.changes(2, 4, images="both", key="key").to_polars()
    assert by_key.select(EVENTS).rows() == feed.select(EVENTS).rows()
    assert table.follow_addresses([0, 1], 2, 4)["outcome"].to_list() == ["unknown"] * 2


def test_an_ordinary_restore_afterwards_brings_back_the_rows_of_its_own(uri):
    table = written(uri, [append(12), add_column, restore(2)], {1, 3, 4})
    assert table.changes(2, 6).summary()["unchanged"].item() == 2
    feed = table.changes(5, 6, mode="per_commit", images="both").to_polars()
    assert feed.select(EVENTS).rows() == [
        ("delete", 0, 10, False),
        ("delete", 1, 11, False),
        ("delete", 2, 12, False),
        ("insert", 0, 0, False),
        ("insert", 1, 1, False),
    ]


def test_the_restore_of_a_lost_restore_has_the_rows_of_the_detached_version(uri):
    table = written(uri, [restore(2), delete(1), restore(3)], {1, 3})
    feed = table.changes(5, 6, mode="per_commit", images="both").to_polars()
    assert feed.select(EVENTS).rows() == [
        ("delete", 0, 0, False),
        ("insert", 0, 10, False),
        ("insert", 1, 11, False),
    ]


def test_rows_of_the_first_kept_version_are_those_of_the_detached_one(uri):
    table = written(uri, [delete(11), restore(2)], {1, 2, 3})
    feed = table.changes(4, 5, images="both").to_polars()
    assert feed.select(EVENTS).rows() == [
        ("delete", 0, 10, False),
        ("insert", 0, 0, False),
        ("insert", 1, 1, False),
    ]


def test_lost_versions_that_restored_none_leave_row_ids_as_they_are(uri):
    table = written(uri, [restore(2), append(12), delete(0)], {1, 3, 5})
    assert state_rows(table.source).namesakes is None
    assert table.changes(4, 6).summary().select("inserted", "deleted").row(0) == (1, 1)
