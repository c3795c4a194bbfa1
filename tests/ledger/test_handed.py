"""Versions that were handed to another process are what they were, and are not read again."""

import pickle
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import frame
from lance_explorer.ledger.handed import Handed, HandedTable, Handing
from lance_explorer.ledger.ledger import recorded_table
from tests.differential.lives import LIVES, Life, live_on_branches
from tests.differential.twin import Twin
from tests.ledger.asking import everything, sources
from tests.stored_tables import stored_check

NAMES = ("ordinary_days", "merges", "columns", "compactions", "restores", "cleanups")
LIFE = [Life(s, stable, "2.2") for s in LIVES if s.__name__ in NAMES for stable in (False, True)]
FRAMES = ("versions", "all_fragments", "all_row_id_segments", "all_deletions", "transactions")


def hand(view: HistoryView) -> Handed:
    """Return the versions of a source as another process gets them."""
    handing = Handing(view)
    view = view.noted_by(handing)
    handed: Handed = pickle.loads(pickle.dumps(handing.handed(view)))
    return handed


def opened(handed: Handed) -> HistoryView:
    return HistoryView.open(handed.uri, handed.branch, recorded=HandedTable(handed))


def check_same(view: HistoryView) -> HistoryView:
    """Compare what was handed out with what was read."""
    found = opened(hand(view))
    assert found.listing == view.listing
    assert everything(found.history) == everything(view.history)
    for name in FRAMES:
        assert frame(found, name).equals(frame(view, name)), name
    return found


@pytest.mark.slow
@pytest.mark.parametrize("life", LIFE, ids=str)
def test_a_life_is_the_same(life, tmp_path):
    uri = life.live(tmp_path).uri
    found = check_same(HistoryView.open(uri))
    assert not any("_versions" in path for path in _read_paths(hand(HistoryView.open(uri)), found))


@stored_check()
def check_old_tables_are_the_same(asked):
    check_same(HistoryView.open(str(asked.root)))


def test_branches_are_the_same(tmp_path):
    main = Twin.create(str(tmp_path / "table.lance"), 10, stable_row_ids=True)
    live_on_branches(main)
    for view in sources(Path(main.uri)):
        check_same(view)


@pytest.fixture
def recorded(tmp_path) -> HistoryView:
    """A table of which the first versions are only recorded, and the last ones only kept."""
    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(
        pa.table({"id": range(9)}), path, max_rows_per_file=3, enable_stable_row_ids=True
    )
    for number in range(4):
        dataset.delete(f"id = {number}")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path)
    dataset.cleanup_old_versions(retain_versions=2)
    for number in range(4, 7):
        dataset.delete(f"id = {number}")
    view = HistoryView.open(path)
    return view.with_recorded(recorded_table(ledger, view.uri))


def test_recorded_versions_are_handed_out_with_their_files(recorded):
    found = check_same(recorded)
    assert found.listing.versions[0].is_recorded
    assert not found.listing.versions[-1].is_recorded


@pytest.mark.parametrize(("first", "last"), [(1, 3), (2, 7), (6, 8), (4, 4)])
def test_some_of_recorded_and_kept_versions_are_handed_out(recorded, first, last):
    some = recorded.only(first, last)
    assert check_same(some).history.versions.tolist() == list(range(first, last + 1))


def test_what_is_committed_later_is_added(tmp_path):
    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(pa.table({"id": range(9)}), path)
    view = HistoryView.open(path)
    handing = Handing(view)
    view = view.noted_by(handing)
    first = handing.handed(view)
    dataset.delete("id = 3")
    before = view.storage.io.requests
    later = view.refreshed()
    second = handing.handed(later)
    assert everything(opened(second).history) == everything(HistoryView.open(path).history)
    assert view.storage.io.requests - before <= 3
    assert second.segments[:1] == first.segments
    assert first != second
    assert first == pickle.loads(pickle.dumps(first))


def test_an_earlier_version_may_be_asked_for_between(tmp_path):
    path = str(tmp_path / "t.lance")
    for _ in range(6):
        lance.write_dataset(pa.table({"id": [1]}), path, mode="append")
    view = HistoryView.open(path)
    handing = Handing(view)
    view = view.noted_by(handing)
    for last in (6, 3, 6, 5):
        view = view.refreshed(last)
        found = opened(handing.handed(view))
        assert everything(found.history) == everything(view.history)
        assert len(found.history.records) == last


def test_a_table_that_was_made_again_is_handed_out_alone(tmp_path):
    path = str(tmp_path / "t.lance")
    for _ in range(3):
        lance.write_dataset(pa.table({"id": [1]}), path, mode="append")
    view = HistoryView.open(path)
    handing = Handing(view)
    view = view.noted_by(handing)
    handing.handed(view)
    lance.write_dataset(pa.table({"other": [1, 2]}), str(tmp_path / "u.lance"))
    (tmp_path / "t.lance").rename(tmp_path / "old")
    (tmp_path / "u.lance").rename(path)
    later = view.refreshed()
    found = opened(handing.handed(later))
    assert everything(found.history) == everything(HistoryView.open(path).history)


def _read_paths(handed: Handed, view: HistoryView) -> list[str]:
    """Return what is read of the table itself to tell the same again."""
    read: list[str] = []
    again = opened(handed)
    live = again.storage._live  # type: ignore[attr-defined]

    def note(of: Any) -> Any:
        def noted(path: str, *part: int) -> Any:
            read.append(path)
            return of(path, *part)

        return noted

    live.get, live.get_range = note(live.get), note(live.get_range)
    for name in FRAMES:
        assert frame(again, name).equals(frame(view, name))
    return read
