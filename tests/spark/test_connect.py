"""A session of Spark Connect does all that a classic one does. It needs ``pyspark[connect]``.

It runs in a process of its own: one process has sessions of one kind.
"""

import json
import os
import subprocess
import sys

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = """
import json, sys, warnings

warnings.simplefilter("ignore")  # of settings that a server does not take any more
import polars as pl
from pyspark.sql import SparkSession

import lance_explorer as lx

path, folder = sys.argv[1:]
spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert lx.spark.session() is spark
read = lambda name: spark.read.format(f"lance_explorer.{name}")
feed = spark.readStream.format("lance_explorer.changes").load(path)
writer = feed.writeStream.option("checkpointLocation", f"{folder}/checkpoint")
query = writer.trigger(availableNow=True).start(f"{folder}/stream", format="parquet")
assert query.awaitTermination(600)
versions = lx.open_table(path).versions()
found = {
    "kind": type(spark).__module__,
    "rows": read("rows").load(path).count(),
    "history": read("history").load(path).count(),
    "changes": lx.open_table(path).changes(1, images="both").to_spark(spark).count(),
    "versions": lx.spark.metadata(spark, path, "versions").count(),
    "stream": spark.read.parquet(f"{folder}/stream").count(),
    "from_polars": lx.spark.from_polars(spark, versions).count(),
    "same": lx.spark.same_content(*[lx.spark.content(spark, path, version=v) for v in (1, 3)]),
    "diff": lx.spark.diff(
        *[read("rows").option("version", v).load(path) for v in (1, 3)], "id"
    ).count(),
}
print(json.dumps(found))
spark.stop()
"""


def test_a_session_of_spark_connect_reads_streams_and_compares(tmp_path):
    path = str(tmp_path / "t.lance")
    table = lance.write_dataset(pa.table({"id": range(10)}), path, enable_stable_row_ids=True)
    table.delete("id = 3")
    table.insert(pa.table({"id": [20, 21]}))
    command = [sys.executable, "-c", SCRIPT, path, str(tmp_path)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == {
        "kind": "pyspark.sql.connect.session",
        "rows": 11,
        "history": 13,
        "changes": len(lx.open_table(path).changes(1, images="both").to_polars()),
        "versions": 3,
        "stream": 13,
        "from_polars": 3,
        "same": False,
        "diff": 3,
    }
