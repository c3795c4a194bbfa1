"""Small tables that pylance writes, to be locked."""

from pathlib import Path
from typing import Any

import lance
import pyarrow as pa

import lance_explorer as lx

__all__ = ["data_files", "locked", "numbers", "write"]


def numbers(first: int, count: int = 4) -> pa.Table:
    """Return a few rows."""
    return pa.table({"id": range(first, first + count), "city": ["Rome"] * count})


def write(path: Path, appends: int = 2) -> Any:
    """Write a table: version 1, appends, then a delete, whose version has the tag ``gold``."""
    dataset: Any = lance.write_dataset(numbers(0), path)
    for number in range(1, appends + 1):
        dataset.insert(numbers(10 * number))
    dataset.delete("id = 1")
    dataset.tags.create("gold", dataset.version)
    return dataset


def locked(path: Path, ref: Any = "gold") -> str:
    """Return the lock of a version."""
    return lx.lock(lx.open_table(path).at(ref))


def data_files(path: Path) -> list[Path]:
    """Return the data files of a table, of those of one name first."""
    return sorted((path / "data").glob("*.lance"))
