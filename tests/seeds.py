"""What is random in a run: all of it comes from one seed, by default the tree of the commit.

So one commit has one verdict on every machine and in any order of the tests, and the next commit
tries something new. ``--seed`` repeats a run; a failure prints the line that repeats it. A failure
that cannot be mended at once is an entry of ``known_failures.toml``: its test has to fail with its
seed, until the entry is removed.
"""

import importlib
import os
import pkgutil
import shlex
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Generator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["KnownFailure", "drawn", "known_failures", "tree_of_the_commit"]

ROOT = Path(__file__).resolve().parent.parent
KNOWN = Path(__file__).with_name("known_failures.toml")

# Only the seed decides: no clock, no database of examples, and no constant of hypothesis's own.
settings.register_profile(
    "seeded",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=False,
    database=None,
    print_blob=False,
)
settings.load_profile("seeded")
settings.register_profile("quick", settings(), max_examples=20)  # for `make check`


class KnownFailure(NamedTuple):
    """A test that fails with a seed: what is wrong, and since when that is known."""

    test: str
    seed: str
    wrong: str
    since: str


def drawn(seed: str, what: str) -> int:
    """Return the number below 2**32 that a seed draws for something."""
    return int.from_bytes(sha256(f"{seed} {what}".encode()).digest()[:4])


def known_failures() -> list[KnownFailure]:
    """Return the entries of ``known_failures.toml``."""
    entries = tomllib.loads(KNOWN.read_text(encoding="utf-8")).get("failure", [])
    return [KnownFailure(**entry) for entry in entries]


def tree_of_the_commit() -> str:
    """Return the hash of the tree of the commit that is checked out; "none" outside of git."""
    found = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "none"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the seed, and how much is tried."""
    parser.addoption("--seed", help="draws all that is random (default: the tree of the commit)")
    parser.addoption(
        "--times",
        type=int,
        default=int(os.environ.get("TIMES_DRAWN", "1")),
        help="how many times as many seeds are drawn",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Hand the seed to hypothesis, which begins every test with it."""
    config.addinivalue_line("markers", "drawn(count): is run with so many seeds of its own")
    config.addinivalue_line("markers", "sampled(one_in): the seed draws which cases are run")
    config.option.seed = config.getoption("--seed") or tree_of_the_commit()
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = drawn(config.option.seed, "hypothesis")


def pytest_report_header(config: pytest.Config) -> str:
    """Say how to repeat the run."""
    return f"random: --seed {config.option.seed} repeats it"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Draw the seeds of a test that has the mark ``drawn``."""
    for mark in metafunc.definition.iter_markers("drawn"):
        count = mark.args[0] * metafunc.config.getoption("--times")
        scope = mark.kwargs.get("scope", "function")
        node = metafunc.definition.getparent(pytest.Module) if scope == "module" else None
        about = (node or metafunc.definition).nodeid
        seeds = [drawn(metafunc.config.option.seed, f"{about} {n}") for n in range(count)]
        metafunc.parametrize("seed", seeds, ids=map(str, range(count)), scope=scope)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a sample leaves out, and let known failures fail."""
    if out := [item for item in items if not _is_chosen(config, item)]:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in {*out}]
    known = {(one.test, one.seed): one for one in known_failures()}
    for item in items:
        if one := known.get((item.nodeid, config.option.seed)):
            why = f"{one.wrong} (since {one.since}; once it passes, remove it from {KNOWN.name})"
            item.add_marker(pytest.mark.xfail(strict=True, reason=why))


def _is_chosen(config: pytest.Config, item: pytest.Item) -> bool:
    """Tell whether a test is run: one in some of sampled cases; all with --times or by name."""
    mark, case = item.get_closest_marker("sampled"), getattr(item, "callspec", None)
    is_asked = config.getoption("--times") > 1 or any("::" in arg for arg in config.args)
    if mark is None or case is None or is_asked:
        return True
    return drawn(config.option.seed, f"case {case.id}") % int(mark.args[0]) == 0


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Load all modules before a test of hypothesis, which draws constants of those it finds."""
    if item.get_closest_marker("hypothesis"):
        _load_modules()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the failure of a random test the line that repeats it."""
    report = yield
    if report.failed and (
        item.get_closest_marker("hypothesis") or item.get_closest_marker("drawn")
    ):
        report.sections.append(("to repeat it", repeating(item)))
    return report


def repeating(item: pytest.Item) -> str:
    """Return the command that repeats a test."""
    python = Path(sys.executable)
    words = [
        str(python.relative_to(ROOT) if python.is_relative_to(ROOT) else python),
        *("-m", "pytest", item.nodeid, "--seed", item.config.option.seed),
    ]
    if (times := item.config.getoption("--times")) > 1:
        words += ["--times", str(times)]
    if profile := item.config.getoption("--hypothesis-profile"):
        words += ["--hypothesis-profile", profile]
    return shlex.join(words)


@cache
def _load_modules() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for folder in ("lance_explorer", "tools", "benchmarks"):
            for module in pkgutil.walk_packages([str(ROOT / folder)], f"{folder}."):
                if not module.name.endswith("__main__"):
                    with suppress(ImportError):  # an extra that is not installed
                        importlib.import_module(module.name)
