"""The frames of a plan: what it leaves alone, and what does not come back as it was."""

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
            "inserted a row with the same key; uncertain: it is not certain which row it is; "
            "not_possible: `note` says why",
        ),
        Column("subject", pl.Enum(["row", "column", "setting", "index", "table"]), "what is it of"),
        Column(
            "_rowid", ID, "row ID; without stable row IDs, the row address; null: not a row", True
        ),
        Column("key", TEXT, "the key columns with their values; null without keys", True),
        Column("name", TEXT, "the column, setting or index", nullable=True),
        Column("planned", TEXT, "the value that it would get", nullable=True),
        Column("now", TEXT, "the value that it has now", nullable=True),
        Column("version", ID, "the commit that last wrote the row, if that is known", True),
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
            "what is not as it was",
        ),
        Column("num_rows", COUNT, "rows concerned; null: unknown, or no rows", True, "rows"),
        Column("statement", TEXT, "what does not come back, in a sentence"),
    ),
)
"""The columns of ``Plan.losses()``."""
