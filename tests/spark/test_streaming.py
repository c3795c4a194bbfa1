"""The stream of changes: every version once, whole, in order; also over restarts."""

import shutil
from datetime import timedelta

import lance
import polars as pl
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

import lance_explorer as lx
from lance_explorer.spark.read_limits import HAS_READ_LIMITS
from tests.spark.engines import as_local
from tests.spark.streams import run_to_end

KEYS = ["_commit_version", "_change_type", "_rowid", "_rowaddr"]


def people(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "city": [f"city {i % 3}" for i in ids]})


@pytest.fixture
def table(tmp_path) -> str:
    """A table of seven versions: create, append, update, delete, compact (two), append."""
    path = str(tmp_path / "people.lance")
    table = lance.write_dataset(people(*range(10)), path, enable_stable_row_ids=True)
    table.insert(people(10, 11, 12))
    table.update({"city": "'moved'"}, where="id % 4 = 0")
    table.delete("id = 3 OR id = 11")
    table.optimize.compact_files()
    table.insert(people(13))
    return path


def few_versions(count: int) -> dict[str, int]:
    """Return the option for micro-batches of few versions, where PySpark has them."""
    return {"max_versions_per_batch": count} if HAS_READ_LIMITS else {}


class Sink:
    """A folder of Parquet that a stream fills, one part a micro-batch, and its checkpoint."""

    def __init__(self, spark, folder) -> None:
        self.spark = spark
        self.folder = folder
        self.sizes: list[int] = []

    def run(self, path: str, **options) -> None:
        """Run the stream until nothing is left, as a process that starts anew."""
        feed = self.spark.readStream.format("lance_explorer.changes").options(**options).load(path)

        def write(batch, number):
            batch.write.mode("overwrite").parquet(str(self.folder / f"batch={number}"))
            self.sizes.append(batch.select("_commit_version").distinct().count())

        checkpoint = str(self.folder.parent / "checkpoint")
        writer = feed.writeStream.option("checkpointLocation", checkpoint).foreachBatch(write)
        run_to_end(writer.trigger(availableNow=True))

    def rows(self, schema: pl.Schema) -> pl.DataFrame:
        found = self.spark.read.parquet(str(self.folder)).drop("batch")
        return as_local(found.select(schema.names()), schema).sort(KEYS)


@pytest.fixture
def sink(spark, tmp_path) -> Sink:
    return Sink(spark, tmp_path / "sink")


def feed(path: str, begin: int = 0, end: int | None = None, **options) -> pl.DataFrame:
    options = {"images": None, **options}
    changes = lx.open_table(path).changes(begin, end, mode="per_commit", **options)
    return changes.to_polars().sort(KEYS)


def remove_versions(sink: Sink, path: str, *versions: int) -> None:
    """Remove the manifests of some versions, as a cleanup does."""
    for file in lx.open_table(path)._view.listing.versions:
        if file.version in versions:
            (sink.folder.parent / "people.lance" / file.path).unlink()


def test_a_stream_is_the_change_feed(sink, table):
    sink.run(table, images="both")
    expected = feed(table, images="both")
    assert sink.rows(expected.schema).equals(expected)
    assert {"insert", "update_preimage", "update_postimage", "delete"} == set(
        expected["_change_type"]
    )


def test_tasks_share_out_the_rows_of_a_large_commit(sink, table):
    sink.run(table, rows_per_partition=3)
    expected = lx.open_table(table).changes(0, mode="per_commit", images=None)
    assert len([part for part in expected.parts(3) if part.share is not None]) > 2
    assert sink.rows(expected.schema).equals(expected.to_polars().sort(KEYS))


def test_a_micro_batch_has_as_many_versions_as_it_may(sink, table):
    if not HAS_READ_LIMITS:
        with pytest.raises(StreamingQueryException, match=r"needs PySpark 4\.2 or later"):
            sink.run(table, max_versions_per_batch=2)
        return
    sink.run(table, max_versions_per_batch=2)
    expected = feed(table)
    assert sink.sizes == [2, 2, 0, 1]  # a compaction, which takes two versions, changes no row
    assert sink.rows(expected.schema).equals(expected)


def test_a_restart_goes_on_where_the_checkpoint_stopped(sink, table):
    sink.run(table, images="after")
    before = sum(sink.sizes)
    lance.dataset(table).delete("id = 5")
    lance.dataset(table).insert(people(20, 21))
    sink.run(table, images="after")
    expected = feed(table, images="after")
    assert sink.rows(expected.schema).equals(expected)
    assert sum(sink.sizes) == before + 2


def test_a_restart_without_anything_new_writes_nothing(sink, table):
    sink.run(table)
    sizes = [*sink.sizes]
    sink.run(table)
    assert sink.sizes == sizes


def test_a_stream_begins_after_the_version_that_is_given(sink, table):
    sink.run(table, begin_version=3)
    expected = feed(table, 3)
    assert sink.rows(expected.schema).equals(expected)


def test_versions_that_were_cleaned_away_are_named(sink, table):
    sink.run(table)
    lance.dataset(table).insert(people(30))
    lance.dataset(table).insert(people(31))
    lance.dataset(table).insert(people(32))
    remove_versions(sink, table, 8, 9)
    told = (
        r"versions 8 to 9 were cleaned up .* changes of versions 8 to 10 are lost\. Read version 10"
    )
    with pytest.raises(StreamingQueryException, match=told):
        sink.run(table)


def test_a_stream_may_go_on_over_what_is_lost(sink, table):
    sink.run(table)
    before = feed(table)
    for number in (30, 31, 32):
        lance.dataset(table).insert(people(number))
    remove_versions(sink, table, 8, 9)
    sink.run(table, failOnDataLoss="false")
    later = feed(table, 7)
    assert later.filter(pl.col("_event") == "lost")["_commit_version"].to_list() == [10]
    assert sink.rows(before.schema).equals(pl.concat([before, later]).sort(KEYS))


def test_what_is_lost_begins_after_what_was_read(sink, table):
    sink.run(table, begin_version=2)
    lance.dataset(table).insert(people(30))
    lance.dataset(table).cleanup_old_versions(timedelta(0))
    told = r"of version 7 were cleaned up .* changes of version 8 are lost\."
    with pytest.raises(StreamingQueryException, match=told):
        sink.run(table, begin_version=2)


def test_a_column_that_older_versions_lack_is_null_there(sink, table):
    lance.dataset(table).add_columns({"age": "id * 2"})
    lance.dataset(table).update({"age": "1"}, where="id = 5")
    sink.run(table, images="after", columns="age", **few_versions(3))
    expected = feed(table, images="after", columns=["age"])
    assert sink.rows(expected.schema).equals(expected)
    assert expected.drop_nulls("age")["_commit_version"].to_list() == [9]


def test_a_stream_has_no_end_and_one_mode(spark, table):
    for options, message in (
        ({"end_version": 3}, "which have no end"),
        ({"mode": "net"}, "one mode, per_commit"),
    ):
        feed = spark.readStream.format("lance_explorer.changes").options(**options).load(table)
        with pytest.raises(StreamingQueryException, match=message):
            run_to_end(feed.writeStream.format("noop"))


def test_a_table_that_was_made_anew_is_not_taken_for_the_old_one(sink, table):
    sink.run(table)
    shutil.rmtree(table)
    lance.write_dataset(people(*range(3)), table, enable_stable_row_ids=True)
    with pytest.raises(StreamingQueryException, match=r"read up to version 7, but .* has only 1"):
        sink.run(table)
