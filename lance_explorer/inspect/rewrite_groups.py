"""Rewrite groups: which fragments compactions rewrote into which, and how that is known."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from lance_explorer.frames.columns import (
    BRANCH,
    COUNT,
    EVIDENCE,
    ID,
    MAYBE_KNOWN_FROM,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.known_from import known_from_branches
from lance_explorer.history.rewrites.all_groups import RewriteGroup, rewrites
from lance_explorer.history.view import HistoryView

__all__ = ["REWRITE_GROUPS", "rewrite_groups"]

REWRITE_GROUPS = FrameSchema(
    "rewrite_groups",
    (
        VERSION,
        BRANCH,
        Column("group", COUNT, "number of the group in the version"),
        Column("old_fragment_id", ID, "fragment that was rewritten"),
        Column(
            "new_fragment_id",
            ID,
            "fragment that its rows were written to; null if no live row was left",
            nullable=True,
        ),
        Column(
            "old_physical_rows",
            COUNT,
            "rows of the old fragment, including deleted ones",
            nullable=True,
        ),
        Column("new_physical_rows", COUNT, "rows of the new fragment", nullable=True),
        Column(
            "rows_moved", COUNT, "rows that moved from the old to the new fragment", nullable=True
        ),
        Column(
            "rows_dropped",
            COUNT,
            "deleted rows of the old fragment; 0 except in its first pair, so that sums are right",
            nullable=True,
        ),
        Column("evidence", EVIDENCE, "how the pair is known"),
        Column("source", TEXT, "where this comes from"),
        Column("note", TEXT, "what is uncertain", nullable=True),
        MAYBE_KNOWN_FROM,
    ),
)
"""The columns of ``inspect.rewrite_groups()``. Versions may be lost ones."""


class _Pair(NamedTuple):
    version: int
    branch: str | None
    group: int
    old_fragment_id: int
    new_fragment_id: int | None
    old_physical_rows: int | None
    new_physical_rows: int | None
    rows_moved: int | None
    rows_dropped: int | None
    evidence: str
    source: str
    note: str | None


def rewrite_groups(view: HistoryView) -> pl.DataFrame:
    """Return one row for each pair of an old fragment and a new one with its rows.

    On a branch, also those in a fragment reuse index or stored lineage of its parents.
    """
    groups = rewrites(view).groups
    pairs = [pair for group in groups for pair in _pairs(group, _committed_on(view, group.version))]
    columns = list(zip(*pairs, strict=True)) or [()] * len(_Pair._fields)
    known = known_from_branches(
        view, [pair.branch for pair in pairs], [pair.version for pair in pairs]
    )
    return REWRITE_GROUPS.build(
        {**dict(zip(_Pair._fields, columns, strict=True)), "known_from": known}
    )


def _committed_on(view: HistoryView, version: int) -> str | None:
    """Return the branch of a version in the past of a branch: itself, or an ancestor."""
    name = view.branch
    for _ in view.refs.branches:  # a branch that is its own ancestor has no end
        branch = None if name is None else view.refs.branches.get(name)
        if branch is None or version > branch.parent_version:
            break
        name = branch.parent_branch
    return name


def _pairs(group: RewriteGroup, branch: str | None) -> Iterator[_Pair]:
    new = {fragment.id: fragment.physical_rows for fragment in group.new}
    moved: dict[int, list[tuple[int | None, int | None]]] = {id_: [] for id_ in group.old_ids}
    for old_id, new_id, rows in group.rows_moved():
        moved[old_id].append((new_id, rows))
    for fragment in group.old:
        dropped = fragment.num_deleted_rows
        for target, rows in moved[fragment.id] or [(None, 0)]:
            yield _Pair(
                group.version,
                branch,
                group.group,
                fragment.id,
                target,
                fragment.physical_rows,
                None if target is None else new[target],
                rows,
                dropped,
                group.evidence.label,
                group.source,
                group.note,
            )
            dropped = None if dropped is None else 0
