"""What all tests share: how hypothesis searches, and which tests a machine can run.

With ``CI`` set, examples are the same in every run and nothing is skipped: a missing tool fails.
On a person's machine examples are new in every run, and tests skip whose tool is not installed.
"""

import os
import shutil
from importlib.util import find_spec

import pytest
from hypothesis import settings

IN_CI = bool(os.environ.get("CI"))

settings.register_profile("ci", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("random", deadline=None)
settings.load_profile("ci" if IN_CI else "random")


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
