"""The number of rows of a version, without reading rows."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from lance_explorer.arguments import text
from lance_explorer.spark.given import option_texts, session_of

__all__ = ["count"]


def count(spark: SparkSession, path: str, **options: str | int) -> int:
    """Return how many rows a version has, or for how many of them an expression is true.

    The first comes from metadata: no data file is opened. ``load(path).count()`` would open all,
    since Spark counts rows by reading all columns of a source. With ``where``, the columns that it
    names are read.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Any session that knows the data sources.
    path : str
        The table.
    **options
        Options of ``lance_explorer.rows``, such as ``version`` and ``where``.

    Raises
    ------
    pyspark.errors.AnalysisException
        If an option does not fit the table.

    Examples
    --------
    >>> lx.spark.count(spark, table.uri), lx.spark.count(spark, table.uri, where="id < 3")
    (9, 1)
    """
    session_of(spark)
    path = text("path", path)
    given = option_texts(options)
    if "where" not in {name.lower() for name in given}:
        reader = spark.read.format("lance_explorer.metadata").options(frame="fragments", **given)
        known = fn.count(fn.when(fn.col("num_rows").isNull(), 1)).alias("unknown")
        totals = reader.load(path).agg(fn.coalesce(fn.sum("num_rows"), fn.lit(0)), known).first()
        assert totals is not None
        if not totals[1]:
            return int(totals[0])
    reader = spark.read.format("lance_explorer.rows").options(columns="_rowid", **given)
    return reader.load(path).count()
