"""Streams that Spark runs to their end, and their micro-batches without a session."""

from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.errors import StreamingQueryException

from lance_explorer.spark.changes_source import ChangesSource
from lance_explorer.spark.read_limits import HAS_READ_LIMITS

__all__ = ["at_most", "micro_batches", "run_to_end"]


def at_most(versions: int) -> dict[str, Any]:
    """Return the option that bounds a micro-batch, where PySpark has one."""
    return {"max_versions_per_batch": versions} if HAS_READ_LIMITS else {}


def run_to_end(writer: Any) -> Any:
    """Start a stream that ends by itself; return its query when it has ended.

    Spark gives the Python process of a stream ten seconds to start, whatever else the machine has
    to do. A stream whose process was too slow has read nothing, and is started again.
    """
    for last in (False, False, False, True):
        query = writer.start()
        try:
            assert query.awaitTermination(600)
            break
        except StreamingQueryException as error:
            if last or "failed to connect back" not in str(error):
                raise
    return query


def micro_batches(source: ChangesSource, begin: int, end: int, step: int) -> pl.DataFrame:
    """Return what micro-batches of so many versions have."""
    reader = source.streamReader(source.schema())
    batches = [
        batch
        for version in range(begin, end, step)
        for piece in reader.partitions({"version": version}, {"version": min(version + step, end)})
        for batch in reader.read(piece)
    ]
    return pl.DataFrame(pa.Table.from_batches(batches))
