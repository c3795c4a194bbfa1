"""Spark beside pylance and the local engine: ``python -m benchmarks.spark``.

Every question is asked of a smaller table before the clock starts: libraries are imported, workers
are up, and Java has compiled what it runs. Then it is asked three times, each time of a copy of the
table, so that no worker has it open. CPU time is that of all processes together.
"""

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import Measurement, Numbers, Work, main, measure, prepared, print_rows
from benchmarks.rows import MILLION, SYSTEM_COLUMNS, write_table

SIZES = {"small": 2, "medium": 10, "full": 100}
"""Millions of rows."""

TABLES = 200
VERSIONS = 20
ROUNDS = 3

HEADINGS = ["job", "rows", "beside it", "s", "CPU s", *("local[1] s", "CPU s")]
HEADINGS += ["local[2] s", "CPU s", "ratio", "of CPU", "2 cores", "worker MB"]

# ---------------------------------------------------------------------------------------- tables


def write_indexed(path: str, millions: int) -> Work:
    """Make a table with an index, of which the last version updated 1 % of the rows."""

    def work() -> Numbers:
        import lance

        numbers = write_table(path, millions, deleted=False)
        lance.dataset(path).create_scalar_index("number", "BTREE")
        lance.dataset(path).update({"number": "number"}, where="number % 100 = 4")
        return numbers

    return work


def write_tables(folder: str, count: int) -> Work:
    """Make tables of some versions each."""

    def work() -> Numbers:
        import lance
        import pyarrow as pa

        for number in range(count):
            row = pa.table({"number": [number]})
            table = lance.write_dataset(row, f"{folder}/{number:03}.lance")
            table.create_scalar_index("number", "BTREE")
            for _ in range(VERSIONS - 2):
                table.insert(row)
        return {}

    return work


# ------------------------------------------------------------------------- questions, asked twice


def rows(path: str) -> int:
    """Scan the values and all four system columns with pylance."""
    import lance

    table: Any = lance.dataset(path)
    return int(table.to_table(columns=["number", *SYSTEM_COLUMNS]).num_rows)


def rows_on_spark(spark: Any, path: str) -> Any:
    """Read the same in Spark."""
    schema = ", ".join([f"{name} long" for name in ("number", *SYSTEM_COLUMNS)])
    return spark.read.format("lance_explorer.rows").schema(schema).load(path)


def changes(path: str) -> int:
    """Find what the last version changed."""
    return len(opened(path).changes(last_version(path) - 1, images=None).to_polars())


def changes_on_spark(spark: Any, path: str) -> Any:
    """Find the same in Spark."""
    return source(spark, "changes", begin_version=last_version(path) - 1).load(path)


def values(path: str) -> int:
    """Find the same with the values before and after."""
    return len(opened(path).changes(last_version(path) - 1, images="both").to_polars())


def values_on_spark(spark: Any, path: str) -> Any:
    """Find the same in Spark."""
    reader = source(spark, "changes", begin_version=last_version(path) - 1, images="both")
    return reader.load(path)


def history(path: str) -> int:
    """Follow all rows through the last version."""
    from lance_explorer.lineage.following import follow

    table = opened(path)
    ids = np.arange(table._view.history.records[-1].manifest.next_row_id, dtype=np.uint64)
    return len(follow(table._view, ids, last_version(path) - 1))


def history_on_spark(spark: Any, path: str) -> Any:
    """Follow them in Spark."""
    return source(spark, "history", begin_version=last_version(path) - 1).load(path)


def coverage(path: str) -> int:
    """Tell which rows each index has."""
    return len(opened(path).inspect.index_coverage())


def coverage_on_spark(spark: Any, path: str) -> Any:
    """Tell it in Spark."""
    return source(spark, "metadata", frame="index_coverage").load(path)


def versions(folder: str) -> int:
    """List the versions of all tables in a folder."""
    return sum([len(opened(str(path)).versions()) for path in Path(folder).glob("*.lance")])


def versions_on_spark(spark: Any, folder: str) -> Any:
    """List them in Spark."""
    return source(spark, "metadata", frame="versions").load(folder)


def coverages(folder: str) -> int:
    """Tell which rows the indices of all tables have."""
    return sum([coverage(str(path)) for path in Path(folder).glob("*.lance")])


QUESTIONS: dict[str, tuple[str, Callable[[str], int], Callable[[Any, str], Any]]] = {
    "rows": ("pylance", rows, rows_on_spark),
    "changes": ("local engine", changes, changes_on_spark),
    "changes, both images": ("local engine", values, values_on_spark),
    "history": ("local engine", history, history_on_spark),
    "index coverage": ("local engine", coverage, coverage_on_spark),
    f"versions of {TABLES} tables": ("local engine", versions, versions_on_spark),
    f"coverage of {TABLES} tables": ("local engine", coverages, coverage_on_spark),
}


def opened(path: str) -> Any:
    import lance_explorer as lx

    return lx.open_table(path)


def last_version(path: str) -> int:
    return int(opened(path)._view.latest_version)


def source(spark: Any, name: str, **options: Any) -> Any:
    return spark.read.format(f"lance_explorer.{name}").options(**options)


# ------------------------------------------------------------------------------------------- jobs


def on_one_machine(name: str, smaller: str, path: str) -> Work:
    """Answer a question without Spark."""
    _, ask, _ = QUESTIONS[name]
    ask(smaller)
    return lambda: {"rows": ask(path)}


def on_spark(cores: int, asked: Mapping[str, tuple[Path, Path]]) -> dict[str, Measurement]:
    """Answer all questions in a session of so many cores, which adds up all columns of numbers."""
    import lance_explorer as lx

    settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "2g"}
    spark = lx.spark.session(f"local[{cores}]", config=settings)

    def answer(name: str, path: Path) -> int:
        found = QUESTIONS[name][2](spark, str(path))
        sums = [f"sum({name})" for name, kind in found.dtypes if kind == "bigint"]
        return int(found.selectExpr("count(*)", *sums).first()[0])

    print(f"warming up Spark with local[{cores}] ...", flush=True)
    for _ in range(ROUNDS):
        for name, (smaller, _) in asked.items():
            answer(name, smaller)
    found = {}
    for name, (_, path) in asked.items():
        print(f"asking Spark for {name}, with local[{cores}] ...", flush=True)
        found[name] = median([measured(answer, name, path) for _ in range(ROUNDS)])
    spark.stop()
    return found


def measured(answer: Callable[[str, Path], int], name: str, path: Path) -> Measurement:
    """Return what one answer takes, of a copy of a table."""
    with copied(path) as copy:
        forget_peaks()
        begin, cpu = time.perf_counter(), cpu_seconds()
        count = answer(name, copy)
        seconds, used = time.perf_counter() - begin, cpu_seconds() - cpu
        return Measurement(seconds, used, worker_bytes(), {"rows": count})


def median(rounds: list[Measurement]) -> Measurement:
    """Return the median of times, and the highest of peaks."""
    return Measurement(
        statistics.median([one.seconds for one in rounds]),
        statistics.median([one.cpu_seconds for one in rounds]),
        max([one.peak_bytes for one in rounds]),
        rounds[0].numbers,
    )


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """Make another table of the same files."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        yield Path(shutil.copytree(path, Path(folder, path.name), copy_function=os.link))


def family() -> dict[Path, int]:
    """Return this process and all that it started, and what CPU time each has used, in ticks."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
        ticks[int(path.parent.name)] = sum([int(field) for field in fields[11:15]])
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {Path("/proc", str(pid)): ticks[pid] for pid in found if pid in ticks}


def cpu_seconds() -> float:
    """Return what all processes have used; 0 where nothing tells."""
    return sum(family().values()) / os.sysconf("SC_CLK_TCK")


def workers() -> Iterator[Path]:
    """Yield the Python workers of Spark."""
    for process in family():
        try:
            if b"pyspark.daemon" in process.joinpath("cmdline").read_bytes():
                yield process
        except OSError:
            continue


def forget_peaks() -> None:
    """Let the peak of memory of each worker begin anew."""
    for process in workers():
        process.joinpath("clear_refs").write_text("5")


def worker_bytes() -> int:
    """Return the highest peak of memory of a worker; 0 where nothing tells."""
    peaks = [0]
    for process in workers():
        lines = dict(line.split(":", 1) for line in process.joinpath("status").open())
        peaks.append(int(lines["VmHWM"].split()[0]) * 1024)
    return max(peaks)


# ----------------------------------------------------------------------------------------- output


def line(name: str, local: Measurement, one: Measurement, two: Measurement) -> list[str]:
    """Return one line; the ratios are those of two cores to what is beside them."""
    counts = {each.numbers["rows"] for each in (local, one, two)}
    if len(counts) != 1:
        raise ValueError(f"{name}: {counts} rows were counted")
    return [
        name,
        f"{counts.pop():,}",
        QUESTIONS[name][0],
        *spent(local),
        *spent(one),
        *spent(two),
        f"{two.seconds / local.seconds:.1f}x",
        f"{two.cpu_seconds / local.cpu_seconds:.1f}x",
        f"{one.seconds / two.seconds:.1f}x",
        f"{max(one.peak_bytes, two.peak_bytes) / 1e6:.0f}",
    ]


def spent(took: Measurement) -> tuple[str, str]:
    return f"{took.seconds:.2f}", f"{took.cpu_seconds:.2f}"


def benchmark(folder: Path, millions: int) -> None:
    """Write the tables that are missing in ``folder``, and compare."""
    of_rows = (
        prepared(folder, "indexed_1M", write_indexed, 1),
        prepared(folder, f"indexed_{millions}M", write_indexed, millions),
    )
    of_tables = (
        prepared(folder, "tables_10", write_tables, 10),
        prepared(folder, f"tables_{TABLES}", write_tables, TABLES),
    )
    print(f"{millions * MILLION:,} rows, of which the last version updated 1 %", flush=True)
    asked = {name: of_tables if name.endswith("tables") else of_rows for name in QUESTIONS}
    beside = {}
    for name, tables in asked.items():
        print(f"asking {QUESTIONS[name][0]} for {name} ...", flush=True)
        beside[name] = measure(on_one_machine, name, *map(str, tables))
    one, two = (on_spark(cores, asked) for cores in (1, 2))
    print_rows([HEADINGS, *[line(name, beside[name], one[name], two[name]) for name in asked]])


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
