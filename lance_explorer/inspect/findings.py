"""Findings: what is wrong with a table, or worth knowing about it, as a frame."""

import polars as pl

from lance_explorer.findings import SEVERITIES
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.columns import BRANCH, ID, TEXT, Column, FrameSchema

__all__ = ["FINDINGS", "findings"]

FINDINGS = FrameSchema(
    "findings",
    (
        Column("code", TEXT, "what it is, for programs"),
        Column("severity", pl.Enum(SEVERITIES), "how bad it is"),
        Column("version", ID, "version that it is about", nullable=True),
        BRANCH,
        Column("fragment_id", ID, "fragment that it is about", nullable=True),
        Column("message", TEXT, "what was found"),
        Column("advice", TEXT, "what to do about it"),
    ),
)
"""The columns of ``table.findings``."""


def findings(source: TableSource) -> pl.DataFrame:
    """Return one row for each finding: those of versions first, then those of tags and branches."""
    of_history = source.history.findings
    _ = source.tags, source.branches  # what is wrong with them is found when they are loaded
    found = [*of_history, *source.ref_findings]
    branches = [source.branch] * len(of_history) + [None] * len(source.ref_findings)
    return FINDINGS.build(
        {
            "code": [finding.code for finding in found],
            "severity": [finding.severity for finding in found],
            "version": [finding.version for finding in found],
            "branch": branches,
            "fragment_id": [finding.fragment_id for finding in found],
            "message": [finding.message for finding in found],
            "advice": [finding.advice for finding in found],
        }
    )
