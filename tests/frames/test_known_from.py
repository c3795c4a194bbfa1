"""Frames by version tell whether the table or only a ledger has a version."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> lx.Table:
    """Return a table of which only the last version is kept; the others are recorded."""
    folder = tmp_path_factory.mktemp("known_from")
    uri = folder / "people.lance"
    people = pa.table({"id": pa.array(range(10), pa.int64())})
    dataset: Any = lance.write_dataset(people, uri, enable_stable_row_ids=True)
    dataset.insert(people)
    dataset.delete("id = 3")
    dataset.optimize.compact_files()
    dataset.insert(people)
    lx.Ledger(folder / "ledger").record(uri)
    dataset.cleanup_old_versions(older_than=timedelta(0), delete_unverified=True)
    return lx.open_table(uri, ledger=folder / "ledger")


def test_versions_before_a_cleanup_are_known_from_the_ledger(table: lx.Table) -> None:
    expected = ["ledger"] * 5 + ["live"]
    assert table.versions()["known_from"].to_list() == expected
    assert table.inspect.manifests()["known_from"].to_list() == expected
    assert table.inspect.transactions()["known_from"].to_list() == expected
    assert table.inspect.row_id_totals()["known_from"].to_list() == expected


def test_commits_before_a_cleanup_are_known_from_the_ledger(table: lx.Table) -> None:
    frames = [
        table.inspect.rewrite_groups(),
        table.deletion_history(0),
        table.lineage().edges(),
        table.row(3).history(),
        table.follow([3]),
        table.changes(0, 4, mode="per_commit").summary(),
        table.diff(1, 4).commits(),
    ]
    for frame in frames:
        assert set(frame["known_from"]) == {"ledger"}


def test_without_a_ledger_all_is_live(table: lx.Table) -> None:
    alone = lx.open_table(table.uri)
    assert alone.versions()["known_from"].to_list() == ["live"]
    edges = alone.lineage().edges()
    assert edges["known_from"].dtype == table.lineage().edges()["known_from"].dtype


def test_findings_of_a_ledger_are_among_those_of_the_table(table: lx.Table, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.uri)
    next(Path(ledger.uri).rglob("versions-*.parquet")).write_bytes(b"cut short")
    found = lx.open_table(table.uri, ledger=ledger).inspect.findings()
    assert found["code"].to_list() == ["damaged_ledger"]
