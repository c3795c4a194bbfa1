"""What is on disk of tables of very many objects: ``python -m benchmarks.disk``.

Of one table, of which the manifest names as many data files as the size says, it is asked whose
each object is, in an object store that lists them; and then on disk, where no data file is, what
all checks find and what a cleanup and a compaction would do, beside pylance.
"""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.bucket import OPTIONS, served, traffic
from benchmarks.fragments import write_fragments
from benchmarks.measuring import (
    Job,
    Measurement,
    Numbers,
    Work,
    main,
    prepared,
    print_rows,
    run,
    warm,
)

SIZES = {"small": 20_000, "full": 1_000_000}
DELAY = 0.02

# ---------------------------------------------------------------------------------------- tables


def write_names(path: str, names: str) -> Work:
    """Write the names and sizes of the data files of a table into a file, one a line."""
    import lance

    def work() -> Numbers:
        lines = [
            f"{Path(path).name}/data/{file.path} {file.file_size_bytes}"
            for fragment in lance.dataset(path).get_fragments()
            for file in fragment.data_files()
        ]
        Path(names).write_text("\n".join(lines))
        return {"objects": len(lines)}

    return work


# ------------------------------------------------------------------------------------------ jobs


def _asked(uri: str, options: str, ask: Callable[[Any], int]) -> Work:
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    return lambda: {"found": ask(open_table(uri, storage_options=json.loads(options)))}


def our_storage(uri: str, options: str) -> Work:
    """Tell whose each object is."""
    return _asked(uri, options, lambda table: len(table.inspect.storage()))


def our_usage(uri: str, options: str) -> Work:
    """Sum up what is on disk."""
    return _asked(uri, options, lambda table: table.disk_usage().total_bytes)


def our_check(uri: str, options: str) -> Work:
    """Make all checks."""
    return _asked(uri, options, lambda table: len(table.check()))


def our_cleanup(uri: str, options: str) -> Work:
    """Tell what a cleanup would remove."""
    return _asked(uri, options, lambda table: len(table.cleanup_preview(timedelta(0)).files()))


def our_compaction(uri: str, options: str) -> Work:
    """Tell what a compaction would rewrite."""
    return _asked(uri, options, lambda table: len(table.compaction_preview().tasks()))


def their_cleanup(uri: str) -> Work:
    """Ask pylance what a cleanup would remove."""
    import lance

    def work() -> Numbers:
        told = lance.dataset(uri).explain_cleanup_old_versions(
            timedelta(0), include_files=True, max_files=10**7
        )
        return {"found": len(told.candidate_files)}

    return work


def their_compaction(uri: str) -> Work:
    """Ask pylance what a compaction would rewrite."""
    import lance
    from lance.optimize import Compaction

    return lambda: {"found": len(Compaction.plan(lance.dataset(uri), {}).tasks)}


# ---------------------------------------------------------------------------------------- output

SERVED: dict[str, Job] = {"storage()": our_storage, "disk_usage()": our_usage, "check()": our_check}
OURS: dict[str, Job] = {
    "check()": our_check,
    "cleanup_preview()": our_cleanup,
    "compaction_preview()": our_compaction,
}
THEIRS: dict[str, Job] = {
    "pylance: explain_cleanup_old_versions()": their_cleanup,
    "pylance: Compaction.plan()": their_compaction,
}


def benchmark(folder: Path, count: int) -> None:
    """Write the table if it is missing in ``folder``, and ask each question in a new process."""
    path = prepared(folder, f"fragments_{count}", write_fragments, count)
    warm(path / "_versions")
    names = folder / f"objects_{count}.txt"
    if not names.exists():
        run(write_names, str(path), str(names))
    rows = [[f"{count:,} objects in a store, {1000 * DELAY:.0f} ms", "s", "CPU s", "peak MB"]]
    with served(folder, DELAY, names) as endpoint:
        options = json.dumps({**OPTIONS, "aws_endpoint": endpoint})
        for name, job in SERVED.items():
            traffic(endpoint)
            took = run(job, f"s3://tables/{path.name}", options)
            counts = traffic(endpoint)
            rows.append([f"{name}: {counts['requests']:,} requests", *_cells(took)])
    print_rows(rows)
    rows = [[f"{count:,} fragments, no data file", "s", "CPU s", "peak MB"]]
    rows += [[name, *_cells(run(job, str(path), "{}"))] for name, job in OURS.items()]
    rows += [[name, *_cells(run(job, str(path)))] for name, job in THEIRS.items()]
    print_rows(rows)


def _cells(took: Measurement) -> list[str]:
    peak = f"{took.peak_bytes / 1e6:.0f}"
    return [f"{took.seconds:.2f}", f"{took.cpu_seconds:.2f}", peak]


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
