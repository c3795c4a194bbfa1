"""The frames of a plan: what it leaves alone, and what cannot come back unchanged."""

import polars as pl

from lance_explorer.frames.columns import COUNT, ID, TEXT, Column, FrameSchema

__all__ = ["PLAN_CONFLICTS", "PLAN_LOSSES"]

REASONS = ("changed_since", "deleted_since", "inserted_since", "uncertain", "not_possible")

PLAN_CONFLICTS = FrameSchema(
    "plan_conflicts",
    (
        Column(
            "reason",
            pl.Enum(REASONS),
            "changed_since, deleted_since: a later commit did that; inserted_since: a later commit "
            "inserted a row with the same key; uncertain: the row cannot be identified for sure; "
            "not_possible: `note` says why",
        ),
        Column("subject", pl.Enum(["row", "column", "setting", "index", "table"]), "what is it of"),
        Column(
            "_rowid", ID, "row ID; without stable row IDs, the row address; null: not a row", True
        ),
        Column("key", TEXT, "the key columns with their values; null without keys", True),
        Column("name", TEXT, "the column, setting or index", nullable=True),
        Column("planned", TEXT, "the value that the plan would write", nullable=True),
        Column("now", TEXT, "the present value", nullable=True),
        Column("version", ID, "the commit that last wrote the row, if known", True),
        Column("note", TEXT, "what else is known", nullable=True),
    ),
)
"""The columns of ``Plan.conflicts()``."""

PLAN_LOSSES = FrameSchema(
    "plan_losses",
    (
        Column(
            "kind",
            pl.Enum(["row_ids", "values", "columns", "indices", "rows", "settings"]),
            "what does not come back unchanged",
        ),
        Column("num_rows", COUNT, "rows concerned; null: unknown, or no rows", True, "rows"),
        Column("statement", TEXT, "what is lost, in a sentence"),
    ),
)
"""The columns of ``Plan.losses()``."""
