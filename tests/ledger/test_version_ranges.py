"""Ranges of versions, recorded by different workers in any order, are one history without seams."""

import random
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.history.source import TableSource
from lance_explorer.ledger import version_ranges
from lance_explorer.ledger.recorded_history import recorded_history
from lance_explorer.ledger.recorder import Base
from lance_explorer.ledger.version_ranges import ranges_to_record, record_range
from tests.differential.lives import LIVES, Life, live_on_branches
from tests.differential.twin import Twin
from tests.format.samples import DATA
from tests.ledger.asking import everything, log_of, read, sources

NAMES = ("ordinary_days", "merges", "columns", "compactions", "restores", "cleanups")
LIFE = [Life(s, stable, "2.2") for s in LIVES if s.__name__ in NAMES for stable in (False, True)]
OLD = sorted(DATA.glob("*/life_cycle.lance")) + sorted(DATA.glob("*/cleaned_stable_row_ids.lance"))


@pytest.fixture(autouse=True)
def short_ranges(monkeypatch):
    """Ranges of three versions."""
    monkeypatch.setattr(version_ranges, "_FEWEST_VERSIONS", 3)


def record_in_ranges(ledger: lx.Ledger, source: TableSource, seed: int = 0) -> int:
    """Record a branch as many workers do; return how many ranges there were."""
    ranges = ranges_to_record(source, ledger, 1)
    for one in random.Random(seed).sample(ranges, len(ranges)):
        record_range(source.storage, ledger, source.uri, source.branch, one)
    return len(ranges)


def check_same_as_read(ledger: lx.Ledger, source: TableSource) -> None:
    expected = everything(read(source))
    log = log_of(ledger, source)
    assert log.versions["version"].to_list() == [f.version for f in source.listing.versions]
    found = everything(recorded_history(log, source.listing.versions))
    if found["records"]:  # what is unusual is left to reading the manifests, put together
        found["detached"] = expected["detached"]
        assert found == expected
    for file in source.listing.versions:
        assert log.manifest(file.version) == source.storage.get(file.path)


@pytest.mark.slow
@pytest.mark.parametrize("life", LIFE, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_ranges_of_a_life_are_one_history(life, seed, tmp_path):
    source = TableSource(life.live(tmp_path).uri)
    ledger = lx.Ledger(tmp_path / "ledger")
    assert record_in_ranges(ledger, source, seed) > 1
    check_same_as_read(ledger, source)


@pytest.mark.parametrize("path", OLD, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_ranges_of_old_tables_are_one_history(path, tmp_path):
    source = TableSource(str(path))
    ledger = lx.Ledger(tmp_path / "ledger")
    record_in_ranges(ledger, source)
    check_same_as_read(ledger, source)


def test_ranges_of_branches_are_one_history(tmp_path):
    main = Twin.create(str(tmp_path / "table.lance"), 10, stable_row_ids=True)
    live_on_branches(main)
    ledger = lx.Ledger(tmp_path / "ledger")
    for source in sources(Path(main.uri)):
        record_in_ranges(ledger, source)
        check_same_as_read(ledger, source)


def test_later_ranges_are_told_from_what_is_recorded(tmp_path):
    path = str(tmp_path / "t.lance")
    for _ in range(7):
        lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path)
    for _ in range(7):
        lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    source = TableSource(path)
    ranges = ranges_to_record(source, ledger, 1)
    assert [[f.version for f in one.files] for one in ranges] == [[8, 9, 10], [11, 12, 13], [14]]
    assert isinstance(ranges[0].before, Base)
    assert ranges[0].before.version == 7
    record_in_ranges(ledger, source)
    check_same_as_read(ledger, source)
    assert log_of(ledger, source).versions["base_version"].to_list() == [None, *range(1, 14)]


def test_a_known_version_saves_looking_at_the_table(tmp_path):
    path = str(tmp_path / "t.lance")
    for _ in range(5):
        lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path)
    lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    source = TableSource(path)
    [(version, digest)] = (
        log_of(ledger, source).versions.select("version", "sha256").tail(1).iter_rows()
    )
    before = source.main_storage.io.requests
    [one] = ranges_to_record(source, ledger, 1, (version, digest))
    assert source.main_storage.io.requests == before
    assert [file.version for file in one.files] == [6]
    [one] = ranges_to_record(source, ledger, 1, (version, "of another table"))
    assert source.main_storage.io.requests > before
    assert [file.version for file in one.files] == [6]


def test_a_range_whose_base_nobody_recorded_is_recorded_again(tmp_path):
    path = str(tmp_path / "t.lance")
    for _ in range(9):
        lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    ledger = lx.Ledger(tmp_path / "ledger")
    source = TableSource(path)
    ranges = ranges_to_record(source, ledger, 1)
    for one in (ranges[0], ranges[2]):  # the one between is lost
        record_range(source.storage, ledger, source.uri, None, one)
    assert ledger.record(path)["new_versions"].item() >= 6
    check_same_as_read(ledger, source)
