"""Following rows, beside a scan or a take in every version: ``python -m benchmarks.lineage``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.history import write_commits
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
COMPACTIONS = 10
SEED = 0


@dataclass(frozen=True, slots=True)
class Sizes:
    """Thousands of rows to follow over 100 versions; versions of a table for one row's history."""

    rows: tuple[int, ...]
    versions: tuple[int, ...]


SIZES = {
    "small": Sizes(rows=(100,), versions=(500,)),
    "full": Sizes(rows=(100, 1000), versions=(500, 5000)),
}

# ---------------------------------------------------------------------------------------- tables


def write_stable(path: str, thousands: int) -> Work:
    """Make a table with row IDs that is updated, deleted from, appended to and compacted."""
    return lambda: write_days(path, thousands, stable_row_ids=True)


def write_unstable(path: str, thousands: int) -> Work:
    """Make the same table without row IDs."""
    return lambda: write_days(path, thousands, stable_row_ids=False)


def write_days(path: str, thousands: int, *, stable_row_ids: bool) -> Numbers:
    """Scatter each change over the whole table; about 110 versions, 10 of them compactions."""
    import lance
    import pyarrow as pa

    random = np.random.default_rng(SEED)
    count = thousands * 1000

    def rows(begin: int, size: int) -> Any:
        numbers = begin + random.permutation(size)
        return pa.table({"number": numbers, "value": np.zeros(size, dtype=np.int64)})

    lance.write_dataset(
        rows(0, count),
        path,
        max_rows_per_file=ROWS_PER_FRAGMENT,
        enable_stable_row_ids=stable_row_ids,
    )
    for number in range(3 * COMPACTIONS):
        table: Any = lance.dataset(path)
        table.update({"value": f"{number}"}, where=f"number % 100 = {number}")
        lance.dataset(path).delete(f"number % 1000 = {900 + number}")
        lance.write_dataset(rows((number + 10) * count, count // 100), path, mode="append")
        if number % 3 == 2:
            lance.dataset(path).optimize.compact_files(target_rows_per_fragment=ROWS_PER_FRAGMENT)
    return {"versions": lance.dataset(path).version}


# ------------------------------------------------------------------------------------------ jobs


def opened(path: str) -> Any:
    """Open a table and read its history."""
    from lance_explorer import open_table

    source = open_table(path)._view
    source.history  # noqa: B018
    return source


def addresses_in_first(path: str) -> NDArray[np.uint64]:
    """Return the addresses of all rows of the first version."""
    from lance_explorer import open_table

    return open_table(path).at(1).row_ids()["_rowaddr"].to_numpy()


def our_addresses(path: str) -> Work:
    """Follow all rows of the first version to the latest one."""
    from lance_explorer.lineage.follow_addresses import follow_addresses

    source, addresses = opened(path), addresses_in_first(path)

    def work() -> Numbers:
        frame = follow_addresses(source, addresses, 1)
        return {"rows": len(frame), "live": int((frame["outcome"] == "live").sum())}

    return work


def our_events(path: str) -> Work:
    """List everything that happened to the rows of the first version."""
    from lance_explorer.lineage.following import follow

    source, addresses = opened(path), addresses_in_first(path)
    return lambda: {"events": len(follow(source, addresses, 1))}


def their_scans(path: str) -> Work:
    """Look every row up in every version by its row ID: one scan a version, and a search."""
    import lance

    table: Any = lance.dataset(path)
    columns = ["_rowid", "_rowaddr"]
    ids = np.sort(lance.dataset(path, version=1).to_table(columns=columns)["_rowid"].to_numpy())

    def work() -> Numbers:
        live = len(ids)
        for number in range(2, table.version + 1):
            scanned = lance.dataset(path, version=number).to_table(columns=columns)
            found, addresses = [column.to_numpy() for column in scanned.columns]
            order = np.argsort(found)
            place = np.searchsorted(found[order], ids)
            there = found[order][np.minimum(place, len(order) - 1)] == ids
            live = int(there.sum())
            addresses[order][place[there]]
        return {"rows": len(ids), "live": live}

    return work


def our_first_history(path: str) -> Work:
    """Tell the history of one row of an opened table."""
    from lance_explorer.lineage.following import row_history

    source = opened(path)
    return lambda: {"events": len(row_history(source, 1005))}


def our_row(path: str) -> Work:
    """Tell the history of one row when that of another was told before."""
    from lance_explorer.lineage.following import row_history

    source = opened(path)
    row_history(source, 1105)
    return lambda: {"events": len(row_history(source, 1005))}


def their_row(path: str) -> Work:
    """Take one row by its row ID from every version."""
    import lance

    table: Any = lance.dataset(path)

    def work() -> Numbers:
        places = set()
        for number in range(1, table.version + 1):
            version: Any = lance.dataset(path, version=number)
            taken = version.to_table(columns=["_rowid", "_rowaddr"], filter="_rowid = 1005")
            places.update(taken["_rowaddr"].to_pylist())
        return {"places": len(places)}

    return work


# ---------------------------------------------------------------------------------------- output


def print_followed(folder: Path, sizes: Sizes) -> None:
    """Follow many rows; with pylance only by row ID, and only in tables that have it."""
    lines = [["table", "rows", "all to the end s", "all events s", "scans s", "faster", "peak MB"]]
    writers: list[tuple[str, Job]] = [("stable", write_stable), ("addresses", write_unstable)]
    for kind, writer in writers:
        for thousands in sizes.rows:
            name = f"followed_{kind}_{thousands}k"
            path = prepared(folder, name, writer, thousands)
            for part in ("_versions", "_deletions", "data"):
                warm(path / part)
            ours, events = measure(our_addresses, str(path)), measure(our_events, str(path))
            theirs = measure(their_scans, str(path)) if kind == "stable" else None
            if theirs and theirs.numbers != ours.numbers:
                raise ValueError(f"{path}: {ours.numbers}, not {theirs.numbers}")
            lines.append(
                [
                    name,
                    f"{ours.numbers['rows']:,}",
                    f"{ours.seconds:.2f}",
                    f"{events.seconds:.2f}",
                    *beside(ours, theirs),
                    f"{ours.peak_bytes / 1e6:.0f}",
                ]
            )
    print_rows(lines)


def print_histories(folder: Path, sizes: Sizes) -> None:
    """Tell the history of one row of a table that has many versions."""
    lines = [["versions", "events", "first row ms", "next row ms"]]
    for count in sizes.versions:
        path = prepared(folder, f"commits_{count}", write_commits, count)
        warm(path / "_versions")
        first, another = [measure(job, str(path)) for job in (our_first_history, our_row)]
        times = [f"{one.seconds * 1000:.1f}" for one in (first, another)]
        lines.append([f"{count:,}", f"{first.numbers['events']}", *times])
    print_rows(lines)


def print_row(folder: Path, sizes: Sizes) -> None:
    """Compare the history of one row with taking it from every version."""
    path = prepared(folder, f"followed_stable_{sizes.rows[0]}k", write_stable, sizes.rows[0])
    ours, theirs = measure(our_row, str(path)), measure(their_row, str(path))
    lines = [["one row", "ms", "takes ms", "faster"]]
    shown = [f"{one.seconds * 1000:.1f}" for one in (ours, theirs)]
    lines.append([path.name, *shown, f"{theirs.seconds / ours.seconds:.0f}x"])
    print_rows(lines)


def beside(ours: Measurement, theirs: Measurement | None) -> list[str]:
    if theirs is None:
        return ["", ""]
    return [f"{theirs.seconds:.2f}", f"{theirs.seconds / ours.seconds:.1f}x"]


def benchmark(folder: Path, sizes: Sizes) -> None:
    """Write the tables that are missing in ``folder``; follow rows; print what that took."""
    for part in (print_followed, print_histories, print_row):
        part(folder, sizes)
        print(flush=True)


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
