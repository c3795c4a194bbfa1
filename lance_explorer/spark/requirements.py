"""The packages of the extra ``spark``, and the error if they are missing."""

from importlib.util import find_spec

from lance_explorer.errors import MissingDependencyError

__all__ = ["require_pyspark"]


def require_pyspark() -> None:
    """Raise MissingDependencyError, which says what to install, if PySpark is missing."""
    if find_spec("pyspark") is None:
        raise MissingDependencyError(
            "lance_explorer.spark needs PySpark: pip install 'lance-explorer[spark]'"
        )
