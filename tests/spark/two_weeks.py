"""The pipeline of docs/SPARK.md for two weeks of simulated days, on a cluster, two kills a day.

``python -m tests.spark.two_weeks FOLDER --days 14 --tables 50 --seed 1``, by hand: each night all
tables are recorded and checked, and a Delta table follows one of them. Each day the driver is
killed at some step and started again, and then a worker. At the end everything is compared with
pylance.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa

import lance_explorer as lx
from tests.spark.cluster import cluster

STEPS = ("started", "recorded", "batch", "merged", "checked")


def night(master: str, folder: Path) -> None:
    """Do what is to be done each night; say each step."""
    from deltalake import DeltaTable

    lake, copy = folder / "lake", str(folder / "copy")
    spark = lx.spark.session(master, config={"spark.executor.memory": "512m"})
    print("started", flush=True)
    added = lx.spark.record(spark, lake, folder / "ledger")
    print("recorded", added["new_versions"].sum(), flush=True)
    changes = spark.readStream.format("lance_explorer").option("view", "changes")
    changes = changes.options(
        images="after", max_versions_per_batch=3, ledger=str(folder / "ledger")
    )
    stream = changes.load(str(lake / "t00.lance"))
    writer = lx.spark.merge_into(stream, copy, format="delta")
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    print("batch", flush=True)
    query.processAllAvailable()
    query.stop()
    print("merged", flush=True)
    found = lx.spark.metadata(spark, str(lake), "checks", depth="deep")
    print("checked", found.where("severity = 'error'").count(), flush=True)
    table = DeltaTable(copy)
    table.optimize.compact()
    table.vacuum(0, enforce_retention_duration=False, dry_run=False)
    print("done", flush=True)
    spark.stop()


def commit(path: Path, chance: random.Random, number: int) -> None:
    """Do something to a table."""
    dataset = lance.dataset(str(path))
    match chance.choice(["insert", "insert", "update", "delete", "compact"]):
        case "insert":
            rows = pa.table({"id": range(number * 1000, number * 1000 + chance.randrange(1, 200))})
            dataset.insert(rows)
        case "update":
            dataset.update({"id": f"id + {number}000000"}, where=f"id % 7 = {number % 7}")
        case "delete":
            dataset.delete(f"id % 11 = {number % 11}")
        case "compact":
            dataset.optimize.compact_files()


def run(folder: Path, days: int, num_tables: int, seed: int) -> None:
    """Live through some days."""
    chance = random.Random(seed)
    tables = [folder / "lake" / f"t{number:02}.lance" for number in range(num_tables)]
    for path in tables:
        rows = pa.table({"id": range(300)})
        lance.write_dataset(rows, str(path), enable_stable_row_ids=True)
    (folder / "work").mkdir()
    with cluster(folder / "work") as started:
        workers = [started.start_worker(), started.start_worker()]

        def start() -> subprocess.Popen[str]:
            command = [sys.executable, "-m", "tests.spark.two_weeks", str(folder), started.master]
            return subprocess.Popen(
                command, stdout=subprocess.PIPE, text=True, start_new_session=True
            )

        def until(process: subprocess.Popen[str], step: str) -> None:
            assert process.stdout is not None
            while not (line := process.stdout.readline()).startswith(step):
                assert line, f"the pipeline ended before it said {step}"

        for day in range(days):
            for path in tables:
                for number in range(chance.randrange(1, 4) if path != tables[0] else 8):
                    commit(path, chance, day * 10 + number)
            process = start()
            until(process, chance.choice(STEPS))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process = start()
            until(process, chance.choice(STEPS[:-1]))
            started.kill(workers.pop(0))
            workers.append(started.start_worker())
            until(process, "done")
            process.wait()
            for path in tables[1:]:  # their past is in the ledger alone, then
                lance.dataset(str(path)).cleanup_old_versions(timedelta(0), retain_versions=2)
            print(f"day {day + 1}: done", flush=True)
    tell(folder, tables)


def tell(folder: Path, tables: list[Path]) -> None:
    """Compare what there is with pylance."""
    from deltalake import DeltaTable

    copy = DeltaTable(str(folder / "copy"))
    found = pl.DataFrame(copy.to_pyarrow_table()).sort("_rowid")
    there = pl.DataFrame(lance.dataset(str(tables[0])).to_table(with_row_id=True))
    there = there.select(found.columns).cast(found.schema).sort("_rowid")
    print("the copy is the table:", found.equals(there), len(found), "rows")
    data = [*(folder / "copy").rglob("*.parquet")]
    live = {Path(uri.removeprefix("file://")).name for uri in copy.file_uris()}
    live_bytes = sum(file.stat().st_size for file in data if file.name in live)
    print(f"bytes of live files: {live_bytes}, of all: {sum(f.stat().st_size for f in data)}")
    missing = 0
    for path in tables:
        latest = lance.dataset(str(path)).latest_version
        versions = lx.open_table(str(path), ledger=str(folder / "ledger")).versions()
        missing += len({*range(1, latest + 1)} - {*versions["version"]})
    print("versions that neither a table nor its ledger has:", missing)


if __name__ == "__main__":
    if len(sys.argv) == 3 and not sys.argv[2].startswith("-"):
        night(sys.argv[2], Path(sys.argv[1]))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=int, default=14)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    run(given.folder, given.days, given.tables, given.seed)
