"""The explorer served by ``lance-explorer open``, as a process that ends with a test."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["PATIENCE", "end", "opened"]

PATIENCE = 120
_ROOT = Path(__file__).parents[1]


@contextmanager
def opened(
    path: Path, *options: str, browser: str | None = None, pace: float | None = None
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve the explorer of a table; give its address, and the process.

    ``browser`` is a command that is given an address; by default none is opened. ``pace`` is how
    many seconds it waits, if not as many as for a person, before it looks for new versions again.
    """
    program = "from lance_explorer.cli import main; main()"
    if pace is not None:
        look = "from lance_explorer.widgets.live import Pace"
        program = f"{look}; Pace.shortest = {pace}; {program}"
    none = ["--no-browser"] if browser is None else []
    process = subprocess.Popen(
        [sys.executable, "-c", program, "open", str(path), *none, *options],
        cwd=_ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "BROWSER": browser or ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line + process.stdout.read()
        assert process.stdout.readline() == "End with Ctrl+C.\n"
        yield found[0], process
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Press Ctrl+C; return the exit code, and what was printed after the address."""
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, said
