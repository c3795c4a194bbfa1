"""Values that another process reads, and what happens to them when it dies."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.storage import Options
from lance_explorer.storage.value_uris import ValueUri
from lance_explorer.values import row_batches, take_rows
from lance_explorer.values.child import Child, called_apart, time_limit
from tests.damage import make_killer

PATIENCE = 60
NUM_ROWS = 1000


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("child") / "t.lance"
    rows = pa.table({"id": range(NUM_ROWS), "word": [f"w{n % 50}" for n in range(NUM_ROWS)]})
    table: Any = lance.write_dataset(rows, path, enable_stable_row_ids=True, max_rows_per_file=400)
    table.delete("id % 10 = 3")
    table.update({"word": "'new'"}, where="id = 7")
    return path


def apart(path: Path) -> lx.Table:
    return lx.open_table(path, values_apart=True)


def test_another_process_reads_what_this_one_would(path):
    here, there = lx.open_table(path), apart(path)
    assert there.latest.schema == here.latest.schema
    assert there.latest.read(filter="id > 5").equals(here.latest.read(filter="id > 5"))
    assert there.latest.head().equals(here.latest.head())
    some = pl.col("word") == "w3"
    scans = [table.latest.scan().filter(some).collect() for table in (here, there)]
    assert scans[0].equals(scans[1])
    assert there.latest.scan().head(3).collect().height == 3
    assert there.changes(1).to_polars().equals(here.changes(1).to_polars())
    assert there.find("id = 7").to_polars().equals(here.find("id = 7").to_polars())
    assert there.blame("id = 7").to_polars().equals(here.blame("id = 7").to_polars())
    query = "SELECT count(*) FROM dataset"
    assert there.sql(query).equals(here.sql(query))


def test_rows_come_a_batch_at_a_time_and_nobody_need_take_all(path):
    root = ValueUri(str(path), is_apart=True)
    batches = row_batches(root, 1, [0, 1, 2], ["id"], batch_size=100)
    assert next(batches).num_rows == 100
    del batches
    assert take_rows(root, 1, pl.Series([5, 2]), ["id"])["id"].to_list() == [5, 2]


def test_a_data_file_that_ends_the_process_is_an_error_and_other_questions_go_on(tmp_path, path):
    killer = make_killer(tmp_path / "killer.lance")
    table = apart(killer)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"process that reads values died.*check\(depth"):
            table.latest.read()
    assert table.latest.num_rows == 3000
    assert len(table.log()) == 1
    assert apart(path).latest.read(limit=2).height == 2


def test_a_question_that_takes_too_long_is_ended(path):
    with time_limit(0.2), pytest.raises(StorageError, match="longer than the time limit"):
        called_apart(_wait, [], {})
    with time_limit(PATIENCE):
        assert called_apart(os.getpid, [], {}) != os.getpid()


def _wait() -> None:
    threading.Event().wait()


def test_a_process_that_died_meanwhile_is_replaced(path):
    pid = called_apart(os.getpid, [], {})
    died = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    assert select.select([died], [], [], PATIENCE)[0]
    os.close(died)
    assert called_apart(os.getpid, [], {}) != pid


def test_functions_that_are_handed_over_are_called_here(path):
    here: list[int] = []

    def key(value: int) -> int:
        here.append(os.getpid())
        return -value

    assert called_apart(max, [[3, 1, 2]], {"key": key}) == 1
    assert here == [os.getpid()] * 3

    def refuse(value: int) -> int:
        raise InvalidArgumentError("not that")

    with pytest.raises(InvalidArgumentError, match="not that"):
        called_apart(max, [[3, 1, 2]], {"key": refuse})


def test_storage_options_are_not_on_the_command_line():
    child = Child()
    try:
        secret = Options({"aws_secret_access_key": "hush"})
        assert child.run(dict, [secret], {}).next()[1] == {"aws_secret_access_key": "hush"}
        line = Path(f"/proc/{child.pid}/cmdline")
        if line.exists():
            assert b"hush" not in line.read_bytes()
    finally:
        child.end()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no pidfd here")
def test_a_process_ends_with_the_one_that_started_it():
    program = (
        "from lance_explorer.values.child import Child; import os, sys\n"
        "child = Child(); child.run(os.getpid, [], {}).next(); print(child.pid, flush=True)\n"
        "child.run(input, [], {}); sys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        assert select.select([child], [], [], PATIENCE)[0], "it goes on alone"
        os.close(child)


def test_a_table_with_known_damage_is_read_apart(tmp_path):
    path = make_killer(tmp_path / "killer.lance")
    lance.write_dataset(pa.table({"id": [1]}), path, mode="overwrite")
    manifests = sorted((path / "_versions").glob("*.manifest"))
    table = lx.open_table(path)
    assert not table._view.storage.io.values_apart
    manifests[0].write_bytes(b"damaged")  # the newest
    table = lx.open_table(path)
    assert not table.check().is_empty()
    with pytest.raises(StorageError, match="died"):
        table.at(1).read()


def test_a_filter_cannot_end_the_process(path):
    table = lx.open_table(path)
    table.find("id = " + "+".join(["1"] * 1000)).findings()
    with pytest.raises((StorageError, InvalidArgumentError)):
        table.latest.read(filter="id = " + "+".join(["1"] * 4000))
    asks = (lambda long: table.latest.read(filter=long), table.blame, table.find)
    for long in ("(" * 10_000 + "id = 1" + ")" * 10_000, " or ".join(["id = 1"] * 10_000)):
        for ask in asks:
            with pytest.raises(InvalidArgumentError, match="a filter can have"):
                ask(long)
    assert table.latest.read(filter="word = '" + "(" * 100 + "'").is_empty()
