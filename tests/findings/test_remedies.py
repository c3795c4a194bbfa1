"""Remedies with a call: each is followed on a table by pylance, and the finding goes."""

from collections.abc import Callable
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx


def rows(count: int, start: int = 0) -> pa.Table:
    ids = [*range(start, start + count)]
    return pa.table({"id": ids, "kind": [number % 7 for number in ids]})


def indexed(path: Path, count: int, start: int = 0) -> lance.LanceDataset:
    dataset = lance.write_dataset(rows(count, start), path)
    dataset.create_scalar_index("id", "BTREE", name="id_idx")
    return dataset


def small_fragments(path: Path) -> None:
    for start in range(0, 300, 10):
        lance.write_dataset(rows(10, start), path, mode="append" if start else "create")


def deleted_rows(path: Path) -> None:
    lance.write_dataset(rows(30_000), path).delete("id % 2 = 0")


def spread_deleted_rows(path: Path) -> None:
    lance.write_dataset(rows(200_000), path).delete("id % 11 = 0")


def many_index_segments(path: Path) -> None:
    indexed(path, 10)
    for start in range(10, 60, 10):
        dataset = lance.write_dataset(rows(10, start), path, mode="append")
        dataset.optimize.optimize_indices(num_indices_to_merge=0)


def unindexed_rows(path: Path) -> None:
    indexed(path, 100)
    lance.write_dataset(rows(12_000, 100), path, mode="append")


def index_covers_nothing(path: Path) -> None:
    dataset = indexed(path, 100)
    dataset.delete("id >= 0")
    lance.write_dataset(rows(50, 100), path, mode="append")


def stale_index_entries(path: Path) -> None:
    indexed(path, 30_000).delete("id < 15000")


def fragment_reuse_lags(path: Path) -> None:
    lance.write_dataset(rows(100), path, max_rows_per_file=20)
    dataset = lance.dataset(path)
    dataset.create_scalar_index("id", "BTREE", name="id_idx")
    dataset.optimize.compact_files(defer_index_remap=True)


def v1_manifest_names(path: Path) -> None:
    lance.write_dataset(rows(10), path, enable_v2_manifest_paths=False)
    lance.write_dataset(rows(10, 10), path, mode="append")


def index_unreadable(path: Path) -> None:
    indexed(path, 100)
    [file] = path.glob("_indices/*/page_data.lance")
    file.write_bytes(b"\0" * file.stat().st_size)


def index_names_no_rows(path: Path) -> None:
    take_index(path, 200)


def index_misses_rows(path: Path) -> None:
    take_index(path, 50)


def index_has_other_values(path: Path) -> None:
    take_index(path, 100, start=7)


def take_index(path: Path, count: int, start: int = 0) -> None:
    """Give a table of 100 rows the index of another one."""
    indexed(path, 100)
    other = path.with_name("other.lance")
    indexed(other, count, start)
    [ours], [theirs] = [one.glob("_indices/*") for one in (path, other)]
    for file in theirs.iterdir():
        (ours / file.name).write_bytes(file.read_bytes())


FAULTS = (
    small_fragments,
    deleted_rows,
    spread_deleted_rows,
    many_index_segments,
    unindexed_rows,
    index_covers_nothing,
    stale_index_entries,
    fragment_reuse_lags,
    v1_manifest_names,
    index_unreadable,
    index_names_no_rows,
    index_misses_rows,
    index_has_other_values,
)


def contents(path: Path) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(lance.dataset(path).to_table())).sort("id")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_finding_goes_once_its_remedy_was_followed(
    tmp_path: Path, fault: Callable[[Path], None]
) -> None:
    path = tmp_path / "t.lance"
    fault(path)
    code, before, held = fault.__name__, lx.open_table(path).check(depth="deep"), contents(path)
    remedies = before.filter(code=code)["remedy_code"].to_list()
    assert remedies
    for remedy in dict.fromkeys(remedies):
        exec(remedy, {"dataset": lance.dataset(path)})
    after = lx.open_table(path).check(depth="deep")
    assert after.filter(code=code).is_empty()
    assert contents(path).equals(held)
    assert set(after["code"]) <= set(before["code"])
