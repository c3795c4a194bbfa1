"""The interval columns that every ``all_`` frame has."""

from typing import Any

import numpy as np

from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals

__all__ = ["interval_columns"]


def interval_columns(history: History, intervals: Intervals) -> dict[str, Any]:
    """Return the columns of :data:`lance_explorer.frames.columns.INTERVAL` for ``intervals``."""
    versions = history.versions
    first, last = intervals.first, intervals.last
    kept = last - first + 1
    spanned = versions[last] - versions[first] + np.uint64(1)
    return {
        "first_version": versions[first],
        "last_version": versions[last],
        "is_current": last == len(versions) - 1,
        "versions_kept": kept,
        "proven": spanned == kept.astype(np.uint64),
        "first_version_exact": history.begins_exactly[first],
    }
