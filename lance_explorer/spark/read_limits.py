"""How streams learn how much to read: PySpark supports it from 4.2 on.

In earlier releases, a micro-batch reads everything that is new.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

__all__ = [
    "HAS_READ_LIMITS",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxFiles",
    "SupportsTriggerAvailableNow",
]

HAS_READ_LIMITS = find_spec("pyspark.sql.streaming.datasource") is not None

if TYPE_CHECKING or HAS_READ_LIMITS:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )
else:

    class ReadLimit:
        """How much a micro-batch reads."""

    class ReadAllAvailable(ReadLimit):
        """All that there is."""

    class ReadMaxFiles(ReadLimit):
        """Never created: the option that asks for it is refused."""

    class SupportsTriggerAvailableNow:
        """Spark looks for the end by itself."""
