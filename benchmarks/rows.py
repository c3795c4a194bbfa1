"""Who each row is and where, beside pylance's scan of the data: ``python -m benchmarks.rows``."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from benchmarks.measuring import Job, Numbers, Work, main, measure, prepared, print_rows, run, warm
from lance_explorer.rowids.arrays import EncodedU64Array
from lance_explorer.rowids.index import FragmentRows, RowIdIndex
from lance_explorer.rowids.segments import Range, RangeWithBitmap, RangeWithHoles, U64Segment
from lance_explorer.rowids.sequence import RowIdSequence
from lance_explorer.rowids.sizes import sequence_size

MILLION = 1_000_000
LOOKUPS = MILLION

SYSTEM_COLUMNS = (
    "_rowid",
    "_rowaddr",
    "_row_created_at_version",
    "_row_last_updated_at_version",
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Millions of rows: of tables with deletions, of tables without, and of fragments alone."""

    deleted: tuple[int, ...]
    updated: tuple[int, ...]
    synthetic: tuple[int, ...]


SIZES = {
    "small": Sizes(deleted=(2,), updated=(2,), synthetic=(10,)),
    "medium": Sizes(deleted=(2, 20), updated=(20,), synthetic=(10, 100)),
    "full": Sizes(deleted=(2, 10, 20), updated=(10, 30, 100), synthetic=(10, 100, 1000)),
}

# ------------------------------------------------------------------------- tables with data files


def write_deleted(path: str, millions: int) -> Work:
    """Make a table of which 1 % of the rows is updated and 5 % deleted, all scattered."""
    return lambda: write_table(path, millions, deleted=True)


def write_updated(path: str, millions: int) -> Work:
    """Make a table of which 1 % of the rows is updated, all scattered."""
    return lambda: write_table(path, millions, deleted=False)


def write_table(path: str, millions: int, *, deleted: bool) -> Numbers:
    """Write fragments of 100,000 rows of one shuffled number, and change them by that number."""
    import lance
    import pyarrow as pa

    schema = pa.schema([pa.field("number", pa.int64())])
    random = np.random.default_rng(0)

    def batches() -> Iterator[pa.RecordBatch]:
        for begin in range(0, millions * MILLION, MILLION):
            numbers = begin + random.permutation(MILLION)
            yield pa.record_batch([pa.array(numbers)], schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    lance.write_dataset(reader, path, max_rows_per_file=100_000, enable_stable_row_ids=True)
    table: Any = lance.dataset(path)
    table.update({"number": "number"}, where="number % 100 = 3")
    if deleted:
        lance.dataset(path).delete("number % 20 = 7")
    return {"rows": lance.dataset(path).count_rows()}


def our_index(path: str) -> Work:
    """Index the rows of an opened table."""
    snapshot = opened(path)
    return lambda: {"rows": len(snapshot.row_id_index())}


def our_rows(path: str) -> Work:
    """List the rows of an opened table."""
    snapshot = opened(path)
    return lambda: {"rows": len(snapshot.row_ids())}


def our_lookups(path: str) -> Work:
    """Find a million rows in an index."""
    snapshot = opened(path)
    index, ids = snapshot.row_id_index(), random_ids(snapshot.num_rows)
    return lambda: {"found": len(index.locate_many(ids).drop_nulls())}


def our_index_size(path: str) -> Work:
    """Tell how large an index is."""
    index = opened(path).row_id_index()
    return lambda: {"runs": index.num_runs, "bytes": index.nbytes}


def their_index(path: str) -> Work:
    """Scan row IDs and addresses with pylance."""
    return scan(path, SYSTEM_COLUMNS[:2])


def their_rows(path: str) -> Work:
    """Scan all four system columns with pylance."""
    return scan(path, SYSTEM_COLUMNS)


def scan(path: str, columns: tuple[str, ...]) -> Work:
    import lance

    table: Any = lance.dataset(path)
    return lambda: {"rows": table.to_table(columns=[*columns]).num_rows}


def opened(path: str) -> Any:
    from lance_explorer import open_table

    return open_table(path).latest


def random_ids(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(1).integers(0, count, LOOKUPS, dtype=np.uint64)


# ------------------------------------------------------------ fragments that no machine has to hold


def fragments_of(shape: str, millions: int, *, first_id: int = 0) -> list[FragmentRows]:
    """Make fragments of about a million rows each."""
    form, _, deleted = shape.partition(", ")
    random = np.random.default_rng(0)
    fragments, start = [], 0
    for fragment_id in range(first_id, first_id + millions):
        segment, start = FORMS[form](start, random)
        offsets = random.integers(0, MILLION, MILLION // 100 if deleted else 0, dtype=np.uint32)
        sequence = RowIdSequence.of([segment])
        fragments.append(FragmentRows(fragment_id, sequence, BitMap(offsets)))
    return fragments


Form = Callable[[int, np.random.Generator], tuple[U64Segment, int]]
"""Makes a segment that starts at a row ID, and tells where the next one starts."""


def whole(start: int, random: np.random.Generator) -> tuple[U64Segment, int]:
    return Range(start, start + MILLION), start + MILLION


def with_holes(start: int, random: np.random.Generator) -> tuple[U64Segment, int]:
    """Leave 3 % out, which is about the most that a writer puts into this form."""
    stop = start + MILLION
    holes = np.unique(random.integers(start + 1, stop - 1, MILLION // 33, dtype=np.uint64))
    return RangeWithHoles(start, stop, EncodedU64Array.of(holes)), stop


def with_bitmap(start: int, random: np.random.Generator) -> tuple[U64Segment, int]:
    """Leave 19 % out."""
    num_bytes = MILLION * 16 // 13 // 8
    one, two, three, four = random.integers(0, 256, (4, num_bytes), dtype=np.uint8)
    bits = one | two | three & four
    bits[[0, -1]] = 0xFF
    stop = start + 8 * num_bytes
    return RangeWithBitmap(start, stop, bits.tobytes()), stop


FORMS: dict[str, Form] = {"ranges": whole, "holes": with_holes, "bitmaps": with_bitmap}

SHAPES = ("ranges", "ranges, deletions", "holes", "bitmaps", "bitmaps, deletions")


def build(shape: str, millions: int) -> Work:
    """Index fragments."""
    fragments = fragments_of(shape, millions)

    def work() -> Numbers:
        RowIdIndex.of_fragments(fragments)
        return {}

    return work


def look_up(shape: str, millions: int) -> Work:
    """Find a million rows in an index."""
    index = RowIdIndex.of_fragments(fragments_of(shape, millions))
    ids = random_ids(millions * MILLION)
    return lambda: {"found": int(index.locate_many(ids)[1].sum())}


def compare(shape: str, millions: int) -> Work:
    """Find what came and went when all rows moved and some fragments were lost and added."""
    fragments, moved = (
        fragments_of(shape, millions),
        fragments_of(shape, millions, first_id=millions),
    )
    before = RowIdIndex.of_fragments(fragments[: -millions // 10]).id_map
    after = RowIdIndex.of_fragments(moved[millions // 10 :]).id_map

    def work() -> Numbers:
        return {
            "deleted": before.difference(after).num_rows,
            "inserted": after.difference(before).num_rows,
            "kept": before.intersection(after).num_rows,
        }

    return work


def describe(shape: str, millions: int) -> Work:
    """Tell how large fragments and their index are."""
    fragments = fragments_of(shape, millions)
    index = RowIdIndex.of_fragments(fragments)

    def work() -> Numbers:
        return {
            "rows": len(index),
            "runs": index.num_runs,
            "bytes": index.nbytes,
            "stored": sum(
                [
                    sequence_size(rows.row_ids) + len((rows.deleted or BitMap()).serialize())
                    for rows in fragments
                ]
            ),
        }

    return work


# ---------------------------------------------------------------------------------------- output


def print_tables(folder: Path, sizes: Sizes) -> None:
    """Compare with pylance on tables that it wrote."""
    heading = ["table", "rows", "runs", "index MB", "bytes/run", "index s", "pylance s", "faster"]
    lines = [
        [*heading, "1 M lookups s", "rows() s", "pylance s", "faster", "peak MB", "pylance MB"]
    ]
    kinds: list[tuple[str, Job, tuple[int, ...]]] = [
        ("deleted", write_deleted, sizes.deleted),
        ("updated", write_updated, sizes.updated),
    ]
    for kind, writer, several in kinds:
        for millions in several:
            name = f"{kind}_{millions}M"
            lines.append(table_line(name, prepared(folder, name, writer, millions)))
    print_rows(lines)


def table_line(name: str, path: Path) -> list[str]:
    for part in ("_versions", "_deletions", "data"):
        warm(path / part)
    jobs: list[Job] = [our_index, their_index, our_lookups, our_rows, their_rows]
    index, scanned, lookups, rows, all_scanned = (measure(job, str(path)) for job in jobs)
    counts = {one.numbers["rows"] for one in (index, scanned, rows, all_scanned)}
    if len(counts) != 1:
        raise ValueError(f"{path}: {counts} rows were counted")
    size = run(our_index_size, str(path)).numbers
    return [
        name,
        f"{counts.pop():,}",
        f"{size['runs']:,}",
        f"{size['bytes'] / 1e6:.1f}",
        f"{size['bytes'] / size['runs']:.1f}",
        f"{index.seconds:.3f}",
        f"{scanned.seconds:.3f}",
        f"{scanned.seconds / index.seconds:.1f}x",
        f"{lookups.seconds:.3f}",
        f"{rows.seconds:.3f}",
        f"{all_scanned.seconds:.3f}",
        f"{all_scanned.seconds / rows.seconds:.1f}x",
        f"{index.peak_bytes / 1e6:.0f}",
        f"{scanned.peak_bytes / 1e6:.0f}",
    ]


def print_shapes(sizes: Sizes) -> None:
    """Index fragments that were never written."""
    heading = ["fragments", "rows", "runs", "stored MB", "index MB", "index/stored", "bytes/run"]
    lines = [[*heading, "index s", "1 M lookups s", "compare s", "peak MB"]]
    lines += [shape_line(shape, size) for shape in SHAPES for size in sizes.synthetic]
    print_rows(lines)


def shape_line(shape: str, millions: int) -> list[str]:
    size = run(describe, shape, millions).numbers
    jobs: list[Job] = [build, look_up, compare]
    index, lookups, comparison = (run(job, shape, millions) for job in jobs)
    return [
        f"{millions} x {shape}",
        f"{size['rows']:,}",
        f"{size['runs']:,}",
        f"{size['stored'] / 1e6:.1f}",
        f"{size['bytes'] / 1e6:.1f}",
        f"{size['bytes'] / size['stored']:.2f}",
        f"{size['bytes'] / size['runs']:.1f}",
        f"{index.seconds:.3f}",
        f"{lookups.seconds:.3f}",
        f"{comparison.seconds:.3f}",
        f"{index.peak_bytes / 1e6:.0f}",
    ]


def benchmark(folder: Path, sizes: Sizes) -> None:
    """Write the tables that are missing in ``folder``; index everything; print what that took."""
    print_tables(folder, sizes)
    print(flush=True)
    print_shapes(sizes)


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
