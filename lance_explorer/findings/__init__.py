"""Findings about a table: one record, and a catalogue of their kinds.

Code that notices something makes a :class:`Finding` from a code of :data:`KINDS` and the facts.
Severity, and the constant texts, come from the catalogue; sentences are made from the fields.
"""

from lance_explorer.findings.catalogue import KINDS
from lance_explorer.findings.kinds import SEVERITIES, TOPICS, Kind, Severity, Topic
from lance_explorer.findings.records import (
    SUBJECT_KINDS,
    Cause,
    Finding,
    Remedy,
    Subject,
    SubjectKind,
    of_branch,
)

__all__ = [
    "KINDS",
    "SEVERITIES",
    "SUBJECT_KINDS",
    "TOPICS",
    "Cause",
    "Finding",
    "Kind",
    "Remedy",
    "Severity",
    "Subject",
    "SubjectKind",
    "Topic",
    "of_branch",
]
