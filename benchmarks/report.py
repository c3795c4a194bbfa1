"""Reports, and the changes of every commit with their values: ``python -m benchmarks.report``.

Beside the changes pylance makes its deltas of each commit; nothing else writes a report.
"""

import tempfile
from pathlib import Path

from benchmarks.history import write_commits
from benchmarks.measuring import Job, Numbers, Work, main, prepared, print_rows, run

SIZES = {"small": (1_000, 200_000, 30), "full": (20_000, 10_000_000, 125)}
"""Small versions; rows of a table that is edited, and its versions."""

_EDITED = 500


def write_edits(path: str, num_rows: int, num_versions: int) -> Work:
    """Write rows, and update, upsert, append, delete and compact some in turn."""
    import lance
    import numpy as np
    import pyarrow as pa

    def rows(begin: int, count: int) -> pa.Table:
        ids = np.arange(begin, begin + count)
        names = pa.array([f"name {number % 1_000}" for number in ids.tolist()])
        return pa.table({"id": ids, "score": ids % 997 / 7, "name": names})

    def work() -> Numbers:
        chance, last = np.random.default_rng(1), num_rows
        table = lance.write_dataset(
            rows(0, num_rows), path, enable_stable_row_ids=True, max_rows_per_file=num_rows // 40
        )
        while table.version < num_versions:
            match table.version % 6:
                case 0:
                    table = lance.write_dataset(rows(last, _EDITED), table, mode="append")
                    last += _EDITED
                case 1:
                    table.delete(f"id % {num_rows // 100} = {table.version}")
                case 2:
                    where = f"id % {num_rows // 200} = {table.version}"
                    table.update({"score": "score + 1"}, where=where)
                case 5 if table.version % 5 == 0:
                    table.optimize.compact_files()
                case _:
                    begin = int(chance.integers(num_rows - _EDITED))
                    merge = table.merge_insert("id").when_matched_update_all()
                    merge.when_not_matched_insert_all().execute(rows(begin, _EDITED))
            table = lance.dataset(path)
        return {"versions": table.version}

    return work


def our_report(uri: str, interactive: str) -> Work:
    """Write a report, or an interactive one."""
    import lance  # noqa: F401
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    def work() -> Numbers:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            open_table(uri).report(page, interactive=bool(interactive))
            return {"bytes": page.stat().st_size}

    return work


def our_changes(uri: str, images: str) -> Work:
    """List what each commit changed."""
    import lance  # noqa: F401
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    def work() -> Numbers:
        changes = open_table(uri).changes(1, mode="per_commit", images=images or None)  # type: ignore[arg-type]
        return {"lines": len(changes.to_polars())}

    return work


def their_changes(uri: str, _: str) -> Work:
    """List what each commit changed, by pylance's deltas."""
    import lance

    def work() -> Numbers:
        lines = 0
        for version in range(2, lance.dataset(uri).version + 1):
            table = lance.dataset(uri, version=version)
            delta = table.delta(begin_version=version - 1, end_version=version)
            for batches in (
                delta.get_inserted_rows(),
                delta.get_updated_rows(),
                delta.get_deleted_row_ids(),
            ):
                lines += sum([len(batch) for batch in batches])
        return {"lines": lines}

    return work


QUESTIONS: tuple[tuple[str, Job, str], ...] = (
    ("report()", our_report, ""),
    ("report(interactive=True)", our_report, "yes"),
    ("changes, each commit", our_changes, ""),
    ("changes, values after", our_changes, "after"),
    ("changes, both values", our_changes, "both"),
    ("pylance: deltas of each commit, values after", their_changes, ""),
)


def benchmark(folder: Path, sizes: tuple[int, int, int]) -> None:
    """Write the tables that are missing in ``folder``, and do each job once, without a cache."""
    small, num_rows, num_versions = sizes
    commits = prepared(folder, f"commits_{small}", write_commits, small)
    edits = prepared(folder, f"edited_{num_rows}", write_edits, num_rows, num_versions)
    lines = [["", "s", "CPU s", "peak MB", "lines or bytes"]]
    for name, path, questions in (
        (f"{small:,} small versions", commits, QUESTIONS[:1]),
        (f"{num_rows:,} rows, {num_versions} versions", edits, QUESTIONS),
    ):
        lines.append([name, *[""] * 4])
        for words, job, argument in questions:
            took = run(job, str(path), argument)
            [count] = took.numbers.values()
            peak = f"{took.peak_bytes / 1e6:.0f}"
            cells = f"{took.seconds:.2f}", f"{took.cpu_seconds:.2f}", peak, f"{count:,}"
            lines.append([f"  {words}", *cells])
    print_rows(lines)


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
