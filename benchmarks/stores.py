"""Answers about a table in an object store: ``python -m benchmarks.stores``.

The store is a server on this machine that answers each request after 40 ms. Each job runs once: it
waits more than it works. What pylance has an answer to as well stands beside it.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.bucket import OPTIONS, served, traffic
from benchmarks.measuring import Job, Numbers, Work, main, prepared, print_rows, run

DELAY = 0.04
VERSIONS = 510
TURNS_PER_COMPACTION = 20

# ---------------------------------------------------------------------------------------- tables


def write_plain(path: str, count: int) -> Work:
    """Make a table of appends, updates, deletions and compactions."""
    return lambda: _write(path, count, stable_row_ids=False)


def write_stable(path: str, count: int) -> Work:
    """Make the same table with stable row IDs."""
    return lambda: _write(path, count, stable_row_ids=True)


def _write(path: str, count: int, *, stable_row_ids: bool) -> Numbers:
    import lance
    import pyarrow as pa

    def rows(begin: int, size: int) -> Any:
        return pa.table({"number": range(begin, begin + size), "value": [0] * size})

    table: Any = lance.write_dataset(
        rows(0, 2000), path, max_rows_per_file=200, enable_stable_row_ids=stable_row_ids
    )
    turn = 0
    while table.version < count:
        turn += 1
        lance.write_dataset(rows(2000 + 20 * turn, 20), path, mode="append")
        table = lance.dataset(path)
        table.update({"value": f"{turn}"}, where=f"number % 1000 = {turn % 500}")
        table = lance.dataset(path)
        table.delete(f"number % 1000 = {500 + turn % 500}")
        if turn % TURNS_PER_COMPACTION == 0:
            table = lance.dataset(path)
            table.optimize.compact_files(target_rows_per_fragment=200)
    return {"versions": table.version}


# ------------------------------------------------------------------------------------------ jobs


def _asking(uri: str, endpoint: str, ask: Callable[[Any], object]) -> Work:
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    def work() -> Numbers:
        ask(open_table(uri, storage_options={**OPTIONS, "aws_endpoint": endpoint}))
        return {}

    return work


def our_versions(uri: str, endpoint: str) -> Work:
    """List the versions."""
    return _asking(uri, endpoint, lambda table: table.versions())


def their_versions(uri: str, endpoint: str) -> Work:
    """List the versions with pylance."""
    import lance

    def work() -> Numbers:
        lance.dataset(uri, storage_options={**OPTIONS, "aws_endpoint": endpoint}).versions()
        return {}

    return work


def our_commits(uri: str, endpoint: str) -> Work:
    """Count what each commit did."""
    return _asking(uri, endpoint, lambda table: table.changes(0, mode="per_commit").summary())


def our_history(uri: str, endpoint: str) -> Work:
    """Tell the life of a row."""
    return _asking(uri, endpoint, lambda table: table.row(1).history())


def our_values(uri: str, endpoint: str) -> Work:
    """Tell the life of a row, with its values at each event."""
    return _asking(uri, endpoint, lambda table: table.row(1).history(values=True))


def our_report(uri: str, endpoint: str) -> Work:
    """Write the report."""

    def write(table: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            table.report(f"{folder}/report.html")

    return _asking(uri, endpoint, write)


JOBS: dict[str, Job] = {
    "versions, pylance": their_versions,
    "versions": our_versions,
    "what each commit did": our_commits,
    "life of a row": our_history,
    "the same with values": our_values,
    "report": our_report,
}

HEADINGS = ("", "seconds", "CPU", "requests", "MB", "pylance")


def compare(folder: Path, name: str) -> list[list[str]]:
    """Do all jobs on one table; return the lines to print."""
    lines = []
    theirs: float | None = None
    with served(folder, DELAY) as endpoint:
        for what, job in JOBS.items():
            traffic(endpoint)
            took = run(job, f"s3://tables/{name}.lance", endpoint)
            asked = traffic(endpoint)
            ratio = f"{theirs / took.seconds:.1f}x" if theirs and job is our_versions else ""
            theirs = took.seconds if job is their_versions else theirs
            numbers = [f"{took.seconds:.2f}", f"{took.cpu_seconds:.2f}", f"{asked['requests']}"]
            lines.append([f"{name}: {what}", *numbers, f"{asked['bytes'] / 1e6:.1f}", ratio])
    return lines


def benchmark(folder: Path) -> None:
    """Write the tables that are missing in ``folder``; ask about them; print what it took."""
    tables: dict[str, Job] = {"plain": write_plain, "stable": write_stable}
    for name, writer in tables.items():
        path = prepared(folder, name, writer, VERSIONS)
        print(f"{path.name}: {sum([file.is_file() for file in path.rglob('*')]):,} objects")
    print_rows([list(HEADINGS), *[line for name in tables for line in compare(folder, name)]])


if __name__ == "__main__":
    main(__doc__, benchmark)
