"""What is asked of a long history reads what it needs, and answers as if it had read all."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from lance_explorer.history import view as history_view
from tests.stored_tables import stored_check
from tests.synthetic.tables import SyntheticTable

ALL = ("moved", "column_added")


@pytest.fixture
def long(tmp_path) -> SyntheticTable:
    """A table of 60 versions, with stable row IDs."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=5)
    for number in range(1, 30):
        table.append(rows=5).delete({number: [0]})
    return table.append(rows=5)


def manifests_read(table: lx.Table) -> set[int]:
    """Return the versions that were loaded for what was asked so far."""
    parts = table._view._parts
    assert table._view._history is None
    return {version for part in parts for version in part.history.versions.tolist()}


def test_the_last_versions_are_read_without_the_others(long):
    table = lx.open_table(long.path)
    last = table.versions(last=3)
    assert manifests_read(table) == {57, 58, 59, 60}
    assert_frame_equal(last, table.versions().tail(3))


def test_once_all_versions_are_read_the_last_ones_are_the_same_until_a_refresh(long):
    table = lx.open_table(long.path)
    every = table.versions()
    read = table._view.storage.io.bytes_read
    assert_frame_equal(table.versions(last=3), every.tail(3))
    assert table._view.storage.io.bytes_read == read
    long.append(rows=1)
    table.refresh()
    assert table.versions(last=3)["version"].to_list() == [59, 60, 61]


def test_near_versions_are_compared_without_the_others(long):
    table = lx.open_table(long.path)
    changes = table.changes(57, 59, images=None, include=ALL)
    rows, summary = changes.to_polars(), changes.summary()
    assert manifests_read(table) == {57, 58, 59}
    table.versions()
    again = table.changes(57, 59, images=None, include=ALL)
    assert_frame_equal(rows, again.to_polars())
    assert_frame_equal(summary, again.summary())


@pytest.mark.parametrize("ends", [(57, 59), (59, 57)], ids=str)
def test_near_versions_are_diffed_without_the_others(long, ends):
    table = lx.open_table(long.path)
    found = difference(table, *ends)
    assert manifests_read(table) == {57, 58, 59}
    table.versions()
    assert found == difference(table, *ends)


def test_a_restore_refers_to_versions_that_are_read_then(long):
    long.restore(20)
    table = lx.open_table(long.path)
    last = table.versions(last=2)
    assert last["rows_deleted"].to_list() == [0, 81]
    assert_frame_equal(last, table.versions().tail(2))


def test_a_time_is_looked_for_from_the_end(long):
    table = lx.open_table(long.path)
    assert table.at(datetime.now(UTC)).version == 60
    first = lx.open_table(long.path).versions()["timestamp"][0]
    assert lx.open_table(long.path).at(first).version == 1


def test_after_a_refresh_a_part_is_not_taken_for_the_whole(long):
    table = lx.open_table(long.path)
    table.versions(last=2)
    long.append(rows=1)
    table.refresh()
    assert table.versions(last=2)["version"].to_list() == [60, 61]
    assert len(table.versions()) == 61


@stored_check()
def check_stored_tables_answer_the_same_from_parts(asked):
    whole = asked.table
    versions = whole.versions()
    kept = versions["version"].to_list()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_view, "_PART_OF", 0)
        for number in {1, 2, len(kept) // 2 or 1, len(kept)}:
            assert_frame_equal(fresh(whole).versions(last=number), versions.tail(number))
        for begin, end in zip(kept, kept[3::2], strict=False):
            for mode in ("net", "per_commit"):
                assert answer(fresh(whole), begin, end, mode) == answer(whole, begin, end, mode)
            for one, other in ((begin, end), (end, begin)):
                assert difference(fresh(whole), one, other) == difference(whole, one, other)


def fresh(table: lx.Table) -> lx.Table:
    return lx.open_table(table.uri, table.branch)


def answer(table: lx.Table, begin: int, end: int, mode: Any) -> object:
    """Return the changes between two versions, or what is wrong."""
    try:
        return table.changes(begin, end, mode=mode, images=None, include=ALL).to_polars().rows()
    except LanceExplorerError as error:
        return str(error)


def difference(table: lx.Table, one: int, other: int) -> list[object]:
    """Return all that a diff of two versions says but values, or what is wrong."""
    diff = table.diff(one, other)
    answers: list[object] = [diff.common_ancestor, diff.differs]
    asks: list[Callable[[], pl.DataFrame]] = [
        partial(diff.rows, None, include=ALL),
        diff.summary,
        diff.commits,
        diff.schema,
        diff.findings,
    ]
    for ask in asks:
        try:
            answers.append(ask().rows())
        except LanceExplorerError as error:
            answers.append(str(error))
    return answers
