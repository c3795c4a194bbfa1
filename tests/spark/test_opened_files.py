"""Which files the driver and all workers open, counted over all processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.spark.counting.questions import QUESTIONS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COUNTING = Path(__file__).with_name("counting")
NUM_VERSIONS = 121


@pytest.fixture(scope="module")
def told(tmp_path_factory, request) -> dict[str, Any]:
    """The answers and opened files of all questions about one table."""
    folder = tmp_path_factory.mktemp("opened")
    uri, ledger = str(folder / "t.lance"), str(folder / "ledger")
    dataset = lance.write_dataset(pa.table({"id": range(20)}), uri, enable_stable_row_ids=True)
    for number in range((NUM_VERSIONS - 1) // 2):
        dataset.insert(pa.table({"id": range(100 + number, 110 + number)}))
        dataset.delete(f"id = {100 + number}")
    lx.Ledger(ledger).record(uri)
    root = str(request.config.rootpath)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(COUNTING), root]),
        "LANCE_EXPLORER_OPENED": str(folder / "opened.log"),
    }
    command = [sys.executable, "-m", "tests.spark.counting.questions", uri, ledger, *QUESTIONS]
    ended = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
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
