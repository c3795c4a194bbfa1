"""Kill the driver of a stream in the middle of its batches, for each format of a copy.

``python -m tests.spark.driver_kills FOLDER --kills 20 --seed 1``, by hand. A batch is under way
when its offsets are written and its commit is not; then all processes of the driver are killed.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import lance

import lance_explorer as lx
from tests.spark.merge_kills import FORMATS
from tests.spark.streams import at_most
from tests.spark.test_merging import Copy, commit, expected, people

_LONGEST_MS = 800


def follow(folder: Path) -> None:
    """Bring the copies of all formats up to date."""
    spark = lx.spark.session("local[2]", config={"spark.sql.shuffle.partitions": "2"})
    for kind in FORMATS:
        copy = Copy(spark, folder, kind, "_rowid")
        copy.follow(str(folder / "people.lance"), **at_most(1))
    spark.stop()


def is_under_way(checkpoint: Path) -> bool:
    """Return whether a batch was begun, and did not end."""
    done, begun = (
        {int(file.name) for file in (checkpoint / name).glob("[0-9]*")}
        for name in ("commits", "offsets")
    )
    return len(begun - done) > 0


def run(folder: Path, kills: int, seed: int) -> None:
    """Commit, follow, kill; then tell whether each copy is the table."""
    chance, path = random.Random(seed), str(folder / "people.lance")
    lance.write_dataset(people(0, 60), path, max_rows_per_file=25, enable_stable_row_ids=True)
    number = num_killed = 0
    is_over = False
    while not is_over:
        is_over = num_killed == kills
        for number in range(number + 1, number + 9):  # noqa: B020 - goes on where it stopped
            commit(path, chance, number)
        command = [sys.executable, "-m", "tests.spark.driver_kills", str(folder)]
        process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        checkpoint = folder / f"{chance.choice(FORMATS)} _rowid" / "checkpoint"
        while not is_over and process.poll() is None:
            if is_under_way(checkpoint):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(chance.randrange(_LONGEST_MS) / 1000)
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                    num_killed += 1
                break
        process.wait()
    spark = lx.spark.session("local[2]")
    for kind in FORMATS:
        found = Copy(spark, folder, kind, "_rowid").rows()
        is_right = found.equals(expected(path, found))
        print(f"{kind}: {num_killed} deaths, {len(found)} rows, {'right' if is_right else 'WRONG'}")


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        follow(Path(sys.argv[1]))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    run(given.folder, given.kills, given.seed)
