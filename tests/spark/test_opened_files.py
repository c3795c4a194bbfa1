"""Which files the driver and all workers open, counted over all processes."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.spark import unread
from tests.spark.streams import at_most, run_to_end

pytestmark = pytest.mark.slow

NUM_VERSIONS = 121

Question = Callable[[Any, str, str], Any]


def _read(name: str, **options: Any) -> Question:
    def ask(spark: Any, uri: str, ledger: str) -> Any:
        given = {k: ledger if v == "LEDGER" else v for k, v in options.items()}
        found = spark.read.format(f"lance_explorer.{name}").options(**given).load(uri)
        return found.toArrow().num_rows

    return ask


def _record(spark: Any, uri: str, ledger: str) -> Any:
    added = lx.spark.record(spark, uri, f"{ledger}-new", bytes_per_task=100_000)
    return added["new_versions"].sum()


def _load(spark: Any, uri: str, ledger: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unread, "MOST_BYTES", 100_000)
        options: dict[str, Any] = {
            "begin_version": 0,
            "mode": "per_commit",
            "rows_per_partition": 50,
        }
        found = lx.spark.load(spark, "changes", uri, **options)
    return found.toArrow().num_rows


def _locate(spark: Any, uri: str, ledger: str) -> Any:
    rows = spark.createDataFrame([(612,), (615,)], "_rowid bigint")
    return lx.spark.locate(rows, uri).toArrow().num_rows


def _stream(spark: Any, uri: str, **options: Any) -> Any:
    feed = spark.readStream.format("lance_explorer.changes").options(**options).load(uri)
    lines = []
    writer = feed.writeStream.foreachBatch(lambda batch, _: lines.append(batch.count()))
    run_to_end(writer.trigger(availableNow=True))
    return sum(lines)


def _ledger_stream(spark: Any, uri: str, ledger: str) -> Any:
    return _stream(spark, uri, ledger=ledger, **at_most(20))


def _batched_stream(spark: Any, uri: str, ledger: str) -> Any:
    return _stream(spark, uri, **at_most(20))


QUESTIONS: dict[str, Question] = {
    "record": _record,
    "five": _read("changes", begin_version=-6),
    "whole": _read("changes", begin_version=0, mode="per_commit", rows_per_partition=50),
    "ledger": _read(
        "changes", begin_version=0, mode="per_commit", rows_per_partition=50, ledger="LEDGER"
    ),
    "loaded": _load,
    "history": _read("history", rows_per_partition=50),
    "rows": _read("rows", rows_per_partition=50, columns="id,_rowid"),
    "row IDs": _read("rows", rows_per_partition=50, columns="_rowid"),
    "located": _locate,
    "stream": _batched_stream,
    "stream of a ledger": _ledger_stream,
    "count": lambda spark, uri, ledger: lx.spark.count(spark, uri),
}


@pytest.fixture(scope="module")
def opened_log(spark_folder) -> Path:
    """Where all processes write down what they open, this one too (see counting/)."""
    log: Path = spark_folder / "opened.log"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LANCE_EXPLORER_OPENED", str(log))
        runpy.run_path(str(Path(__file__).with_name("counting") / "sitecustomize.py"))
    return log


@pytest.fixture(scope="module")
def told(spark, opened_log, tmp_path_factory) -> dict[str, Any]:
    """The answers and opened files of all questions about one table."""
    folder = tmp_path_factory.mktemp("opened")
    uri, ledger = str(folder / "t.lance"), str(folder / "ledger")
    dataset = lance.write_dataset(pa.table({"id": range(20)}), uri, enable_stable_row_ids=True)
    for number in range((NUM_VERSIONS - 1) // 2):
        dataset.insert(pa.table({"id": range(100 + number, 110 + number)}))
        dataset.delete(f"id = {100 + number}")
    lx.Ledger(ledger).record(uri)
    spark.range(4, numPartitions=2).count()
    found: dict[str, Any] = {}
    for name, ask in QUESTIONS.items():
        opened_log.write_text("", encoding="utf-8")
        answer = ask(spark, uri, ledger)
        found[name] = {
            "answer": answer,
            "opened": opened_log.read_text(encoding="utf-8").splitlines(),
        }
    expected = lx.open_table(uri).changes(0, mode="per_commit", images=None)
    return {**found, "expected": len(expected.to_polars())}


def manifests(told: dict[str, Any], name: str) -> list[str]:
    return [line.split(" ", 1)[1] for line in told[name]["opened"] if "/_versions/" in line]


def size_of(paths: list[str]) -> int:
    return sum(Path(path).stat().st_size for path in set(paths))


def test_changes_of_five_commits_open_the_manifests_of_these(told):
    assert told["five"]["answer"] > 0
    assert 1 < len(manifests(told, "five")) <= 10


def test_a_feed_of_all_commits_opens_each_manifest_at_most_twice(told):
    assert told["whole"]["answer"] == told["expected"]
    assert NUM_VERSIONS <= len(manifests(told, "whole")) <= 2 * NUM_VERSIONS


def test_with_a_ledger_hardly_any_manifest_is_opened(told):
    assert told["ledger"]["answer"] == told["whole"]["answer"]
    assert len(manifests(told, "ledger")) <= 3


def test_a_large_past_that_tasks_read_is_read_once_and_one_more_for_each_task(told):
    assert told["loaded"]["answer"] == told["expected"]
    opened = manifests(told, "loaded")
    latest = min(opened)  # of which the driver asks now and then whether it is still there
    others = [path for path in opened if path != latest]
    assert len(others) <= NUM_VERSIONS + size_of(opened) // 100_000 + 1
    readers = {line.split(" ", 1)[0] for line in told["loaded"]["opened"] if "_versions/" in line}
    assert len(readers) > 2  # the driver, and more than one task


def test_workers_that_follow_rows_open_no_manifest(told):
    assert told["history"]["answer"] > 0
    assert len(manifests(told, "history")) <= NUM_VERSIONS + 1


def test_workers_that_read_rows_open_no_manifest(told):
    assert len(manifests(told, "rows")) <= 2


def test_rows_are_located_from_the_files_of_their_fragments(told):
    assert told["located"]["answer"] == 2
    assert len(manifests(told, "located")) <= 2
    assert len([line for line in told["located"]["opened"] if "/_deletions/" in line]) == 1


def test_a_stream_opens_each_manifest_once(told):
    assert told["stream"]["answer"] == told["expected"]
    assert len(manifests(told, "stream")) <= 1.1 * NUM_VERSIONS


def test_a_stream_of_what_is_recorded_opens_hardly_any_manifest(told):
    assert told["stream of a ledger"]["answer"] == told["expected"]
    assert len(manifests(told, "stream of a ledger")) <= NUM_VERSIONS // 10


@pytest.mark.parametrize("name", ["row IDs", "count"])
def test_row_ids_and_counts_open_no_data_file(told, name):
    assert told[name]["answer"] == told["rows"]["answer"]
    assert not [line for line in told[name]["opened"] if "/data/" in line]


def test_recording_opens_each_manifest_once_and_one_more_for_each_task(told):
    assert told["record"]["answer"] == NUM_VERSIONS
    opened = manifests(told, "record")
    assert len(opened) <= NUM_VERSIONS + size_of(opened) // 100_000 + 2


def test_each_process_is_watched(told):
    processes = {line.split(" ", 1)[0] for line in told["record"]["opened"]}
    assert len(processes) > 1
