"""Values that several versions share are read once, and are what each version has."""

import random

import lance
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.values import read_rows_at

COMMITS = 25


def rows(first, count):
    ids = range(first, first + count)
    return pa.table({"id": ids, "name": [f"row {each}" for each in ids]})


def commit(path, chance, number):
    table = lance.dataset(path)
    low = chance.randrange(40)
    some = f"id >= {low} and id < {low + chance.randrange(1, 15)}"
    has_extra = "extra" in table.schema.names
    match chance.choice(["append", "append", "update", "delete", "compact", "restore", "column"]):
        case "append" if not has_extra:
            lance.write_dataset(rows(chance.randrange(40), 5), path, mode="append")
        case "append" | "update":
            table.update({"name": f"'written by {number}'"}, where=some)
        case "delete":
            table.delete(some)
        case "compact":
            table.optimize.compact_files()
        case "restore":
            lance.dataset(path, version=chance.randrange(1, table.latest_version + 1)).restore()
        case "column" if has_extra:
            table.drop_columns(["extra"])
        case "column":
            table.add_columns({"extra": f"id + {number}"})


@pytest.mark.slow
@pytest.mark.drawn(2)
def test_values_read_together_are_those_read_alone(tmp_path, seed):
    path, chance = tmp_path / "t.lance", random.Random(seed)
    has_row_ids = chance.random() < 0.5
    lance.write_dataset(rows(0, 40), path, enable_stable_row_ids=has_row_ids, max_rows_per_file=10)
    for number in range(COMMITS):
        commit(path, chance, number)
    table = lx.open_table(path)
    for images in ("known", "both", "after"):
        changes = table.changes(0, mode="per_commit", images=images)

        alone = pl.concat(changes.batches(1, progress=False))  # no two rows are read together

        assert_frame_equal(changes.to_polars(), alone)
        assert_frame_equal(pl.concat(changes.batches(20, progress=False)), alone)


def test_few_versions_are_opened(tmp_path, monkeypatch):
    path = tmp_path / "t.lance"
    for number in range(32):
        lance.write_dataset(rows(number * 10, 10), path, mode="append" if number else "create")
    lance.dataset(path).delete("id >= 300")
    lance.dataset(path).optimize.compact_files()
    read = []

    def reading(uri, version, *others, **options):
        read.append(version)
        return read_rows_at(uri, version, *others, **options)

    monkeypatch.setattr("lance_explorer.values.read_rows_at", reading)

    lines = lx.open_table(path).changes(0, mode="per_commit").to_polars()

    assert lines["id"].to_list() == [*range(320), *range(300, 320)]
    assert len(read) <= 7
