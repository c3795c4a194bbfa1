"""A table that is written to while it is read: nothing crashes, and a snapshot is one version."""

import json
import subprocess
import sys

import lance
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.errors import StorageError, VersionNotFoundError
from lance_explorer.inspect.catalogue import FRAMES, frame
from tests.differential.live_writer import rows

COMMITS = 60


def read_everything(table: lx.Table) -> None:
    """Ask for all frames and for the rows of the newest and the oldest version that are kept."""
    versions = table.refresh().versions()
    numbers = versions["version"].to_list()
    assert numbers == sorted(set(numbers))
    for name in FRAMES:
        read_frame(table, name)
    for version in (numbers[-1], numbers[0]):
        (facts,) = versions.filter(version=version).to_dicts()
        read_rows(table, facts)


def read_frame(table: lx.Table, name: str) -> None:
    try:
        frame(table.source, name)
    except (VersionNotFoundError, StorageError) as error:
        expect_cleaned_away(error)


def read_rows(table: lx.Table, facts: dict[str, int]) -> None:
    try:
        snapshot = table.at(facts["version"])
        found = snapshot.rows()
        values = snapshot.read(columns=["id", "_rowid"])
    except (VersionNotFoundError, StorageError) as error:
        expect_cleaned_away(error)
        return
    assert len(found) == len(values) == facts["num_rows"] == snapshot.num_rows
    assert found["_rowid"].to_list() == values["_rowid"].to_list()


def expect_cleaned_away(error: Exception) -> None:
    """Check that an error is that a version, or a file of one, was removed since it was listed."""
    words = ("is missing", "was removed", "cleaned away", "not found")
    if not any(word in str(error).lower() for word in words):
        raise error


@pytest.mark.parametrize("stable_row_ids", [True, False])
def test_a_reader_beside_a_writer_sees_whole_versions(tmp_path, stable_row_ids):
    path = tmp_path / "live.lance"
    lance.write_dataset(rows(0), path, enable_stable_row_ids=stable_row_ids)
    table = lx.open_table(path)
    read_beside_a_writer(table, COMMITS, {})
    expect_all_that_a_fresh_one_knows(table, lx.open_table(path), COMMITS)


def read_beside_a_writer(table: lx.Table, commits: int, options: dict[str, str]) -> None:
    """Read everything again and again while another process commits."""
    arguments = [table.uri, str(commits), json.dumps(options)]
    command = [sys.executable, "-m", "tests.differential.live_writer", *arguments]
    seen = set[int]()
    with subprocess.Popen(command) as writer:
        while writer.poll() is None:
            read_everything(table)
            seen.add(table.source.latest_version)
    assert writer.returncode == 0
    read_everything(table)
    assert seen != {table.source.latest_version}


def expect_all_that_a_fresh_one_knows(table: lx.Table, fresh: lx.Table, commits: int) -> None:
    """Check that a table that was refreshed all the time has the answers of one opened now."""
    table.refresh()
    assert fresh.latest.version >= commits
    for name in FRAMES:
        assert_frame_equal(frame(table.source, name), frame(fresh.source, name))
    assert isinstance(table.check_row_ids(), pl.DataFrame)
