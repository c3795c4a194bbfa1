"""The columns of what checks find."""

import polars as pl

from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.inspect.health import TOPICS

__all__ = ["CHECKS"]

_CHECKS = ("metadata", *TOPICS, "storage", "values")

CHECKS = FrameSchema(
    "checks",
    (
        Column("check", pl.Enum(_CHECKS), "what was checked"),
        *FINDINGS.columns,
        Column(
            "known_bug",
            TEXT,
            "bug of the release that wrote the version, if it is known to do this",
            nullable=True,
        ),
    ),
)
"""The columns of ``table.check()``."""
