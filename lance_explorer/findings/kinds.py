"""The kinds of findings: what all findings with one code have in common."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["SEVERITIES", "TOPICS", "Kind", "Severity", "Topic"]

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

Topic = Literal["metadata", "files", "indices", "row_ids", "storage", "values"]

TOPICS: tuple[Topic, ...] = ("metadata", "files", "indices", "row_ids", "storage", "values")
"""The parts of a table that findings are about."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What all findings with one code have in common.

    Attributes
    ----------
    topic : str or None
        The part of the table concerned; None if that depends on the subject.
    severity : str
        How serious it is.
    means : str
        What such a finding means.
    example : str
        What was seen, in one case.
    remedy : str
        What to do, in sentences, where that is the same each time.
    consequence : str
        What follows from it, in sentences, where that is the same each time.
    milder : tuple of str, optional
        A lesser severity that some have, and when they have it.
    """

    topic: Topic | None
    severity: Severity
    means: str
    example: str
    remedy: str = ""
    consequence: str = ""
    milder: tuple[Severity, str] | None = None
