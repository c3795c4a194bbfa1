"""The Java that a package brings, behind a script that leaves out what it lacks."""

import subprocess

import pytest

from lance_explorer.errors import MissingDependencyError
from lance_explorer.spark import java


@pytest.fixture
def without_java(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: None)


def test_the_java_of_a_package_starts_with_what_spark_asks_for(without_java):
    home = java.java_home()
    command = [f"{home}/bin/java", "--add-modules=jdk.incubator.vector", "-version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "version" in run.stderr


def test_the_script_is_written_once(without_java):
    home = java.java_home()
    assert java.java_home() == home


def test_a_java_of_the_machine_comes_first(without_java, monkeypatch, tmp_path):
    own = tmp_path / "own" / "bin" / "java"
    own.parent.mkdir(parents=True)
    own.write_text('#!/bin/sh\necho "$@"\n')
    own.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "own"))
    command = [f"{java.java_home()}/bin/java", "a b", "--add-modules=jdk.incubator.vector", "c"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "a b c\n"


def test_no_java_at_all_tells_what_to_install(without_java, monkeypatch):
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"lance-explorer\[spark\]"):
        java.java_home()
