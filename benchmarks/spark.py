"""Spark beside pylance and the local engine: ``python -m benchmarks.spark``.

Each question is asked of a smaller table before the clock starts, of Spark some times: libraries
are imported, the session is up with its workers, and Java has compiled what it runs. A job runs
once. CPU time is that of all processes together.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import Measurement, Numbers, Work, main, prepared, print_rows, run
from benchmarks.rows import MILLION, SYSTEM_COLUMNS, write_table

SIZES = {"small": 2, "medium": 10, "full": 100}
"""Millions of rows."""

TABLES = 200
VERSIONS = 20
WARM_UPS = 3

HEADINGS = ["job", "rows", "beside it", "s", "CPU s", *("local[1] s", "CPU s")]
HEADINGS += ["local[2] s", "CPU s", "ratio", "2 cores", "worker MB"]

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
    return len(opened(path).changes(last_version(path) - 1).to_polars())


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
    ids = np.arange(table.source.history.records[-1].manifest.next_row_id, dtype=np.uint64)
    return len(follow(table.source, ids, last_version(path) - 1))


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
    return int(opened(path).source.latest_version)


def source(spark: Any, name: str, **options: Any) -> Any:
    return spark.read.format(f"lance_explorer.{name}").options(**options)


# ------------------------------------------------------------------------------------------- jobs


def on_one_machine(name: str, smaller: str, path: str) -> Work:
    """Answer a question without Spark."""
    _, ask, _ = QUESTIONS[name]
    ask(smaller)
    return lambda: {"rows": ask(path)}


def on_spark(name: str, smaller: str, path: str, cores: int) -> Work:
    """Answer it in Spark, which adds up all columns of numbers."""
    import lance_explorer as lx

    _, _, ask = QUESTIONS[name]
    settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "2g"}
    spark = lx.spark.session(f"local[{cores}]", config=settings)

    def answer(path: str) -> int:
        found = ask(spark, path)
        sums = [f"sum({name})" for name, kind in found.dtypes if kind == "bigint"]
        return int(found.selectExpr("count(*)", *sums).first()[0])

    for _ in range(WARM_UPS):
        answer(smaller)

    def work() -> Numbers:
        cpu = cpu_milliseconds()
        count = answer(path)
        used = cpu_milliseconds() - cpu
        return {"rows": count, "cpu_milliseconds": used, "worker_bytes": worker_bytes()}

    return work


def cpu_milliseconds() -> int:
    """Return what this process and all that it started have used; 0 where nothing tells."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
        ticks[int(path.parent.name)] = sum([int(field) for field in fields[11:15]])
    family = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum([ticks.get(each, 0) for each in family]) * 1000 // os.sysconf("SC_CLK_TCK")


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


def line(name: str, smaller: Path, path: Path) -> list[str]:
    """Return one line; the ratio is that of two cores to what is beside them."""
    print(f"asking for {name} ...", flush=True)
    asked = name, str(smaller), str(path)
    local = run(on_one_machine, *asked)
    one, two = (run(on_spark, *asked, cores) for cores in (1, 2))
    counts = {each.numbers["rows"] for each in (local, one, two)}
    if len(counts) != 1:
        raise ValueError(f"{name}: {counts} rows were counted")
    return [
        name,
        f"{counts.pop():,}",
        QUESTIONS[name][0],
        *(f"{local.seconds:.2f}", f"{local.cpu_seconds:.2f}"),
        *spent(one),
        *spent(two),
        f"{two.seconds / local.seconds:.1f}x",
        f"{one.seconds / two.seconds:.1f}x",
        f"{max(one.numbers['worker_bytes'], two.numbers['worker_bytes']) / 1e6:.0f}",
    ]


def spent(on_spark: Measurement) -> tuple[str, str]:
    return f"{on_spark.seconds:.2f}", f"{on_spark.numbers['cpu_milliseconds'] / 1000:.2f}"


def benchmark(folder: Path, millions: int) -> None:
    """Write the tables that are missing in ``folder``, and compare."""
    smaller = prepared(folder, "indexed_1M", write_indexed, 1)
    path = prepared(folder, f"indexed_{millions}M", write_indexed, millions)
    some = prepared(folder, "tables_10", write_tables, 10)
    many = prepared(folder, f"tables_{TABLES}", write_tables, TABLES)
    print(f"{millions * MILLION:,} rows, of which the last version updated 1 %", flush=True)
    of_tables = [name for name in QUESTIONS if name.endswith("tables")]
    of_rows = [name for name in QUESTIONS if name not in of_tables]
    lines = [line(name, smaller, path) for name in of_rows]
    print_rows([HEADINGS, *lines, *[line(name, some, many) for name in of_tables]])


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
