"""What all tests share: how hypothesis searches, and which tests a machine can run.

With ``CI`` set, examples are the same in every run and nothing is skipped: a missing tool fails.
On a person's machine examples are new in every run, and tests skip whose tool is not installed.
"""

import importlib
import os
import pkgutil
import shutil
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import lance_explorer
from tests.sampling import StoredTable, covering_sample, stored_table_of, tree_of_the_commit

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
    """Add how stored tables are chosen."""
    default = os.environ.get("STORED_TABLES", "sample")
    parser.addoption("--stored", choices=["sample", "all"], default=default)
    parser.addoption(
        "--seed", default=None, help="draws the sample (default: the tree of the commit)"
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which sample of the stored tables is asked, and how to ask the same again."""
    if config.getoption("--stored") == "all":
        return None
    return f"stored tables: a sample; --seed {_seed(config)} repeats it, --stored all asks all"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip, outside of CI, the tests whose tool is missing; choose stored tables, and mark them."""
    tables = dict[pytest.Item, StoredTable]()
    for item in items:
        if isinstance(item, pytest.Function) and (table := table_asked(item)):
            item.add_marker("stored")
            tables[item] = table
    if config.getoption("--stored") == "sample" and not any("::" in one for one in config.args):
        left_out = outside_of_the_sample(tables, _seed(config))
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    missing = {} if IN_CI else missing_tools()
    for item in items:
        for marker in item.iter_markers():
            if marker.name in missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {missing[marker.name]}"))


def table_asked(test: pytest.Function) -> StoredTable | None:
    """Return which of the tables of ``tests/data`` a parameter of a test is, or lies in."""
    values = test.callspec.params.values() if hasattr(test, "callspec") else ()
    found = (stored_table_of(value) for value in values if isinstance(value, Path))
    return next(filter(None, found), None)


def outside_of_the_sample(tables: dict[pytest.Item, StoredTable], seed: str) -> list[pytest.Item]:
    """Return the tests of stored tables that are not in the sample of their function."""
    by_function = defaultdict[str, list[pytest.Item]](list)
    for item in tables:
        by_function[item.nodeid.partition("[")[0]].append(item)
    left_out = list[pytest.Item]()
    for function, asked in by_function.items():
        sample = covering_sample((tables[item] for item in asked), f"{seed} {function}")
        left_out += [item for item in asked if tables[item] not in sample]
    return left_out


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
