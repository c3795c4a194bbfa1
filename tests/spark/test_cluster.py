"""A cluster of which workers die gives the answers that one machine gives."""

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

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("table") / "t.lance")
    dataset = lance.write_dataset(
        pa.table({"id": range(100)}), path, max_rows_per_file=10, enable_stable_row_ids=True
    )
    for number in range(5):
        dataset.insert(pa.table({"id": range(100 + number, 103 + number)}))
        dataset.delete(f"id = {number}")
    return path


@pytest.fixture(scope="module")
def told(path, tmp_path_factory, request) -> dict[str, Any]:
    """What the cluster answered."""
    root, folder = str(request.config.rootpath), tmp_path_factory.mktemp("cluster")
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "tests.spark.cluster", path, str(folder)]
    ended = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return {**found, "folder": folder}


def expected_changes(path: str) -> Any:
    return lx.open_table(path).changes(0, mode="per_commit", images=None).to_polars()


def test_changes_are_those_of_one_machine(told, path):
    assert told["changes"] == len(expected_changes(path))


def test_a_job_of_which_a_worker_is_killed_gives_all_rows_once(told, path):
    assert told["rows"] == lance.dataset(path).count_rows()


def test_a_stream_of_which_a_worker_is_killed_gives_all_changes_once(told, path):
    expected = expected_changes(path).select("_commit_version", "_change_type", "_rowid")
    assert told["stream"] == sorted([list(row) for row in expected.rows()])


def test_a_ledger_that_a_cluster_made_is_the_one_of_one_machine(told, path, tmp_path):
    [line] = told["recorded"]
    assert (line["new_versions"], line["error"]) == (11, None)
    ledger = lx.Ledger(Path(told["folder"]) / "ledger")
    other = lx.Ledger(tmp_path / "ledger")
    other.record(path)
    assert ledger.open(path).versions().equals(other.open(path).versions())
    query = "SELECT * FROM all_fragments"
    assert ledger.open(path).sql(query).equals(other.open(path).sql(query))
