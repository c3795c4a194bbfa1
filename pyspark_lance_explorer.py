"""What Spark finds by itself in every session: the data source ``lance_explorer``.

Spark imports all modules named ``pyspark_...`` and takes their ``DefaultSource``. So this one
imports nothing of ours before somebody reads a table.
"""

from pyspark.sql.datasource import DataSource

__all__ = ["DefaultSource"]


class DefaultSource(DataSource):
    """Makes an :class:`~lance_explorer.spark.any_source.AnySource`."""

    def __new__(cls, options: dict[str, str]) -> DataSource:  # type: ignore[misc]
        """Return the source."""
        from lance_explorer.spark.any_source import AnySource

        return AnySource(options)

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer"
