"""What a worker does once."""

import gc

from lance_explorer.spark.worker import keep_imports


def test_a_worker_searches_for_no_garbage_among_what_was_imported(spark):
    def frozen(rows):
        import gc

        import lance_explorer.spark  # noqa: F401

        yield gc.get_freeze_count()

    [count] = spark.sparkContext.parallelize([0], 1).mapPartitions(frozen).collect()
    assert count > 10_000


def test_other_processes_search_as_ever(monkeypatch):
    monkeypatch.delenv("SPARK_REUSE_WORKER", raising=False)
    before = gc.get_freeze_count()
    keep_imports()
    assert gc.get_freeze_count() == before
