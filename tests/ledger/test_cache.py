"""The cache of histories: it saves reading, and never changes an answer."""

import fcntl
import os
import shutil
import stat
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.history import recorded
from lance_explorer.inspect.catalogue import frame
from lance_explorer.ledger import cache, cache_files, cache_later
from lance_explorer.ledger.cache import CachedTable
from lance_explorer.ledger.cache_later import Unwritten, finish_writing
from lance_explorer.ledger.cache_writing import write_history
from lance_explorer.ledger.places import folder_of
from tests.stored_tables import Asked, stored_check
from tests.synthetic import SyntheticTable


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that keeps even the smallest history, once writing is finished."""
    monkeypatch.setattr(recorded, "_LONG_BYTES", 0)
    monkeypatch.setattr(recorded, "_FEW_VERSIONS", 0)
    monkeypatch.setattr(cache, "_LONG_SECONDS", 0)
    folder = tmp_path / "cache"
    monkeypatch.setenv(cache_files.SETTING, str(folder))
    return folder


@pytest.fixture
def table(tmp_path: Path) -> SyntheticTable:
    table = SyntheticTable(tmp_path / "t.lance").append(rows=10, fragments=3)
    for number in range(6):
        table.append(rows=5).delete({0: [number]}).update({1: [9 - number]})
    return table


def answers(path: Path) -> tuple[list[pl.DataFrame], int]:
    """Return frames of a table that is opened anew, and how many requests that took."""
    table = lx.open_table(path)
    frames = [
        table.versions(),
        table.inspect.all_fragments(),
        table.inspect.transactions(),
        table.inspect.findings(),
        table.lineage().edges(),
        table.row(3).history(),
    ]
    finish_writing()
    fresh = lx.open_table(path)
    fresh.versions()
    return frames, fresh.io.requests


def uncached(path: Path) -> tuple[list[pl.DataFrame], int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache_files.SETTING, "off")
        return answers(path)


def assert_same(path: Path) -> int:
    """Check that answers are those without a cache; return how many requests they took."""
    found, requests = answers(path)
    expected, _ = uncached(path)
    for one, other in zip(found, expected, strict=True):
        assert one.equals(other)
    return requests


@stored_check()
def check_old_tables_are_the_same_from_the_cache(asked: Asked) -> None:
    """Their transactions are in files of their own."""
    view, top = asked.view, asked.scratch / "cache"
    folder = top / folder_of(view.uri)
    write_history(Unwritten(folder, view.uri, view.storage.uri, view.branch), lambda: True)
    kept = view.noted_by(CachedTable(top, view.uri))
    for name in ("versions", "all_fragments", "transactions", "all_indices"):
        assert frame(kept, name).equals(frame(view, name)), name


def test_a_history_is_read_once(folder: Path, table: SyntheticTable) -> None:
    _, without = uncached(table.path)
    assert_same(table.path)
    assert assert_same(table.path) < without - len(lx.open_table(table.path).versions()) + 3


@pytest.mark.slow
def test_new_versions_are_read_beside_what_is_kept(folder: Path, table: SyntheticTable) -> None:
    assert_same(table.path)
    for number in range(5):
        table.append(rows=number + 1).compact(table.fragment_ids[-2:])
        assert_same(table.path)


@pytest.mark.slow
def test_a_version_that_was_cleaned_up_is_not_shown(folder: Path, table: SyntheticTable) -> None:
    assert_same(table.path)
    for number in (1, 2, 5):
        table.folder.manifest_path(number).unlink()
        assert_same(table.path)
    assert lx.open_table(table.path).versions()["version"].head(2).to_list() == [3, 4]


def test_a_table_that_is_written_again_under_the_same_name_is_another_one(
    folder: Path, table: SyntheticTable
) -> None:
    assert_same(table.path)
    times = {one.name: one.stat().st_mtime_ns for one in (table.path / "_versions").iterdir()}
    shutil.rmtree(table.path)
    again = SyntheticTable(table.path).append(rows=10, fragments=3)
    for number in range(6):
        again.append(rows=5).delete({0: [number + 1]}).update({1: [9 - number]})
    for name, time in times.items():
        os.utime(table.path / "_versions" / name, ns=(time, time))
    assert_same(table.path)
    assert_same(table.path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_what_is_damaged_is_not_believed(folder: Path, table: SyntheticTable, number: int) -> None:
    assert_same(table.path)
    files = sorted(folder.rglob("*.parquet"))
    one = files[number % len(files)]
    data = one.read_bytes()
    match number % 3:
        case 0:
            one.write_bytes(data[: len(data) // 2])
        case 1:
            one.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
        case 2:
            one.unlink()
    assert_same(table.path)
    assert_same(table.path)


def test_nobody_else_can_read_it(folder: Path, table: SyntheticTable) -> None:
    assert_same(table.path)
    for one in [folder, *folder.rglob("*")]:
        if one.name == ".used":  # it is empty
            continue
        assert not stat.S_IMODE(one.stat().st_mode) & 0o077, one


def test_it_can_be_turned_off_and_cleared(
    folder: Path, table: SyntheticTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache_files.SETTING, "off")
    answers(table.path)
    assert not folder.exists()
    assert lx.clear_cache() == 0
    monkeypatch.setenv(cache_files.SETTING, str(folder))
    answers(table.path)
    assert lx.clear_cache() > 0
    assert not list(folder.rglob("*.parquet"))
    assert_same(table.path)


def test_what_was_not_used_for_longest_is_deleted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{name}.lance" for name in "abc"]
    for number, path in enumerate(paths):
        SyntheticTable(path).append(rows=5).append(rows=2)
        answers(path)
        used = next(folder.glob(f"{path.name}-*/.used"))
        os.utime(used, (number, number))
    size = sum(one.stat().st_size for one in folder.rglob("*.parquet"))
    monkeypatch.setattr(cache_files, "MOST_BYTES", size)
    SyntheticTable(tmp_path / "d.lance").append(rows=5)
    answers(tmp_path / "d.lance")
    kept = {one.name.partition(".lance")[0] for one in folder.iterdir()}
    assert "a" not in kept
    assert "d" in kept


def test_the_answer_comes_before_the_cache(
    folder: Path, table: SyntheticTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_later, "_FIRST_REST", 600)
    read = lx.open_table(table.path)
    read.versions()
    assert not list(folder.rglob("*.parquet"))
    requests = read.io.requests
    finish_writing()
    assert list(folder.rglob("versions-*.parquet"))
    assert read.io.requests == requests
    kept = lx.open_table(table.path)
    assert kept.versions().equals(read.versions())
    assert kept.io.requests == requests - len(read.versions()) + 1  # it looks at the newest one


def test_who_has_to_end_keeps_what_was_read_and_the_next_one_goes_on(
    folder: Path, table: SyntheticTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends has no time: it keeps one more version each."""
    monkeypatch.setattr(cache, "write_later", lambda history: write_history(history, lambda: False))
    found = []
    for _ in range(4):
        read = lx.open_table(table.path)
        read.versions()
        found.append(read.io.requests)
    assert found == [found[0], found[0], found[0] - 1, found[0] - 2]  # one looks at what is kept
    monkeypatch.undo()
    monkeypatch.setenv(cache_files.SETTING, str(folder))
    assert_same(table.path)


def test_versions_that_a_refresh_brought_are_kept(folder: Path, table: SyntheticTable) -> None:
    read = lx.open_table(table.path)
    read.versions()
    finish_writing()
    for number in range(6):
        table.append(rows=number + 1)
    read.refresh().versions()
    finish_writing()
    fresh = lx.open_table(table.path)
    assert fresh.versions().equals(read.versions())
    assert fresh.io.requests < len(fresh.versions())


def test_one_process_writes_at_a_time(folder: Path, table: SyntheticTable) -> None:
    lx.open_table(table.path).versions()
    finish_writing()
    [own] = [one.parent for one in folder.rglob(".used")]
    kept = sorted(own.rglob("*.parquet"))
    with (own / ".writing").open("r+") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        table.append(rows=3)
        lx.open_table(table.path).versions()
        finish_writing()
        assert sorted(own.rglob("*.parquet")) == kept
    lx.open_table(table.path).versions()
    finish_writing()
    assert sorted(own.rglob("*.parquet")) != kept
    assert_same(table.path)


def test_a_table_may_be_replaced_before_the_cache_is_written(
    folder: Path, table: SyntheticTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_later, "_FIRST_REST", 600)
    lx.open_table(table.path).versions()
    shutil.rmtree(table.path)
    again = SyntheticTable(table.path).append(rows=10, fragments=3)
    for number in range(6):
        again.append(rows=7).delete({0: [number + 1]}).update({1: [9 - number]})
    finish_writing()
    assert_same(table.path)
    assert_same(table.path)


def test_what_is_read_in_no_time_is_not_kept(
    folder: Path, table: SyntheticTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_LONG_SECONDS", 600)
    answers(table.path)
    assert not folder.exists()


def test_small_histories_are_not_kept(
    tmp_path: Path, table: SyntheticTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache_files.SETTING, str(tmp_path / "cache"))
    answers(table.path)
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_many_processes_may_use_it(folder: Path, table: SyntheticTable) -> None:
    context = get_context("spawn")
    with context.Pool(3) as pool:
        found = pool.map(_versions, [(str(table.path), str(folder))] * 6)
    expected = uncached(table.path)[0][0]
    assert all(pl.read_json(one.encode()).height == expected.height for one in found)
    assert_same(table.path)


def _versions(of: tuple[str, str]) -> str:
    path, folder = of
    os.environ[cache_files.SETTING] = folder
    recorded._LONG_BYTES = recorded._FEW_VERSIONS = cache._LONG_SECONDS = 0
    return lx.open_table(path).versions().select("version").write_json()
