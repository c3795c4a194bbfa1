"""The data sources of this package, and how a session comes to know them."""

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from lance_explorer.spark.changes_source import ChangesSource
from lance_explorer.spark.content_source import ContentSource
from lance_explorer.spark.given import session_of
from lance_explorer.spark.history_source import HistorySource
from lance_explorer.spark.metadata_source import MetadataSource
from lance_explorer.spark.rows_source import RowsSource

__all__ = ["SOURCES", "register"]

SOURCES: tuple[type[DataSource], ...] = (
    RowsSource,
    ChangesSource,
    MetadataSource,
    HistorySource,
    ContentSource,
)


def register(spark: SparkSession) -> SparkSession:
    """Register the data sources in a session; return the session.

    Afterwards ``spark.read.format(...)`` takes ``lance_explorer.rows``, ``lance_explorer.changes``,
    ``lance_explorer.metadata`` and ``lance_explorer.history``, and ``spark.readStream`` takes
    ``lance_explorer.changes``. It may be any session, also one of Spark Connect. Workers must have
    this package installed.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The session.

    Examples
    --------
    >>> lx.spark.register(spark).read.format("lance_explorer.rows").load(table.uri).count()
    9
    """
    session_of(spark)
    for source in SOURCES:
        spark.dataSource.register(source)
    return spark
