"""How many rows of two versions differ, by class."""

import numpy as np
import polars as pl

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.frame import NET_SUMMARY
from lance_explorer.changes.version_rows import PlaceRows
from lance_explorer.frames.columns import COUNT, ID, TEXT, Column, FrameSchema
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.event_runs import NET_EVENTS, RowEvent
from lance_explorer.history.evidence import Evidence

__all__ = ["DIFF_SUMMARY", "diff_summary"]

_OF_CHANGES = NET_SUMMARY.columns[2:-1]

DIFF_SUMMARY = FrameSchema(
    "diff_summary",
    (
        Column("branch_before", TEXT, "branch of the first version; null is the main branch", True),
        Column("version_before", ID, "the first version"),
        Column("branch_after", TEXT, "branch of the second version; null is the main branch", True),
        Column("version_after", ID, "the second version"),
        *_OF_CHANGES,
        Column(
            "versions_lost",
            COUNT,
            "versions between the two that are not kept; null if a branch between them was deleted",
            True,
            "versions",
        ),
    ),
)
"""The columns of ``Diff.summary()``."""


def diff_summary(
    first: BranchVersion, second: PlaceRows, runs: ChangeRuns, versions_lost: int | None
) -> pl.DataFrame:
    """Return the counts of rows by class: one row."""
    counts = {change: runs.count(change) for change in NET_EVENTS}
    changed = runs.where(runs.change != RowEvent.DELETED).length.sum(dtype=np.uint64)
    counts[RowEvent.UNCHANGED] = second.num_rows - int(changed)
    weakest = Evidence(int(runs.evidence.max())).label if len(runs) else None
    return DIFF_SUMMARY.build(
        {
            "branch_before": [first.view.branch],
            "version_before": [first.version],
            "branch_after": [second.rows.view.branch],
            "version_after": [second.version],
            **{change.label: [counts[change]] for change in NET_EVENTS},
            "uncertain": [int(runs.length[runs.is_uncertain].sum(dtype=np.uint64))],
            "evidence": [weakest],
            "versions_lost": [versions_lost],
        }
    )
