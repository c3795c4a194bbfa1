"""Restores of detached versions are beyond the contract: nothing that is false is certain."""

from dataclasses import replace
from typing import Any

import lance
import pyarrow as pa
import pytest
from lance.fragment import RowIdSequence, write_fragments

from lance_explorer import open_table
from tests.differential.never_false import false_certainties

Operation = lance.LanceOperation


@pytest.fixture
def uri(tmp_path) -> str:
    return str(tmp_path / "t.lance")


def rows(*keys: int, value: int = 0) -> pa.Table:
    """Return rows with a key, and one value."""
    return pa.table({"key": pa.array(keys, pa.int64()), "value": [value] * len(keys)})


def create(uri: str, *, stable: bool) -> None:
    """Create a table of four rows in fragments of two."""
    lance.write_dataset(rows(0, 1, 2, 3), uri, enable_stable_row_ids=stable, max_rows_per_file=2)


def detach(uri: str, operation: Any) -> int:
    """Commit an operation as a detached version of the latest one."""
    dataset = lance.dataset(uri)
    commit = lance.LanceDataset.commit
    version: int = commit(dataset, operation, read_version=dataset.version, detached=True).version
    return version


def written(uri: str, data: pa.Table) -> list[Any]:
    """Write rows into data files that no version has."""
    return [*write_fragments(data, uri, data_storage_version="stable")]


def restore(uri: str, version: int) -> None:
    """Restore a version, which may be detached."""
    lance.dataset(uri).checkout_version(version).restore()


def lose(uri: str, *versions: int) -> None:
    """Remove some versions, as a clean-up does that tags stopped."""
    dataset = lance.dataset(uri)
    for kept in range(1, dataset.version + 1):
        if kept not in versions:
            dataset.tags.create(f"v{kept}", kept)
    dataset.cleanup_old_versions(
        older_than=None, retain_versions=1, error_if_tagged_old_versions=False
    )


def test_a_detached_update_that_took_rows_out_may_have_put_the_same_in(uri):
    create(uri, stable=False)
    removed = [fragment.fragment_id for fragment in lance.dataset(uri).get_fragments()][1:]
    operation = Operation.Update(
        removed_fragment_ids=removed, new_fragments=written(uri, rows(2, 3, 4, value=1))
    )
    detached = detach(uri, operation)
    restore(uri, detached)
    assert not false_certainties(uri)


def test_a_detached_delete_was_built_on_a_lost_version(uri):
    create(uri, stable=False)
    dataset: Any = lance.dataset(uri)
    without = dataset.get_fragment(0).delete("key = 0")
    detached = detach(uri, Operation.Delete([without], [], "key = 0"))
    lance.dataset(uri).merge_insert("key").when_matched_update_all().execute(
        rows(0, 1, 2, 3, value=1)
    )
    restore(uri, detached)
    lose(uri, 1)
    assert not false_certainties(uri)


@pytest.mark.parametrize("on_another", [False, True])
def test_a_detached_append_was_built_on_a_lost_version(uri, on_another):
    create(uri, stable=True)
    detached = detach(uri, Operation.Append(written(uri, rows(8, 9))))
    if on_another:
        there: Any = lance.dataset(uri).checkout_version(detached)
        operation = Operation.Delete([there.get_fragment(0).delete("key = 1")], [], "key = 1")
        detached = lance.LanceDataset.commit(
            there, operation, read_version=detached, detached=True
        ).version
    lance.write_dataset(rows(4, 5, 6), uri, mode="append")
    lance.dataset(uri).delete("key < 2")
    restore(uri, detached)
    lose(uri, 1)
    assert not false_certainties(uri)


@pytest.mark.parametrize("moves", [False, True])
def test_a_detached_version_stores_the_version_number_of_an_ordinary_one(uri, moves):
    create(uri, stable=True)
    dataset: Any = lance.dataset(uri)
    if moves:
        [new] = written(uri, rows(0, value=7))
        new = replace(new, row_id_meta=RowIdSequence([0]).to_inline_metadata())
        masked = [dataset.get_fragment(0).delete("key = 0")]
        operation = Operation.Update(updated_fragments=masked, new_fragments=[new])
    else:
        one, fields, offsets = dataset.get_fragment(0).update_columns(
            rows(0, value=7), "key", "key", with_offsets=True
        )
        operation = Operation.Update(
            updated_fragments=[one],
            fields_modified=fields,
            update_mode="rewrite_columns",
            updated_fragment_offsets={0: offsets},
        )
    detached = detach(uri, operation)
    dataset.update({"value": "8"}, where="key = 0")  # in version 2, as both say
    restore(uri, detached)
    lose(uri, 1)
    assert not false_certainties(uri)


@pytest.mark.parametrize("key", [0, 3])
def test_a_detached_update_may_have_inserted_the_last_row_ids(uri, key):
    create(uri, stable=True)
    dataset: Any = lance.dataset(uri)
    [new] = written(uri, rows(key, value=7))
    new = replace(new, row_id_meta=RowIdSequence([key]).to_inline_metadata())
    masked = [dataset.get_fragment(key // 2).delete(f"key = {key}")]
    detached = detach(uri, Operation.Update(updated_fragments=masked, new_fragments=[new]))
    dataset.update({"value": "8"}, where=f"key = {key}")
    restore(uri, detached)
    lose(uri, 1)
    assert not false_certainties(uri)


@pytest.mark.parametrize("key", [3, 8])
def test_a_detached_update_gives_out_the_row_ids_of_an_append(uri, key):
    create(uri, stable=True)
    dataset: Any = lance.dataset(uri)
    [new] = written(uri, rows(key, value=7))
    if key == 3:
        new = replace(new, row_id_meta=RowIdSequence([3]).to_inline_metadata())
    masked = [dataset.get_fragment(1).delete("key = 3")]
    detached = detach(uri, Operation.Update(updated_fragments=masked, new_fragments=[new]))
    lance.write_dataset(rows(4, 5), uri, mode="append")
    restore(uri, detached)
    lose(uri, 1)
    assert not false_certainties(uri)


def test_rows_are_updated_together_with_those_of_a_detached_version(uri):
    create(uri, stable=False)
    detached = detach(uri, Operation.Append(written(uri, rows(8, 9))))
    dataset: Any = lance.dataset(uri)
    merge = dataset.merge_insert("key").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(rows(3, 4, value=5))  # nothing tells which of both is new
    restore(uri, detached)
    lance.dataset(uri).update({"value": "7"}, where="key IN (3, 8)")
    lance.dataset(uri, version=2).restore()
    assert not false_certainties(uri)


def test_a_finding_names_the_restore_of_a_detached_version(uri):
    create(uri, stable=True)
    restore(uri, detach(uri, Operation.Append(written(uri, rows(8, 9)))))
    changes = open_table(uri).changes(1, mode="per_commit")
    changes.to_polars()
    [finding] = changes.findings().to_dicts()
    assert (finding["code"], finding["first_version"]) == ("detached_restored", 2)
    assert "version 2 restored a detached version" in finding["statement"]
    codes = open_table(uri).check().filter(first_version=2)["code"].to_list()
    assert "detached_restored" in codes


@pytest.mark.parametrize("stable", [True, False])
def test_a_deleted_row_that_another_detached_version_brings_back_is_not_told_as_deleted(
    tmp_path, stable
):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"key": [0, 1]}), uri, enable_stable_row_ids=stable)
    base, detached = lance.dataset(uri), []
    for key in (2, 3):
        operation = lance.LanceOperation.Append(write_fragments(pa.table({"key": [key]}), uri))
        base = lance.LanceDataset.commit(base, operation, read_version=base.version, detached=True)
        detached.append(base.version)
    lance.dataset(uri).checkout_version(detached[0]).restore()
    lance.dataset(uri).delete("key = 2")
    lance.dataset(uri).checkout_version(detached[1]).restore()
    assert not false_certainties(uri)
    found = open_table(uri).follow_addresses([1 << 32], 2, 4)
    assert found["outcome"].to_list() == (["live"] if stable else ["unknown"])
