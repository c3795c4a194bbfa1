"""What is wrong with a table, or worth knowing about it: one record, and a catalogue of its kinds.

Whoever notices something makes a :class:`Finding` from a code of :data:`KINDS` and what it saw.
Severity, and what is the same each time, come from the catalogue; sentences are made of the fields.
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
