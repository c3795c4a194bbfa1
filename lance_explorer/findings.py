"""What is wrong with a table, or worth knowing about it, as one kind of record."""

from dataclasses import dataclass
from typing import Literal

from lance_explorer.shown import visible

__all__ = ["SEVERITIES", "Finding", "Severity"]

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a table, or worth knowing.

    ``code`` is stable, for programs (``"corrupt_manifest"``); ``message`` and ``advice`` are for
    people. ``version`` and ``fragment_id`` are None if the finding is not about one.

    Examples
    --------
    >>> from lance_explorer.findings import Finding
    >>> Finding("corrupt_manifest", "error", "the file is empty", version=3).advice
    ''
    """

    code: str
    severity: Severity
    message: str
    advice: str = ""
    version: int | None = None
    fragment_id: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", visible(self.message))  # names are part of both
        object.__setattr__(self, "advice", visible(self.advice))

    @property
    def sentence(self) -> str:
        """What was found, and what to do, in sentences."""
        return f"{self.message[:1].upper()}{self.message[1:]}. {self.advice}".rstrip()
