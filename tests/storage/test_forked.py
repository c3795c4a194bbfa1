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
table = lx.open_table(sys.argv[1])
if sys.argv[2] == "True":
    table.row(0).history()
for ask in sys.argv[3:]:
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
    "table.latest.row_ids()",
    "table.changes(0, mode='per_commit', images=None).to_polars()",
    "table.lineage().edges()",
    "table.inspect.health()",
    "table.sql('SELECT * FROM versions ORDER BY version')",
    "lx.open_table(table.uri).row(0).history()",
]


def in_children(*asks: str, work_before: bool) -> list[str]:
    """Ask each question in a child of one process, which has worked before or not."""
    command = [sys.executable, "-c", PROGRAM, str(TABLE), str(work_before), *asks]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere any fork is refused")
def test_after_polars_has_worked_a_forked_process_is_refused():
    told = in_children(*QUESTIONS, work_before=True)
    assert len(told) == len(QUESTIONS)
    assert all("start processes by spawn or forkserver" in text for text in told)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere any fork is refused")
def test_before_polars_has_worked_a_forked_process_works():
    assert int(in_children("table.row(0).history()", work_before=False)[0]) > 0
