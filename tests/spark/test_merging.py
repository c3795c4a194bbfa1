"""Copies that follow a table, by the real library of each format, whatever is killed."""

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

import lance_explorer as lx
from lance_explorer.spark.merge_targets import Mark
from lance_explorer.spark.merging import last_changes
from lance_explorer.spark.parquet_target import ParquetTarget
from tests.differential.row_ids_turned_on import turn_on_row_ids
from tests.spark.merge_kills import FORMATS, batches, catalog_in, killed, rows_of, target_in
from tests.spark.streams import at_most, run_to_end


def people(start: int, count: int) -> pa.Table:
    values = pa.array([float(n) for n in range(2 * count)], pa.float32())
    return pa.table(
        {
            "id": pa.array(range(start, start + count), pa.int64()),
            "the city": [f"city {n % 3}" for n in range(count)],
            "vector": pa.FixedSizeListArray.from_arrays(values, 2),
        }
    )


def commit(path: str, chance: random.Random, number: int) -> None:
    """Do something to a table, of which each ``id`` names a row."""
    dataset = lance.dataset(path)
    match chance.choice(["insert", "update", "delete", "upsert", "compact", "rename keys"]):
        case "insert":
            dataset.insert(people(number * 1000, chance.randrange(1, 30)))
        case "update":
            dataset.update({"the city": f"'moved {number}'"}, where=f"id % 7 = {number % 7}")
        case "delete":
            dataset.delete(f"id % 11 = {number % 11}")
        case "upsert":
            merge = dataset.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(people(number, 20))
        case "compact":
            dataset.optimize.compact_files()
        case "rename keys":
            dataset.update({"id": f"id + {number}000000"}, where=f"id % 13 = {number % 13}")


@pytest.fixture
def path(tmp_path) -> str:
    path = str(tmp_path / "people.lance")
    lance.write_dataset(people(0, 60), path, max_rows_per_file=25, enable_stable_row_ids=True)
    return path


def changes(spark: Any, path: str, images: str, **options: Any) -> Any:
    reader = spark.readStream.format("lance_explorer").option("view", "changes")
    return reader.option("images", images).options(**options).load(path)


class Copy:
    """One copy of a table, in a folder."""

    def __init__(self, spark: Any, folder: Path, kind: str, keys: str) -> None:
        self.spark, self.kind, self.keys = spark, kind, keys
        self.folder = folder / f"{kind} {keys}"
        self.folder.mkdir(exist_ok=True)
        self.target = "test.copy" if kind == "iceberg" else str(self.folder / f"copy.{kind}")

    def follow(self, path: str, checkpoint: str = "checkpoint", **options: Any) -> None:
        images = "after" if self.keys == "_rowid" else "both"
        writer = lx.spark.merge_into(
            changes(self.spark, path, images, **{**at_most(5), **options}),
            self.target,
            self.keys,
            format=self.kind,
            catalog=catalog_in(self.folder) if self.kind == "iceberg" else None,
        )
        writer = writer.option("checkpointLocation", str(self.folder / checkpoint))
        run_to_end(writer.trigger(availableNow=True))

    def rows(self) -> pl.DataFrame:
        match self.kind:
            case "iceberg":
                found = catalog_in(self.folder).load_table(self.target).scan().to_arrow()
            case "delta":
                from deltalake import DeltaTable

                found = DeltaTable(self.target).to_pyarrow_table()
            case "lance":
                found = lance.dataset(self.target).to_table()
            case _:
                found = self.spark.read.parquet(self.target).toArrow()
        return pl.DataFrame(found).rename({"source_rowid": "_rowid"}, strict=False).sort("id")


def expected(path: str, like: pl.DataFrame) -> pl.DataFrame:
    rows = pl.DataFrame(lance.dataset(path).to_table(with_row_id=True))
    return rows.select(like.columns).cast(like.schema).sort("id")


@pytest.mark.drawn(1)
def test_copies_of_all_formats_are_the_table(spark, path, tmp_path, seed):
    chance = random.Random(seed)
    for number in range(1, 16):
        commit(path, chance, number)
    for kind, keys in zip(FORMATS, chance.sample(["_rowid", "id"] * 2, 4), strict=True):
        copy = Copy(spark, tmp_path, kind, keys)
        copy.follow(path)
        found = copy.rows()
        assert set(found.columns) - {"_rowid"} == {"id", "the city", "vector"}
        assert found.equals(expected(path, found)), (kind, keys)


def test_a_batch_that_is_there_is_not_merged_again(spark, path, tmp_path):
    copy = Copy(spark, tmp_path, "delta", "_rowid")
    copy.follow(path)
    for commit in (copy.folder / "checkpoint" / "commits").glob("*0*"):
        commit.unlink()  # as if the driver had died after the merge
    before = sorted(map(str, copy.folder.glob(f"{Path(copy.target).name}/**/*")))
    copy.follow(path)
    assert sorted(map(str, copy.folder.glob(f"{Path(copy.target).name}/**/*"))) == before
    copy.follow(
        path, checkpoint="another"
    )  # numbers of batches begin anew, and are another query's
    assert copy.rows().equals(expected(path, copy.rows()))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_target_knows_the_batches_that_it_has(tmp_path, kind):
    target, (made, there) = target_in(tmp_path, kind), batches(random.Random(1), 3)
    for number, batch in enumerate(made):
        assert not target.has(Mark("q", number))
        target.merge(batch, Mark("q", number))
    after = target_in(tmp_path, kind)  # as another driver sees it
    assert all(after.has(Mark("q", number)) for number in range(3))
    assert not after.has(Mark("q", 3))
    assert not after.has(Mark("another query", 0))
    assert rows_of(tmp_path, kind).equals(there)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.drawn(1)
def test_a_copy_is_right_whatever_dies(tmp_path, kind, seed):
    num_killed, there = killed(tmp_path, kind, 3, seed)
    assert num_killed
    assert rows_of(tmp_path, kind).equals(there)


def test_a_folder_of_parquet_has_no_more_than_its_rows(tmp_path):
    target, (made, there) = target_in(tmp_path, "parquet"), batches(random.Random(2), 40)
    for number, batch in enumerate(made):
        target.merge(batch, Mark("q", number))
    files = sorted(file.name for file in Path(target.uri).iterdir())
    assert [name for name in files if not name.startswith("part-")] == ["_merged.json"]
    assert len(files) <= 10
    assert sum(len(pl.read_parquet(f)) for f in Path(target.uri).glob("part-*")) == len(there)


def test_a_folder_of_somebody_else_is_left_alone(spark, path, tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir()
    theirs = folder / "part-00000.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(theirs)
    writer = lx.spark.merge_into(changes(spark, path, "after"), str(folder), format="parquet")
    with pytest.raises(StreamingQueryException, match=r"not written by merge_into"):
        run_to_end(
            writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
        )
    assert [*folder.iterdir()] == [theirs]


def test_what_was_killed_after_its_list_was_written_is_ended(tmp_path):
    target = ParquetTarget(str(tmp_path / "copy"), None, {})
    made, _ = batches(random.Random(1), 2)
    target.merge(made[0], Mark("q", 0))
    [file] = (tmp_path / "copy").glob("part-*")
    stale = file.with_name(f"part-{'0' * 32}.parquet")
    shutil.copy(file, stale)  # replaced by the last batch, which had not come to removing it
    file.rename(file.with_name(f"_new-{file.name}"))
    assert target.has(Mark("q", 0))
    assert [*(tmp_path / "copy").glob("*part-*")] == [file]


@pytest.mark.parametrize("kind", FORMATS)
def test_columns_of_a_later_batch_are_added(tmp_path, kind):
    target, (made, _) = target_in(tmp_path, kind), batches(random.Random(3), 2)
    target.merge(made[0], Mark("q", 0))
    ages = pa.array(range(made[1].puts.num_rows))
    puts = made[1].puts.append_column("age", ages)
    target.merge(replace(made[1], puts=puts), Mark("q", 1))
    found = rows_of(tmp_path, kind, "age")
    put = found.filter(pl.col("_rowid").is_in(puts["_rowid"].to_pylist()))
    assert sorted(put["age"]) == ages.to_pylist()
    assert found["age"].null_count() == len(found) - len(put) > 0


def test_columns_that_a_stream_got_anew_are_added_to_its_copy(spark, path, tmp_path):
    copy = Copy(spark, tmp_path, "parquet", "_rowid")
    copy.follow(path)
    lance.dataset(path).add_columns({"age": "id * 2"})
    lance.dataset(path).insert(people(500, 3).append_column("age", pa.array([1, 2, 3])))
    copy.follow(path)
    assert copy.rows().filter(pl.col("id") >= 500)["age"].to_list() == [1, 2, 3]
    schemas = [pl.read_parquet_schema(file) for file in Path(copy.target).glob("part-*")]
    assert len(schemas) > 1
    assert all(schema == schemas[0] for schema in schemas)  # Spark asks one file for all of them


# ----------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("images", "given", "told"),
    [
        ("known", {}, "images is 'known'"),
        ("after", {"keys": "id"}, r'option\("images", "both"\)'),
        ("both", {"keys": "town"}, "no column 'town'"),
        ("after", {"format": None}, "cannot be recognized: give format, one of delta, iceberg"),
        ("after", {"format": "orc"}, "format is one of .*, not 'orc'"),
        ("after", {"format": "iceberg"}, "a Table of pyiceberg, or give catalog="),
    ],
)
def test_what_a_copy_needs_is_told_before_it_starts(spark, path, tmp_path, images, given, told):
    options = {"format": "parquet", **given}
    with pytest.raises(lx.InvalidArgumentError, match=told):
        lx.spark.merge_into(changes(spark, path, images), str(tmp_path / "copy"), **options)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize(
    "place", ["{path}", "file://{path}", "{path}/copy", "{path}/../people.lance/", "{path}/.."]
)
def test_the_table_itself_is_never_a_target(spark, path, place):
    stream, target = changes(spark, path, "after"), place.format(path=path)
    with pytest.raises(lx.InvalidArgumentError, match="is the table itself"):
        lx.spark.merge_into(stream, target, format="delta")


def test_a_stream_of_something_else_is_refused(spark, path):
    with pytest.raises(
        lx.InvalidArgumentError, match=r"stream must be one of lance_explorer\.changes"
    ):
        lx.spark.merge_into(spark.readStream.format("rate").load(), path)


def test_row_addresses_are_no_keys(spark, tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(people(0, 5), path)
    with pytest.raises(lx.InvalidArgumentError, match="no stable row IDs"):
        lx.spark.merge_into(changes(spark, path, "after"), str(tmp_path / "copy.lance"))


def test_row_ids_that_were_turned_on_later_are_no_keys(spark, tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(people(0, 5), path)
    turn_on_row_ids(path)
    lance.dataset(path).insert(people(5, 5))
    assert lx.open_table(path).latest.has_stable_row_ids
    with pytest.raises(lx.InvalidArgumentError, match="no stable row IDs"):
        lx.spark.merge_into(changes(spark, path, "after"), str(tmp_path / "copy.lance"))


def test_lost_changes_stop_a_copy(spark, path, tmp_path):
    copy = Copy(spark, tmp_path, "delta", "_rowid")
    copy.follow(path)
    for number in (1, 2, 3):
        lance.dataset(path).insert(people(1000 * number, 1))
    [file] = [f for f in lx.open_table(path)._view.listing.versions if f.version == 3]
    Path(path, file.path).unlink()
    with pytest.raises(StreamingQueryException, match="changes up to version 4 are lost"):
        copy.follow(path, failOnDataLoss="false")


# ------------------------------------------------------------------------ what is left of a batch


def lines(*told: tuple[int, str, int | None]) -> pa.Table:
    versions, kinds, ids = zip(*told, strict=True)
    return pa.table(
        {
            "_commit_version": pa.array(versions, pa.int64()),
            "_change_type": pa.array(kinds),
            "_event": ["updated"] * len(told),
            "id": pa.array(ids, pa.int64()),
            "value": pa.array([*range(len(told))]),
        }
    )


def test_the_last_change_of_each_key_counts():
    batch = last_changes(
        lines(
            (1, "insert", 1),
            (1, "insert", 2),
            (2, "update_postimage", 1),
            (2, "update_preimage", 1),
            (3, "delete", 2),
            (3, "insert", 2),
            (4, "delete", 3),
        ),
        ["id"],
    )
    puts = sorted(batch.puts.select(["id", "value"]).to_pylist(), key=lambda row: row["id"])
    assert puts == [{"id": 1, "value": 2}, {"id": 2, "value": 5}]
    assert batch.gone["id"].to_pylist() == [3]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ([(1, "insert", 1), (1, "insert", 1)], "version 1 has written several with id 1"),
        ([(1, "insert", None)], "id is null in some"),
    ],
)
def test_keys_that_name_no_row_are_told(told, message):
    with pytest.raises(lx.InvalidArgumentError, match=message):
        last_changes(lines(*told), ["id"])
