"""What all tests share: which tests a machine can run, and which stored tables a run asks.

With ``CI`` set, nothing is skipped: a missing tool fails. What is random is in ``seeds.py``.
"""

import os
import shutil
from importlib.util import find_spec

import pytest

from tests import seeds
from tests.sampling import chosen_tables

pytest.register_assert_rewrite("tests.differential.agreement", "tests.differential.row_agreement")

IN_CI = bool(os.environ.get("CI"))


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add what is asked of which stored tables, and the seed."""
    pluginmanager.register(seeds)
    parser.addoption(
        "--stored",
        default=os.environ.get("STORED_TABLES", "sample"),
        help='which are asked: "sample", "all", or one such as 14.0.2/branches',
    )
    parser.addoption("--check", default="", help="ask only checks with this in their names")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test of stored tables those that are chosen."""
    if "stored_table" in metafunc.fixturenames:
        which = metafunc.config.getoption("--stored")
        tables = chosen_tables(which, metafunc.config.option.seed)
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
        terminalreporter.write_line(f"a sample, which --seed {config.option.seed} repeats:")
        terminalreporter.write_line(" ".join(names))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, outside of CI, the tests whose tool is missing."""
    missing = {} if IN_CI else missing_tools()
    for item in items:
        for marker in item.iter_markers():
            if marker.name in missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {missing[marker.name]}"))


def missing_tools() -> dict[str, str]:
    """Return what is missing on this machine, by the marker of the tests that need it."""
    missing = {}
    if not shutil.which("chromium"):
        missing["browser"] = "chromium"
    if not find_spec("pyspark"):
        missing["spark"] = "pyspark"
    return missing
