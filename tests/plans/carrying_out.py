"""Carries out a plan on a table: in this process, or as its reader does."""

import contextlib
import io
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import lance
import pyarrow as pa

from lance_explorer.plans.plan import Plan

__all__ = ["carried_out", "rows_of", "run_as_reader", "sparse_table", "stopping_after"]

FEW_LEFT = "id NOT IN (100, 20000, 39999, 7)"
"""Leaves so few of :func:`sparse_table` that its values are taken by address, and not scanned."""


def carried_out(plan: Plan, uri: str | Path, folder: Path) -> str:
    """Save a plan, run its script in this process, and return what it printed."""
    script = plan.save(folder)
    printed = io.StringIO()
    with patch.object(sys, "argv", [str(script), str(uri)]), contextlib.redirect_stdout(printed):
        runpy.run_path(str(script), run_name="__main__")
    return printed.getvalue()


def run_as_reader(script: Path, uri: str | Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a script as ``python SCRIPT TABLE``."""
    command = [sys.executable, str(script), str(uri), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def stopping_after(number: int) -> Any:
    """Return a patch under which a process ends once pylance made so many commits by operation."""
    commit: Callable[..., Any] = lance.LanceDataset.commit
    left = number

    def once(*arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return commit(*arguments, **options)

    return patch.object(lance.LanceDataset, "commit", staticmethod(once))


def sparse_table(folder: Path) -> str:
    """Write 40,000 rows without stable row IDs, delete every third, and compact."""
    uri = str(folder / "animals.lance")
    rows = pa.table({"id": range(40_000), "score": [float(n) for n in range(40_000)]})
    lance.write_dataset(rows, uri, max_rows_per_file=10_000)
    lance.dataset(uri).delete("id % 3 = 0")
    lance.dataset(uri).optimize.compact_files()
    return uri


def rows_of(uri: str | Path, *columns: str) -> list[tuple[Any, ...]]:
    """Return rows as pylance reads them, sorted."""
    rows = lance.dataset(str(uri)).to_table(columns=[*columns], with_row_id=False).to_pylist()
    return sorted(tuple(row.values()) for row in rows)
