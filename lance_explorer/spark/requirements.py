"""What the extra ``spark`` installs, and the error where it is missing."""

from importlib.util import find_spec

from lance_explorer.errors import MissingDependencyError

__all__ = ["require_pyspark"]


def require_pyspark() -> None:
    """Raise MissingDependencyError, which tells what to install, if there is no PySpark."""
    if find_spec("pyspark") is None:
        raise MissingDependencyError(
            "lance_explorer.spark needs PySpark: pip install 'lance-explorer[spark]'"
        )
