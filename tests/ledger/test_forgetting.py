"""What is left out of a ledger, and what is deleted from it."""

import shutil
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

import lance_explorer as lx
from tests.synthetic import SyntheticTable

SECRET = "name = 'Mildred'"


@pytest.fixture
def table(tmp_path: Path) -> SyntheticTable:
    table = SyntheticTable(tmp_path / "t.lance").append(rows=10, fragments=3)
    for number in range(4):
        table.append(rows=5).delete({0: [number]}).update({1: [9 - number]})
    return table.compact(table.fragment_ids[:3]).append(rows=2)


def frames(table: lx.Table) -> list[pl.DataFrame]:
    found = [
        table.versions(),
        table.inspect.all_fragments(),
        table.inspect.manifests(),
        table.inspect.all_deletions(),
        table.lineage().edges(),
    ]
    return [frame.drop("known_from", strict=False) for frame in found]


@pytest.mark.parametrize("first", range(1, 16))
def test_what_is_not_forgotten_stays_as_it_was(
    tmp_path: Path, table: SyntheticTable, first: int
) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.path)
    ledger.forget("t.lance", before=first)
    found = frames(ledger.open("t.lance"))
    for version in range(1, first):
        table.folder.manifest_path(version).unlink()
    for one, expected in zip(found, frames(lx.open_table(table.path)), strict=True):
        assert one.equals(expected)


def test_files_of_forgotten_versions_are_forgotten(tmp_path: Path, table: SyntheticTable) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.path)
    folder = tmp_path / "ledger"
    [every] = [pl.read_parquet(file) for file in folder.rglob("files-*.parquet")]
    ledger.forget("t.lance", before=table.version - 2)  # before the compaction
    [kept] = [pl.read_parquet(file) for file in folder.rglob("files-*.parquet")]
    assert 0 < len(kept) < len(every)
    ledger.forget("t.lance", before=table.version)
    assert not list(folder.rglob("files-*.parquet"))


def test_versions_before_a_time_are_forgotten(tmp_path: Path, table: SyntheticTable) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.path)
    time = lx.open_table(table.path).at(6).timestamp
    assert time is not None
    ledger.forget(str(table.path), before=time + timedelta(seconds=1))
    assert ledger.tables()["first_version"].to_list() == [7]
    ledger.record(table.path)
    assert ledger.tables()["first_version"].to_list() == [1]


def test_nothing_is_left_of_what_is_forgotten(tmp_path: Path, table: SyntheticTable) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.path)
    ledger.forget("t.lance")
    assert not list((tmp_path / "ledger").rglob("*.parquet"))
    with pytest.raises(lx.TableNotFoundError, match=r"no table 't\.lance' is recorded"):
        ledger.open("t.lance")


def test_words_are_left_out(tmp_path: Path) -> None:
    import lance
    import pyarrow as pa

    path = tmp_path / "people.lance"
    people = lance.write_dataset(pa.table({"name": ["Mildred", "Anna", "Zoe"]}), path)
    people.delete(SECRET)
    people.delete("name = 'Zoe'")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, words=False)
    for file in (tmp_path / "ledger").rglob("*.parquet"):
        for column in pl.read_parquet(file).get_columns():
            assert b"Mildred" not in b"".join(
                value if isinstance(value, bytes) else str(value).encode()
                for value in column.to_list()
            )
    without = ledger.open("people.lance").inspect.transactions()
    within = lx.open_table(path).inspect.transactions()
    assert without["operation"].equals(within["operation"])
    assert "Mildred" in str(within.rows())
    assert "Mildred" not in str(without.rows())
    people.delete("name = 'Anna'")
    ledger.record(path, words=False)
    assert len(ledger.open("people.lance").versions()) == 4


def test_a_moved_table_is_still_known(tmp_path: Path, table: SyntheticTable) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.path)
    moved = tmp_path / "moved.lance"
    table.path.rename(moved)
    ledger.record(moved, as_="t.lance")
    expected = lx.open_table(moved).versions().drop("known_from")
    for version in range(1, 9):
        (moved / "_versions" / table.folder.manifest_path(version).name).unlink()
    found = lx.open_table(moved, ledger=ledger).versions()
    assert found.drop("known_from").equals(expected)
    assert found["known_from"].to_list() == ["ledger"] * 8 + ["live"] * (len(found) - 8)


@pytest.mark.parametrize("folder", ["t.lance", "t.lance/ledger", "t.lance/a/b"])
def test_nothing_is_written_into_a_table(
    tmp_path: Path, table: SyntheticTable, folder: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(lx.InvalidArgumentError, match="a ledger has to be outside of tables"):
        lx.Ledger(tmp_path / folder).record(table.path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_branch_without_versions_is_passed_over(tmp_path: Path, table: SyntheticTable) -> None:
    refs = table.path / "_refs" / "branches"
    refs.mkdir(parents=True)
    (refs / "dev.json").write_text('{"parentVersion": 2, "createAt": 1, "manifestSize": 3}')
    ledger = lx.Ledger(tmp_path / "ledger")
    assert ledger.record(table.path)["branch"].to_list() == [None]
    with pytest.raises(lx.RefNotFoundError):
        ledger.record(table.path, branch="other")


def test_a_moved_table_without_new_versions_is_known_by_its_new_place(
    tmp_path: Path, table: SyntheticTable
) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.path)
    moved = tmp_path / "moved.lance"
    table.path.rename(moved)
    assert ledger.record(moved, as_="t.lance")["new_versions"].to_list() == [0]
    assert sorted(ledger.tables()["uri"]) == [str(moved), str(table.path)]
    assert len(ledger.open("moved.lance").versions()) == table.version


def test_a_table_that_is_made_again_is_not_joined_when_it_is_refreshed(
    tmp_path: Path, table: SyntheticTable
) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.path)
    for version in range(1, table.version):
        table.folder.manifest_path(version).unlink()
    opened = lx.open_table(table.path, ledger=ledger)
    assert len(opened.versions()) == table.version
    shutil.rmtree(table.path)
    SyntheticTable(table.path).append(rows=4).append(rows=1)
    opened.refresh()
    found, expected = opened.versions(), lx.open_table(table.path).versions()
    assert found.equals(expected)
