"""A plugin of pytest: writes down which tests bring about findings of which codes.

``FINDINGS_FOLDER`` names the folder; each process writes a file of lines, a test and a code each.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from lance_explorer.findings import Finding

_seen = set[tuple[str, str]]()
_running = [""]


def pytest_configure() -> None:
    made = Finding.__post_init__

    def noted(finding: Finding) -> None:
        made(finding)
        _seen.add((_running[0], finding.code))

    Finding.__post_init__ = noted  # type: ignore[method-assign,assignment]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    _running[0] = item.nodeid
    return (yield)


def pytest_sessionfinish() -> None:
    lines = sorted([f"{test}\t{code}\n" for test, code in _seen])
    folder = Path(os.environ["FINDINGS_FOLDER"])
    (folder / f"{os.getpid()}.tsv").write_text("".join(lines), encoding="utf-8")
