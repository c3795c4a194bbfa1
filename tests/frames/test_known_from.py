"""Frames by version tell whether the table or only a ledger has a version."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import TableNotFoundError


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


def test_a_table_says_which_versions_are_recorded(table: lx.Table) -> None:
    assert repr(table).endswith("; versions 1 to 5 are known from the ledger")
    assert repr(table.at(2)).endswith("; known from the ledger")
    assert "pale: known from the ledger" in table._repr_html_()
    assert "known from" not in repr(lx.open_table(table.uri))


def test_recorded_commits_are_in_the_legends_of_pictures(table: lx.Table) -> None:
    for figure in (lx.figures.history(table), lx.figures.lineage(table)):
        assert "known from the ledger" in {trace.name for trace in figure.data}


def test_a_cleanup_frees_nothing_of_recorded_versions(table: lx.Table) -> None:
    alone = lx.open_table(table.uri).cleanup_preview(older_than=timedelta(0))
    both = table.cleanup_preview(older_than=timedelta(0))
    assert both.files().equals(alone.files())
    assert table.disk_usage().summary().equals(lx.open_table(table.uri).disk_usage().summary())


def test_a_table_that_is_gone_says_where_it_was_recorded(tmp_path: Path) -> None:
    uri = str(tmp_path / "gone.lance")
    lance.write_dataset(pa.table({"id": [1]}), uri)
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(uri)
    shutil.rmtree(uri)
    with pytest.raises(TableNotFoundError, match=r"ledger\.open\('gone\.lance'\) shows"):
        lx.open_table(uri, ledger=ledger)
