"""What all tests share: how hypothesis searches, and which tests a machine can run.

With ``CI`` set, examples are the same in every run and nothing is skipped: a missing tool fails.
On a person's machine examples are new in every run, and tests skip whose tool is not installed.
"""

import importlib
import os
import pkgutil
import shutil
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

import lance_explorer
from tests.sampling import chosen_tables, tree_of_the_commit

pytest.register_assert_rewrite("tests.differential.agreement", "tests.differential.row_agreement")

IN_CI = bool(os.environ.get("CI"))

# No test fails because the machine is slow.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci", settings.get_profile("random"), derandomize=True, database=None, print_blob=True
)
settings.load_profile("ci" if IN_CI else "random")
settings.register_profile("quick", settings(), max_examples=20)  # for `make check`


def pytest_sessionstart() -> None:
    """Import the whole package in CI: hypothesis draws constants of the modules that it finds."""
    if IN_CI:
        for module in pkgutil.walk_packages(lance_explorer.__path__, "lance_explorer."):
            importlib.import_module(module.name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what is asked of which stored tables."""
    parser.addoption(
        "--stored",
        default=os.environ.get("STORED_TABLES", "sample"),
        help='which are asked: "sample", "all", or one such as 14.0.2/branches',
    )
    parser.addoption("--check", default="", help="ask only checks with this in their names")
    parser.addoption(
        "--seed", default=None, help="draws the sample (default: the tree of the commit)"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test of stored tables those that are chosen."""
    if "stored_table" in metafunc.fixturenames:
        which = metafunc.config.getoption("--stored")
        tables = chosen_tables(which, _seed(metafunc.config))
        if not tables:
            raise pytest.UsageError(f"--stored {which}: no such table in tests/data")
        metafunc.parametrize("stored_table", tables, ids=str)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say which stored tables were asked, and how to ask the same again."""
    ended = [
        report for some in ("passed", "failed") for report in terminalreporter.getreports(some)
    ]
    asked = {report.nodeid for report in ended if "::test_stored_table[" in report.nodeid}
    if asked and config.getoption("--stored") == "sample":
        names = sorted(nodeid.partition("[")[2].rstrip("]") for nodeid in asked)
        terminalreporter.section("stored tables")
        terminalreporter.write_line(f"a sample, which --seed {_seed(config)} repeats:")
        terminalreporter.write_line(" ".join(names))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, outside of CI, the tests whose tool is missing."""
    missing = {} if IN_CI else missing_tools()
    for item in items:
        for marker in item.iter_markers():
            if marker.name in missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {missing[marker.name]}"))


def _seed(config: pytest.Config) -> str:
    return config.getoption("--seed") or tree_of_the_commit()


def missing_tools() -> dict[str, str]:
    """Return what is missing on this machine, by the marker of the tests that need it."""
    missing = {}
    if not shutil.which("chromium"):
        missing["browser"] = "chromium"
    if not find_spec("pyspark"):
        missing["spark"] = "pyspark"
    return missing
