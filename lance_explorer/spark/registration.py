"""The data sources of this package, and how they are registered in a session."""

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from lance_explorer.spark.any_source import SOURCES, AnySource
from lance_explorer.spark.given import session_of

__all__ = ["register"]


def register(spark: SparkSession) -> SparkSession:
    """Register the data sources in a session; return the session.

    Afterwards ``spark.read.format(...)`` takes ``lance_explorer.rows``, ``lance_explorer.changes``,
    ``lance_explorer.metadata`` and ``lance_explorer.history``, and ``spark.readStream`` takes
    ``lance_explorer.changes``. It may be any session, including Spark Connect. Workers must have
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
    sources: tuple[type[DataSource], ...] = (AnySource, *SOURCES)
    for source in sources:
        spark.dataSource.register(source)
    return spark
