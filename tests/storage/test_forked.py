"""A process that was forked: it refuses what would wait for ever, and works if nothing would."""

import subprocess
import sys
from pathlib import Path

import pytest

TABLE = Path(__file__).parents[1] / "data" / "14.0.2" / "stable_row_ids.lance"

PROGRAM = """
import os, select, signal, sys, tempfile, warnings
from pathlib import Path
import lance_explorer as lx
warnings.simplefilter("ignore")
table = lx.open_table(sys.argv[1])
if sys.argv[2] == "True":
    folder = Path(tempfile.mkdtemp(dir=sys.argv[3]))
    ledger = lx.Ledger(folder / "ledger")
    ledger.record(table)
    recorded = lx.open_table(table.uri, ledger=ledger)
    row, latest, lineage, usage = table.row(0), table.latest, table.lineage(), table.disk_usage()
    changes, diff, blame = table.changes(0), table.diff(1, 2), table.blame("true", limit=2)
    cleanup, compaction = table.cleanup_preview(), table.compaction_preview()
    lock, explorer = lx.lock(latest), table.explore()
    row.history()
for ask in sys.argv[4:]:
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = repr(len(eval(ask)))
        except lx.LanceExplorerError as error:
            told = str(error)
        except BaseException as error:
            told = repr(error)
        os.write(writable, told.encode())
        os._exit(0)
    os.close(writable)
    waited = select.select([readable], [], [], 20)[0]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print((os.read(readable, 10_000).decode() if waited else f"hangs: {ask}"), flush=True)
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
    "table.check()",
    "table.disk_usage()",
    "table.cleanup_preview()",
    "table.report(folder / 'report.html')",
    "table.find('true')",
    "table._repr_html_()",
    "changes.to_polars()",
    "diff.summary()",
    "blame.commits()",
    "lineage.edges()",
    "lineage.to_json()",
    "lineage.to_openlineage()",
    "lineage._repr_html_()",
    "usage.summary()",
    "usage.sentence",
    "cleanup.files()",
    "cleanup.losses()",
    "compaction.fragments()",
    "lx.lock(latest)",
    "lx.verify(lock)",
    "lx.figures.history(table)",
    "lx.figures.disk_usage(table)",
    "lx.figures.lineage(lineage)",
    "lx.widgets.Overview(table).frame()",
    "lx.demo.make_photos(folder / 'photos.lance')",
    "ledger.record(table.uri)",
    "ledger.tables()",
    "ledger.refs(table.uri)",
    "ledger.open(table.uri)",
    "ledger.compact()",
    "ledger.forget(table.uri)",
    "lx.Ledger(folder / 'new').record(table.uri)",
    "lx.open_table(table.uri, ledger=ledger)",
    "recorded.versions()",
    "recorded.refresh()",
]
"""What was made before the fork is asked, too."""


def in_children(folder: Path, *asks: str, work_before: bool) -> list[str]:
    """Ask each question in a child of one process, which has worked before or not."""
    command = [sys.executable, "-c", PROGRAM, str(TABLE), str(work_before), str(folder), *asks]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere any fork is refused")
def test_after_polars_has_worked_a_forked_process_is_refused(tmp_path):
    told = in_children(tmp_path, *QUESTIONS, work_before=True)
    assert len(told) == len(QUESTIONS)
    refused = ["start processes by spawn or forkserver" in text for text in told]
    assert all(refused), [
        text for text, is_refused in zip(told, refused, strict=True) if not is_refused
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere any fork is refused")
def test_before_polars_has_worked_a_forked_process_works(tmp_path):
    assert int(in_children(tmp_path, "table.row(0).history()", work_before=False)[0]) > 0
