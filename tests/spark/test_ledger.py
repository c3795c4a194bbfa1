"""Spark reads the files of a ledger without us."""

from pathlib import Path

import lance_explorer as lx
from tests.format.samples import DATA
from tests.ledger.test_readable import FRAGMENTS_OF_A_VERSION


def test_a_ledger_is_parquet_that_spark_reads(spark, tmp_path):
    table = lx.open_table(DATA / "14.0.2" / "stable_row_ids.lance")
    lx.Ledger(tmp_path / "ledger").record(table, branch="main")
    [folder] = Path(tmp_path, "ledger").iterdir()
    versions = spark.read.parquet(f"{folder}/versions-*.parquet")
    assert versions.count() == len(table.versions())
    spark.read.parquet(f"{folder}/fragments-*.parquet").createOrReplaceTempView("changes")
    names = ["fragment_id", "num_deleted_rows", "physical_rows"]
    for version in table.versions()["version"].tail(3):
        query = FRAGMENTS_OF_A_VERSION.format(fragments="changes", version=version)
        found = [tuple(map(int, row)) for row in spark.sql(query).collect()]
        assert found == table.inspect.fragments(version).select(names).sort("fragment_id").rows()
