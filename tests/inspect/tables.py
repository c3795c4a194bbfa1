"""Tables whose frames are checked, and short ways to their contents."""

from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa

from lance_explorer.history.source import TableSource
from tests.format.samples import DATA, stored_tables

__all__ = [
    "STABLE",
    "STORED",
    "manifest_paths",
    "rows_of",
    "stored",
    "strip",
    "versions_of",
    "write",
]

STORED = [
    root.relative_to(DATA)
    for table in stored_tables()
    for root in (table, *sorted(path.parent for path in table.glob("tree/**/_versions")))
]
"""The stored tables and their branches, below the folder of test data."""


def stored(path: str | Path) -> TableSource:
    """Open a stored table."""
    return TableSource(str(DATA / path))


def _has_row_ids(path: Path) -> bool:
    source = stored(path)
    return source.version(source.latest_version).records[0].manifest.next_row_id > 0


STABLE = [path for path in STORED if _has_row_ids(path)]
"""Those of them that have stable row IDs."""


def versions_of(source: TableSource) -> list[int]:
    """Return the kept versions."""
    return [int(version) for version in source.history.versions]


def manifest_paths(root: Path) -> dict[int, Path]:
    """Return the manifest file of each version of a table or branch."""
    return {file.version: root / file.path for file in TableSource(str(root)).listing.versions}


def rows_of(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns as rows."""
    return frame.select(columns).rows()


def strip(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Return all rows without some columns, in an order of their own."""
    return sorted(frame.drop(columns).rows(), key=repr)


def write(path: Path, mode: str = "create", **columns: Any) -> Any:
    """Write a version of a table from columns."""
    return lance.write_dataset(pa.table(columns), str(path), mode=mode)
