"""The frames of a preview of a merge: their columns, declared once."""

import polars as pl

from lance_explorer.frames.columns import COUNT, EVIDENCE, ID, TEXT, Column, FrameSchema

__all__ = ["CHANGE", "MERGE_CELLS", "MERGE_ROWS", "MERGE_SCHEMA", "MERGE_SUMMARY", "OUTCOME"]

OUTCOME = pl.Enum(["incoming", "kept", "same", "combined", "conflict"])
"""What a merge makes of a row."""

CHANGE = pl.Enum(["inserted", "updated", "deleted"])
"""What one side did to a row since the fork."""

_OUTCOME_MEANING = (
    "incoming: only the branch changed it, and a merge would bring that; kept: only the other side "
    "did; same: both made the same change; combined: both changed it, and no column differently; "
    "conflict: both changed it, differently"
)
_OURS, _THEIRS = "the side that is merged into", "the branch that is merged"


def _rows(name: str, meaning: str) -> Column:
    return Column(name, COUNT, meaning, unit="rows")


_ENDS = (
    Column("branch", TEXT, "the branch that is merged; null is the main branch", nullable=True),
    Column("version", ID, "its version"),
    Column("into_branch", TEXT, "what it is merged into; null is the main branch", nullable=True),
    Column("into_version", ID, "its version"),
    Column("fork_branch", TEXT, "branch of the fork; null is the main branch", nullable=True),
    Column("fork_version", ID, "the last version that both have in their past"),
)

MERGE_SUMMARY = FrameSchema(
    "merge_summary",
    (
        *_ENDS,
        _rows("inserted", "rows that a merge would insert"),
        _rows("updated", "rows that it would update, those that both changed apart among them"),
        _rows("deleted", "rows that it would delete"),
        _rows("kept", "rows that only the other side changed since the fork"),
        _rows("same", "rows that both changed in the same way"),
        _rows("combined", "rows that both changed, but no column differently"),
        _rows("conflicts", "rows that both changed, differently"),
        Column(
            "conflicting_columns",
            COUNT,
            "columns that both altered, differently",
            unit="columns",
        ),
        _rows("uncertain", "rows of all these that are uncertain"),
        Column(
            "evidence", EVIDENCE, "the weakest evidence of any change; null if there are none", True
        ),
        Column(
            "versions_lost", COUNT, "versions since the fork that are not kept", True, "versions"
        ),
    ),
)
"""The columns of ``MergePreview.summary()``."""

MERGE_ROWS = FrameSchema(
    "merge_rows",
    (
        Column("outcome", OUTCOME, _OUTCOME_MEANING),
        Column("change_ours", CHANGE, f"what became of it on {_OURS}; null: nothing", True),
        Column("change_theirs", CHANGE, f"what became of it on {_THEIRS}; null: nothing", True),
        Column(
            "_rowid",
            ID,
            f"row ID on {_OURS}, or of an incoming row on {_THEIRS}; without stable row IDs, "
            "its address",
            nullable=True,
        ),
        Column("_rowaddr_base", ID, "row address at the fork; null if it was not there", True),
        Column("_rowaddr_ours", ID, f"row address on {_OURS}; null if it changed nothing", True),
        Column(
            "_rowaddr_theirs", ID, f"row address on {_THEIRS}; null if it changed nothing", True
        ),
        Column("columns", pl.List(TEXT), "the columns in conflict"),
        Column("evidence", EVIDENCE, "how the changes are known"),
        Column("is_uncertain", pl.Boolean(), "whether its values may be as before"),
    ),
)
"""The columns of ``MergePreview.rows()`` before the values."""

MERGE_CELLS = FrameSchema(
    "merge_cells",
    (
        Column("_rowid", ID, f"row ID on {_OURS}; of a row deleted there, the one it had", True),
        Column("key", TEXT, "the key columns with their values; null without keys", nullable=True),
        Column("column", TEXT, "the column"),
        Column("base", TEXT, "the value at the fork", nullable=True),
        Column("ours", TEXT, f"that on {_OURS}; null if it deleted the row", nullable=True),
        Column("theirs", TEXT, f"that on {_THEIRS}; null if it deleted the row", nullable=True),
        Column("change_ours", CHANGE, f"what became of the row on {_OURS}"),
        Column("change_theirs", CHANGE, f"what became of the row on {_THEIRS}"),
    ),
)
"""The columns of ``MergePreview.cells()``."""

_FIELD_CHANGE = pl.Enum(["added", "dropped", "renamed", "cast", "altered", "replaced"])

MERGE_SCHEMA = FrameSchema(
    "merge_schema",
    (
        Column(
            "outcome",
            pl.Enum(["incoming", "kept", "same", "conflict"]),
            "incoming: only the branch changed the field; kept: only the other side did; same: "
            "both did the same; conflict: both did, differently, or both added one of that name",
        ),
        Column("path", TEXT, "path of the field at the fork; of a new one, its path"),
        Column("change_ours", _FIELD_CHANGE, f"what {_OURS} did to it; null: nothing", True),
        Column("change_theirs", _FIELD_CHANGE, f"what {_THEIRS} did to it; null: nothing", True),
        Column("path_ours", TEXT, f"its path on {_OURS}; null if it has it not", nullable=True),
        Column("path_theirs", TEXT, f"its path on {_THEIRS}; null if it has it not", nullable=True),
        Column("type_ours", TEXT, f"its logical type on {_OURS}", nullable=True),
        Column("type_theirs", TEXT, f"its logical type on {_THEIRS}", nullable=True),
    ),
)
"""The columns of ``MergePreview.schema()``."""
