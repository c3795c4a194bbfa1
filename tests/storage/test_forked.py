"""A process that was forked: it refuses what would wait for ever, and works if nothing would."""

import subprocess
import sys
from pathlib import Path

import pytest

TABLE = Path(__file__).parents[1] / "data" / "14.0.2" / "stable_row_ids.lance"

PROGRAM = """
import os, sys, warnings
import lance_explorer as lx
warnings.simplefilter("ignore")
work_before, ask = sys.argv[2:]
table = lx.open_table(sys.argv[1])
if work_before == "True":
    table.row(0).history()
child = os.fork()
if child == 0:
    try:
        told = repr(len(eval(ask)))
    except lx.LanceExplorerError as error:
        told = str(error)
    print(told, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""

QUESTIONS = [
    "table.versions()",
    "table.row(0).history()",
    "table.follow([0, 1])",
    "table.latest.read()",
    "table.latest.rows()",
    "table.changes(0, mode='per_commit').to_polars()",
    "table.lineage().edges()",
    "table.inspect.health()",
    "table.sql('SELECT * FROM versions ORDER BY version')",
    "lx.open_table(table.uri).row(0).history()",
]


def in_child(ask: str, *, work_before: bool) -> str:
    command = [sys.executable, "-c", PROGRAM, str(TABLE), str(work_before), ask]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere any fork is refused")
@pytest.mark.parametrize("ask", QUESTIONS)
def test_after_polars_has_worked_a_forked_process_is_refused(ask):
    assert "start processes by spawn or forkserver" in in_child(ask, work_before=True)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere any fork is refused")
def test_before_polars_has_worked_a_forked_process_works():
    assert int(in_child("table.row(0).history()", work_before=False)) > 0
