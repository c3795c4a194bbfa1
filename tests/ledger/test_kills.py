"""Who is killed while recording loses nothing that was written; the next one goes on from there."""

import shutil
import signal
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import lance_explorer as lx
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import frame
from lance_explorer.ledger.places import Place
from tests.ledger.asking import log_of
from tests.synthetic import SyntheticTable

TURNS = 5
FRAMES = ("versions", "all_fragments", "all_row_id_segments", "transactions", "all_indices", "refs")
KILLS = 10


class DiesError(BaseException):
    """What stands for the end of a process: nobody catches it."""


class DyingPlace(Place):
    """A place whose process dies before, within or after its nth change of a file."""

    def __init__(self, ledger: lx.Ledger, changes: int, moment: str) -> None:
        super().__init__(ledger.uri)
        self.left, self._moment = changes, moment

    def write(self, path: str, data: bytes) -> None:
        self.left -= 1
        if self.left == 0 and self._moment == "before":
            raise DiesError
        if self.left == 0 and self._moment == "within":
            name = Path(self.uri, path).with_name(".unfinished-0123")
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_bytes(data[: len(data) // 2])
            raise DiesError
        super().write(path, data)
        if self.left == 0:
            raise DiesError

    def delete(self, path: str) -> None:
        self.left -= 1
        super().delete(path)
        if self.left == 0:
            raise DiesError


def turns(path: Path) -> SyntheticTable:
    table = SyntheticTable(path).append(rows=6, fragments=2)
    for turn in range(TURNS):
        table.append(rows=2).update({table.fragment_ids[-1]: [0]}).tag(f"tag{turn}")
    return table


def commit_and_record(path: Path, whole: Path, ledger: lx.Ledger, dying: lx.Ledger) -> bool:
    """Bring a table's versions back one by one, and record after each turn; whether one died."""
    died = False
    for manifests in (sorted(whole.glob("_versions/*"), reverse=True)[:n] for n in (2, 5, 9)):
        for file in manifests:
            if not (path / "_versions" / file.name).exists():
                shutil.copy2(file, path / "_versions")
        try:
            (ledger if died else dying).record(path)
        except DiesError:
            died = True
    ledger.record(path)
    return died


@pytest.fixture
def whole(tmp_path) -> Path:
    return turns(tmp_path / "whole" / "t.lance").path


def answers(ledger: lx.Ledger) -> dict[str, list[Any]]:
    """Return all that a ledger alone says of its table."""
    table = ledger.open("t.lance")
    return {name: frame(table._view, name).rows() for name in FRAMES}


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "within", "after"])
def test_whoever_dies_at_whichever_write_the_ledger_is_as_if_nobody_had(whole, tmp_path, moment):
    path = tmp_path / "t.lance"
    expected, died, number = None, True, 0
    while died:
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(whole, path)
        for file in path.glob("_versions/*"):
            file.unlink()
        ledger = lx.Ledger(tmp_path / f"ledger-{number}")
        dying = lx.Ledger(ledger.uri)
        dying._place = DyingPlace(ledger, number, moment)
        died = commit_and_record(path, whole, ledger, dying) or number == 0
        found = answers(ledger)
        expected = expected or found  # the first one never dies
        assert found == expected
        log = log_of(ledger, HistoryView.open(str(path)))
        for file in HistoryView.open(str(path)).listing.versions:
            assert log.manifest(file.version) == (path / file.path).read_bytes()
        number += 1
    assert number > 12


def record(ledger: str, path: str) -> None:
    """What a process does that is killed meanwhile."""
    for version in range(1, 20):
        view = HistoryView.open(path)
        files = tuple([file for file in view.listing.versions if file.version <= version])
        view.listing = type(view.listing)(files, ())
        lx.Ledger(ledger)._record(view, [None], words=True)


@pytest.mark.slow
def test_processes_that_are_killed_lose_nothing(whole: Path, tmp_path):
    context = get_context("forkserver")
    context.set_forkserver_preload(["lance_explorer.ledger.ledger", "tests.ledger.test_kills"])
    once = lx.Ledger(tmp_path / "once")
    once.record(whole)
    expected = answers(once)
    killed = 0
    for number in range(KILLS):
        place = tmp_path / f"ledger-{number}"
        process = context.Process(target=record, args=(str(place), str(whole)))
        process.start()
        while process.is_alive() and len([*place.rglob("*.parquet")]) <= 4 * number:
            pass
        process.kill()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        ledger = lx.Ledger(place)
        ledger.record(whole)
        assert answers(ledger) == expected
    assert killed > KILLS // 2
