"""A micro-batch has no more versions, rows or bytes than it may, wherever a stream starts again."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.changes.row_options import ImageChoice
from lance_explorer.spark.changes_source import ChangesSource
from lance_explorer.spark.read_limits import HAS_READ_LIMITS, ReadMaxFiles

pytestmark = pytest.mark.skipif(not HAS_READ_LIMITS, reason="PySpark 4.2 or later")

KEYS = ["_commit_version", "_change_type", "_rowid", "_rowaddr"]

Batch = tuple[dict[str, int], dict[str, int], pl.DataFrame]


def people(start: int, count: int) -> pa.Table:
    return pa.table({"id": range(start, start + count), "city": ["a"] * count})


def commit(path: str, chance: random.Random, number: int) -> None:
    """Do something to many rows of a table."""
    dataset = lance.dataset(path)
    match chance.choice(["insert", "update", "delete", "compact", "upsert", "add", "name", "back"]):
        case "insert":
            dataset.insert(
                people(number * 1000, chance.randrange(1, 300)).select(
                    [n for n in ("id", "city") if n in dataset.schema.names]
                )
            )
        case "update":
            where = f"id % {chance.randrange(2, 9)} = 0"
            dataset.update({"city": f"'moved {number}'"}, where=where)
        case "delete":
            dataset.delete(f"id % {chance.randrange(5, 30)} = 3")
        case "compact":
            dataset.optimize.compact_files()
        case "upsert":
            merge = dataset.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(people(number * 500, 80))
        case "add" if "age" not in dataset.schema.names:
            dataset.add_columns({"age": "id * 2"})
        case "name" if "age" in dataset.schema.names:
            renamed: Any = {"path": "age", "name": f"years_{number}"}
            dataset.alter_columns(renamed)
        case "back" if dataset.version > 3:
            lance.dataset(path, version=dataset.version - 2).restore()


def batches(path: str, chance: random.Random, **options: Any) -> Iterator[Batch]:
    """Yield micro-batches until nothing is left; now and then another process goes on."""
    given = {"path": path, **{name: str(value) for name, value in options.items()}}

    def again(**other: str) -> Any:
        source = ChangesSource({**given, **other})
        return source.streamReader(source.schema())

    reader = again()
    start = reader.initialOffset()
    while True:
        if chance.random() < 0.2:
            reader = again()
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
        if end == start:
            return
        if chance.random() < 0.2:  # the plan of the batch is made anew, with parts of another size
            reader = again(rows_per_partition=str(chance.choice([7, 50, 1000])))
        read = [one for piece in reader.partitions(start, end) for one in reader.read(piece)]
        yield start, end, pl.DataFrame(pa.Table.from_batches(read)) if read else pl.DataFrame()
        start = end


@pytest.mark.drawn(4)
def test_cut_micro_batches_are_the_feed(tmp_path, seed):
    chance, path = random.Random(seed), str(tmp_path / "t.lance")
    stable = chance.random() < 0.6
    lance.write_dataset(people(0, 400), path, enable_stable_row_ids=stable)
    for number in range(1, 16):
        commit(path, chance, number)
    choices: list[ImageChoice | None] = [None, "after", "both", "known"]
    images = chance.choice(choices)
    most = chance.choice([60, 200, 500])
    options = {
        "max_rows_per_batch": most,
        "max_versions_per_batch": chance.choice([1, 3, 50]),
        "rows_per_partition": chance.choice([40, 10_000]),
        **({"images": images} if images else {}),
    }
    read = [frame for _, _, frame in batches(path, chance, **options)]
    feed = lx.open_table(path).changes(0, mode="per_commit", images=images).to_polars()
    found = pl.concat([frame for frame in read if len(frame)])
    expected = feed.select(found.columns).sort(KEYS, nulls_last=True)
    assert found.cast(expected.schema).sort(KEYS, nulls_last=True).equals(expected)
    if stable:
        lines = 2 if images == "both" else 1  # of a row that changed
        assert max(map(len, read)) <= most * 1.2 * lines


@pytest.fixture
def large(tmp_path) -> str:
    """A table whose second version is large."""
    path = str(tmp_path / "t.lance")
    lance.write_dataset(people(0, 10), path, enable_stable_row_ids=True)
    lance.dataset(path).insert(people(10, 10_000))
    lance.dataset(path).insert(people(20_000, 10))
    return path


def sizes(path: str, **options: Any) -> list[int]:
    return [len(frame) for _, _, frame in batches(path, random.Random(0), **options)]


def test_a_large_commit_is_split_by_rows(large):
    assert sizes(large, max_rows_per_batch=4_000) == [10, 4_000, 4_000, 2_000, 10]


def test_without_row_ids_appended_rows_alone_are_split(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(people(0, 10), path)
    lance.dataset(path).insert(people(10, 9_000))
    lance.dataset(path).update({"city": "'b'"}, where="id >= 10")
    assert sizes(path, max_rows_per_batch=4_000) == [10, 4_000, 4_000, 1_000, 9_000]


def test_a_large_commit_is_split_by_bytes(large):
    found = sizes(large, max_bytes_per_batch=8_000)
    assert sum(found) == 10_020
    assert 2 < len(found) < 20


def test_the_first_batch_is_bounded_by_default(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(people(0, 1), path)
    reader = ChangesSource({"path": path}).streamReader(ChangesSource({"path": path}).schema())
    assert reader.getDefaultReadLimit() == ReadMaxFiles(1_000)


def test_an_offset_of_a_cut_commit_says_which_one(large):
    ends = [end for _, end, _ in batches(large, random.Random(0), max_rows_per_batch=4_000)]
    assert ends == [
        {"version": 1},
        {"version": 1, "cut_version": 2, "row": 4_010},
        {"version": 1, "cut_version": 2, "row": 8_010},
        {"version": 2},
        {"version": 3},
    ]


def test_the_rest_of_a_cut_commit_that_was_cleaned_up_is_lost(large):
    source = ChangesSource({"path": large, "max_rows_per_batch": "4000"})
    reader = source.streamReader(source.schema())
    start = {"version": 1, "cut_version": 2, "row": 4_010}
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    remove(large, 2)
    with pytest.raises(lx.VersionNotFoundError, match="version 2"):
        reader.partitions(start, end)
    source = ChangesSource({"path": large, "failOnDataLoss": "false"})
    reader = source.streamReader(source.schema())
    pieces = reader.partitions(start, {"version": 3})
    found = pl.DataFrame(pa.Table.from_batches([b for p in pieces for b in reader.read(p)]))
    assert "lost" in found["_event"].to_list()


def remove(path: str, version: int) -> None:
    [file] = [f for f in lx.open_table(path)._view.listing.versions if f.version == version]
    Path(path, file.path).unlink()


def test_a_query_tells_how_far_behind_it_is(large):
    source = ChangesSource({"path": large})
    assert source.streamReader(source.schema()).reportLatestOffset() == {"version": 3}


@pytest.mark.parametrize("name", ["max_versions_per_batch", "max_rows_per_batch"])
def test_limits_are_for_streams(large, name):
    source = ChangesSource({"path": large, "begin_version": "1", name: "2"})
    with pytest.raises(lx.InvalidArgumentError, match=f"{name} is for streams"):
        source.reader(source.schema())
