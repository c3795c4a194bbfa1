"""Ranges of versions, recorded by different workers in any order, are one history without seams."""

import random
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger import version_ranges
from lance_explorer.ledger.recorded_history import recorded_history
from lance_explorer.ledger.recorder import Base
from lance_explorer.ledger.version_ranges import ranges_to_record, record_range
from tests.differential.lives import LIVES, Life, live_on_branches
from tests.differential.twin import Twin
from tests.ledger.asking import everything, log_of, read, sources
from tests.stored_tables import stored_check

NAMES = ("ordinary_days", "merges", "columns", "compactions", "restores", "cleanups")
LIFE = [Life(s, stable, "2.2") for s in LIVES if s.__name__ in NAMES for stable in (False, True)]


@pytest.fixture(autouse=True)
def short_ranges(monkeypatch):
    """Ranges of three versions."""
    monkeypatch.setattr(version_ranges, "_FEWEST_VERSIONS", 3)


def record_in_ranges(ledger: lx.Ledger, view: HistoryView, seed: int = 0) -> int:
    """Record a branch as many workers do; return how many ranges there were."""
    ranges = ranges_to_record(view, ledger, 1)
    for one in random.Random(seed).sample(ranges, len(ranges)):
        record_range(view.storage, ledger, view.uri, view.branch, one)
    return len(ranges)


def check_same_as_read(ledger: lx.Ledger, view: HistoryView) -> None:
    expected = everything(read(view))
    log = log_of(ledger, view)
    assert log.versions["version"].to_list() == [f.version for f in view.listing.versions]
    found = everything(recorded_history(log, view.listing.versions))
    if found["records"]:  # what is unusual is left to reading the manifests, put together
        found["detached"] = expected["detached"]
        assert found == expected
    for file in view.listing.versions:
        assert log.manifest(file.version) == view.storage.get(file.path)


@pytest.mark.slow
@pytest.mark.parametrize("life", LIFE, ids=str)
@pytest.mark.drawn(2)
def test_ranges_of_a_life_are_one_history(life, seed, tmp_path):
    view = HistoryView.open(life.live(tmp_path).uri)
    ledger = lx.Ledger(tmp_path / "ledger")
    assert record_in_ranges(ledger, view, seed) > 1
    check_same_as_read(ledger, view)


@stored_check()
def check_ranges_of_old_tables_are_one_history(asked):
    ledger = lx.Ledger(asked.scratch / f"ledger of {asked.view.branch}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(version_ranges, "_FEWEST_VERSIONS", 3)
        record_in_ranges(ledger, asked.view)
    check_same_as_read(ledger, asked.view)


def test_ranges_of_branches_are_one_history(tmp_path):
    main = Twin.create(str(tmp_path / "table.lance"), 10, stable_row_ids=True)
    live_on_branches(main)
    ledger = lx.Ledger(tmp_path / "ledger")
    for view in sources(Path(main.uri)):
        record_in_ranges(ledger, view)
        check_same_as_read(ledger, view)


def test_later_ranges_are_told_from_what_is_recorded(tmp_path):
    path = str(tmp_path / "t.lance")
    for _ in range(7):
        lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path)
    for _ in range(7):
        lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    view = HistoryView.open(path)
    ranges = ranges_to_record(view, ledger, 1)
    assert [[f.version for f in one.files] for one in ranges] == [[8, 9, 10], [11, 12, 13], [14]]
    assert isinstance(ranges[0].before, Base)
    assert ranges[0].before.version == 7
    record_in_ranges(ledger, view)
    check_same_as_read(ledger, view)
    assert log_of(ledger, view).versions["base_version"].to_list() == [None, *range(1, 14)]


def test_a_known_version_saves_looking_at_the_table(tmp_path):
    path = str(tmp_path / "t.lance")
    for _ in range(5):
        lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path)
    lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    view = HistoryView.open(path)
    [(version, digest)] = (
        log_of(ledger, view).versions.select("version", "sha256").tail(1).iter_rows()
    )
    before = view.main_storage.io.requests
    [one] = ranges_to_record(view, ledger, 1, (version, digest))
    assert view.main_storage.io.requests == before
    assert [file.version for file in one.files] == [6]
    [one] = ranges_to_record(view, ledger, 1, (version, "of another table"))
    assert view.main_storage.io.requests > before
    assert [file.version for file in one.files] == [6]


def test_a_range_whose_base_nobody_recorded_is_recorded_again(tmp_path):
    path = str(tmp_path / "t.lance")
    for _ in range(9):
        lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    ledger = lx.Ledger(tmp_path / "ledger")
    view = HistoryView.open(path)
    ranges = ranges_to_record(view, ledger, 1)
    for one in (ranges[0], ranges[2]):  # the one between is lost
        record_range(view.storage, ledger, view.uri, None, one)
    assert ledger.record(path)["new_versions"].item() >= 6
    check_same_as_read(ledger, view)
