"""Explore Lance tables: their versions, fragments, rows and lineage, in a notebook.

Examples
--------
>>> import lance_explorer as lx
>>> table = lx.open_table(table.uri)
>>> table.versions()["operation"].head(2).to_list()
['Overwrite', 'Append']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lance_explorer import above

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from lance_explorer import demo, errors, figures, spark, widgets
    from lance_explorer.changes.change_feed import Changes
    from lance_explorer.changes.diff import Diff
    from lance_explorer.changes.merge import MergePreview
    from lance_explorer.changes.steps import ChangeStep, VersionRange
    from lance_explorer.changes.three_way import ThreeWay
    from lance_explorer.checks.salvage import salvage
    from lance_explorer.database import Database, open_database
    from lance_explorer.disk.conflicts import conflicts
    from lance_explorer.errors import (
        BudgetExceededError,
        CorruptFileError,
        FormatError,
        FragmentNotFoundError,
        InvalidArgumentError,
        LanceExplorerError,
        MissingDependencyError,
        NotFoundError,
        RefNotFoundError,
        RowNotFoundError,
        StorageError,
        TableNotFoundError,
        UnreachableError,
        UnsupportedFeatureError,
        VersionNotFoundError,
    )
    from lance_explorer.findings import Finding
    from lance_explorer.history.ancestors import BranchVersion
    from lance_explorer.history.view import HistoryView
    from lance_explorer.ledger.cache_files import clear_cache
    from lance_explorer.ledger.ledger import Ledger
    from lance_explorer.locks import Verification, lock, verify
    from lance_explorer.locks.runs import Runs, runs
    from lance_explorer.plans.plan import Plan
    from lance_explorer.plans.records import OnConflict
    from lance_explorer.profiles.drift import Drift
    from lance_explorer.report.review import Review
    from lance_explorer.snapshot import Snapshot
    from lance_explorer.table import Table, open_table
    from lance_explorer.widgets.database import DatabaseExplorer
    from lance_explorer.widgets.explorer import Explorer

__all__ = [
    "BudgetExceededError",
    "CorruptFileError",
    "Database",
    "Finding",
    "FormatError",
    "FragmentNotFoundError",
    "InvalidArgumentError",
    "LanceExplorerError",
    "Ledger",
    "MissingDependencyError",
    "NotFoundError",
    "RefNotFoundError",
    "RowNotFoundError",
    "Runs",
    "Snapshot",
    "StorageError",
    "Table",
    "TableNotFoundError",
    "UnreachableError",
    "UnsupportedFeatureError",
    "Verification",
    "VersionNotFoundError",
    "clear_cache",
    "conflicts",
    "demo",
    "errors",
    "figures",
    "lock",
    "open_database",
    "open_table",
    "runs",
    "salvage",
    "spark",
    "verify",
    "widgets",
]

_MODULES = {"demo", "errors", "figures", "spark", "widgets"}
_HOMES = {
    "Database": "database",
    "Finding": "findings",
    "Ledger": "ledger.ledger",
    "Runs": "locks.runs",
    "Snapshot": "snapshot",
    "Table": "table",
    "Verification": "locks",
    "clear_cache": "ledger.cache_files",
    "conflicts": "disk.conflicts",
    "lock": "locks",
    "open_database": "database",
    "open_table": "table",
    "runs": "locks.runs",
    "salvage": "checks.salvage",
    "verify": "locks",
}


def __getattr__(name: str) -> Any:
    """Import the object of a public name when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("lance-explorer")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)


@above.table_of.answered_by
def _table_of(view: "HistoryView") -> "Table":
    from lance_explorer.table import Table

    return Table(view)


@above.explorer_of.answered_by
def _explorer_of(table: "Table", view: str, follow: bool) -> "Explorer":
    from lance_explorer.widgets.explorer import Explorer

    return Explorer(table, view, follow=follow)


@above.database_explorer_of.answered_by
def _database_explorer_of(database: "Database", view: str, follow: bool) -> "DatabaseExplorer":
    from lance_explorer.widgets.database import DatabaseExplorer

    return DatabaseExplorer(database, view, follow=follow)


@above.write_recorded_page.answered_by
def _write_recorded_page(table: "Table", path: "str | PathLike[str]", most: int) -> "Path":
    from lance_explorer.widgets.recorded_page import write_recorded_page

    return write_recorded_page(table, path, most)


@above.review_of_diff.answered_by
def _review_of_diff(
    diff: "Diff", end: "BranchVersion", key: "str | Sequence[str] | None"
) -> "Review":
    from lance_explorer.report.diff_review import diff_review

    return diff_review(diff, end, key)


@above.review_of_merge.answered_by
def _review_of_merge(preview: "MergePreview", end: "BranchVersion") -> "Review":
    from lance_explorer.report.merge_review import merge_review

    return merge_review(preview, end)


@above.merge_plan.answered_by
def _merge_plan(
    sides: "ThreeWay", on_conflict: "OnConflict", author: str | None, reason: str | None
) -> "Plan":
    from lance_explorer.plans.making import merge_plan

    return merge_plan(sides, on_conflict, author, reason)


@above.drift_of.answered_by
def _drift_of(versions: "VersionRange", step: "ChangeStep", column: str) -> "Drift":
    from lance_explorer.profiles.drift import drift_between

    return drift_between(versions, step, column)


@above.spark_frame.answered_by
def _spark_frame(session: "SparkSession", changes: "Changes") -> "DataFrame":
    from lance_explorer.spark import changes_to_spark

    return changes_to_spark(session, changes)


def load_ipython_extension(shell: Any) -> None:
    """Add ``%lance`` and ``%%lance_sql``; IPython calls it for ``%load_ext lance_explorer``."""
    from lance_explorer.magics import add_magics

    add_magics(shell)


def __dir__() -> list[str]:
    return list(__all__)
