"""Rewrites by hand that write no row versions: their rows keep those that they had."""

from dataclasses import replace
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance import LanceOperation
from lance.fragment import RowIdSequence, write_fragments

import lance_explorer as lx


def rewrite(uri: str) -> None:
    """Write the live rows of all fragments into one, in the opposite order."""
    dataset = lance.dataset(uri)
    rows = dataset.to_table(with_row_id=True)
    rows = rows.take([*range(len(rows))][::-1])
    dataset.insert(pa.table({"key": pa.array([99], pa.int64())}))  # which gives out a fragment ID
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
