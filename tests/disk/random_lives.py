"""``python -m tests.disk.random_lives --lives 1000``: look for what pylance says otherwise.

Each life is told by its seed, and repeated by ``--seed N --lives 1``. After its steps whose each
object is, what a cleanup would remove and what a compaction would rewrite are compared with
pylance; then with a clone, with a manifest that cannot be read, and while a writer goes on.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import lance

import lance_explorer as lx
from tests.disk.agreement import (
    check_cleanup,
    check_compaction,
    check_storage,
    check_with_clone,
    check_with_unreadable,
    tracked,
)
from tests.disk.lives import Compacted, Life

__all__ = ["main"]

_LIVES_A_KILL = 10
"""In one of so many lives a writer is killed while it writes."""

_WRITER = """
import sys
import lance
from tests.disk.lives import rows

dataset = lance.dataset(sys.argv[1])
table = rows(100_000, 10_000).select([n for n in dataset.schema.names if n != "extra"])
lance.write_dataset(table, sys.argv[1], mode="append", max_rows_per_file=50)
"""

_LOOKS = 3
"""How often a table is looked at while a writer goes on."""


def main(arguments: list[str] | None = None) -> int:
    """Live, and print what is wrong; return how many lives had something wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=20)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1000)
    told = parser.parse_args(arguments)
    wrong, begin, kinds = 0, time.monotonic(), Counter[str]()
    for number, seed in enumerate(range(told.seed, told.seed + told.lives), start=1):
        with tempfile.TemporaryDirectory() as folder:
            failed = _failures(Path(folder), seed, told.steps)
        for name, words in failed.items():
            print(f"seed {seed}, {name}:\n{words}", flush=True)
        wrong += bool(failed)
        kinds.update(failed.keys())
        if number % 50 == 0 or number == told.lives:
            took = time.monotonic() - begin
            print(f"{number} lives, {wrong} with differences, {took:.0f} s", flush=True)
    print(dict(kinds) or "all agree")
    return wrong


def _failures(folder: Path, seed: int, steps: int) -> dict[str, str]:
    """Return what is wrong with a life, by the name of the check."""
    kind = Life if seed % 3 else Compacted
    life = kind(folder / "t.lance", seed)
    life.live(steps)
    if seed % _LIVES_A_KILL == 0:
        _killed_writer(life.path)
    chosen = random.Random(seed)
    checks: dict[str, Callable[[], object]] = {
        "storage": lambda: check_storage(life.path),
        **{f"cleanup {n}": lambda: check_cleanup(life.path, life.branches, chosen) for n in "abcd"},
        **{
            f"compaction {n}": lambda: check_compaction(life.path, life.branches, chosen)
            for n in "abcd"
        },
        "clone": lambda: _check_clone(life, folder / "clone.lance"),
        "unreadable": lambda: _check_unreadable(life, chosen),
        "writer": lambda: _check_beside_a_writer(life),
    }
    failed = dict[str, str]()
    for name, check in checks.items():
        try:
            check()
        except Exception:  # noqa: BLE001 (whatever it is, the other checks go on)
            failed[name] = traceback.format_exc(limit=-3)
    return failed


def _killed_writer(path: Path) -> None:
    """Kill a writer of very many files as soon as the first of them is there."""
    before = set((path / "data").iterdir())
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(path)]) as process:
        while process.poll() is None and set((path / "data").iterdir()) == before:
            continue
        process.kill()


def _check_clone(life: Life, clone: Path) -> None:
    dataset = lance.dataset(str(life.path))
    version = life.random.choice(dataset.versions())["version"]
    lance.dataset(str(life.path), version=version).shallow_clone(str(clone), version)
    lance.dataset(str(clone)).delete("id % 5 = 0")
    if lance.dataset(str(clone)).get_fragments():
        check_with_clone(life.path, clone)
    shutil.rmtree(clone)


def _check_unreadable(life: Life, chosen: random.Random) -> None:
    """Check with an ordinary version that cannot be read, which is not the latest one."""
    latest = lance.dataset(str(life.path)).version
    manifests = [
        file
        for file in sorted((life.path / "_versions").glob("*.manifest"))
        if file.stem.isdecimal() and file.stem != str(2**64 - 1 - latest)
    ]
    if manifests:
        check_with_unreadable(life.path, chosen.choice(manifests))


def _check_beside_a_writer(life: Life) -> None:
    """Check that what is named all the while is never called left over, while a writer goes on."""
    stop, failures = threading.Event(), list[BaseException]()
    steps = [life.append, life.delete, life.update, life.compact, life.cleanup]

    def write() -> None:
        while not stop.is_set():
            try:
                life.random.choice(steps)()
            except (OSError, ValueError) as error:  # as of a version that it cleaned up itself
                failures.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(_LOOKS):
            before = _named(life.path)
            found = lx.open_table(life.path).inspect.storage()
            after = _named(life.path)
            status = dict(found.select("path", "status").iter_rows())
            wrong = {
                path: status.get(path)
                for path in before & after
                if status.get(path) not in ("live", "old", "pinned") and (life.path / path).exists()
            }
            assert not wrong, wrong
            assert found["path"].is_unique().all()
    finally:
        stop.set()
        writer.join()


def _named(path: Path) -> set[str]:
    """Return what pylance says that versions name; it begins anew if one vanishes meanwhile."""
    while True:
        try:
            return set(tracked(lance.dataset(str(path)), path)["path"])
        except (OSError, ValueError):
            continue


if __name__ == "__main__":
    sys.exit(main() > 0)
