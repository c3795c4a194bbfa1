"""Arguments of Spark functions: sessions and frames, checked before Spark is called."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lance_explorer.arguments import of_kind, shown
from lance_explorer.errors import InvalidArgumentError

__all__ = ["is_remote", "option_texts", "rows_of", "session_of"]

_OF_SESSIONS = ("read", "dataSource", "createDataFrame")


def session_of(spark: SparkSession) -> SparkSession:
    """Return the session; Spark Connect has another class."""
    if isinstance(spark, type) or not all(hasattr(type(spark), name) for name in _OF_SESSIONS):
        raise InvalidArgumentError(f"spark is a SparkSession, not {shown(spark)}")
    return spark


def is_remote(spark: SparkSession) -> bool:
    """Return whether a session is of Spark Connect, whose driver may be on another machine."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def rows_of(name: str, frame: DataFrame) -> DataFrame:
    """Return a frame of Spark."""
    return of_kind(name, frame, DataFrame, "a DataFrame of Spark")


def option_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options as the text that Spark passes on."""
    texts = dict[str, str]()
    for name, value in options.items():
        if not isinstance(value, str | int):
            raise InvalidArgumentError(
                f"the option {name} is text or a whole number, not of type {type(value).__name__}"
            )
        texts[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return texts
