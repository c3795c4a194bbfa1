"""How far a running stream is behind its table."""

import json
from typing import Any

from lance_explorer.arguments import shown
from lance_explorer.errors import InvalidArgumentError

__all__ = ["lag"]


def lag(query: Any) -> int | None:
    """Return how many versions a stream of changes is behind its table.

    That is as of its last micro-batch; Spark reports it with each, also to a
    ``StreamingQueryListener``, as the offsets of the source.

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
        If it is no query of such a stream.

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
    found = [versions for versions in behind if versions is not None]
    if not found:
        raise InvalidArgumentError("query is a stream of lance_explorer.changes; this is another")
    return max(found)


def _behind(source: Any) -> int | None:
    reached, latest = (_version(source[name]) for name in ("endOffset", "latestOffset"))
    return None if reached is None or latest is None else max(latest - reached, 0)


def _version(offset: Any) -> int | None:
    """Return the version of an offset, which Spark hands on as text or read."""
    if isinstance(offset, str):
        try:
            offset = json.loads(offset)
        except ValueError:
            return None
    found = offset.get("version") if isinstance(offset, dict) else None
    return found if isinstance(found, int) else None
