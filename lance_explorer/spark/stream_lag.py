"""How far a running stream is behind its table."""

import json
from typing import Any

from lance_explorer.arguments import shown
from lance_explorer.errors import InvalidArgumentError

__all__ = ["lag"]


def lag(query: Any) -> int | None:
    """Return how many versions a stream of changes is behind its table.

    It is the lag at the last micro-batch; Spark also reports it to a ``StreamingQueryListener``, in
    the offsets of the source.

    Parameters
    ----------
    query : pyspark.sql.streaming.StreamingQuery
        What was started.

    Returns
    -------
    int or None
        None before the first micro-batch.

    Raises
    ------
    InvalidArgumentError
        If the query is not such a stream.

    Examples
    --------
    >>> changes = spark.readStream.format("lance_explorer.changes").load(table.uri)
    >>> query = changes.writeStream.format("noop").trigger(availableNow=True).start()
    >>> query.awaitTermination()
    >>> lx.spark.lag(query)
    0
    """
    if not hasattr(query, "lastProgress"):
        raise InvalidArgumentError(f"query is a StreamingQuery, not {shown(query)}")
    progress = query.lastProgress
    if progress is None:
        return None
    behind = [_behind(source) for source in progress["sources"]]
    lags = [versions for versions in behind if versions is not None]
    if not lags:
        raise InvalidArgumentError("query is a stream of lance_explorer.changes; this is another")
    return max(lags)


def _behind(source: Any) -> int | None:
    reached, latest = (_version(source[name]) for name in ("endOffset", "latestOffset"))
    return None if reached is None or latest is None else max(latest - reached, 0)


def _version(offset: Any) -> int | None:
    """Return the version of an offset, which Spark passes as text or as an object."""
    if isinstance(offset, str):
        try:
            offset = json.loads(offset)
        except ValueError:
            return None
    version = offset.get("version") if isinstance(offset, dict) else None
    return version if isinstance(version, int) else None
