"""What the installation does where uv can, and where it cannot."""

import sys

import pytest

from tools import install


@pytest.mark.parametrize(
    ("failing", "done_by"), [((), "uv"), (("uv",), "pip"), (("get uv",), "pip")]
)
def test_pip_installs_what_uv_cannot(monkeypatch, failing, done_by):
    done = []

    def run(command):
        name = "uv" if command[0].endswith("uv") else "get uv" if "uv" in command else "pip"
        done.append(name)
        return int(name in failing)

    monkeypatch.setattr(install, "run", run)
    monkeypatch.setattr(sys, "argv", ["install.py", "dev"])
    assert install.main() == 0
    assert done[-1] == done_by


def test_a_failure_of_both_is_the_status(monkeypatch):
    monkeypatch.setattr(install, "run", lambda _: 3)
    monkeypatch.setattr(sys, "argv", ["install.py", "dev"])
    assert install.main() == 3
