"""Net changes and their values, beside pylance's deltas: ``python -m benchmarks.changes``."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import (
    Job,
    Measurement,
    Numbers,
    Work,
    main,
    measure,
    prepared,
    print_rows,
    warm,
)

ROWS_PER_FRAGMENT = 100_000
DIMENSION = 32

SIZES = {
    "small": ((1, 2), (1,)),
    "medium": ((2, 10, 20), (2, 10)),
    "full": ((2, 20, 100), (2, 5, 10)),
}
"""Millions of rows: of tables with IDs alone, and of those with vectors."""


# ---------------------------------------------------------------------------------------- tables


def write_changed(path: Path, millions: int) -> Work:
    """Return what writes numbers, updates 1 % of them, deletes 5 %, and compacts everything."""
    return lambda: _write(path, millions, None)


def write_vectors(path: Path, millions: int) -> Work:
    """Return what does the same to rows with a vector and a text."""
    return lambda: _write(path, millions, DIMENSION)


def _write(path: Path, millions: int, dimension: int | None) -> Numbers:
    import lance
    import pyarrow as pa

    def batches() -> Any:
        for begin in range(0, millions * 1_000_000, ROWS_PER_FRAGMENT):
            numbers = np.arange(begin, begin + ROWS_PER_FRAGMENT)
            columns = {"number": pa.array(numbers), "score": pa.array(numbers * 0.5)}
            if dimension:
                values = np.random.default_rng(begin).random(len(numbers) * dimension, np.float32)
                columns["vector"] = pa.FixedSizeListArray.from_arrays(values, dimension)
                columns["text"] = pa.array(np.char.add("text of row ", numbers.astype(str)))
            yield pa.RecordBatch.from_pydict(columns)

    first = next(batches())
    reader = pa.RecordBatchReader.from_batches(first.schema, batches())
    table = lance.write_dataset(
        reader, path, enable_stable_row_ids=True, max_rows_per_file=ROWS_PER_FRAGMENT
    )
    table.update({"score": "score + 1"}, where="number % 100 = 7")
    table.delete("number % 20 = 3")
    table.optimize.compact_files(target_rows_per_fragment=ROWS_PER_FRAGMENT * 10)
    return {"versions": table.version}


# ------------------------------------------------------------------------------------------ jobs


def opened(path: str) -> Any:
    """Return a table with its history loaded, and everything imported."""
    import lance_explorer as lx
    import lance_explorer.changes.change_feed
    import lance_explorer.values.rows_at

    np.unique(np.empty(0))  # imports a part of NumPy
    table = lx.open_table(path)
    table._view.history  # noqa: B018
    return table


def our_counts(path: str, begin: int, end: int) -> Work:
    table = opened(path)

    def work() -> Numbers:
        [counts] = table.changes(begin, end).summary().to_dicts()
        return {name: counts[name] for name in ("inserted", "updated", "deleted")}

    return work


def our_rows(path: str, begin: int, end: int) -> Work:
    table = opened(path)

    def work() -> Numbers:
        lines = table.changes(begin, end, images=None).to_polars()
        names = ("inserted", "updated", "deleted")
        return {name: int((lines["_event"] == name).sum()) for name in names}

    return work


def their_counts(path: str, begin: int, end: int) -> Work:
    import lance

    dataset = lance.dataset(path, version=end)

    def work() -> Numbers:
        delta = dataset.delta(begin_version=begin, end_version=end)
        return {
            "inserted": sum(len(batch) for batch in delta.get_inserted_rows()),
            "updated": sum(len(batch) for batch in delta.get_updated_rows()),
            "deleted": sum(len(batch) for batch in delta.get_deleted_row_ids()),
        }

    return work


def our_images(path: str, begin: int, end: int) -> Work:
    table = opened(path)
    return lambda: _updated(table.changes(begin, end, images="after").to_polars())


def our_both_images(path: str, begin: int, end: int) -> Work:
    table = opened(path)
    return lambda: _updated(table.changes(begin, end, images="both").to_polars())


def _updated(lines: Any) -> Numbers:
    chosen = lines.filter(_change_type="update_postimage")
    return {"rows": len(chosen), "sum": int(chosen["number"].sum())}


def their_images(path: str, begin: int, end: int) -> Work:
    import lance
    import pyarrow.compute as pc

    dataset = lance.dataset(path, version=end)

    def work() -> Numbers:
        rows = dataset.delta(begin_version=begin, end_version=end).get_updated_rows().read_all()
        return {"rows": len(rows), "sum": pc.sum(rows["number"]).as_py()}

    return work


# ---------------------------------------------------------------------------------------- output


def print_counts(folder: Path, several: tuple[int, ...]) -> None:
    """Count net changes, before and after a compaction."""
    names = ["count s", "CPU s", "rows s", "CPU s", "pylance s", "CPU s"]
    lines = [["rows", "up to", *names, "faster", "peak MB", "pylance MB"]]
    for millions in several:
        path = prepared(folder, f"changed_{millions}M", write_changed, millions)
        _warm(path)
        for name, end in (("deletion", 3), ("compaction", _latest(path))):
            lines.append([f"{millions} M", name, *count_line(path, end)])
    print_rows(lines)


def count_line(path: Path, end: int) -> list[str]:
    jobs: list[Job] = [our_counts, our_rows, their_counts]
    counts, rows, theirs = (measure(job, str(path), 1, end) for job in jobs)
    if counts.numbers != rows.numbers or counts.numbers != theirs.numbers:
        raise ValueError(f"{path}: {counts.numbers}, {rows.numbers}, {theirs.numbers}")
    return [
        *[cell for took in (counts, rows, theirs) for cell in _times(took)],
        f"{theirs.cpu_seconds / counts.cpu_seconds:.1f}x",
        f"{counts.peak_bytes / 1e6:.0f}",
        f"{theirs.peak_bytes / 1e6:.0f}",
    ]


def print_images(folder: Path, several: tuple[int, ...]) -> None:
    """Read the values of updated rows."""
    names = ["after s", "CPU s", "both s", "CPU s", "pylance s", "CPU s"]
    lines = [["rows", "updated", *names, "after/pylance", "peak MB"]]
    for millions in several:
        path = prepared(folder, f"vectors_{millions}M", write_vectors, millions)
        _warm(path)
        jobs: list[Job] = [our_images, our_both_images, their_images]
        after, both, theirs = (measure(job, str(path), 1, 2) for job in jobs)
        if not after.numbers == both.numbers == theirs.numbers:
            raise ValueError(f"{path}: {after.numbers}, {both.numbers}, {theirs.numbers}")
        lines.append(
            [
                f"{millions} M",
                f"{after.numbers['rows']:,}",
                *[cell for took in (after, both, theirs) for cell in _times(took)],
                f"{after.cpu_seconds / theirs.cpu_seconds:.1f}x",
                f"{both.peak_bytes / 1e6:.0f}",
            ]
        )
    print_rows(lines)


def _times(took: Measurement) -> tuple[str, str]:
    return f"{took.seconds:.3f}", f"{took.cpu_seconds:.3f}"


def _warm(path: Path) -> None:
    for part in ("_versions", "_deletions", "data"):
        warm(path / part)


def _latest(path: Path) -> int:
    import lance_explorer as lx

    return lx.open_table(path).latest.version


def benchmark(folder: Path, sizes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """Write the tables that are missing in ``folder``; print what comparing their versions took."""
    counted, read = sizes
    print_counts(folder, counted)
    print(flush=True)
    print_images(folder, read)


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
