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

IN_CI = bool(os.environ.get("CI"))

# No test fails because the machine is slow.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci", settings.get_profile("random"), derandomize=True, database=None, print_blob=True
)
settings.load_profile("ci" if IN_CI else "random")


def pytest_sessionstart() -> None:
    """Import the whole package in CI: hypothesis draws constants of the modules that it finds."""
    if IN_CI:
        for module in pkgutil.walk_packages(lance_explorer.__path__, "lance_explorer."):
            importlib.import_module(module.name)


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
