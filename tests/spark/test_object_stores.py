"""Tables in an object store: tasks get in by the options, and nothing shows them."""

from collections.abc import Iterator

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.remote.bucket import SECRET, Bucket
from tests.spark.streams import run_to_end


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    server = Bucket()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def uri(bucket) -> str:
    """A table of four versions that pylance wrote there."""
    uri: str = bucket.uri("lake/people.lance")
    options = bucket.options
    people = pa.table({"id": range(20), "x": [0.5] * 20})
    lance.write_dataset(people, uri, storage_options=options, enable_stable_row_ids=True)
    table = lance.dataset(uri, storage_options=options)
    table.update({"x": "x + 1"}, where="id < 3")
    table.delete("id = 7")
    table.insert(people.slice(0, 2))
    return uri


def storage(bucket) -> dict[str, str]:
    return {f"storage.{name}": value for name, value in bucket.options.items()}


def read(spark, bucket, uri, source, **options):
    reader = spark.read.format(f"lance_explorer.{source}").options(**storage(bucket), **options)
    return reader.load(uri)


def test_every_source_reads_there(spark, bucket, uri):
    counts = {
        "rows": read(spark, bucket, uri, "rows").count(),
        "changes": read(spark, bucket, uri, "changes", begin_version=1, images="both").count(),
        "metadata": read(spark, bucket, uri, "metadata", frame="versions").count(),
        "history": read(spark, bucket, uri, "history", row_ids="0,7").count(),
    }
    assert counts == {"rows": 21, "changes": 3 * 2 + 1 + 2, "metadata": 4, "history": 4}


def test_changes_go_to_spark_with_the_options_of_their_table(spark, bucket):
    changes = bucket.table("lake/people.lance").changes(1, images="after")
    assert changes.to_spark(spark).count() == len(changes.to_polars())


def test_tables_of_a_folder_are_found_there(spark, bucket, uri):
    folder = uri.rsplit("/", 1)[0]
    found = lx.spark.metadata(spark, folder, "versions", storage_options=bucket.options)
    assert {row["table"] for row in found.select("table").collect()} == {uri}


def test_what_lets_in_is_in_no_error(spark, bucket, uri):
    with pytest.raises(Exception, match="cannot be read like this") as error:
        read(spark, bucket, uri, "rows", where="no_such_column = 1").collect()
    assert SECRET not in str(error.value)


def test_what_lets_in_is_in_no_plan_no_progress_and_no_log(
    spark, bucket, uri, spark_folder, tmp_path, capfd
):
    rows = read(spark, bucket, uri, "rows")
    rows.explain(extended=True)
    assert rows.count() == 21
    stream = spark.readStream.format("lance_explorer.changes").options(**storage(bucket))
    feed = stream.load(uri)
    writer = feed.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    query = run_to_end(writer.trigger(availableNow=True))
    query.explain(extended=True)
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    files = [file for folder in (spark_folder, tmp_path) for file in folder.rglob("*")]
    shown = [
        rows._jdf.queryExecution().toString(),
        str(query.recentProgress),
        *capfd.readouterr(),
        *[file.read_bytes().decode(errors="replace") for file in files if file.is_file()],
    ]
    for name in ("rows", "changes"):
        assert f"lance_explorer.{name}" in "".join(shown)
    assert SECRET not in "".join(shown)


def test_a_ledger_is_recorded_from_there_into_there(spark, bucket, uri):
    folder = uri.rsplit("/", 1)[0]
    ledger = lx.Ledger(f"{folder}/ledger", storage_options=bucket.options)
    added = lx.spark.record(
        spark, folder, ledger, storage_options=bucket.options, bytes_per_task=1000
    )
    assert added.select("uri", "new_versions", "error").rows() == [(uri, 4, None)]
    live = bucket.table("lake/people.lance").versions().drop("known_from")
    assert ledger.open(uri).versions().drop("known_from").equals(live)
    given = {f"ledger.{name}": value for name, value in storage(bucket).items()}
    found = read(spark, bucket, uri, "metadata", frame="versions", ledger=ledger.uri, **given)
    assert found.count() == 4
