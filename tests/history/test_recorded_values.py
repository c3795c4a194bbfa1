"""Values of versions that only a ledger still has: as they were, or plainly lost."""

from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import StorageError


class Cleaned(NamedTuple):
    """A table that was recorded and cleaned up, and what could be read of it before."""

    table: lx.Table
    ledger: lx.Ledger
    rows: dict[int, pl.DataFrame]
    changes: pl.DataFrame


def _people(first: int, stop: int, mood: int = 0) -> pa.Table:
    return pa.table(
        {"id": pa.array(range(first, stop), pa.int64()), "mood": [mood] * (stop - first)}
    )


def _cleaned(folder: Path, *, stable: bool, compact: bool) -> Cleaned:
    uri = folder / "people.lance"
    dataset: Any = lance.write_dataset(_people(0, 50), uri, enable_stable_row_ids=stable)
    dataset.insert(_people(50, 100))
    upsert = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    upsert.execute(_people(40, 45, mood=1))
    dataset = lance.dataset(uri)
    dataset.create_scalar_index("id", "BTREE")
    dataset.delete("id = 7")
    if compact:
        dataset.optimize.compact_files()
    dataset.insert(_people(100, 120))
    ledger = lx.Ledger(folder / "ledger")
    ledger.record(uri)
    before = lx.open_table(uri)
    rows = {version: before.at(version).read() for version in before.versions()["version"]}
    changes = before.changes(0, mode="per_commit").to_polars()
    dataset.checkout_latest()
    dataset.cleanup_old_versions(older_than=timedelta(0), delete_unverified=True)
    return Cleaned(lx.open_table(uri, ledger=ledger), ledger, rows, changes)


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "plain"])
def cleaned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Cleaned:
    """Return a table whose old data files are all still there."""
    return _cleaned(tmp_path_factory.mktemp("cleaned"), stable=request.param, compact=False)


@pytest.fixture(scope="module")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> Cleaned:
    """Return a table whose old data files are gone."""
    return _cleaned(tmp_path_factory.mktemp("compacted"), stable=True, compact=True)


def test_values_are_read_while_their_files_are_there(cleaned: Cleaned) -> None:
    for version in (1, 2):
        snapshot = cleaned.table.at(version)
        assert snapshot.read().equals(cleaned.rows[version])
        assert snapshot.scan().collect().select("id", "mood").equals(cleaned.rows[version])
        assert snapshot.row_ids(columns=["id"])["id"].equals(cleaned.rows[version]["id"])
        assert snapshot.schema.names == ["id", "mood"]


def test_filters_need_no_index_of_a_recorded_version(cleaned: Cleaned) -> None:
    last_recorded = cleaned.table._view.recorded_versions[-1]
    found = cleaned.table.at(last_recorded).read(filter="id = 42")
    assert found.rows() == [(42, 1)]


def test_missing_deletion_files_are_told_by_name(cleaned: Cleaned) -> None:
    told = r"version 3 is known from the ledger alone.* 1 is missing, _deletions/0-\S+"
    with pytest.raises(StorageError, match=told):
        cleaned.table.at(3).read()


def test_missing_data_files_are_told_by_name(compacted: Cleaned) -> None:
    told = "of 2 data and deletion files, 2 are missing, data/.*lance, data/.*lance$"
    with pytest.raises(StorageError, match=told):
        compacted.table.at(2).head()


def test_changes_are_what_they_were_or_null_with_a_finding(
    cleaned: Cleaned, compacted: Cleaned
) -> None:
    for one in (cleaned, compacted):
        changes = one.table.changes(0, mode="per_commit")
        now, before = changes.to_polars(), one.changes
        assert now.drop("id", "mood").equals(before.drop("id", "mood"))
        for name in ("id", "mood"):
            is_known = now[name].is_not_null()
            assert now[name].filter(is_known).equals(before[name].filter(is_known))
    assert changes.findings()["code"].unique().to_list() == ["values_lost"]
    assert "known from the ledger alone" in changes.findings()["statement"][0]


def test_the_history_of_a_row_has_the_values_that_are_left(cleaned: Cleaned) -> None:
    events = cleaned.table.row(42, at=1).history(values=True)
    assert events["values"].to_list()[0] == {"id": 42, "mood": 0}
    # Without stable row IDs an update ends the life of a row: what it was is told.
    mood = 1 if cleaned.table.latest.has_stable_row_ids else 0
    assert events["values"].to_list()[1] in (None, {"id": 42, "mood": mood})


def test_a_ledger_by_itself_says_that_it_has_no_values(cleaned: Cleaned) -> None:
    alone = cleaned.ledger.open("people.lance")
    with pytest.raises(StorageError, match="which kept none of these values"):
        alone.at(1).read()
    changes = alone.changes(1, 2).to_polars()
    assert changes["id"].null_count() == len(changes) == 50
