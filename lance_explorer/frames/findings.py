"""Findings as a frame, whoever noticed them."""

from collections.abc import Sequence

import polars as pl

from lance_explorer.findings import SEVERITIES, Finding
from lance_explorer.frames.columns import BRANCH, ID, TEXT, Column, FrameSchema

__all__ = ["FINDINGS", "findings_frame"]

FINDINGS = FrameSchema(
    "findings",
    (
        Column("code", TEXT, "name of the kind of finding"),
        Column("severity", pl.Enum(SEVERITIES), "how serious it is"),
        Column("version", ID, "version concerned", nullable=True),
        BRANCH,
        Column("fragment_id", ID, "fragment concerned", nullable=True),
        Column("message", TEXT, "what was found"),
        Column("advice", TEXT, "what to do about it"),
    ),
)
"""The columns of ``table.inspect.findings()``."""


def findings_frame(found: Sequence[Finding], branches: Sequence[str | None]) -> pl.DataFrame:
    """Return findings, and the branch that each of them is about, as a frame."""
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
