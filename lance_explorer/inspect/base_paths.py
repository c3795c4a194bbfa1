"""Base paths: roots outside the table's own that contain some of its files."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from lance_explorer.format.fragments import BasePath
from lance_explorer.frames.columns import (
    BRANCH,
    COUNT,
    ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.history.history import History
from lance_explorer.history.intervals import intervals_of
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.intervals import interval_columns

__all__ = ["ALL_BASE_PATHS", "BASE_PATHS", "all_base_paths", "base_paths"]

_BASE = (
    Column("base_id", ID, "ID by which files refer to the base path"),
    Column("name", TEXT, "name of the branch, or name that a user gave", nullable=True),
    Column("path", TEXT, "path or URI as stored"),
    Column("is_dataset_root", pl.Boolean(), "whether it is the root of a table or branch"),
)

BASE_PATHS = FrameSchema(
    "base_paths",
    (
        VERSION,
        BRANCH,
        *_BASE,
        Column("num_data_files", COUNT, "data files of the version below it"),
        Column("num_deletion_files", COUNT, "deletion files of the version below it"),
    ),
)
"""The columns of ``inspect.base_paths()``."""

ALL_BASE_PATHS = FrameSchema("all_base_paths", (BRANCH, *_BASE, *INTERVAL))
"""The columns of ``inspect.all_base_paths()``: without the counts, which differ by version."""


def base_paths(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each base path of a version, by number."""
    history = view.version(version)
    bases = _in_order(history.records[0].manifest.base_paths)
    states = history.states
    with_deletions = np.flatnonzero(states.deletion_types >= 0).tolist()
    data_files = Counter(states.files.base_ids.tolist())
    deletion_files = Counter(
        [file.base_id for n in with_deletions if (file := states[n].deletion_file)]
    )
    return BASE_PATHS.build(
        {
            "version": [version] * len(bases),
            "branch": [view.branch] * len(bases),
            **_base_columns(bases),
            "num_data_files": [data_files[base.id] for base in bases],
            "num_deletion_files": [deletion_files[base.id] for base in bases],
        }
    )


def all_base_paths(view: HistoryView) -> pl.DataFrame:
    """Return one row for each base path of any version and each interval of it."""
    history = view.history
    distinct, intervals = intervals_of(_by_position(history))
    bases = [distinct[key] for key in intervals.keys.tolist()]
    return ALL_BASE_PATHS.build(
        {
            "branch": [view.branch] * len(bases),
            **_base_columns(bases),
            **interval_columns(history, intervals),
        }
    )


def _by_position(history: History) -> list[Sequence[BasePath]]:
    return [_in_order(record.manifest.base_paths) for record in history.records]


def _in_order(bases: Sequence[BasePath]) -> Sequence[BasePath]:
    return sorted(bases, key=lambda base: base.id)


def _base_columns(bases: Sequence[BasePath]) -> dict[str, Any]:
    return {
        "base_id": [base.id for base in bases],
        "name": [base.name for base in bases],
        "path": [base.path for base in bases],
        "is_dataset_root": [base.is_dataset_root for base in bases],
    }
