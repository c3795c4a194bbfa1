"""Rows that have one row ID, one after the other: what was given out twice, and by whom."""

from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance.fragment import write_fragments

import lance_explorer as lx
from lance_explorer.history.identity.state_rows import state_rows
from tests.differential.never_false import false_certainties
from tests.synthetic import SyntheticTable

FRAGMENT = 1 << 32
CLASSES = ("inserted", "deleted", "updated", "moved", "unchanged")


@pytest.fixture
def set_back(tmp_path) -> SyntheticTable:
    """A restore sets the counter of row IDs back, as up to 8.0.1; then IDs 3 and 4 come again.

    Version 2 has them in fragment 1, version 4 in fragment 2, and version 5 restores version 2.
    """
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3).append(rows=2)
    table.state.manifest.next_row_id = 3
    table.restore(1).append(rows=2)
    table.state.manifest.next_row_id = 5
    return table.restore(2)


def net(table: SyntheticTable, begin: int, end: int) -> tuple[int, ...]:
    summary = lx.open_table(table.path).changes(begin, end).summary()
    return summary.select(CLASSES).row(0)


def test_where_no_number_was_given_out_twice_nothing_must_be_told_apart(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=3).append(rows=2).restore(1).append(rows=1)
    assert state_rows(lx.open_table(table.path)._view).namesakes is None


def test_rows_after_the_counter_was_set_back_are_other_rows(set_back):
    assert net(set_back, 2, 4) == (2, 2, 0, 0, 3)
    assert net(set_back, 4, 5) == (2, 2, 0, 0, 3)
    assert net(set_back, 2, 5) == (0, 0, 0, 0, 5)
    counts = lx.open_table(set_back.path).versions()
    assert counts.select("rows_added", "rows_restored", "rows_deleted").rows() == [
        (3, 0, 0),
        (2, 0, 0),
        (0, 0, 2),
        (2, 0, 0),
        (0, 2, 2),
    ]


def test_rows_with_one_id_are_followed_apart(set_back):
    table = lx.open_table(set_back.path)

    def followed(begin: int, end: int, address: int) -> tuple[str, int | None]:
        frame = table.follow_addresses([address], begin, end)
        return frame.select("outcome", "end_rowaddr").row(0)

    assert followed(2, 5, FRAGMENT) == ("live", FRAGMENT)
    assert followed(5, 2, FRAGMENT) == ("live", FRAGMENT)
    [new] = {a >> 32 for a in table.at(4).row_ids()["_rowaddr"].to_list()} - {0}
    assert followed(4, 5, new * FRAGMENT) == ("deleted", None)
    assert followed(5, 4, FRAGMENT) == ("restored", None)
    assert followed(4, 2, new * FRAGMENT) == ("created", None)


def test_the_history_of_an_id_is_that_of_all_its_rows(set_back):
    table = lx.open_table(set_back.path)
    events = table.row(4).history().select("version", "event").rows()
    assert events == [
        (2, "created"),
        (3, "deleted"),
        (4, "created"),
        (5, "deleted"),
        (5, "restored"),
    ]
    assert table.follow([4]).select("version", "event").rows() == events
    assert table.changes(4, 5, images=None).to_polars()["_rowid"].to_list() == [3, 4, 3, 4]


def test_an_id_that_was_given_out_before_a_restore_once_was(set_back):
    with pytest.raises(lx.RowNotFoundError, match=r"row 4 .* removed in version 3 by Restore"):
        lx.open_table(set_back.path).at(3).row_id_index().locate(4)


# --------------------------------------------------------------------------- detached versions


def rows_of(keys: range) -> pa.Table:
    return pa.table({"key": pa.array(keys, pa.int64())})


@pytest.fixture
def branched(tmp_path) -> tuple[str, int]:
    """Version 3 restores a detached version, built on version 1, which has ID 3 as version 2 has.

    Then it is compacted, and the last version goes back to version 2.
    """
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(rows_of(range(3)), uri, enable_stable_row_ids=True)
    operation = lance.LanceOperation.Append(write_fragments(rows_of(range(90, 91)), uri))
    detached = lance.LanceDataset.commit(uri, operation, read_version=1, detached=True)
    lance.write_dataset(rows_of(range(6, 7)), uri, mode="append")
    lance.dataset(uri).checkout_version(detached.version).restore()
    lance.dataset(uri).optimize.compact_files()
    lance.dataset(uri, version=2).restore()
    return uri, detached.version


@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "there"])
def test_rows_with_the_ids_of_a_restored_detached_version_are_uncertain(branched, is_gone):
    uri, detached = branched
    [file] = [f for f in lx.open_table(uri)._view.listing.detached if f.version == detached]
    if is_gone:
        Path(uri, file.path).unlink()
    assert not false_certainties(uri)
    table = lx.open_table(uri)
    lines = table.changes(2, 3, mode="per_commit", images=None).to_polars()
    told = lines.filter(pl.col("_event") != "lost").select("_change_type", "_rowid", "is_uncertain")
    assert told.rows() == [("delete", 3, True), ("insert", 3, True)]
    row = table.versions().row(2, named=True)
    assert (row["rows_added"], row["rows_deleted"]) == (None, None)
    assert table.changes(2, 3).summary()["uncertain"].item() == 2
    for begin, end in ((2, 3), (3, 2)):
        found = table.follow_addresses([FRAGMENT], begin, end)
        assert found.select("outcome", "evidence").rows() == [("unknown", "lost")]
    last = table.latest.version
    assert table.changes(2, last).summary().select(CLASSES).row(0) == (0, 0, 0, 0, 4)


def append_detached(uri: str, key: int, version: int) -> int:
    """Append a row to a version, detached, and return the number of the commit."""
    operation = lance.LanceOperation.Append(write_fragments(rows_of(range(key, key + 1)), uri))
    onto = lance.dataset(uri, version=version)
    return lance.LanceDataset.commit(onto, operation, read_version=version, detached=True).version


def test_two_restored_detached_versions_have_one_row_id_for_two_rows(tmp_path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(rows_of(range(3)), uri, enable_stable_row_ids=True)
    for detached in [append_detached(uri, key, 1) for key in (10, 20)]:
        lance.dataset(uri).checkout_version(detached).restore()
    assert {lance.dataset(uri, version=v).count_rows("key >= 10") for v in (2, 3)} == {1}
    assert not false_certainties(uri)


def test_row_ids_of_known_fragments_mean_the_same_after_a_detached_restore(tmp_path):
    """The second detached version was built on what the first is not part of."""
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(rows_of(range(3)), uri, enable_stable_row_ids=True)
    first = append_detached(uri, 10, 1)
    lance.write_dataset(rows_of(range(3, 6)), uri, mode="append")
    second = append_detached(uri, 20, 2)
    for detached in (first, second):
        lance.dataset(uri).checkout_version(detached).restore()
    lance.dataset(uri).update({"key": "key"}, where="key = 3")
    assert not false_certainties(uri)
