"""Time and memory of jobs, each run in a process of its own; and what all benchmarks share.

A job is a function that gets everything ready, libraries imported, and returns the function whose
time counts. That one returns numbers about what it found, so that answers can be compared too.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = [
    "Job",
    "Measurement",
    "Numbers",
    "Work",
    "main",
    "measure",
    "prepared",
    "print_rows",
    "run",
    "warm",
]

Numbers = dict[str, int]
Work = Callable[[], Numbers]
Job = Callable[..., Work]

_REPEATS = 3
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a job took: the median of its times, and the highest of its peaks of memory."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    numbers: Numbers


def measure(job: Job, *arguments: str | int) -> Measurement:
    """Run a job several times, each time in a new process."""
    runs = [run(job, *arguments) for _ in range(_REPEATS)]
    return Measurement(
        statistics.median([one.seconds for one in runs]),
        statistics.median([one.cpu_seconds for one in runs]),
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
    return Measurement(*json.loads(process.stdout))


def warm(folder: Path) -> int:
    """Read all files of a folder, so that the system has them in memory; return their bytes."""
    return sum([len(path.read_bytes()) for path in folder.iterdir()])


def prepared(folder: Path, name: str, job: Job, *sizes: int) -> Path:
    """Return the path of a table, which is written unless it is there already."""
    path = folder / f"{name}.lance"
    if not path.exists():
        unfinished = folder / f"{name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        took = run(job, str(unfinished), *sizes)
        unfinished.rename(path)
        print(f"wrote {path.name} in {took.seconds:.1f} s", flush=True)
    return path


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print cells under one another, numbers to the right."""
    widths = [max([len(cell) for cell in column]) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        numbers = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *numbers]), flush=True)


def main(
    description: str | None, benchmark: Callable[..., None], sizes: Mapping[str, Any] | None = None
) -> None:
    """Run a benchmark from the command line: in a folder, and at one of its sizes if it has any."""
    parser = argparse.ArgumentParser(description=description)
    if sizes:
        parser.add_argument("--sizes", choices=[*sizes], default="small")
    parser.add_argument("--folder", type=Path, help="where tables are kept for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        benchmark(folder, *([sizes[options.sizes]] if sizes else []))


def _run_job(name: str, arguments: str) -> None:
    """Run a job and print what it took."""
    os.environ["LANCE_EXPLORER_CACHE"] = "off"  # a job that measures it turns it on
    module, _, function = name.partition(":")
    work = getattr(import_module(module), function)(*json.loads(arguments))
    begin, cpu = time.perf_counter(), time.process_time()
    numbers = work()
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
    print(json.dumps([seconds, cpu_seconds, peak, numbers]))


if __name__ == "__main__":
    _run_job(*sys.argv[1:])
