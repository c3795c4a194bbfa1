"""Rows that an index finds are those of a scan; one that may be wrong is not asked."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Literal

import lance
import numpy as np
import pyarrow as pa
import pytest

import lance_explorer as lx

TYPES: dict[str, tuple[pa.DataType, list[object], list[str]]] = {
    "small": (pa.int8(), [-3, 0, 5, 127], ["-3", "0", "5", "127"]),
    "big": (pa.uint64(), [0, 1, 2**63, 2**64 - 1], ["0", "1", "9223372036854775808"]),
    "word": (
        pa.string(),
        ["", "a", "B", "a]@b", "x'y", "zz\u00e9", "a" * 300],
        ["''", "'a'", "'a]@b'", "'x''y'", "'zz\u00e9'"],
    ),
    "day": (pa.date32(), [0, 1, 20_000], ["date '1970-01-02'", "date '2024-10-04'"]),
    "flag": (pa.bool_(), [True, False], ["true", "false"]),
    "at": (
        pa.timestamp("us"),
        [datetime(2026, 1, day, tzinfo=UTC).replace(tzinfo=None) for day in (1, 2, 3)],
        ["timestamp '2026-01-02 00:00:00'"],
    ),
}
SCHEMA = pa.schema([("key", pa.int64()), *[(name, of[0]) for name, of in TYPES.items()]])


LYING = Path(__file__).parents[1] / "disk" / "known_bugs"
"""Tables with the damage of known bugs, of indices among them."""


class Life:
    """A table on which things happen that leave its rows where they are."""

    def __init__(self, path: Path, rng: Random) -> None:
        self.path, self.rng, self.keys = str(path), rng, 0
        self.is_stable = rng.random() < 0.5
        self.write("create")

    @property
    def dataset(self) -> lance.LanceDataset:
        return lance.dataset(self.path)

    def write(self, mode: Literal["append", "create"] = "append") -> None:
        count = self.rng.randint(1, 30)
        columns: dict[str, list[object]] = {"key": [*range(self.keys, self.keys + count)]}
        self.keys += count
        for name, (_, values, _) in TYPES.items():
            columns[name] = [
                None if self.rng.random() < 0.1 else self.rng.choice(values) for _ in range(count)
            ]
        rows = pa.table(columns, SCHEMA)
        lance.write_dataset(
            rows,
            self.path,
            mode=mode,
            max_rows_per_file=10,
            enable_stable_row_ids=self.is_stable,
        )

    def delete(self) -> None:
        self.dataset.delete(f"key % {self.rng.randint(3, 9)} = 1")

    def index(self) -> None:
        column = self.rng.choice([*TYPES, "key"])
        kinds: list[Literal["BTREE", "BITMAP"]] = ["BTREE", "BITMAP"]
        self.dataset.create_scalar_index(column, self.rng.choice(kinds), replace=True)

    def catch_up(self) -> None:
        self.dataset.optimize.optimize_indices()

    def configure(self) -> None:
        self.dataset.update_config({"some": "value"})

    def filter(self) -> str:
        name = self.rng.choice([*TYPES])
        literal = self.rng.choice(TYPES[name][2])
        one = self.rng.choice(
            [
                *(f"{name} {sign} {literal}" for sign in ("=", "=", "<", ">=", "!=")),
                f"{name} in ({', '.join(TYPES[name][2])})",
                f"{name} is null",
                f"not {name} = {literal}",
                f"{name} between {literal} and {literal}",
            ]
        )
        if self.rng.random() < 0.3:
            return f"({one}) {self.rng.choice(['and', 'or'])} ({self.filter()})"
        return one


@pytest.mark.drawn(6)
def test_an_index_finds_what_a_scan_finds(tmp_path, seed):
    rng = Random(seed)
    life = Life(tmp_path / "t.lance", rng)
    life.write()
    life.index()
    steps = [life.write, life.write, life.delete, life.index, life.catch_up, life.configure]
    for _ in range(rng.randint(4, 12)):
        rng.choice(steps)()
    table = lx.open_table(life.path)
    for _ in range(40):
        where = life.filter()
        found = table.find(where, deleted=False, limit=100_000)
        scanned = life.dataset.scanner(columns=["key"], filter=where, use_scalar_index=False)
        expected = scanned.to_table()["key"].to_pylist()
        rows = found.to_polars()
        assert sorted(rows["key"].to_list() if len(rows) else []) == sorted(expected), where
        everything = table.find(where, limit=100_000).to_polars()
        assert everything["is_live"].sum() == len(expected), where
    for index in table.latest.inspect.indices().iter_rows(named=True):
        found = table.find(f"{index['fields'][0]} is null", deleted=False)
        assert " with the index " in found.sentence


def write_again(path: str) -> None:
    """Write rows again by a merge, with other values of the indexed column."""
    dataset = lance.dataset(path)
    dataset.merge_insert("key").when_matched_update_all().execute(
        dataset.to_table(filter="key < 3").set_column(1, "value", pa.array([9, 9, 9]))
    )


OTHERS: dict[str, Callable[[str], object]] = {
    "update": lambda path: lance.dataset(path).update({"value": "9"}, where="key = 3"),
    "merge": write_again,
    "compact": lambda path: lance.dataset(path).optimize.compact_files(),
    "compact and defer": lambda path: lance.dataset(path).optimize.compact_files(
        defer_index_remap=True
    ),
    "restore": lambda path: lance.dataset(path, version=3).restore(),
    "overwrite": lambda path: lance.write_dataset(
        lance.dataset(path).to_table(), path, mode="overwrite"
    ),
    "add column": lambda path: lance.dataset(path).add_columns({"more": "key + 1"}),
    "clean up": lambda path: lance.dataset(path).cleanup_old_versions(
        older_than=np.timedelta64(0, "s").item(), delete_unverified=True
    ),
}


@pytest.fixture
def indexed(tmp_path: Path) -> str:
    path = str(tmp_path / "t.lance")
    for number in range(3):
        rows = pa.table({"key": [*range(5 * number, 5 * number + 5)], "value": [1, 2, 3, 4, 5]})
        lance.write_dataset(rows, path, mode="append" if number else "create")
    lance.dataset(path).create_scalar_index("value", "BTREE")
    return path


def test_it_is_asked_while_rows_stay_where_they_are(indexed):
    found = lx.open_table(indexed).find("value = 4")
    assert found.sentence == ("3 rows found in versions 1 to 4 with the index 'value_idx'.")
    assert found.to_polars()["key"].to_list() == [3, 8, 13]


@pytest.mark.parametrize("what", OTHERS)
def test_it_is_not_asked_once_rows_may_have_moved(indexed, what):
    OTHERS[what](indexed)
    found = lx.open_table(indexed).find("value = 4", deleted=False)
    assert " with the " not in found.sentence
    expected = lance.dataset(indexed).scanner(filter="value = 4", use_scalar_index=False)
    assert sorted(found.to_polars()["key"]) == sorted(expected.to_table()["key"].to_pylist())


@pytest.mark.parametrize("name", sorted(path.name for path in LYING.glob("*.lance")))
def test_it_is_right_in_tables_that_a_bug_left(name):
    path = str(LYING / name)
    dataset, table = lance.dataset(path), lx.open_table(path)
    for column in dataset.schema.names:
        kind = dataset.schema.field(column).type
        if not pa.types.is_integer(kind):
            continue
        scanned = dataset.scanner(columns=[column], use_scalar_index=False).to_table()
        values = scanned[column].to_pylist()
        for value in [one for one in dict.fromkeys(values) if one is not None][:20]:
            found = table.find(f"{column} = {value}", deleted=False, limit=100_000)
            assert found.num_rows == values.count(value), found.sentence


def test_an_index_whose_files_are_gone_is_not_needed(indexed):
    for file in Path(indexed, "_indices").rglob("*.lance"):
        file.unlink()
    found = lx.open_table(indexed).find("value = 4")
    assert found.sentence == "3 rows found in versions 1 to 4."
    assert len(found.to_polars()) == 3
