"""Compare what a compaction leaves in metadata, as it is foretold, with what pylance writes.

Tables are written at random: upserts whose rows come in any order, updates, deletions and
compactions, with and without stable row IDs, of few and of many thousand rows.

    python -m tests.disk.random_compactions --tables 300
"""

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa

import lance_explorer as lx
from tests.disk.agreement import random_options

__all__ = ["check_compaction_of", "predicted", "sequences", "write_at_random"]

Sequence = tuple[int, int, int, str]
"""Rows, segments, bytes, and how many segments have which encoding."""

SIZES = (6, 30, 300, 3_000, 40_000)


def write_at_random(path: Path, rng: random.Random) -> bool:
    """Write a table; return whether it has stable row IDs."""
    num_rows, has_ids = rng.choice(SIZES), rng.random() < 0.8
    each = max(num_rows // rng.randrange(1, 5), 1)
    keys = list(range(num_rows))
    lance.write_dataset(_rows(keys), path, max_rows_per_file=each, enable_stable_row_ids=has_ids)
    next_key = num_rows
    for _ in range(rng.randrange(1, 7)):
        dataset = lance.dataset(path)
        match rng.randrange(7):
            case 0 | 1 | 2:
                some = _some(rng, next_key)
                if rng.random() < 0.3:
                    some += range(next_key, next_key + rng.randrange(1, 5))
                    rng.shuffle(some)
                merge = dataset.merge_insert("k").when_matched_update_all()
                if rng.random() < 0.5:
                    merge = merge.when_not_matched_insert_all()
                merge.execute(_rows(some))
                next_key += 5
            case 3:
                dataset.update({"v": "v + 1"}, where=f"k % {rng.randrange(2, 9)} = 1")
            case 4:
                dataset.delete(f"k % {rng.randrange(2, 40)} = {rng.randrange(3)}")
            case 5:
                begin = rng.randrange(next_key)
                dataset.delete(f"k >= {begin} and k < {begin + num_rows // 5 + 1}")
            case _:
                dataset.optimize.compact_files(target_rows_per_fragment=rng.choice([each, 10**6]))
    return has_ids


def check_compaction_of(path: Path, rng: random.Random, *, has_ids: bool) -> int:
    """Compact a table and compare; return how many fragments were written."""
    before = [fragment.fragment_id for fragment in lance.dataset(path).get_fragments()]
    options = random_options(rng, before) if rng.random() < 0.5 else {}
    expected = predicted(path, options)
    summary = lx.open_table(path).compaction_preview(**options).summary().row(0, named=True)
    lance.dataset(path).optimize.compact_files(**options)
    written = sequences(path, set(before))
    assert written == expected, f"foretold {expected}, written {written}"
    size = sum(size for _, _, size, _ in written)
    assert summary["row_id_bytes_after"] in ([size] if has_ids else [None, 0])
    assert summary["num_fragments_after"] == len(lance.dataset(path).get_fragments())
    return len(written)


def sequences(path: Path, than: set[int]) -> list[Sequence]:
    """Return what we decode of the fragments of the latest version that were not there before."""
    inspect = lx.open_table(path).inspect
    encodings = inspect.row_id_encodings().filter(~pl.col("fragment_id").is_in(list(than)))
    segments = inspect.row_id_segments()
    found = []
    for fragment_id, count, num, size in encodings.select(
        "fragment_id", "num_values", "num_segments", "encoded_bytes"
    ).iter_rows():
        forms = Counter(segments.filter(fragment_id=fragment_id)["encoding"])
        words = ", ".join(f"{number:,} {form}" for form, number in sorted(forms.items()))
        found.append((count, num, size, words))
    return sorted(found)


def predicted(path: Path, options: dict[str, Any]) -> list[Sequence]:
    """Return the same as the preview of a compaction foretells it."""
    new = lx.open_table(path).compaction_preview(**options).new_fragments()
    names = "num_rows", "num_row_id_segments", "row_id_bytes", "row_id_encodings"
    return sorted(new.select(names).drop_nulls("num_row_id_segments").rows())


def _rows(keys: list[int]) -> pa.Table:
    return pa.table({"k": pa.array(keys, pa.int64()), "v": pa.array([0] * len(keys), pa.int64())})


def _some(rng: random.Random, stop: int) -> list[int]:
    """Return some keys, in any order."""
    share = rng.choice([0.02, 0.3, 0.9])
    some = [key for key in range(stop) if rng.random() < share] or [rng.randrange(stop)]
    if rng.random() < 0.3:  # runs of keys, in any order
        runs = [some[place : place + 7] for place in range(0, len(some), 7)]
        rng.shuffle(runs)
        return [key for run in runs for key in run]
    return some if rng.random() < 0.2 else rng.sample(some, len(some))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    wrong, written, with_ids = list[int](), 0, 0
    for seed in range(given.seed, given.seed + given.tables):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.lance"
            has_ids = write_at_random(path, rng)
            with_ids += has_ids
            try:
                written += check_compaction_of(path, rng, has_ids=has_ids)
            except AssertionError as error:
                wrong.append(seed)
                print(f"seed {seed}: {error}"[:600])
    print(
        f"{given.tables} tables, {with_ids} with stable row IDs, {written} sequences written; "
        f"{len(wrong)} differ: seeds {wrong}"
    )
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
