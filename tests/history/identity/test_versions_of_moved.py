"""Rewrites by hand that write no row versions: their rows keep those that they had."""

from dataclasses import replace
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance import LanceOperation
from lance.fragment import RowIdSequence, write_fragments
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.history import view as views
from tests.synthetic.tables import SyntheticTable

ALL = ("moved", "column_added")


def rewrite(uri: str) -> None:
    """Write the live rows of all fragments into one, in the opposite order."""
    dataset = lance.dataset(uri)
    rows = dataset.to_table(with_row_id=True)
    rows = rows.take([*range(len(rows))][::-1])
    insert(uri, 99)  # which gives out a fragment ID
    [new] = write_fragments(rows.drop(["_rowid"]), uri)
    sequence = RowIdSequence(rows["_rowid"].to_pylist()).to_inline_metadata()
    group: Any = LanceOperation.RewriteGroup(
        [fragment.metadata for fragment in dataset.get_fragments()],
        [replace(new, row_id_meta=sequence)],
    )
    lance.LanceDataset.commit(uri, LanceOperation.Rewrite([group], []), dataset.version)


@pytest.fixture
def uri(tmp_path) -> str:
    """Version 5 rewrites rows of versions 1 and 2, of which version 3 deleted one."""
    path = str(tmp_path / "t.lance")
    keys = pa.array([0, 1, 2], pa.int64())
    lance.write_dataset(pa.table({"key": keys}), path, enable_stable_row_ids=True)
    lance.dataset(path).insert(pa.table({"key": pa.array([3], pa.int64())}))
    lance.dataset(path).delete("key = 1")
    rewrite(path)
    return path


def test_a_restore_of_what_was_before_moves_rows_back(uri):
    lance.dataset(uri, version=4).restore()
    table = lx.open_table(uri)
    [counts] = table.versions().filter(version=6).to_dicts()
    assert (counts["rows_moved"], counts["rows_reverted"]) == (3, 0)
    assert table.row(3).history()["event"].to_list() == ["created", "moved", "moved"]


def test_rows_that_were_updated_before_are_updated(uri):
    lance.dataset(uri).add_columns({"more": "key"})
    lance.dataset(uri).update({"more": "7"}, where="key = 0")
    rewrite(uri)
    lance.dataset(uri).drop_columns(["more"])
    table = lx.open_table(uri)
    last = table.latest.version
    feed = table.changes(6, last, images=None).to_polars()
    assert feed.select("_event", "_rowid").filter(_event="updated").rows() == [("updated", 0)]


def test_rows_that_a_lost_version_wrote_may_be_the_same_again_after_a_restore(uri):
    lance.dataset(uri).cleanup_old_versions(versions=[4])
    lance.dataset(uri, version=3).restore()  # version 6
    lance.dataset(uri, version=5).restore()
    lance.dataset(uri).update({"key": "7"}, where="key = 0")
    lance.dataset(uri, version=5).restore()
    frame = lx.open_table(uri).versions().filter(pl.col("version") > 5)
    assert frame.select("version", "rows_reverted").rows() == [(6, None), (7, None), (8, 0), (9, 1)]
    events = lx.open_table(uri).row(0).history().filter(pl.col("version") > 5)
    assert events.select("version", "event", "is_uncertain").rows() == [
        (6, "restored", True),
        (7, "restored", True),
        (8, "updated", False),
        (9, "restored", False),
    ]


@pytest.fixture
def compacted(uri: str) -> str:
    """Version 8 compacts what version 5 rewrote, and stores that its rows are of version 1."""
    insert(uri, 4)
    lance.dataset(uri).optimize.compact_files()
    lance.dataset(uri).delete("key = 0")
    insert(uri, 5)
    lance.dataset(uri).add_columns({"more": "key"})
    lance.dataset(uri).delete("key = 4")
    stored = lance.dataset(uri, version=8).to_table(["_row_last_updated_at_version"])
    assert stored["_row_last_updated_at_version"].to_pylist() == [4, 1, 1, 1, 6]
    return uri


def insert(uri: str, key: int) -> None:
    lance.dataset(uri).insert(pa.table({"key": pa.array([key], pa.int64())}))


def test_later_states_of_a_compacted_fragment_keep_what_was_known_of_their_rows(compacted):
    table = lx.open_table(compacted)
    changes = table.changes(7, 10, mode="net", images=None).to_polars()
    assert changes.select("_event", "_rowid").rows() == [("deleted", 0), ("inserted", 6)]
    wrote = table.diff(12, 9).rows(None, include=ALL).select("_rowid", "_commit_version").rows()
    assert dict(wrote) == {2: 1, 3: 2, 4: 4, 5: 6, 6: None}


@pytest.mark.parametrize(
    ("begin", "end"), [(9, 8), (10, 9), (12, 9), (9, 12), (10, 11), (11, 12), (8, 10)]
)
def test_near_versions_tell_no_made_up_row_versions(compacted, monkeypatch, begin, end):
    monkeypatch.setattr(views, "_PART_OF", 0)
    whole = lx.open_table(compacted)
    whole.versions()
    near = lx.open_table(compacted).diff(begin, end)
    expected = whole.diff(begin, end)
    assert_frame_equal(near.rows(None, include=ALL), expected.rows(None, include=ALL))
    assert_frame_equal(near.summary(), expected.summary())


def test_only_where_row_versions_may_be_made_up_are_older_versions_read(compacted, monkeypatch):
    monkeypatch.setattr(views, "_PART_OF", 0)

    def reads_all(begin: int, end: int) -> bool:
        table = lx.open_table(compacted)
        table.diff(begin, end).rows(None, include=ALL)
        return table._view._history is not None

    asked = [(8, 9), (9, 8), (9, 10), (10, 9), (10, 11), (12, 11)]
    assert [ends for ends in asked if reads_all(*ends)] == [(9, 8), (10, 11)]


@pytest.mark.slow
def test_row_versions_are_followed_over_many_states_of_a_fragment(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=700)
    table.turn_on_row_ids(with_versions=False)
    for offset in range(600):
        table.delete({0: [offset]})
    history = lx.open_table(table.path).row(650).history()
    assert history.select("version", "event").rows() == [(1, "created")]
    back = lx.open_table(table.path).diff(table.version, table.version - 1).rows(None)
    assert back.select("_rowid", "_commit_version").rows() == [(599, 1)]


def test_made_up_row_versions_are_not_told_where_a_lost_version_moved_the_rows(tmp_path):
    uri = str(tmp_path / "t.lance")
    rows = pa.table({"key": pa.array([0, 1], pa.int64()), "value": pa.array([0, 0], pa.int64())})
    lance.write_dataset(rows, uri, enable_stable_row_ids=True)
    dataset: Any = lance.dataset(uri)
    new = pa.table({"key": pa.array([0], pa.int64()), "value": pa.array([7], pa.int64())})
    written, fields, offsets = dataset.get_fragment(0).update_columns(
        new, "key", "key", with_offsets=True
    )
    update = LanceOperation.Update(
        updated_fragments=[written],
        fields_modified=fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={0: offsets},
    )
    lance.LanceDataset.commit(uri, update, dataset.version)
    rewrite(uri)
    insert(uri, 5)
    lance.dataset(uri).optimize.compact_files()
    stored = lance.dataset(uri).to_table(["_row_last_updated_at_version"])
    assert 2 not in stored["_row_last_updated_at_version"].to_pylist()
    lance.dataset(uri).cleanup_old_versions(versions=[4])
    table = lx.open_table(uri)
    last = table.latest.version
    told = table.changes(1, last, images=None).to_polars().filter(pl.col("_rowid") < 2)
    assert told.select("_event", "_rowid", "is_uncertain").rows() == [
        ("updated", 0, True),
        ("updated", 1, True),
    ]
    assert table.changes(2, last, images=None).to_polars().filter(_rowid=0)["is_uncertain"].all()
