"""Findings as a frame, whoever noticed them."""

from collections.abc import Sequence

import polars as pl

from lance_explorer.findings import SEVERITIES, SUBJECT_KINDS, TOPICS, Finding
from lance_explorer.frames.columns import BRANCH, COUNT, ID, TEXT, Column, FrameSchema

__all__ = ["FINDINGS", "findings_frame"]

FINDINGS = FrameSchema(
    "findings",
    (
        Column("code", TEXT, "name of the kind of finding: see docs/FINDINGS.md"),
        Column("topic", pl.Enum(TOPICS), "part of the table concerned"),
        Column("severity", pl.Enum(SEVERITIES), "how serious it is"),
        BRANCH,
        Column("subject_kind", pl.Enum(SUBJECT_KINDS), "what kind of thing it is about"),
        Column("subject_name", TEXT, "name or number of that thing", nullable=True),
        Column("subject_path", TEXT, "its file or folder, if there is one", nullable=True),
        Column("first_version", ID, "first version concerned; null: none", nullable=True),
        Column("last_version", ID, "last version concerned; null: none", nullable=True),
        Column("since_version", ID, "version since which it is so, if known", nullable=True),
        Column("statement", TEXT, "what was seen"),
        Column("consequence", TEXT, "what follows from it", nullable=True),
        Column("causes", pl.List(TEXT), "what may have done it; one only where it is certain"),
        Column("remedy", TEXT, "what to do about it", nullable=True),
        Column("remedy_code", TEXT, "the call that does it", nullable=True),
        Column("undone_by", TEXT, "the call that undoes it", nullable=True),
        Column("readers", TEXT, "releases that answer wrongly because of it", nullable=True),
        Column(
            "known_bug",
            TEXT,
            "bug of the release that wrote the version, if it is known to do this",
            nullable=True,
        ),
        Column("num_rows", COUNT, "rows concerned; null: unknown, or not of rows", nullable=True),
        Column("columns", pl.List(TEXT), "columns concerned"),
    ),
)
"""The columns of ``table.inspect.findings()``, and of all other frames of findings."""


def findings_frame(findings: Sequence[Finding]) -> pl.DataFrame:
    """Return findings as a frame.

    Examples
    --------
    >>> from lance_explorer.findings import Finding
    >>> findings_frame([Finding("not_compared", "it is long", versions=(3, 3))])["topic"].item()
    'metadata'
    """
    remedies = [finding.remedy for finding in findings]
    return FINDINGS.build(
        {
            "code": [finding.code for finding in findings],
            "topic": [finding.topic for finding in findings],
            "severity": [finding.severity for finding in findings],
            "branch": [finding.branch for finding in findings],
            "subject_kind": [finding.subject.kind for finding in findings],
            "subject_name": [finding.subject.name or None for finding in findings],
            "subject_path": [finding.subject.path or None for finding in findings],
            "first_version": [finding.first_version for finding in findings],
            "last_version": [finding.last_version for finding in findings],
            "since_version": [finding.since for finding in findings],
            "statement": [finding.statement for finding in findings],
            "consequence": [finding.consequence or None for finding in findings],
            "causes": [[cause.words for cause in finding.causes] for finding in findings],
            "remedy": [remedy and remedy.statement for remedy in remedies],
            "remedy_code": [(remedy and remedy.code) or None for remedy in remedies],
            "undone_by": [(remedy and remedy.undone_by) or None for remedy in remedies],
            "readers": [finding.readers or None for finding in findings],
            "known_bug": [finding.known_bug for finding in findings],
            "num_rows": [finding.rows for finding in findings],
            "columns": [[*finding.columns] for finding in findings],
        }
    )
