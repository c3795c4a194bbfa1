"""What all tests share: how hypothesis searches, and which tests a machine can run.

With ``CI`` set, examples are the same in every run and nothing is skipped: a missing tool fails.
On a person's machine examples are new in every run, and tests skip whose tool is not installed.
"""

import importlib
import os
import pkgutil
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import lance_explorer

DATA = Path(__file__).parent / "data"
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, outside of CI, the tests whose tool is missing; mark those of every stored table."""
    for item in items:
        if isinstance(item, pytest.Function) and is_of_a_stored_table(item):
            item.add_marker("stored")
    missing = {} if IN_CI else missing_tools()
    for item in items:
        for marker in item.iter_markers():
            if marker.name in missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {missing[marker.name]}"))


def is_of_a_stored_table(test: pytest.Function) -> bool:
    """Whether a parameter of a test is one of the tables of ``tests/data``, or a branch of one."""
    values = test.callspec.params.values() if hasattr(test, "callspec") else ()
    return any(isinstance(value, Path) and DATA in (DATA / value).parents for value in values)


def missing_tools() -> dict[str, str]:
    """Return what is missing on this machine, by the marker of the tests that need it."""
    missing = {}
    if not shutil.which("chromium"):
        missing["browser"] = "chromium"
    if not find_spec("pyspark"):
        missing["spark"] = "pyspark"
    return missing
