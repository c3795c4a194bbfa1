"""Detached versions: commits on no branch, each read on its own."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import FormatError, VersionNotFoundError
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    ID,
    KNOWN_FROM,
    TEXT,
    TIME,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.counts import known
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.fragment_counts import totals
from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView
from lance_explorer.shown import visible

__all__ = ["DETACHED", "detached"]

_CONTENT = (
    Column("timestamp", TIME, "time of the commit", nullable=True),
    Column(
        "operation",
        TEXT,
        "operation as Lance names it; null if its transaction is lost",
        nullable=True,
    ),
    Column(
        "read_version", ID, "version that the commit read, possibly a detached one", nullable=True
    ),
    Column("message", TEXT, "commit message", nullable=True),
    Column("num_fragments", COUNT, "number of fragments", nullable=True),
    Column("num_rows", COUNT, "live rows", nullable=True),
    Column("num_deleted_rows", COUNT, "rows that deletion files mask", nullable=True),
)

DETACHED = FrameSchema(
    "detached",
    (
        VERSION,
        BRANCH,
        *_CONTENT,
        Column("manifest_bytes", BYTES, "size of the manifest file", unit="bytes"),
        Column("path", TEXT, "path of the manifest file below the root of the branch"),
        KNOWN_FROM,
    ),
)
"""The columns of ``inspect.detached()``. What a manifest contains is null if it cannot be read."""

_UNREADABLE: dict[str, Any] = {column.name: None for column in _CONTENT}


def detached(view: HistoryView) -> pl.DataFrame:
    """Return one row for each detached version, by number, which implies no order."""
    files = view.listing.detached
    contents = [_content(view, file.version) for file in files]
    return DETACHED.build(
        {
            "version": [file.version for file in files],
            "branch": [view.branch] * len(files),
            **{name: [content[name] for content in contents] for name in _UNREADABLE},
            "manifest_bytes": [file.size_bytes for file in files],
            "path": [file.path for file in files],
            "known_from": known_from(view, [file.version for file in files]),
        }
    )


def _content(view: HistoryView, version: int) -> dict[str, Any]:
    try:
        history = view.version(version)
    except (FormatError, VersionNotFoundError):
        return _UNREADABLE
    record = history.records[0]
    header = record.transaction and record.transaction.header
    return {
        "timestamp": record.manifest.timestamp,
        "operation": record.operation,
        "read_version": header and header.read_version,
        "message": header and header.message and visible(header.message),
        "num_fragments": len(history.intervals),
        "num_rows": _total(history, history.live_rows),
        "num_deleted_rows": _total(history, history.num_deleted_rows),
    }


def _total(history: History, of_state: NDArray[np.int64]) -> int | None:
    return known(totals(history, of_state))[0]
