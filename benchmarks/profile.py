"""Columns over all versions, and drift of embeddings: ``python -m benchmarks.profile``.

A table of up to 300 versions of which appends, deletes and updates share data files. Beside the
profile Polars makes the same figures over the distinct data, once: the rows of all data files. The
profile is made with the cache off, then into an empty cache, then from it. Beside drift NumPy
compares all vectors, read whole by pylance.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measuring import Job, Numbers, Work, main, prepared, print_rows, run, warm

SIZES = {"small": 400_000, "full": 5_000_000}

_DIMENSIONS = 256


def write_table(path: str, count: int) -> Work:
    """Write rows of six columns; append, delete and update some, again and again."""
    import lance
    import numpy as np
    import pyarrow as pa

    def work() -> Numbers:
        chance, begin = np.random.default_rng(1), 0
        versions = 300 if count >= 1_000_000 else 60

        def rows(number: int) -> pa.Table:
            nonlocal begin
            ids = np.arange(begin, begin + number)
            begin += number
            return pa.table(
                {
                    "id": ids,
                    "score": chance.normal(size=number) + begin / 5e6,
                    "price": chance.exponential(size=number).astype("float32"),
                    "label": chance.integers(0, 50, number).astype("int32"),
                    "user": chance.zipf(1.5, number).clip(0, 10**9),
                    "city": [f"city number {n}" for n in chance.integers(0, 2000, number)],
                }
            )

        files = max(count // 10, 1_000)
        lance.write_dataset(rows(count), path, max_rows_per_file=files, enable_stable_row_ids=True)
        for step in range(versions - 1):
            match step % 6:
                case 0 | 1 | 3:
                    lance.write_dataset(rows(count // 150), path, mode="append")
                case 2 | 5:
                    lance.dataset(path).delete(f"id % 2000 = {step}")
                case _:
                    lance.dataset(path).update({"score": "score + 0.1"}, f"id % 100 = {step % 100}")
        return {"rows": lance.dataset(path).count_rows()}

    return work


def write_vectors(path: str, count: int) -> Work:
    """Write rows with vectors, and then all vectors anew."""
    import lance
    import numpy as np
    import pyarrow as pa

    def work() -> Numbers:
        chance = np.random.default_rng(1)
        for step in range(2):
            numbers = chance.normal(size=count * _DIMENSIONS).astype("float32")
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(numbers), _DIMENSIONS)
            rows = pa.table({"id": range(count), "embedding": vectors})
            if step:
                merge = lance.dataset(path).merge_insert("id").when_matched_update_all()
                merge.execute(rows)
            else:
                files = max(count // 4, 1_000)
                lance.write_dataset(rows, path, max_rows_per_file=files, enable_stable_row_ids=True)
        return {"rows": count}

    return work


def our_profile(uri: str, cache: str) -> Work:
    """Make a profile of all versions, with a cache in a folder, or ``off``."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    os.environ["LANCE_EXPLORER_CACHE"] = cache

    return lambda: {"found": len(open_table(uri).profile().to_polars())}


def their_figures(uri: str) -> Work:
    """Make the same figures of all rows of all data files by Polars."""
    import lance.file
    import polars as pl
    import pyarrow as pa

    def work() -> Numbers:
        files = sorted(Path(uri, "data").glob("*.lance"))
        tables = [lance.file.LanceFileReader(str(file)).read_all().to_table() for file in files]
        rows = pl.from_arrow(pa.concat_tables(tables, promote_options="default"))
        assert isinstance(rows, pl.DataFrame)
        for column in rows:
            numbers = column.str.len_chars() if column.dtype == pl.String else column
            _ = column.null_count(), column.min(), column.max(), column.n_unique()
            _ = numbers.mean(), numbers.std(), numbers.hist(bin_count=24)
            _ = [numbers.quantile(rank) for rank in (0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1)]
            column.value_counts().top_k(10, by="count")
        return {"found": len(rows)}

    return work


def our_drift(uri: str) -> Work:
    """Compare the vectors of all rows in both versions."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    return lambda: {"found": len(open_table(uri).changes(1, 2).drift("embedding").to_polars())}


def their_drift(uri: str) -> Work:
    """Read both versions by pylance, and compare them by NumPy."""
    import lance
    import numpy as np
    from numpy.typing import NDArray

    def vectors(version: int) -> NDArray[np.float32]:
        rows = lance.dataset(uri, version=version).to_table().sort_by("id")
        column = rows["embedding"].combine_chunks()
        found: NDArray[np.float32] = column.flatten().to_numpy().reshape(-1, _DIMENSIONS)
        return found

    def work() -> Numbers:
        old, new = vectors(1), vectors(2)
        return {"found": len(np.linalg.norm(new - old, axis=1))}

    return work


def benchmark(folder: Path, count: int) -> None:
    """Write both tables if they are missing in ``folder``, and ask each question in a process."""
    path = prepared(folder, f"profiled_{count}", write_table, count)
    vectors = prepared(folder, f"drifted_{count // 5}", write_vectors, count // 5)
    with TemporaryDirectory() as cache:
        questions: list[tuple[str, Job, tuple[str, ...]]] = [
            ("profile(), no cache", our_profile, (str(path), "off")),
            ("profile(), first time", our_profile, (str(path), cache)),
            ("profile(), again", our_profile, (str(path), cache)),
            ("Polars: the distinct data, once", their_figures, (str(path),)),
            ('drift("embedding")', our_drift, (str(vectors),)),
            ("NumPy over pylance: both versions", their_drift, (str(vectors),)),
        ]
        rows = [[f"{count:,} rows at first", "s", "CPU s", "peak MB"]]
        for table in (path, vectors):
            warm(table / "data")
        for name, job, arguments in questions:
            took = run(job, *arguments)
            peak = f"{took.peak_bytes / 1e6:.0f}"
            rows.append([name, f"{took.seconds:.2f}", f"{took.cpu_seconds:.2f}", peak])
        print_rows(rows)


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
