"""Detached versions that lost versions restored: rows with one row ID are told apart by files."""

import dataclasses
from collections.abc import Callable

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance.fragment import RowIdSequence, write_fragments

import lance_explorer as lx
from lance_explorer import Table
from lance_explorer.history.identity.state_rows import state_rows
from tests.differential.never_false import false_certainties


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
    written(uri, [add_column], {1, 3})
    assert not false_certainties(uri)


def test_an_ordinary_restore_afterwards_brings_back_the_rows_of_its_own(uri):
    written(uri, [append(12), add_column, restore(2)], {1, 3, 4})
    assert not false_certainties(uri)


def test_the_restore_of_a_lost_restore_has_the_rows_of_the_detached_version(uri):
    written(uri, [restore(2), delete(1), restore(3)], {1, 3})
    assert not false_certainties(uri)


def test_rows_of_the_first_kept_version_are_those_of_the_detached_one(uri):
    written(uri, [delete(11), restore(2)], {1, 2, 3})
    assert not false_certainties(uri)


def test_lost_versions_that_restored_none_leave_row_ids_as_they_are(uri):
    table = written(uri, [restore(2), append(12), delete(0)], {1, 3, 5})
    assert state_rows(table._view).namesakes is None
    assert table.changes(4, 6).summary().select("inserted", "deleted").row(0) == (1, 1)


# ------------------------------------------------------- detached updates whose base is lost


def replaced(uri: str, out: list[int], key: int) -> int:
    """Return a detached version of the latest one: rows are taken out, and one put in again."""
    dataset = lance.dataset(uri)
    rows = dataset.to_table(with_row_id=True, filter=f"key = {key}")
    is_out = f"key IN ({', '.join(map(str, out))})"
    left = {f.fragment_id: f.delete(is_out) for f in dataset.get_fragments()}
    [new] = write_fragments(rows.drop(["_rowid"]), uri)
    sequence = RowIdSequence(rows["_rowid"].to_pylist())
    operation = lance.LanceOperation.Update(
        removed_fragment_ids=[number for number, fragment in left.items() if fragment is None],
        updated_fragments=[fragment for fragment in left.values() if fragment is not None],
        new_fragments=[dataclasses.replace(new, row_id_meta=sequence.to_inline_metadata())],
    )
    on = dataset.version
    return int(lance.LanceDataset.commit(uri, operation, read_version=on, detached=True).version)


def configure(uri: str) -> object:
    return lance.dataset(uri).update_config({"a": "b"})


def restored_update(
    uri: str, steps: list[Callable[[str], object]], *, lose_next: bool = False
) -> Table:
    """Return a table whose last version restores a detached update, built on a lost one.

    It took out rows 2 and 3, and put 3 in again, which has the last row ID of all.
    """
    for step in steps:
        step(uri)
    lost = [lance.dataset(uri).version]
    detached = replaced(uri, [2, 3], 3)
    append(4)(uri)  # so that it cannot be built on this one
    if lose_next:
        lost.append(lance.dataset(uri).version)
        configure(uri)
    lance.dataset(uri).checkout_version(detached).restore()
    lance.dataset(uri).cleanup_old_versions(versions=lost)
    return lx.open_table(uri)


def create(*keys: int) -> Callable[[str], object]:
    return lambda uri: lance.write_dataset(rows_of(*keys), uri, enable_stable_row_ids=True)


@pytest.mark.parametrize(
    "steps",
    [
        [create(0, 1), append(2, 3)],
        [create(0, 1), append(2, 3), configure],
        [create(0, 1), append(2), append(3)],
        [create(0, 1, 2, 3), configure],
        [create(0, 1, 2, 3)],
    ],
    ids=["by it", "before it", "in part", "by the first one", "by a lost one"],
)
def test_older_rows_are_in_a_detached_update_of_a_lost_version(uri, steps):
    restored_update(uri, steps)
    assert not false_certainties(uri)


def test_a_detached_update_may_have_inserted_a_row(uri):
    """All versions before are lost, and old writers said of new rows that version 1 made them."""
    restored_update(uri, [create(0, 1, 2, 3)], lose_next=True)
    assert not false_certainties(uri)


# ----------------------------------------------------- lost restores whose rows moved in the gap


def compact(uri: str) -> object:
    return lance.dataset(uri).optimize.compact_files()


def moved(uri: str, lost: set[int], *, stable: bool, restored: bool = True) -> Table:
    """Return a table in which the rows of a restored detached version are in no file of its own.

    Version 2 has keys 2 and 3, the detached one 10 and 11 in their place; compactions make two.
    """
    lance.write_dataset(rows_of(0, 1), uri, enable_stable_row_ids=stable)
    operation = lance.LanceOperation.Append(write_fragments(rows_of(10, 11), uri))
    detached = lance.LanceDataset.commit(uri, operation, read_version=1, detached=True)
    append(2, 3)(uri)
    if restored:
        lance.dataset(uri).checkout_version(detached.version).restore()
    else:
        configure(uri)
    for step in (compact, append(4)):
        step(uri)
    lance.dataset(uri).cleanup_old_versions(versions=[*lost])
    return lx.open_table(uri)


@pytest.mark.parametrize("restored", [True, False], ids=["it was", "it was not"])
@pytest.mark.parametrize("lost", [{3, 4}, {3, 4, 5}], ids=["then moved", "both lost"])
@pytest.mark.parametrize("stable", [True, False], ids=["stable", "plain"])
def test_rows_that_may_be_those_of_a_detached_version_are_uncertain(uri, lost, stable, restored):
    table = moved(uri, lost, stable=stable, restored=restored)
    for mode in ("net", "per_commit"):
        feed = table.changes(2, 6, mode, images="both").to_polars()
        one_sided = feed.filter(pl.col("_change_type").is_in(["insert", "delete"]))
        certain = one_sided.filter(~pl.col("is_uncertain"), pl.col("evidence") != "lost")
        keys = {(str(change), key) for change, key in certain.select("_change_type", "key").rows()}
        assert keys <= {("insert", 4)} | ({("delete", 2), ("delete", 3)} if restored else set())
        pairs = feed.drop_nulls(["_rowaddr_before", "_rowaddr_after"])
        before = dict(table.at(2).row_ids().select("_rowaddr", "_rowid").iter_rows())
        was = dict(zip(before, table.at(2).read(columns=["key"])["key"], strict=True))
        for address, key in pairs.select("_rowaddr_before", "key").iter_rows():
            assert key in (was[address], None)
    outcomes = table.follow_addresses([1 << 32], 2, 6)["outcome"].to_list()
    assert outcomes == ["live"] if not (restored or lost == {3, 4, 5}) else ["unknown"]


def test_a_fragment_that_stayed_tells_that_no_detached_version_was_restored(uri):
    create(0, 1)(uri)
    operation = lance.LanceOperation.Append(write_fragments(rows_of(10, 11), uri))
    lance.LanceDataset.commit(uri, operation, read_version=1, detached=True)
    append(2, 3, 4)(uri)
    lance.dataset(uri).update({"key": "9"}, where="key = 2")
    for step in (configure, configure):
        step(uri)
    lance.dataset(uri).cleanup_old_versions(versions=[3, 4])
    table = lx.open_table(uri)
    assert state_rows(table._view).namesakes is None
    assert table.changes(2, 5).summary().select("updated", "unchanged").row(0) == (1, 4)


def test_a_restore_of_a_kept_version_says_what_it_takes_out_and_puts_in_again(uri):
    moved(uri, {3, 4}, stable=True)
    for step in (delete(10), restore(6)):
        step(uri)
    versions = lx.open_table(uri).versions().filter(version=8)
    assert versions.select("rows_deleted", "rows_restored").row(0) == (0, 1)
