"""The recipes in docs/SPARK.md, run as they stand there."""

import random
import re
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable

import lance_explorer as lx
from lance_explorer.spark.read_limits import HAS_READ_LIMITS

_TESTED = re.compile(r"<!-- tested: (\w+) -->\n```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def recipes(request) -> dict[str, str]:
    text = Path(request.config.rootpath, "docs", "SPARK.md").read_text(encoding="utf-8")
    return dict(_TESTED.findall(text))


def people(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "city": [f"city {i % 3}" for i in ids]})


def commit(path: str, chance: random.Random, number: int) -> None:
    """Do something to a table."""
    dataset = lance.dataset(path)
    match chance.choice(["insert", "update", "delete", "upsert", "compact", "restore", "nothing"]):
        case "insert":
            dataset.insert(people(*range(1000 + number * 10, 1003 + number * 10)))
        case "update":
            dataset.update({"city": f"'moved {number}'"}, where=f"id % 7 = {number % 7}")
        case "delete":
            dataset.delete(f"id % 11 = {number % 11}")
        case "upsert":
            rows = people(*range(number, number + 5))
            merge = dataset.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(rows)
        case "compact":
            dataset.optimize.compact_files()
        case "restore":
            version = chance.randint(max(1, dataset.version - 3), dataset.version)
            lance.dataset(path, version=version).restore()
        case "nothing":
            dataset.delete("id < 0")


@pytest.mark.drawn(1)
def test_a_copy_follows_a_table_night_after_night(spark, recipes, tmp_path, seed):
    lake = tmp_path / "lake"
    path, target = str(lake / "people.lance"), str(tmp_path / "copy")
    chance = random.Random(seed)
    lance.write_dataset(people(*range(40)), path, max_rows_per_file=15, enable_stable_row_ids=True)
    number = 0
    for _ in range(2):
        for number in range(number, number + 17):  # noqa: B020 - goes on where it stopped
            commit(path, chance, number)
        names: dict[str, Any] = {"spark": spark, "lx": lx, "path": path, "target": target}
        names |= {"lake": str(lake), "ledger": str(tmp_path / "ledger")}
        limit = '.option("max_versions_per_batch", 100)'
        assert limit in recipes["merge"]
        fewer = limit.replace("100", "7") if HAS_READ_LIMITS else ""
        exec(recipes["merge"].replace(limit, fewer), names)
        exec(recipes["night"], names)
        assert names["errors"].count() == 0
        copy = pl.DataFrame(DeltaTable(target).to_pyarrow_table()).sort("_rowid")
        expected = lx.open_table(path).latest.row_ids(columns=["id", "city"])
        expected = expected.select("_rowid", "id", "city").sort("_rowid")
        assert copy.cast(expected.schema).equals(expected)
    kept = lx.Ledger(tmp_path / "ledger").tables()
    assert kept["versions"].to_list() == [lance.dataset(path).latest_version]


def test_metadata_of_many_tables_is_parquet(spark, recipes, tmp_path):
    lake, target = tmp_path / "lake", str(tmp_path / "metadata")
    for name in ("a.lance", "deep/b.lance"):
        lance.write_dataset(people(1, 2), str(lake / name))
    exec(recipes["metadata"], {"spark": spark, "lx": lx, "lake": str(lake), "target": target})
    for frame in ("versions", "fragments"):
        found = pl.read_parquet(f"{target}/{frame}/*.parquet")
        assert sorted(found["table"]) == sorted(str(lake / n) for n in ("a.lance", "deep/b.lance"))
    assert "severity" in pl.read_parquet(f"{target}/health/*.parquet").columns
