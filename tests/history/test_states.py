"""Fragments decoded at once are skipped work: a history says the same if each is decoded alone."""

import contextlib
import random
import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

from lance_explorer import open_table
from lance_explorer.errors import LanceExplorerError
from lance_explorer.format import data_file_columns, fragment_walk, splitting
from lance_explorer.history import loading, state_builder, states
from lance_explorer.history.fragment_counts import count_fragments
from lance_explorer.history.history import History
from lance_explorer.history.states import ColumnsPart
from lance_explorer.history.view import HistoryView
from tests.format.samples import covering_tables
from tests.fuzzing import damaged
from tests.stored_tables import is_main, stored_check

COLUMNS = (
    "ids",
    "physical_rows",
    "num_deleted_rows",
    "num_files",
    "data_bytes",
    "row_id_bytes",
    "row_version_bytes",
    "row_id_storage",
    "row_version_storage",
    "num_overlays",
    "deletion_types",
)


@contextlib.contextmanager
def as_columns() -> Iterator[None]:
    """Decode the fragments of each manifest as columns, however few they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_builder, "_MOST_WAITING", 1)
        patch.setattr(state_builder, "_SMALL_PART", 0)
        patch.setattr(states, "_MOST_PARTS", 1 << 40)
        patch.setattr(fragment_walk, "_FEW", 0)
        patch.setattr(data_file_columns, "_FEW", 1)
        patch.setattr(splitting, "_MANY_BYTES", 0)
        yield


@contextlib.contextmanager
def one_by_one() -> Iterator[None]:
    """Decode each fragment alone, before the next manifest is read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_Loader", partial(loading._Loader, one_by_one=True))
        patch.setattr(fragment_walk, "_FEW", 1 << 40)
        yield


def both(path: Path) -> tuple[History, History]:
    """Return the history of a table with each fragment decoded alone, and with many at once."""
    with one_by_one():
        plain = HistoryView.open(str(path)).history
    with as_columns():
        found = HistoryView.open(str(path)).history
    return plain, found


def expect_same(plain: History, found: History) -> None:
    assert [*found.states] == [*plain.states]
    assert [found.states[number] for number in range(len(found.states))] == [*plain.states]
    assert found.findings == plain.findings
    assert found.duplicated == plain.duplicated
    assert [r.num_new_row_ids for r in found.records] == [r.num_new_row_ids for r in plain.records]
    for name in ("keys", "first", "last"):
        pairs = getattr(found.intervals, name), getattr(plain.intervals, name)
        np.testing.assert_array_equal(*pairs, err_msg=name)
    np.testing.assert_array_equal(found.num_deleted_rows, plain.num_deleted_rows)
    np.testing.assert_array_equal(found.live_rows, plain.live_rows)
    counts = asdict(count_fragments(plain, plain.live_rows))
    for one in (found, in_one_part(found)):
        np.testing.assert_equal(asdict(count_fragments(one, plain.live_rows)), counts)
    for name in COLUMNS:
        pairs = getattr(found.states, name), getattr(plain.states, name)
        np.testing.assert_array_equal(*pairs, err_msg=name)
    for ours, other in zip(found.states.files, plain.states.files, strict=True):
        np.testing.assert_array_equal(ours, other)


def in_one_part(history: History) -> History:
    """Return the same with all states as columns of one part, as in a recorded history."""
    with as_columns():
        messages = [history.states.message(number) for number in range(len(history.states))]
        part = ColumnsPart(states.columns_of(messages), np.arange(len(messages)))
    return replace(history, states=states.States([part]))


def has_columns(history: History) -> bool:
    """Tell whether fragments were decoded many at once."""
    return any(len(part.columns.unusual) < len(part.columns) for part in history.states.parts)


@stored_check(is_main)
def check_histories_of_stored_tables_are_the_same_both_ways(asked):
    plain, found = both(asked.root)
    assert has_columns(found) or not len(found.states)
    expect_same(plain, found)


@stored_check(is_main)
def check_rows_of_stored_tables_are_the_same_both_ways(asked):
    def rows() -> list[object]:
        table = open_table(asked.root)
        found: list[object] = []
        for version in table.versions()["version"].to_list():
            try:
                index = table.at(version).row_id_index()
            except LanceExplorerError as error:
                found.append(str(error))
                continue
            ids = table.at(version).row_ids()["_rowid"]
            found.append((index.num_runs, len(index), index.locate_many(ids).to_list()))
        return found

    with one_by_one():
        plain = rows()
    with as_columns():
        columns = rows()
    assert columns == plain


@stored_check(is_main)
def check_a_version_of_a_history_is_the_one_that_its_file_tells(asked):
    whole, apart = HistoryView.open(asked.root), HistoryView.open(asked.root)
    for record in whole.history.records:
        found, read = whole.version(record.version), apart.version(record.version)
        assert found.records == read.records
        assert [*found.states] == [*read.states]
        np.testing.assert_array_equal(found.num_deleted_rows, read.num_deleted_rows)
        assert found.duplicated == read.duplicated
        for name in ("keys", "first", "last"):
            pairs = getattr(found.intervals, name), getattr(read.intervals, name)
            np.testing.assert_array_equal(*pairs, err_msg=name)


@pytest.mark.drawn(12)
def test_histories_of_damaged_tables_are_the_same_both_ways(tmp_path, seed):
    chance = random.Random(seed)
    path = tmp_path / "t"
    shutil.copytree(chance.choice(covering_tables()), path)
    for manifest in sorted(path.rglob("_versions/*.manifest")):
        data = manifest.read_bytes()
        if chance.random() < 0.5:
            manifest.write_bytes(damaged(chance, data, data))
    expect_same(*both(path))


def test_states_that_are_left_after_a_cleanup_are_numbered_anew(tmp_path):
    path = tmp_path / "t"
    dataset = lance.write_dataset(pa.table({"n": [0]}), path, enable_stable_row_ids=True)
    for n in range(1, 6):
        dataset = lance.write_dataset(pa.table({"n": [n]}), path, mode="append")
        dataset.delete(f"n = {n - 1}")
    with as_columns():
        view = HistoryView.open(str(path))
        assert has_columns(view.history)
        for version in (1, 3, 4):
            lance_file = next((path / "_versions").glob(f"*{(1 << 64) - 1 - version}.manifest"))
            lance_file.unlink()
        later = view.refreshed().history
    expect_same(HistoryView.open(str(path)).history, later)


def test_long_sequences_are_not_kept(tmp_path):
    """An update of scattered rows writes a long row-ID sequence into its manifest."""
    path = tmp_path / "t"
    rows = pa.table({"n": range(20_000), "m": [0] * 20_000})
    lance.write_dataset(rows, path, enable_stable_row_ids=True)
    for turn in range(3):
        chance = np.random.default_rng(turn)
        chosen = np.sort(chance.choice(20_000, 2_000, replace=False)) + 5 * turn
        new = pa.table({"n": chosen, "m": [turn] * len(chosen)})
        merge = lance.dataset(path).merge_insert("n").when_matched_update_all()
        merge.when_not_matched_insert_all().execute(new)
    lance.dataset(path).restore()
    plain, found = both(path)
    expect_same(plain, found)
    usual = HistoryView.open(str(path)).history
    expect_same(plain, usual)
    assert max(usual.states.row_id_bytes) > 1_000
    assert sum(len(part.columns.data) for part in usual.states.parts) < 5_000
    inserted = [record.num_new_row_ids or 0 for record in usual.records[1:4]]
    assert sum(inserted) == lance.dataset(path).count_rows() - 20_000


def test_no_state_is_left_where_the_versions_with_rows_are_gone(tmp_path):
    path = tmp_path / "t"
    lance.write_dataset(pa.table({"n": [0]}), path)
    lance.dataset(path).delete("true")
    view = HistoryView.open(str(path))
    assert len(view.history.states) == 1
    (path / "_versions" / f"{(1 << 64) - 2}.manifest").unlink()
    assert len(view.refreshed().history.states) == 0


def test_more_versions_keep_the_numbers_of_states_that_are_columns(tmp_path):
    path = tmp_path / "t"
    lance.write_dataset(pa.table({"n": range(100)}), path, max_rows_per_file=10)
    with as_columns():
        view = HistoryView.open(str(path))
        assert has_columns(view.history)
        before = len(view.history.states)
        lance.dataset(path).delete("n % 20 = 3")
        lance.dataset(path).restore()
        later = view.refreshed().history
    assert (before, len(later.states)) == (10, 15)
    expect_same(HistoryView.open(str(path)).history, later)
