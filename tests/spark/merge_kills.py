"""Kill a process at any moment while it merges batches, again and again; the copy must be right.

``python -m tests.spark.merge_kills delta FOLDER KILLS SEED`` does so by hand. No Spark is needed: a
micro-batch is what Spark hands over, and is handed over again after each death.
"""

import pickle
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa

from lance_explorer.spark.merge_targets import Batch, Mark, Target, target_of

__all__ = ["FORMATS", "killed", "rows_of", "target_in"]

FORMATS = ("delta", "iceberg", "lance", "parquet")
_QUERY = "8a0c7f8e-5d0c-4c1e-9e55-6b9f0c6f7f11"
_LONGEST_MS = 80


def catalog_in(folder: Path) -> Any:
    """Return an Iceberg catalog in a file."""
    from pyiceberg.catalog.sql import SqlCatalog

    uri = f"sqlite:///{folder}/catalog.db"
    return SqlCatalog("test", uri=uri, warehouse=(folder / "iceberg").as_uri())


def target_in(folder: Path, kind: str) -> Target:
    """Return a target of a format in a folder."""
    if kind == "iceberg":
        return target_of("test.copy", None, catalog_in(folder), {})
    return target_of(str(folder / f"copy.{kind}"), kind, None, {})


def rows_of(folder: Path, kind: str, *others: str) -> pl.DataFrame:
    """Return what a target has, by the library of its format; with other columns of it."""
    path = str(folder / f"copy.{kind}")
    if kind == "iceberg":
        found = catalog_in(folder).load_table("test.copy").scan().to_arrow()
    elif kind == "delta":
        from deltalake import DeltaTable

        found = DeltaTable(path).to_pyarrow_table()
    elif kind == "lance":
        found = lance.dataset(path).to_table().rename_columns({"source_rowid": "_rowid"})
    else:
        found = pl.read_parquet(f"{path}/part-*.parquet").to_arrow()
    return pl.DataFrame(found).select("_rowid", "city", *others).sort("_rowid")


def batches(chance: random.Random, count: int) -> tuple[list[Batch], pl.DataFrame]:
    """Return batches that put and delete rows, and what they leave behind."""
    rows, made = dict[int, str](), list[Batch]()
    for number in range(count):
        free = range(number * 100, number * 100 + chance.randrange(1, 60))
        put = dict.fromkeys(free, f"city {number}")
        there = sorted(rows)
        put |= dict.fromkeys(chance.sample(there, len(there) // 5), f"moved {number}")
        gone = [key for key in chance.sample(there, len(there) // 6) if key not in put]
        rows = {key: city for key, city in {**rows, **put}.items() if key not in gone}
        made.append(
            Batch(
                ("_rowid",),
                pa.table({"_rowid": pa.array([*put], pa.int64()), "city": [*put.values()]}),
                pa.table({"_rowid": pa.array(gone, pa.int64())}),
            )
        )
    expected = pl.DataFrame(
        {"_rowid": [*rows], "city": [*rows.values()]},
        schema={"_rowid": pl.Int64, "city": pl.String},
    )
    return made, expected.sort("_rowid")


def killed(folder: Path, kind: str, kills: int, seed: int) -> tuple[int, pl.DataFrame]:
    """Merge batches in processes that are killed; return how many were, and what must be there."""
    chance = random.Random(seed)
    made, expected = batches(chance, 2 * kills)
    (folder / "batches").write_bytes(pickle.dumps(made))
    command = [sys.executable, "-m", "tests.spark.merge_kills", kind, str(folder)]
    num_killed = 0
    while True:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(chance.randrange(1, 3)):
            process.stdout.readline()
        if num_killed < kills:
            with suppress(subprocess.TimeoutExpired):
                process.wait(chance.randrange(_LONGEST_MS) / 1000)
            process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode == 0:
            return num_killed, expected
        assert process.returncode == -signal.SIGKILL, process.returncode
        num_killed += 1


def _merge(folder: Path, kind: str) -> None:
    """Merge all batches that are not there."""
    target = target_in(folder, kind)
    made: list[Batch] = pickle.loads((folder / "batches").read_bytes())
    for number, batch in enumerate(made):
        mark = Mark(_QUERY, number)
        if not target.has(mark):
            print(number, flush=True)
            target.merge(batch, mark)


def main(kind: str, folder: str, kills: str = "", seed: str = "0") -> None:
    if not kills:
        _merge(Path(folder), kind)
        return
    Path(folder).mkdir(parents=True)
    num_killed, expected = killed(Path(folder), kind, int(kills), int(seed))
    is_right = rows_of(Path(folder), kind).equals(expected)
    print(f"{kind}, seed {seed}: {num_killed} deaths, {'right' if is_right else 'WRONG'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
