"""What the installation says of how far it is."""

import threading
import time

from tools.install import count, installed, progress

SAID = """\
Obtaining file:///here
Requirement already satisfied: pip in ./lib (24.0)
Collecting polars>=2.1 (from lance-explorer)
  DEPRECATION: Building 'old' using the legacy setup.py is deprecated
  Downloading polars-2.1-py3.whl (40 MB)
Installing collected packages: polars, lance-explorer
Successfully installed polars-2.1
"""


def test_packages_are_counted_and_nothing_else_is_said():
    lines = SAID.splitlines(keepends=True)
    assert [how_far for _, how_far in progress(iter(lines)) if how_far] == [
        "1 packages found, the last one pip",
        "2 packages found, the last one polars",
    ]
    assert "".join(line for line, _ in progress(iter(lines))) == SAID


def test_how_many_are_installed_is_said_until_all_are(capsys):
    done = threading.Event()
    done.set()
    count(time.monotonic() - 7, installed() - 2, 5, done)
    assert capsys.readouterr().out == "  7 s: 2 of 5 packages installed\n"
