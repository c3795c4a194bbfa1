"""Time and memory of jobs, each run in a process of its own.

A job is a function that gets everything ready, libraries imported, and returns the function whose
time counts. That one returns numbers about what it found, so that answers can be compared too.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

__all__ = ["Job", "Measurement", "Numbers", "measure", "run", "warm"]

Numbers = dict[str, int]
Job = Callable[..., Callable[[], Numbers]]

_REPEATS = 3
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a job took: the median of its times, and the highest of its peaks of memory."""

    seconds: float
    peak_bytes: int
    numbers: Numbers


def measure(job: Job, *arguments: str | int) -> Measurement:
    """Run a job several times, each time in a new process."""
    runs = [run(job, *arguments) for _ in range(_REPEATS)]
    return Measurement(
        statistics.median([one.seconds for one in runs]),
        max([one.peak_bytes for one in runs]),
        runs[0].numbers,
    )


def run(job: Job, *arguments: str | int) -> Measurement:
    """Run a job once, in a new process.

    Processes are started from a small one, or they would inherit its peak of memory.
    """
    module = sys.modules["__main__"].__spec__ if job.__module__ == "__main__" else None
    name = f"{module.name if module else job.__module__}:{job.__qualname__}"
    command = [sys.executable, "-m", "benchmarks.measuring", name, json.dumps(arguments)]
    process = subprocess.run(command, check=False, capture_output=True, text=True)
    if process.returncode:
        raise RuntimeError(f"{name} failed:\n{process.stderr}")
    return Measurement(**json.loads(process.stdout))


def warm(folder: Path) -> int:
    """Read all files of a folder, so that the system has them in memory; return their bytes."""
    return sum([len(path.read_bytes()) for path in folder.iterdir()])


def _main(name: str, arguments: str) -> None:
    """Run a job and print what it took."""
    module, _, function = name.partition(":")
    work = getattr(import_module(module), function)(*json.loads(arguments))
    begin = time.perf_counter()
    numbers = work()
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "numbers": numbers}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
