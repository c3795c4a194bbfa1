"""Calls from one room that a room above it answers.

A table has a method for its explorer, but may not import widgets. So the call is declared here,
where every room may use it, and ``lance_explorer/__init__.py``, which runs before any other module
of the package, registers the function that answers it. That function imports its module at the
first call.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from lance_explorer.changes.change_feed import Changes
    from lance_explorer.changes.diff import Diff
    from lance_explorer.changes.merge import MergePreview
    from lance_explorer.changes.steps import ChangeStep, VersionRange
    from lance_explorer.changes.three_way import ThreeWay
    from lance_explorer.database import Database
    from lance_explorer.history.ancestors import BranchVersion
    from lance_explorer.history.view import HistoryView
    from lance_explorer.plans.plan import Plan
    from lance_explorer.plans.records import OnConflict
    from lance_explorer.profiles.drift import Drift
    from lance_explorer.report.review import Review
    from lance_explorer.table import Table
    from lance_explorer.widgets.database import DatabaseExplorer
    from lance_explorer.widgets.explorer import Explorer

__all__ = [
    "Call",
    "database_explorer_of",
    "drift_of",
    "explorer_of",
    "merge_plan",
    "review_of_diff",
    "review_of_merge",
    "spark_frame",
    "table_of",
    "write_recorded_page",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Call(Generic[_P, _R]):
    """A function that is defined in a room above.

    Examples
    --------
    >>> double: Call[[int], int] = Call()
    >>> @double.answered_by
    ... def _double(number: int) -> int:
    ...     return 2 * number
    >>> double(4)
    8
    """

    def answered_by(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Register the function; for use as a decorator."""
        self._function = function
        return function

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call the function."""
        return self._function(*args, **kwargs)


table_of: "Call[[HistoryView], Table]" = Call()
"""The table of a view."""

explorer_of: "Call[[Table, str, bool], Explorer]" = Call()
"""The explorer of a table: its first view, and whether it looks for new versions."""

database_explorer_of: "Call[[Database, str, bool], DatabaseExplorer]" = Call()
"""The explorer of a database, with the same arguments."""

write_recorded_page: "Call[[Table, str | PathLike[str], int], Path]" = Call()
"""Write the explorer of a table as a page of at most this many bytes; return its path."""

review_of_diff: "Call[[Diff, BranchVersion, str | Sequence[str] | None], Review]" = Call()
"""The review of a diff, given its second version and the key that matches rows."""

review_of_merge: "Call[[MergePreview, BranchVersion], Review]" = Call()
"""The review of a merge, given the version that is merged."""

merge_plan: "Call[[ThreeWay, OnConflict, str | None, str | None], Plan]" = Call()
"""The plan that merges one side into the other, given the rule for conflicts, author, reason."""

drift_of: "Call[[VersionRange, ChangeStep, str], Drift]" = Call()
"""How far the values of a column moved between two versions."""

spark_frame: "Call[[SparkSession, Changes], DataFrame]" = Call()
"""Changes as a frame of a Spark session."""
