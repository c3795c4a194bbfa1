"""Spark data sources and jobs, for tables that are too large for one machine.

Every session can read ``lance_explorer``, with the option ``view``; after :func:`register` also
``lance_explorer.rows``, ``lance_explorer.changes`` (also as a stream), ``lance_explorer.metadata``
and ``lance_explorer.history``. Tasks run the same code as on one machine; a DataFrame is pinned to
one version when it is loaded. For how types map, see :mod:`lance_explorer.spark.types`.
"""

from lance_explorer.spark.requirements import require_pyspark

require_pyspark()

from lance_explorer.spark.changes_source import changes_to_spark  # noqa: E402
from lance_explorer.spark.comparing import content, diff, same_content  # noqa: E402
from lance_explorer.spark.followed_rows import follow, locate  # noqa: E402
from lance_explorer.spark.frames import from_polars, metadata  # noqa: E402
from lance_explorer.spark.loading import load  # noqa: E402
from lance_explorer.spark.local_session import session  # noqa: E402
from lance_explorer.spark.merging import merge_into  # noqa: E402
from lance_explorer.spark.profiling import profile  # noqa: E402
from lance_explorer.spark.recording import record  # noqa: E402
from lance_explorer.spark.registration import register  # noqa: E402
from lance_explorer.spark.row_counts import count  # noqa: E402
from lance_explorer.spark.stream_lag import lag  # noqa: E402
from lance_explorer.spark.worker import keep_imports  # noqa: E402

keep_imports()

__all__ = [
    "changes_to_spark",
    "content",
    "count",
    "diff",
    "follow",
    "from_polars",
    "lag",
    "load",
    "locate",
    "merge_into",
    "metadata",
    "profile",
    "record",
    "register",
    "same_content",
    "session",
]


def __dir__() -> list[str]:
    return list(__all__)
