"""The stream of changes: every version once, whole, in order; also over restarts."""

import shutil
from datetime import timedelta
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

import lance_explorer as lx
from lance_explorer.spark.changes_source import ChangesSource
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


class Sink:
    """What a stream wrote, one part a micro-batch, and its checkpoint."""

    def __init__(self, spark, folder) -> None:
        self.spark = spark
        self.checkpoint = str(folder / "checkpoint")
        self.parts: dict[int, pa.Table] = {}

    @property
    def sizes(self) -> list[int]:
        """How many versions each micro-batch had."""
        return [len(part["_commit_version"].unique()) for part in self.parts.values()]

    def run(self, path: str, **options) -> None:
        """Run the stream until nothing is left, as a process that starts anew."""
        feed = self.spark.readStream.format("lance_explorer.changes").options(**options).load(path)

        def write(batch, number):
            self.parts[number] = batch.toArrow()

        writer = feed.writeStream.option("checkpointLocation", self.checkpoint).foreachBatch(write)
        run_to_end(writer.trigger(availableNow=True))

    def rows(self, schema: pl.Schema) -> pl.DataFrame:
        return as_local(pa.concat_tables(self.parts.values()), schema).sort(KEYS)


@pytest.fixture
def sink(spark, tmp_path) -> Sink:
    return Sink(spark, tmp_path)


def feed(path: str, begin: int = 0, end: int | None = None, **options) -> pl.DataFrame:
    options = {"images": None, **options}
    changes = lx.open_table(path).changes(begin, end, mode="per_commit", **options)
    return changes.to_polars().sort(KEYS)


def remove_versions(path: str, *versions: int) -> None:
    """Remove the manifests of some versions, as a cleanup does."""
    for file in lx.open_table(path)._view.listing.versions:
        if file.version in versions:
            Path(path, file.path).unlink()


def test_a_stream_is_the_change_feed_of_whose_large_commits_tasks_take_parts(sink, table):
    changes = lx.open_table(table).changes(0, mode="per_commit", images="both")
    assert len([part for part in changes.parts(3) if part.share is not None]) > 2
    sink.run(table, images="both", rows_per_partition=3)
    expected = feed(table, images="both")
    assert sink.rows(expected.schema).equals(expected)
    assert {"insert", "update_preimage", "update_postimage", "delete"} == set(
        expected["_change_type"]
    )


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
    options = {"begin_version": 2, "images": "after"}
    sink.run(table, **options)
    before = sink.sizes
    sink.run(table, **options)
    assert sink.sizes == before  # there was nothing new
    lance.dataset(table).delete("id = 5")
    lance.dataset(table).insert(people(20, 21))
    sink.run(table, **options)
    expected = feed(table, 2, images="after")
    assert sink.rows(expected.schema).equals(expected)
    assert sum(sink.sizes) == sum(before) + 2


def test_versions_that_were_cleaned_away_are_named_and_a_stream_may_go_on_over_them(sink, table):
    sink.run(table)
    before = feed(table)
    for number in (30, 31, 32):
        lance.dataset(table).insert(people(number))
    remove_versions(table, 8, 9)
    told = (
        r"versions 8 to 9 were cleaned up .* changes of versions 8 to 10 are lost\. Read version 10"
    )
    with pytest.raises(StreamingQueryException, match=told):
        sink.run(table)
    sink.run(table, failOnDataLoss="false")
    later = feed(table, 7)
    assert later.filter(pl.col("_event") == "lost")["_commit_version"].to_list() == [10]
    assert sink.rows(before.schema).equals(pl.concat([before, later]).sort(KEYS))


# ------------------------------------------------- what the process says that plans micro-batches


def reader_of(path: str, **options: str):
    source = ChangesSource({"path": path, **options})
    return source.streamReader(source.schema())


def test_a_stream_begins_after_the_version_that_is_given(table):
    assert reader_of(table, begin_version="3").initialOffset() == {"version": 3}
    assert reader_of(table).initialOffset() == {"version": 0}


def test_what_is_lost_begins_after_what_was_read(table):
    lance.dataset(table).insert(people(30))
    lance.dataset(table).cleanup_old_versions(timedelta(0))
    reader = reader_of(table, begin_version="7")
    told = r"of version 7 were cleaned up .* changes of version 8 are lost\."
    with pytest.raises(lx.VersionNotFoundError, match=told):
        reader.partitions({"version": 7}, {"version": 8})


@pytest.mark.parametrize(
    ("options", "message"),
    [({"end_version": "3"}, "which have no end"), ({"mode": "net"}, "only the mode per_commit")],
)
def test_a_stream_has_no_end_and_one_mode(table, options, message):
    with pytest.raises(lx.InvalidArgumentError, match=message):
        reader_of(table, **options)


def test_a_table_that_was_made_anew_is_not_taken_for_the_old_one(table):
    shutil.rmtree(table)
    lance.write_dataset(people(*range(3)), table, enable_stable_row_ids=True)
    told = r"read up to version 7, but .* has only 1"
    with pytest.raises(lx.VersionNotFoundError, match=told):
        reader_of(table).latestOffset({"version": 7})
    with pytest.raises(lx.VersionNotFoundError, match=told):
        reader_of(table).partitions({"version": 7}, {"version": 1})
