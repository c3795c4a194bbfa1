"""Run all that is random with fresh seeds, again and again, for as long as it is given.

``python tools/nightly.py --minutes 60``, or `make nightly`. A round runs the programs that live
lives or damage files, then the random tests of each folder, in pieces of a minute or two; as many
run at once as there are processors. What begins in time runs to its end. A failure is printed when
its piece ends, and again at the end, with the line that repeats it; then the exit status is 1.
"""

import argparse
import os
import re
import secrets
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ".venv/bin/python"
CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

PROGRAMS = (
    "tests.differential.random_lives --lives 2",
    "tests.differential.random_lives --losses --lives 2",
    "tests.differential.random_lives --turn-on 11 --lives 2",
    "tests.differential.random_lives --lives 2",
    "tests.disk.random_lives --lives 2",
    "tests.differential.column_values --lives 2 --apart 1",
    "tests.disk.safe_calls --lives 4",
    "tests.disk.random_compactions --tables 10",
    "tests.disk.seeded_damage --lives 12",
    "tests.ledger.lives --lives 2",
    "tests.fuzzing --cases 2500",
    "tests.table_fuzzing --tables 8",
)
"""What takes a ``--seed``. First what asks most, so that it is in the first minutes of a night."""


def main() -> int:
    """Run until the time is over; return the exit status."""
    parser = argparse.ArgumentParser(description="Run all that is random with fresh seeds.")
    parser.add_argument("--minutes", type=float, default=60)
    given = parser.parse_args()
    os.chdir(ROOT)
    begin = time.monotonic()
    commands, lock, failures = rounds(), threading.Lock(), list[str]()

    def work() -> None:
        while time.monotonic() - begin < 60 * given.minutes:
            with lock:
                number, command = next(commands)
            since = time.monotonic()
            found, output = run(command)
            now = time.monotonic()
            ending = "FAILED" if found else "well"
            with lock:
                failures.extend(found)
                print(
                    f"minute {(now - begin) / 60:.0f}, round {number}, {now - since:.0f} s: "
                    f"{ending}: {shlex.join(command)}",
                    flush=True,
                )
                if found:
                    print(output, *found, sep="\n", flush=True)

    workers = [threading.Thread(target=work) for _ in range(CPUS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"\n{len(failures)} failures", *failures, sep="\n")
    return 1 if failures else 0


def rounds() -> Iterator[tuple[int, list[str]]]:
    """Yield commands, each with the number of its round."""
    places = random_tests()
    for number in count(1):
        for program in PROGRAMS:
            yield (
                number,
                [PYTHON, "-m", *program.split(), "--seed", str(secrets.randbelow(1 << 32))],
            )
        for place in places:
            marks = ["-m", "drawn or hypothesis", "--seed", secrets.token_hex(8)]
            yield number, [PYTHON, "-m", "pytest", "-q", "--no-header", place, *marks]


def random_tests() -> list[str]:
    """Return the folders below ``tests`` with random tests, and the files beside them.

    Of ``tests/differential``, whose files take minutes, the files.
    """
    tests = ROOT / "tests"
    found = set[str]()
    for path in tests.rglob("test_*.py"):
        if re.search(
            r"mark\.drawn|^from hypothesis", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            folder, *parts = path.relative_to(tests).parts
            found.add("/".join(["tests", folder, *(parts if folder == "differential" else ())]))
    return sorted(found)


def run(command: list[str]) -> tuple[list[str], str]:
    """Run a command; return the lines that repeat what failed, and what it said."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode in (0, 5):  # 5: a folder in which no test of a given mark is
        return [], done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith(f"{PYTHON} -m pytest ")]
    return lines or [shlex.join(command)], done.stdout


if __name__ == "__main__":
    sys.exit(main())
