"""Spark beside pylance and the local engine: ``python -m benchmarks.spark``."""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.history import prepared, print_rows
from benchmarks.measuring import Job, Measurement, Numbers, run
from benchmarks.rows import MILLION, SYSTEM_COLUMNS, scan, write_updated

Work = Callable[[], Numbers]

MILLIONS = {"small": 2, "medium": 10, "full": 100}
TABLES = 200
VERSIONS = 20

# ------------------------------------------------------------------------------------------- jobs


def their_rows(path: str) -> Work:
    """Scan the values and all four system columns with pylance."""
    return scan(path, ("number", *SYSTEM_COLUMNS))


def spark_rows(path: str, cores: int) -> Work:
    """Add up the values and all four system columns in Spark."""
    spark = session(cores, path)
    schema = ", ".join([f"{name} long" for name in ("number", *SYSTEM_COLUMNS)])

    def work() -> Numbers:
        rows = spark.read.format("lance_explorer.rows").schema(schema).load(path)
        sums = rows.selectExpr("count(*) n", *[f"sum({name})" for name in rows.columns])
        return {"rows": sums.first()["n"], "worker_bytes": worker_bytes()}

    return work


def local_changes(path: str) -> Work:
    """Find what an update of 1 % changed, on one machine."""
    from lance_explorer import open_table

    open_table(path)
    return lambda: {"rows": len(open_table(path).changes(1, 2).to_polars())}


def spark_changes(path: str, cores: int) -> Work:
    """Find the same in Spark."""
    spark = session(cores, path)

    def work() -> Numbers:
        reader = spark.read.format("lance_explorer.changes").options(begin_version=1)
        return {"rows": counted(reader.load(path), "_rowid"), "worker_bytes": worker_bytes()}

    return work


def local_history(path: str) -> Work:
    """Follow all rows through that update, on one machine."""
    import numpy as np

    from lance_explorer import open_table
    from lance_explorer.lineage.following import follow

    count = open_table(path).source.history.records[-1].manifest.next_row_id

    def work() -> Numbers:
        ids = np.arange(count, dtype=np.uint64)
        return {"rows": len(follow(open_table(path).source, ids, 1))}

    return work


def spark_history(path: str, cores: int) -> Work:
    """Follow them in Spark."""
    spark = session(cores, path)

    def work() -> Numbers:
        reader = spark.read.format("lance_explorer.history").options(begin_version=1)
        return {"rows": counted(reader.load(path), "_rowid"), "worker_bytes": worker_bytes()}

    return work


def write_tables(folder: str, count: int) -> Work:
    """Make tables of some versions each."""

    def work() -> Numbers:
        import lance
        import pyarrow as pa

        for number in range(count):
            row = pa.table({"number": [number]})
            table = lance.write_dataset(row, f"{folder}/{number:03}.lance")
            for _ in range(VERSIONS - 1):
                table.insert(row)
        return {}

    return work


def local_metadata(folder: str) -> Work:
    """List the versions of all tables in a folder, on one machine."""
    from lance_explorer import open_table

    paths = sorted(Path(folder).glob("*.lance"))
    open_table(paths[0]).versions()
    return lambda: {"rows": sum([len(open_table(path).versions()) for path in paths])}


def spark_metadata(folder: str, cores: int) -> Work:
    """List them in Spark."""
    import lance_explorer as lx

    spark = session(cores, None)
    table = str(next(Path(folder).glob("*.lance")))
    lx.spark.metadata(spark, table, "versions").count()

    def work() -> Numbers:
        found = lx.spark.metadata(spark, folder, "versions")
        return {"rows": counted(found, "version"), "worker_bytes": worker_bytes()}

    return work


def session(cores: int, path: str | None) -> Any:
    """Return a session that has read a little already."""
    import lance_explorer as lx

    settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "2g"}
    spark = lx.spark.session(f"local[{cores}]", config=settings)
    if path is not None:
        reader = spark.read.format("lance_explorer.rows").option("rows_per_partition", 1000)
        counted(reader.load(path).limit(10), "_rowid")
    return spark


def counted(rows: Any, column: str) -> int:
    """Return how many rows there are, when Spark has had all of a column."""
    numbers = rows.selectExpr("count(*) n", f"sum({column})").first()
    return int(numbers["n"])


def worker_bytes() -> int:
    """Return the highest peak of memory of a Python worker of Spark; 0 where nothing tells."""
    peaks = [0]
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if b"pyspark.daemon" in status.with_name("cmdline").read_bytes():
                lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
                peaks.append(int(lines["VmHWM"].split()[0]) * 1024)
        except (OSError, KeyError):
            continue
    return max(peaks)


# ----------------------------------------------------------------------------------------- output


def print_table(path: str) -> None:
    """Compare on one table."""
    lines = [["job", "rows", "beside it", "s", "local[1] s", "local[2] s", "ratio", "worker MB"]]
    jobs: list[tuple[str, str, Job, Job]] = [
        ("rows", "pylance", their_rows, spark_rows),
        ("changes, 1 % updated", "local engine", local_changes, spark_changes),
        ("history, 1 % updated", "local engine", local_history, spark_history),
    ]
    for name, other, local, on_spark in jobs:
        measured = run(local, path), run(on_spark, path, 1), run(on_spark, path, 2)
        lines.append(line(name, other, *measured))
    print_rows(lines)


def print_tables(folder: str) -> None:
    """Compare on many tables."""
    measured = (
        run(local_metadata, folder),
        run(spark_metadata, folder, 1),
        run(spark_metadata, folder, 2),
    )
    lines = [["job", "rows", "beside it", "s", "local[1] s", "local[2] s", "ratio", "worker MB"]]
    print_rows([*lines, line(f"versions of {TABLES} tables", "local engine", *measured)])


def line(
    name: str, other: str, local: Measurement, one: Measurement, two: Measurement
) -> list[str]:
    """Return one line; the ratio is that of two cores to what is beside them."""
    counts = {each.numbers["rows"] for each in (local, one, two)}
    if len(counts) != 1:
        raise ValueError(f"{name}: {counts} rows were counted")
    return [
        name,
        f"{counts.pop():,}",
        other,
        f"{local.seconds:.2f}",
        f"{one.seconds:.2f}",
        f"{two.seconds:.2f}",
        f"{two.seconds / local.seconds:.1f}x",
        f"{max(one.numbers['worker_bytes'], two.numbers['worker_bytes']) / 1e6:.0f}",
    ]


def benchmark(folder: Path, size: str) -> None:
    """Write the tables that are missing in ``folder``, and compare."""
    millions = MILLIONS[size]
    print(f"{millions * MILLION:,} rows; session up, one query run")
    print_table(str(prepared(folder, f"updated_{millions}M", write_updated, millions)))
    print(flush=True)
    print_tables(str(prepared(folder, "tables", write_tables, TABLES)))


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", choices=[*MILLIONS], default="small")
    parser.add_argument("--folder", type=Path, help="where tables are kept for the next run")
    options = parser.parse_args()
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        benchmark(options.folder, options.sizes)
        return
    with tempfile.TemporaryDirectory() as folder:
        benchmark(Path(folder), options.sizes)


if __name__ == "__main__":
    main()
