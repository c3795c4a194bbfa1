"""Questions that are asked through a session, so that a Spark job can prepare them."""

from pyspark.sql import DataFrame, SparkSession

from lance_explorer.arguments import check_choice, text
from lance_explorer.changes.needed_versions import is_self_contained
from lance_explorer.errors import LanceExplorerError
from lance_explorer.history.view import HistoryView
from lance_explorer.spark import unread
from lance_explorer.spark.any_source import SOURCES
from lance_explorer.spark.given import is_remote, option_texts, session_of
from lance_explorer.spark.metadata_frames import BY_FRAGMENT, is_about_history
from lance_explorer.spark.options import Options, hidden
from lance_explorer.spark.pinning import TableRef, range_of
from lance_explorer.spark.temporary_ledger import with_temporary_ledger
from lance_explorer.spark.unread import unread_bytes

__all__ = ["load"]

_PREFIX = "lance_explorer."
_NAMES = tuple([source.name().removeprefix(_PREFIX) for source in SOURCES])


def load(spark: SparkSession, source: str, path: str, **options: str | int) -> DataFrame:
    """Return what ``spark.read`` loads, after tasks have shared the reading of a large history.

    With ``spark.read`` alone, the driver reads the manifests of all versions that a question needs.
    Here, if they take more than 256 MB and no ``ledger`` is given, a job reads them in parallel;
    the result is kept for further questions until this process ends. Spark Connect sessions have no
    such job: record the table, and pass its ``ledger``.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Any session that knows the data sources.
    source : {'rows', 'changes', 'metadata', 'history', 'content'}
        What to read: the name of the data source after ``lance_explorer.``.
    path : str
        The table.
    **options
        Options of the data source.

    Raises
    ------
    InvalidArgumentError
        If there is no such data source.
    pyspark.errors.AnalysisException
        If an option does not fit the table.

    Examples
    --------
    >>> lx.spark.load(spark, "changes", table.uri, begin_version=1).count()
    8
    """
    session_of(spark)
    path = text("path", path)
    check_choice("source", source, _NAMES)
    given = option_texts(options)
    if not is_remote(spark):
        given = _prepared(spark, source, path, given)
    return spark.read.format(f"{_PREFIX}{source}").options(**given).load(path)


def _prepared(spark: SparkSession, source: str, path: str, given: dict[str, str]) -> dict[str, str]:
    """Return the options with a ledger, if there is much to read and no ledger is given."""
    lower = hidden(given)
    frame = lower.get("frame", "")
    tells_all = source in ("changes", "history")
    if not tells_all and not (frame in BY_FRAGMENT and is_about_history(frame)):
        return given
    ref = TableRef.of(Options.parse(source, {**lower, "path": path}, tuple(lower)))
    if ref.ledger is not None:
        return given
    try:
        table = ref.open()
    except LanceExplorerError:
        return given  # a folder of tables, which tasks read; or the source reports what is wrong
    if unread_bytes(table) <= unread.MOST_BYTES or _is_near(source, table, lower):
        return given
    ledger = with_temporary_ledger(spark, ref).ledger
    return given if ledger is None else {**given, "ledger": ledger}


def _is_near(source: str, table: HistoryView, lower: dict[str, str]) -> bool:
    """Whether a question needs few versions, which say by themselves what changed."""
    begin = lower.get("begin_version", lower.get("startingversion", ""))
    end = lower.get("end_version", lower.get("endingversion", str(table.latest_version)))
    if source != "changes" or not (begin.isdecimal() and end.isdecimal()):
        return False
    some = range_of(table, int(begin), int(end))
    if some is None or unread_bytes(some) > unread.MOST_BYTES:
        return False
    return is_self_contained(some, table)
