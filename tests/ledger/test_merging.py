"""A ledger of many recordings has few files, says the same, and forgets nothing too early."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import lance_explorer as lx
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import frame
from lance_explorer.ledger.ledger import recorded_table
from lance_explorer.ledger.merging import delete_replaced
from lance_explorer.ledger.recorded_table import _MOST_TRIES
from tests.ledger.asking import log_of
from tests.synthetic import SyntheticTable

FRAMES = ("versions", "all_fragments", "transactions", "refs")
RECORDINGS = 100
MOST_SEGMENTS = 20


def changing(table: SyntheticTable, turn: int) -> None:
    table.append(rows=2)
    if turn % 3 == 0:
        table.delete({table.fragment_ids[-1]: [0]})
    if turn % 10 == 9:
        table.compact(table.fragment_ids[:4])
    if turn % 25 == 24:
        table.restore(table.version - 3).create_index(f"index{turn}").tag(f"tag{turn}")


def segments(ledger: lx.Ledger, path: Path) -> int:
    return sum(len(life.segments) for life in recorded_table(ledger, str(path)).lives(None))


def answers(source: HistoryView) -> dict[str, list[Any]]:
    return {name: frame(source, name).drop("known_from", strict=False).rows() for name in FRAMES}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[lx.Ledger, SyntheticTable]:
    """A table that was recorded a hundred times, and of which all versions are kept."""
    folder = tmp_path_factory.mktemp("merging")
    ledger, table = lx.Ledger(folder / "ledger"), SyntheticTable(folder / "t.lance")
    for turn in range(RECORDINGS):
        changing(table, turn)
        ledger.record(table.path)
        assert segments(ledger, table.path) <= MOST_SEGMENTS
    return ledger, table


@pytest.mark.slow
def test_after_a_hundred_recordings_all_is_there(recorded):
    ledger, table = recorded
    source = HistoryView.open(str(table.path))
    log = log_of(ledger, source)
    for file in source.listing.versions:
        assert log.manifest(file.version) == source.storage.get(file.path)
    assert answers(ledger.open("t.lance")._view) == answers(source)


@pytest.mark.slow
def test_compacting_leaves_one_segment_and_the_same_answers(recorded, tmp_path):
    copy = lx.Ledger(shutil.copytree(recorded[0].uri, tmp_path / "ledger"))
    before = answers(copy.open("t.lance")._view)
    assert copy.compact()["segments"].to_list() == [1]
    assert answers(copy.open("t.lance")._view) == before
    assert copy.compact()["segments"].to_list() == [1]


@pytest.mark.slow
def test_what_was_merged_is_deleted_after_a_day_and_not_earlier(recorded, tmp_path):
    copy = lx.Ledger(shutil.copytree(recorded[0].uri, tmp_path / "ledger"))
    path = recorded[1].path
    copy.compact()
    table, now = recorded_table(copy, str(path)), datetime.now(UTC)
    files = {file.name for file in copy._place.files(table.folder(None))}
    [life] = table.lives(None)
    for hours in (0, 23):
        assert delete_replaced(life.segments, now + timedelta(hours=hours)) == 0
    assert {file.name for file in copy._place.files(table.folder(None))} == files
    assert delete_replaced(life.segments, now + timedelta(hours=25))
    [segment] = recorded_table(copy, str(path)).lives(None)[0].segments
    left = {file.name for file in copy._place.files(table.folder(None))}
    assert left == {segment.file, *segment.about.files.values()}
    assert answers(copy.open("t.lance")._view) == answers(HistoryView.open(str(path)))


def test_the_next_recording_deletes_what_is_a_day_old(recorded, tmp_path):
    copy = lx.Ledger(shutil.copytree(recorded[0].uri, tmp_path / "ledger"))
    copy.compact()
    uri = str(recorded[1].path)
    folder = Path(copy.uri, recorded_table(copy, uri).folder(None))
    (folder / ".unfinished-00").write_bytes(b"half")
    (folder / "notes.txt").write_text("not ours")
    for file in folder.iterdir():
        os.utime(file, ns=(0, 0))
    [segment] = recorded_table(copy, uri).lives(None)[0].segments
    copy.compact()
    left = {file.name for file in folder.iterdir()}
    assert left == {segment.file, *segment.about.files.values(), "notes.txt"}


def put(source: str, target: str) -> None:
    """Copy a file so that nobody finds half of it, as recorders write."""
    shutil.copy2(source, f"{target}.unfinished")
    Path(f"{target}.unfinished").replace(target)


def test_a_reader_beside_who_merges_always_has_whole_answers(tmp_path):
    ledger, table = lx.Ledger(tmp_path / "ledger"), SyntheticTable(tmp_path / "t.lance")
    for turn in range(4):
        changing(table, turn)
        ledger.record(table.path)
    small, done = shutil.copytree(ledger.uri, tmp_path / "small"), Event()
    expected = answers(HistoryView.open(str(table.path)))

    def merge() -> None:
        """Merge again and again, and delete at once what was merged."""
        try:
            for _ in range(_MOST_TRIES - 1):  # so often files of a reader may vanish
                ledger.compact()
                [life] = recorded_table(ledger, str(table.path)).lives(None)
                delete_replaced(life.segments, datetime.now(UTC) + timedelta(days=2))
                shutil.copytree(small, ledger.uri, copy_function=put, dirs_exist_ok=True)
        finally:
            done.set()

    thread = Thread(target=merge)
    thread.start()
    while not done.is_set():
        assert answers(lx.Ledger(ledger.uri).open("t.lance")._view) == expected
    thread.join()
