"""Streams that are run to their end."""

from typing import Any

from pyspark.errors import StreamingQueryException

__all__ = ["run_to_end"]


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
