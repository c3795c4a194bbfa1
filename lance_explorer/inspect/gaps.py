"""Gaps: version numbers that were assigned and are not kept, or cannot be read."""

from collections.abc import Iterator

import polars as pl

from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.columns import BRANCH, COUNT, ID, Column, FrameSchema
from lance_explorer.history.view import HistoryView

__all__ = ["GAPS", "gaps"]

GAPS = FrameSchema(
    "gaps",
    (
        Column("first_version", ID, "first version of the gap"),
        Column("last_version", ID, "last version of the gap"),
        BRANCH,
        Column("num_versions", COUNT, "number of versions in the gap"),
        Column(
            "reason",
            pl.Enum(["removed", "unreadable"]),
            "removed: the manifest file is gone; unreadable: it cannot be decoded",
        ),
    ),
)
"""The columns of ``table.inspect.gaps()``."""

_Gap = tuple[int, int, str]


def gaps(view: HistoryView) -> pl.DataFrame:
    """Return one row for each range of versions that are missing for one reason, oldest first.

    Versions below the fork of a branch, or the first version of a clone, never existed.
    """
    stretches = list(_gaps(view))
    return GAPS.build(
        {
            "first_version": [first for first, _, _ in stretches],
            "last_version": [last for _, last, _ in stretches],
            "branch": [view.branch] * len(stretches),
            "num_versions": [last - first + 1 for first, last, _ in stretches],
            "reason": [reason for _, _, reason in stretches],
        }
    )


def _gaps(view: HistoryView) -> Iterator[_Gap]:
    unreadable = {version.file.version for version in view.history.unreadable}
    expected = _first_possible(view)
    damaged: _Gap | None = None
    for version in view.history.versions_read:
        if damaged and (version > expected or version not in unreadable):
            yield damaged
            damaged = None
        if version > expected:
            yield expected, version - 1, "removed"
        if version in unreadable:
            damaged = (damaged[0] if damaged else version), version, "unreadable"
        expected = version + 1
    if damaged:
        yield damaged


def _first_possible(view: HistoryView) -> int:
    """Return the first version that the branch can have had; the first kept one if unknown."""
    for record in view.history.records:
        if record.operation == OperationName.CLONE:
            return record.version
    if view.branch is None:
        return 1
    if view.branch in view.refs.branches:
        return view.refs.branches[view.branch].parent_version
    return min(view.history.versions_read, default=1)
