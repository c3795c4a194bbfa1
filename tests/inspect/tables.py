"""Tables whose frames are checked, and short ways to their contents."""

from functools import cache
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa

from lance_explorer.history.view import HistoryView
from tests.format.samples import DATA, covering_tables, stored_tables

__all__ = [
    "EVERY",
    "STORED",
    "manifest_paths",
    "rows_of",
    "stored",
    "strip",
    "versions_of",
    "write",
]


def _with_branches(tables: list[Path]) -> list[Path]:
    return [
        root.relative_to(DATA)
        for table in tables
        for root in (table, *sorted(path.parent for path in table.glob("tree/**/_versions")))
    ]


EVERY = _with_branches(stored_tables())
"""The stored tables and their branches, below the folder of test data."""
STORED = _with_branches(covering_tables())
"""Those that stand for all: each scenario, and the life cycles of every writer."""


def stored(path: str | Path) -> HistoryView:
    """Open a stored table; each is read once, since neither it nor what is read of it changes."""
    return _stored(str(path), Path.cwd())


@cache
def _stored(path: str, folder: Path) -> HistoryView:  # the parents of branches are found from there
    return HistoryView.open(str(DATA / path))


def versions_of(view: HistoryView) -> list[int]:
    """Return the kept versions."""
    return [int(version) for version in view.history.versions]


def manifest_paths(root: Path) -> dict[int, Path]:
    """Return the manifest file of each version of a table or branch."""
    return {file.version: root / file.path for file in HistoryView.open(str(root)).listing.versions}


def rows_of(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns as rows."""
    return frame.select(columns).rows()


def strip(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Return all rows without some columns, in an order of their own."""
    return sorted(frame.drop(columns).rows(), key=repr)


def write(path: Path, mode: str = "create", **columns: Any) -> Any:
    """Write a version of a table from columns."""
    return lance.write_dataset(pa.table(columns), str(path), mode=mode)
