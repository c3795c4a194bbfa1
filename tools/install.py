"""Install the package into this environment, with fixed versions, and say how far it is.

``python tools/install.py dev`` installs the extra ``dev``, with versions from constraints.txt. What
pip says is kept back, with deprecations of other people's packages, and printed if it fails.
"""

import os
import re
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EVERY = 10
"""Seconds between two lines about how far it is."""


def main() -> int:
    """Install; return the exit status of pip."""
    extra = sys.argv[1]
    begin = last = time.monotonic()
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "-c", "constraints.txt", "-e", f".[{extra}]"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as pip:
        said = []
        done = threading.Event()
        for line, how_far in progress(pip.stdout or ()):
            said.append(line)
            now = time.monotonic()
            if how_far and now - last >= EVERY:
                print(f"  {now - begin:.0f} s: {how_far}", flush=True)
                last = now
            if installing := re.match(r"Installing collected packages: (.*)", line):
                there, new = installed(), installing[1].count(",") + 1
                threading.Thread(target=count, args=(begin, there, new, done), daemon=True).start()
        done.set()
    if pip.returncode:
        print("".join(said), file=sys.stderr)
    else:
        print(f"  {time.monotonic() - begin:.0f} s: installed", flush=True)
    return pip.returncode


def progress(lines: Iterator[str] | tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each line of pip, and how far it is, where the line tells."""
    found = 0
    for line in lines:
        how_far = ""
        if looked_up := re.match(r"(?:Collecting|Requirement already satisfied:) ([\w.-]+)", line):
            found += 1
            how_far = f"{found} packages found, the last one {looked_up[1]}"
        yield line, how_far


def count(begin: float, before: int, new: int, done: threading.Event) -> None:
    """Say how many of the new packages are installed, until all are: pip is silent meanwhile."""
    is_done = False
    while not is_done:
        now = time.monotonic() - begin
        print(f"  {now:.0f} s: {installed() - before} of {new} packages installed", flush=True)
        is_done = done.wait(EVERY)


def installed() -> int:
    """Return how many packages this environment has."""
    return len([*Path(sysconfig.get_path("purelib")).glob("*.dist-info")])


if __name__ == "__main__":
    sys.exit(main())
