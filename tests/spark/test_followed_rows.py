"""Rows of a DataFrame, followed and located in tasks, against the local engine."""

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.frames.followed import FOLLOWED
from lance_explorer.lineage.following import follow
from lance_explorer.spark.followed_rows import LOCATED, _some
from tests.differential.lives import LIVES, Life
from tests.spark.engines import as_local

NAMES = ("ordinary_days", "compactions", "restores")
LIFE = [Life(s, stable, "2.2") for s in LIVES if s.__name__ in NAMES for stable in (False, True)]


@pytest.fixture(scope="module", params=LIFE, ids=str)
def path(request, tmp_path_factory) -> str:
    life: Life = request.param
    return life.live(tmp_path_factory.mktemp("life")).uri


def asked(spark, ids):
    return spark.createDataFrame([(one,) for one in ids], "mine bigint").repartition(3)


def test_rows_are_followed_as_locally(spark, path):
    table = lx.open_table(path)
    ids = [*table.at(-2).row_ids()["_rowid"].to_list(), 5000]
    rows = asked(spark, [*ids, *ids[:3], None])
    for begin in (None, table._view.listing.versions[1].version):
        expected = follow(table._view, ids, begin)
        found = as_local(
            lx.spark.follow(rows, path, row_id="mine", begin_version=begin), FOLLOWED.polars_schema
        )
        order = ["_rowid", "version", "event"]
        assert found.sort(order).equals(expected.sort(order))


def test_rows_are_located_as_locally(spark, path):
    for version in (-1, -2):
        snapshot = lx.open_table(path).at(version)
        ids = [*snapshot.row_ids()["_rowid"].to_list(), 5000]
        found = as_local(
            lx.spark.locate(asked(spark, ids), path, version, row_id="mine"), LOCATED.polars_schema
        ).sort("_rowid")
        addresses = snapshot.row_id_index().locate_many(found["_rowid"])
        assert found["_rowaddr"].equals(addresses)
        assert found["fragment_id"].equals((addresses // 2**32).rename("fragment_id"))
        assert found["_rowid"].to_list() == sorted(ids)


def test_what_does_not_fit_is_told_at_once(spark, tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": [1]}), path)
    rows = asked(spark, [0])
    for options, message in (
        ({}, "rows has no column '_rowid'; there are: mine"),
        ({"row_id": "mine", "begin_version": 7, "end_version": 1}, "swap them"),
        ({"row_id": "mine", "begin_version": 1.5}, "begin_version: expected a version"),
        ({"row_id": "mine", "brunch": "dev"}, "did you mean 'branch'"),
    ):
        with pytest.raises(lx.InvalidArgumentError, match=message):
            lx.spark.follow(rows, path, **options)


def test_many_batches_are_asked_together():
    batches = [pa.record_batch({"_rowid": pa.array([n], pa.int64())}) for n in range(5)]
    [together] = _some(iter(batches))
    assert together.dtype == np.uint64
    assert pl.Series(together).to_list() == [0, 1, 2, 3, 4]
    assert list(_some(iter([]))) == []
