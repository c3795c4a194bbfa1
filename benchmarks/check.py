"""All checks of a table of many rows, at each depth: ``python -m benchmarks.check``.

Beside the deep check pylance scans the indexed columns, and beside the check of values it scans all
columns: nothing that checks a table reads less.
"""

from pathlib import Path

from benchmarks.measuring import Job, Numbers, Work, main, prepared, print_rows, run, warm

SIZES = {"small": 200_000, "full": 10_000_000}

_ROWS_AT_ONCE = 500_000


def write_table(path: str, count: int) -> Work:
    """Write rows with a number, a kind and a text, delete some, and index both numbers."""
    import lance
    import numpy as np
    import pyarrow as pa

    def work() -> Numbers:
        chance = np.random.default_rng(1)
        for begin in range(0, count, _ROWS_AT_ONCE):
            ids = range(begin, min(begin + _ROWS_AT_ONCE, count))
            rows = pa.table(
                {
                    "id": ids,
                    "kind": chance.integers(0, 100, len(ids)),
                    "text": [f"text {number % 1_000} of {number}" for number in ids],
                }
            )
            lance.write_dataset(rows, path, mode="append" if begin else "create")
        lance.dataset(path).create_scalar_index("id", "BTREE")
        lance.dataset(path).create_scalar_index("kind", "BITMAP")
        lance.dataset(path).delete("id % 97 = 3")
        return {"rows": lance.dataset(path).count_rows()}

    return work


def our_check(uri: str, depth: str) -> Work:
    """Make all checks of a depth."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    return lambda: {"found": len(open_table(uri).check(depth=depth))}  # type: ignore[arg-type]


def their_scan(uri: str, columns: str) -> Work:
    """Scan some columns with pylance."""
    import lance

    def work() -> Numbers:
        batches = lance.dataset(uri).to_batches(columns=columns.split(","))
        return {"found": sum([batch.num_rows for batch in batches])}

    return work


QUESTIONS: dict[str, tuple[Job, str]] = {
    'check(depth="quick")': (our_check, "quick"),
    'check(depth="deep")': (our_check, "deep"),
    "pylance: scan of the indexed columns": (their_scan, "id,kind"),
    'check(depth="values")': (our_check, "values"),
    "pylance: scan of all columns": (their_scan, "id,kind,text"),
}


def benchmark(folder: Path, count: int) -> None:
    """Write the table if it is missing in ``folder``, and ask each question in a new process."""
    path = prepared(folder, f"checked_{count}", write_table, count)
    warm(path / "data")
    rows = [[f"{count:,} rows, no cache", "s", "CPU s", "peak MB"]]
    for name, (job, argument) in QUESTIONS.items():
        took = run(job, str(path), argument)
        peak = f"{took.peak_bytes / 1e6:.0f}"
        rows.append([name, f"{took.seconds:.2f}", f"{took.cpu_seconds:.2f}", peak])
    print_rows(rows)


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
