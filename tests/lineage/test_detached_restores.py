"""Rows of restored detached versions, and of what these were built on where that is lost."""

from dataclasses import replace
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance.fragment import RowIdSequence, write_fragments

from lance_explorer import Table, open_table

Operation = lance.LanceOperation

FRAGMENT = 1 << 32


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


def outcomes(table: Table, begin: int, end: int) -> dict[int, tuple[str, int | None]]:
    """Return what became of the rows of a version, and where they are, by key."""
    read = table.at(begin).read(columns=["key", "_rowaddr"])
    found = table.follow_addresses(read["_rowaddr"], begin, end)
    told = zip(found["outcome"].cast(str), found["end_rowaddr"], strict=True)
    return dict(zip(read["key"], told, strict=True))


def counts(table: Table, version: int) -> dict[str, int | None]:
    """Return the counts of a version that are not 0."""
    [line] = [row for row in table.versions().to_dicts() if row["version"] == version]
    names = ("added", "updated", "deleted", "restored", "reverted", "moved")
    return {name: line[f"rows_{name}"] for name in names if line[f"rows_{name}"] != 0}


def test_rows_of_a_restored_detached_update_may_be_those_that_the_restore_takes_out(uri):
    create(uri, stable=False)
    removed = [fragment.fragment_id for fragment in lance.dataset(uri).get_fragments()][1:]
    operation = Operation.Update(
        removed_fragment_ids=removed, new_fragments=written(uri, rows(2, 3, 4, value=1))
    )
    detached = detach(uri, operation)
    restore(uri, detached)
    table = open_table(uri)
    found = outcomes(table, 2, 1)
    assert [found[key][0] for key in (2, 3, 4)] == ["created_or_updated"] * 3
    assert found[0] == ("live", 0)
    assert {outcome for outcome, _ in outcomes(table, 1, 2).values()} == {
        "live",
        "reverted_or_deleted",
    }
    assert counts(table, 2)["added"] is None


def test_what_a_restored_detached_version_did_not_write_comes_from_lost_versions(uri):
    create(uri, stable=False)
    dataset: Any = lance.dataset(uri)
    without = dataset.get_fragment(0).delete("key = 0")
    detached = detach(uri, Operation.Delete([without], [], "key = 0"))
    lance.dataset(uri).merge_insert("key").when_matched_update_all().execute(
        rows(0, 1, 2, 3, value=1)
    )
    restore(uri, detached)
    lose(uri, 1)
    table = open_table(uri)
    assert {outcome for outcome, _ in outcomes(table, 3, 2).values()} == {"restored_or_reverted"}
    assert counts(table, 3).get("added", 0) == 0


@pytest.mark.parametrize("on_another", [False, True])
def test_rows_of_a_lost_version_that_a_detached_one_was_built_on_are_those_of_their_ids(
    uri, on_another
):
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
    table = open_table(uri)
    back = {0: ("live", 0)} if on_another else {0: ("live", 0), 1: ("live", 1)}
    found = outcomes(table, 2, 4)
    assert found.items() >= {**back, 2: ("live", FRAGMENT), 3: ("live", FRAGMENT + 1)}.items()
    assert {found[key] for key in (4, 5, 6)} == {("deleted", None)}
    assert counts(table, 4) == {"added": 2, "deleted": 3, "restored": len(back)}


@pytest.mark.parametrize("moves", [False, True])
def test_row_versions_of_a_detached_version_on_a_lost_one_are_its_own(uri, moves):
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
    changes = open_table(uri).changes(2, 3, images="both")
    told = changes.to_polars().filter(pl.col("key") == 0)
    assert told.select("_event", "value", "is_uncertain").rows() == [
        ("updated", 8, False),
        ("updated", 7, False),
    ]


@pytest.mark.parametrize("key", [0, 3])
def test_the_last_row_ids_of_a_detached_update_on_a_lost_version_may_be_new(uri, key):
    create(uri, stable=True)
    dataset: Any = lance.dataset(uri)
    [new] = written(uri, rows(key, value=7))
    new = replace(new, row_id_meta=RowIdSequence([key]).to_inline_metadata())
    masked = [dataset.get_fragment(key // 2).delete(f"key = {key}")]
    detached = detach(uri, Operation.Update(updated_fragments=masked, new_fragments=[new]))
    dataset.update({"value": "8"}, where=f"key = {key}")
    restore(uri, detached)
    lose(uri, 1)
    table = open_table(uri)
    told = table.changes(2, 3, images=None).to_polars().filter(_rowid=key)
    is_new = told.select("_change_type", "is_uncertain").rows() == [
        ("delete", True),
        ("insert", True),
    ]
    assert is_new == (key == 3)
    assert outcomes(table, 2, 3)[key][0] == ("unknown" if key == 3 else "live")
    assert counts(table, 3).get("added", 0) == (None if key == 3 else 0)


@pytest.mark.parametrize("key", [3, 8])
def test_the_next_commit_tells_which_row_ids_a_lost_version_had_given_out(uri, key):
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
    table = open_table(uri)
    told = outcomes(table, 2, 3)
    assert told[3][0] == ("live" if key == 3 else "deleted")
    assert {told[4][0], told[5][0]} == {"deleted"}
    assert counts(table, 3).get("added", 0) == (key == 8)


def test_rows_updated_together_with_those_of_a_detached_version_may_be_older_ones(uri):
    create(uri, stable=False)
    detached = detach(uri, Operation.Append(written(uri, rows(8, 9))))
    dataset: Any = lance.dataset(uri)
    merge = dataset.merge_insert("key").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(rows(3, 4, value=5))  # nothing tells which of both is new
    restore(uri, detached)
    lance.dataset(uri).update({"value": "7"}, where="key IN (3, 8)")
    lance.dataset(uri, version=2).restore()
    feed = open_table(uri).changes(4, 5, mode="per_commit", images="both").to_polars()
    gone = feed.filter(pl.col("_event") == "deleted").select("key", "is_uncertain").rows()
    assert (3, False) not in gone
    assert (9, False) in gone
