"""What the owner of a table should do, from its metadata alone."""

from collections.abc import Callable, Iterator
from typing import Literal

import polars as pl

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.findings import SEVERITIES, Finding
from lance_explorer.frames.columns import Column, FrameSchema
from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.findings import FINDINGS, findings_frame
from lance_explorer.inspect.fragment_health import deleted_rows, id_limits, small_fragments
from lance_explorer.inspect.history_health import (
    many_versions,
    unstable_row_ids,
    v1_names,
)
from lance_explorer.inspect.index_health import lagging_indices, lagging_reuse
from lance_explorer.inspect.manifest_health import large_manifest, row_id_encoding
from lance_explorer.inspect.mem_wal import rows_not_scanned

__all__ = ["HEALTH", "TOPICS", "Topic", "health"]

Topic = Literal["files", "indices", "row_ids"]

TOPICS: tuple[Topic, ...] = ("files", "indices", "row_ids")
"""What advice is about; each check has one, and each view shows the advice of its own."""

_CODE, *_REST = FINDINGS.columns

HEALTH = FrameSchema(
    "health", (_CODE, Column("topic", pl.Enum(TOPICS), "part of the table concerned"), *_REST)
)
"""The columns of ``inspect.health()``: those of ``table.inspect.findings()``, and the topic."""

_Check = Callable[[HistoryView, History], Iterator[Finding]]

_OF_A_VERSION: tuple[tuple[Topic, _Check], ...] = (
    ("files", small_fragments),
    ("files", deleted_rows),
    ("indices", lagging_indices),
    ("indices", lagging_reuse),
    ("files", large_manifest),
    ("row_ids", row_id_encoding),
    ("files", id_limits),
)

_OF_ALL_VERSIONS: tuple[tuple[Topic, _Check], ...] = (
    ("files", many_versions),
    ("files", v1_names),
    ("indices", unstable_row_ids),
    ("files", rows_not_scanned),
)


def health(view: HistoryView, version: int, topic: Topic | None = None) -> pl.DataFrame:
    """Return one row for each thing to do, warnings first; with a topic, only what is about that.

    That of the latest version also tells of what concerns all versions.
    """
    history = view.version(version)
    checks = _OF_A_VERSION
    if version == view.latest_version:
        checks += _OF_ALL_VERSIONS
    found = [
        (about, finding)
        for about, check in checks
        if topic in (None, about)
        for finding in _checked(check, view, history)
    ]
    found.sort(key=lambda one: SEVERITIES.index(one[1].severity))
    frame = findings_frame([finding for _, finding in found], [view.branch] * len(found))
    topics = pl.Series("topic", [about for about, _ in found], HEALTH.polars_schema["topic"])
    return HEALTH.build(frame.with_columns(topics).select(HEALTH.names).to_dict())


def _checked(check: _Check, view: HistoryView, history: History) -> list[Finding]:
    """Return what a check found; if a file that it needs cannot be used, that."""
    try:
        return list(check(view, history))
    except (FormatError, StorageError) as error:
        return [
            Finding(
                code="not_checked",
                severity="info",
                message=f"{check.__name__.replace('_', ' ')} could not be checked: {error}",
                advice="See table.inspect.findings() and table.check_row_ids().",
                version=history.records[0].version,
            )
        ]
