"""Tables whose commits are in an external manifest store: tasks ask it as the driver does."""

from collections.abc import Iterator

import pytest

import lance_explorer as lx
from tests.remote.bucket import KEY_ID, SECRET, Bucket
from tests.remote.dynamo import Dynamo

NAME = "photos.lance"


@pytest.fixture(scope="module")
def dynamo() -> Iterator[Dynamo]:
    """A table of three versions, the last of which is still staged."""
    server = Bucket()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)  # pylance takes those of the store from there
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_REGION", "us-east-1")
        store = Dynamo(server)
        store.write(NAME, 3, "create")
        store.write(NAME, 2)
        store.write(NAME, 1)
        store.stage(NAME, 3)
        yield store
    server.stop()


def read(spark, dynamo, source, **options):
    storage = {f"storage.{name}": value for name, value in dynamo.options.items()}
    reader = spark.read.format(f"lance_explorer.{source}").options(**storage, **options)
    return reader.load(dynamo.uri(NAME))


def test_every_source_sees_the_versions_that_the_store_has(spark, dynamo):
    table = dynamo.table(NAME)
    assert read(spark, dynamo, "metadata", frame="versions").count() == 3
    assert read(spark, dynamo, "changes", begin_version=1).count() == 3
    assert read(spark, dynamo, "history").count() == 6
    assert read(spark, dynamo, "rows", columns="_rowid").count() == table.latest.num_rows == 6
    changes = table.changes(0, images=None)
    assert changes.to_spark(spark).count() == len(changes.to_polars())


def test_values_are_read_once_the_commit_is_in_its_place(spark, dynamo):
    assert sorted(row["a"] for row in read(spark, dynamo, "rows", version=2).collect()) == [
        *[0, 0, 1, 1, 2]
    ]


@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_it_is_recorded_by_tasks(spark, dynamo, tmp_path, size):
    added = lx.spark.record(
        spark,
        dynamo.uri(NAME),
        tmp_path / "ledger",
        storage_options=dynamo.options,
        bytes_per_task=size,
    )
    assert added.select("new_versions", "last_version", "error").rows() == [(3, 3, None)]
    expected = dynamo.table(NAME).versions().drop("known_from")
    recorded = lx.Ledger(tmp_path / "ledger").open(NAME)
    assert recorded.versions().drop("known_from").equals(expected)
    again = lx.Ledger(tmp_path / "ledger").open(dynamo.uri(NAME))
    assert again.versions().equals(recorded.versions())
