"""Run the checks of the project, kind by kind, and print what each kind took.

All kinds run, whatever fails before; only a failed set-up ends the run. The closing line counts
tests: a tool or a test run that fails without naming a test counts as one failure. The script needs
nothing but the standard library, since the first kind makes the environment that the others use.
"""

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(".venv") / "bin"
REPORTS = ROOT / ".test-reports"
CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
BEGIN = time.perf_counter()
OUTPUT = threading.local()
"""Where the ``stream`` is that commands of a thread write into, if it has one."""

PROCESSES = ["-n", str(min(CPUS, 4))] if CPUS > 1 else []
BY_ORDER = [*PROCESSES, "--dist", "worksteal"]
"""Tests of one parameter of the session, such as a table that had a life, stay together."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tests of a kind passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of checks; it is left out while none of its ``folders`` exists.

    Kinds that leave processors idle have a ``lane``: lanes run side by side, at the end. What
    is ``part_of`` another kind runs only if it is named, ``part_of`` all also with ``--all``.
    """

    name: str
    run: Callable[["Kind"], Counts]
    folders: tuple[str, ...] = (".",)
    options: tuple[str, ...] = ()
    lane: str = ""
    part_of: str = ""

    def targets(self) -> list[str]:
        """Return the folders that exist."""
        return [folder for folder in self.folders if (ROOT / folder).exists()]


def main() -> int:
    """Run the kinds named on the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Run the checks of the project.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(k.name for k in KINDS))
    parser.add_argument(
        "--all",
        action="store_true",
        help="ask all stored tables, try more that is random, and run what a change does not run",
    )
    given = parser.parse_args()
    parts = ("", "all") if given.all else ("",)
    names = given.kinds or [kind.name for kind in KINDS if kind.part_of in parts]
    if unknown := set(names) - {kind.name for kind in KINDS}:
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    if given.all:
        os.environ |= {"STORED_TABLES": "all", "TIMES_DRAWN": "4"}  # options of tests/conftest.py
    os.chdir(ROOT)
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir()
    results = run_kinds(kind for kind in KINDS if kind.name in names and kind.targets())
    total = closing_line(results)
    (REPORTS / "total.txt").write_text(f"{total}\n")
    print(f"\n{table(results)}\n\n{total}", flush=True)
    return 1 if any(counts.failed for counts, _ in results.values()) else 0


def run_kinds(kinds: Iterable[Kind]) -> dict[str, tuple[Counts, float]]:
    """Return the counts and the seconds of each kind that ran."""
    results = dict[str, tuple[Counts, float]]()
    lanes = dict[str, list[Kind]]()
    for kind in kinds:
        if kind.lane and CPUS > 1:
            lanes.setdefault(kind.lane, []).append(kind)
            continue
        print(f"\n===== {kind.name} =====", flush=True)
        results[kind.name] = timed(kind)
        if kind.name == "setup" and results[kind.name][0].failed:
            return results
    if lanes:
        names = [" then ".join([kind.name for kind in lane]) for lane in lanes.values()]
        print(f"\n===== side by side: {'; '.join(names)} =====", flush=True)
        with ThreadPoolExecutor(len(lanes)) as pool:
            for found in pool.map(run_lane, lanes.values()):
                results |= found
    return results


def run_lane(kinds: list[Kind]) -> dict[str, tuple[Counts, float]]:
    """Run kinds one after another, beside others, and print what each said when it is done."""
    results = {}
    for kind in kinds:
        with TemporaryFile() as said:
            OUTPUT.stream = said
            results[kind.name] = timed(kind)
            said.seek(0)
            print(f"\n===== {kind.name} =====\n{said.read().decode(errors='replace')}", flush=True)
    return results


def timed(kind: Kind) -> tuple[Counts, float]:
    """Run a kind; return its counts and its seconds."""
    begin = time.perf_counter()
    counts = kind.run(kind)
    return counts, time.perf_counter() - begin


def table(results: dict[str, tuple[Counts, float]]) -> str:
    """Return the time and the counts by kind as text."""
    lines = [f"{'kind':<14}{'seconds':>9}{'passed':>9}{'failed':>9}{'skipped':>9}"]
    lines += [
        f"{name:<14}{seconds:>9.1f}{counts.passed:>9}{counts.failed:>9}{counts.skipped:>9}"
        for name, (counts, seconds) in results.items()
    ]
    return "\n".join([*lines, f"{'all':<14}{time.perf_counter() - BEGIN:>9.1f}"])


def closing_line(results: dict[str, tuple[Counts, float]]) -> str:
    """Return how many tests passed and failed in all kinds."""
    passed = sum(counts.passed for counts, _ in results.values())
    failed = sum(counts.failed for counts, _ in results.values())
    return f"{passed} passed, {failed} failed"


def succeeds(*command: str, folder: Path = ROOT) -> bool:
    """Tell whether a command, run in a folder, ends well."""
    stream = getattr(OUTPUT, "stream", None)
    if stream is None:
        print(f"$ {' '.join(command)}", flush=True)
    kept = {} if stream is None else {"stdout": stream, "stderr": subprocess.STDOUT}
    return subprocess.run(command, check=False, cwd=folder, **kept).returncode == 0


def set_up(_: Kind) -> Counts:
    """Make the environment, or bring it up to date."""
    return Counts(failed=0 if succeeds("make", "--no-print-directory", "setup") else 1)


def lint(_: Kind) -> Counts:
    """Run the tools that read the code; each that complains is one failure."""
    return Counts(
        failed=[
            succeeds(f"{BIN}/ruff", "format", "--check", "."),
            succeeds(f"{BIN}/ruff", "check", "."),
            succeeds(f"{BIN}/mypy"),
            succeeds(f"{BIN}/lint-imports"),
            succeeds(f"{BIN}/python", "tools/generate_protos.py", "--check"),
            succeeds(f"{BIN}/python", "tools/write_ledger_page.py", "--check"),
            succeeds(f"{BIN}/python", "tools/write_findings_page.py", "--check"),
        ].count(False)
    )


def frontend(kind: Kind) -> Counts:
    """Check the script of the widgets: is it built, what of types and formatting; unit tests."""
    tool = (f"{BIN}/python", "tools/build_frontend.py")
    is_built = succeeds(*tool, "--check")
    ended_well = succeeds(*tool, "--test")
    counts = read_counts(REPORTS / f"{kind.name}.xml")
    failed = counts.failed + (not is_built) + (not ended_well and not counts.failed)
    return Counts(counts.passed, failed, counts.skipped)


def pytest(kind: Kind) -> Counts:
    """Run the tests of a kind."""
    report = REPORTS / f"{kind.name}.xml"
    ended_well = succeeds(
        *(f"{BIN}/python", "-m", "pytest", "-q", "--durations=5", f"--junitxml={report}"),
        *kind.options,
        *kind.targets(),
    )
    counts = read_counts(report)
    return counts if ended_well or counts.failed else Counts(counts.passed, 1, counts.skipped)


def read_counts(report: Path) -> Counts:
    """Return the counts in a report of pytest; none where it did not come to write one."""
    if not report.exists():
        return Counts()
    suites = list(ET.parse(report).getroot().iter("testsuite"))
    tests, failures, errors, skipped = (
        sum(int(suite.get(key, "0")) for suite in suites)
        for key in ("tests", "failures", "errors", "skipped")
    )
    return Counts(tests - failures - errors - skipped, failures + errors, skipped)


def bounds(kind: Kind) -> Counts:
    """Run unit tests in an environment of its own: with the lowest or the newest dependencies.

    The tools of the tests have the versions of constraints.txt. What old releases warn of is
    nobody's fault.
    """
    folder, resolution = Path(f".venv-{kind.name}"), kind.options[0]
    python = f"{folder}/bin/python"
    pins = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line]
    tools = [pin for pin in pins if pin.partition("==")[0] in TOOLS_OF_UNIT_TESTS]
    uv = f"{BIN}/uv"
    install = [uv, "pip", "install", "--quiet", "--system-certs", "--python", python]
    install += ["--resolution", resolution]
    if not (
        succeeds(uv, "venv", "--quiet", "--clear", "--python", f"{BIN}/python", str(folder))
        and succeeds(*install, "--editable", ".[dynamodb,mcp,openlineage]", *tools)
    ):
        return Counts(failed=1)
    report = REPORTS / f"{kind.name}.xml"
    options = ["-q", f"--junitxml={report}", "-W", "ignore::DeprecationWarning"]
    marks = ["-m", "not slow and not browser"]
    ended_well = succeeds(python, "-m", "pytest", *options, *PROCESSES, *marks, *kind.targets())
    counts = read_counts(report)
    return counts if ended_well or counts.failed else Counts(counts.passed, 1, counts.skipped)


def release(_: Kind) -> Counts:
    """Build the files of a release; use each in an empty environment without node and compiler.

    The wheel is one test, and what the sdist is built into another.
    """
    python = str(ROOT / BIN / "python")
    with TemporaryDirectory() as name:
        folder = Path(name)
        if not succeeds(python, "-m", "hatchling", "build", "-d", f"{folder}/dist"):
            return Counts(failed=2)
        files = sorted((folder / "dist").iterdir())
        worked = [works(file, folder / f"from{file.suffix}") for file in files]
        return Counts(worked.count(True), worked.count(False))


def works(file: Path, folder: Path) -> bool:
    """Tell whether a file of a release can be installed and used."""
    folder.mkdir()
    uv, python = str(ROOT / BIN / "uv"), f"{folder}/env/bin/python"
    install = ("pip", "install", "--quiet", "--system-certs", "-c", "constraints.txt")
    without_tools = ("env", f"PATH={folder}/env/bin")
    alone = ("env", "-i", f"HOME={folder}", "PATH=/nowhere")
    return (
        succeeds(uv, "venv", "--quiet", "--python", f"{BIN}/python", f"{folder}/env")
        and succeeds(*without_tools, uv, *install, "--python", python, str(file))
        and succeeds(*alone, python, f"{ROOT}/tools/try_release.py", folder=folder)
    )


def browser(kind: Kind) -> Counts:
    """Run the tests in Chromium, which is installed first where that is ours to do.

    A test that fails is run once more, and named in the summary: a browser can fail by itself.
    """
    if not shutil.which("chromium") and shutil.which("apt-get") and os.geteuid() == 0:
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        succeeds("apt-get", "-qq", "update")
        packages = ("chromium", "fonts-dejavu-core")
        succeeds("apt-get", "-qq", "install", "--yes", "--no-install-recommends", *packages)
    return pytest(kind)


STORED = "tests/test_stored_tables.py"
CLUSTER = "tests/spark/test_cluster.py"
OF_SPARK = ("--doctest-modules", f"--ignore={CLUSTER}")
APART = (
    *(STORED, "tests/differential", "tests/spark"),
    *("tests/notebooks", "tests/docs", "tests/browser"),
)
LONG = (
    *("tests/remote", "tests/hostile", "tests/report", "tests/soak", "tests/test_gone.py"),
    *("tests/database", "tests/figures", "tests/jupyter", "tests/ledger", "tests/plans"),
    "tests/storage/test_forked.py",
    *("tests/test_assistant.py", "tests/test_demo.py", "tests/test_seeds.py"),
    *("tests/test_table_fuzzing.py", "tests/values/test_child.py", "tests/values/test_gate.py"),
    *("tests/widgets/test_recorded_page.py", "tests/widgets/test_serving.py"),
)
"""Folders and files that start processes or write long tables, which a quick check leaves out."""

QUICK = ("-m", "not slow", "--hypothesis-profile=quick")

TOOLS_OF_UNIT_TESTS = {
    *("duckdb", "hypothesis", "jupyter_server", "lancedb", "moto", "nbformat", "packaging"),
    *("pandas", "pytest", "pytest-xdist"),
}
ROOMS = tuple(
    f"tests/{room}"
    for room in "changes disk figures format frames history inspect lineage locks report rowids "
    "storage values widgets test_cli.py test_display.py".split()
)


def without(*paths: tuple[str, ...]) -> list[str]:
    """Return the options that leave out some folders and files."""
    return [f"--ignore={path}" for some in paths for path in some]


# Of Spark, examples in docstrings and tests share one session.
KINDS = (
    Kind("setup", set_up),
    Kind("lint", lint, lane="other"),
    Kind("frontend", frontend, ("frontend",), lane="other"),
    Kind("quick", pytest, ("tests",), (*BY_ORDER, *without(APART, LONG), *QUICK), part_of="unit"),
    Kind("unit", pytest, ("tests",), (*BY_ORDER, *without(APART))),
    Kind("stored", pytest, (STORED,), tuple(BY_ORDER)),
    Kind("differential", pytest, ("tests/differential",), tuple(BY_ORDER)),
    Kind("spark", pytest, ("lance_explorer", "tests/spark"), OF_SPARK, "one"),
    Kind("notebooks", pytest, ("tests/notebooks",), lane="one"),
    Kind("docs", pytest, ("tests/docs",), lane="one"),  # shows what the notebooks gave
    Kind("browser", browser, ("tests/browser",), ("--reruns", "1", "-raR"), "other"),
    Kind("release", release, lane="one"),
    Kind("cluster", pytest, (CLUSTER,), part_of="all"),
    Kind("lowest", bounds, ROOMS, ("lowest-direct",), part_of="all"),
    Kind("newest", bounds, ROOMS, ("highest",), part_of="all"),
)


if __name__ == "__main__":
    sys.exit(main())
