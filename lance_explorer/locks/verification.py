"""The result of verifying a lock, as an object to look at."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

import polars as pl

from lance_explorer.answers import Answer, Section
from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.locks.lock_text import Lock
from lance_explorer.shown import described

__all__ = ["CHECKS", "Check", "Status", "Verification"]

Status = Literal[
    "unmoved",
    "tag_moved",
    "damaged",
    "cleaned_up",
    "rewritten",
    "another_branch",
    "branch_gone",
    "table_gone",
]

CHECKS = FrameSchema(
    "checks",
    (
        Column("check", TEXT, "what was looked at"),
        Column("expected", TEXT, "what the lock says, or what follows from it", nullable=True),
        Column("found", TEXT, "what is there now", nullable=True),
        Column(
            "is_same",
            pl.Boolean(),
            "whether the table agrees with the lock; null if the lock does not say, or unknown",
            nullable=True,
        ),
    ),
)
"""The columns of ``lx.verify(...).to_frame()``."""


_STILL_THERE = ("unmoved", "tag_moved")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked; None stands for what is unknown."""

    what: str
    expected: str | None
    found: str | None
    is_same: bool | None


@dataclass(frozen=True, slots=True, repr=False)
class Verification:
    """Whether a locked version is still there; true if it is. Made by :func:`verify`.

    Attributes
    ----------
    status : str
        ``"unmoved"``: the version and its files are there; ``"tag_moved"``: so they are, but a tag
        that pointed to the version was moved or deleted; ``"damaged"``: files of the version are
        missing or of another size; ``"cleaned_up"``: the table is there, but not the version;
        ``"rewritten"``: another version has its number, or the table has not come so far: it was
        dropped and recreated; ``"another_branch"``: the branch was deleted and recreated;
        ``"branch_gone"``; ``"table_gone"``.
    sentence : str
        The same in words, with names and numbers.
    uri : str
        Where the table was looked for.
    lock : Lock
        What the lock says: ``uri``, ``branch``, ``version``, ``tags``, ``columns`` and so on.
    checks : tuple of Check
        What was looked at, one by one; :meth:`to_frame` has it as a frame.

    Examples
    --------
    >>> verified = lx.verify(lx.lock(table.at("clean")))
    >>> verified.ok, verified.status, verified.lock.version
    (True, 'unmoved', 4)
    >>> verified
    Verification of people.lance version 4: unmoved. Version 4 is still there, with its 3 data \
files and 1 deletion file; 3 versions were committed since.
    """

    status: Status
    sentence: str
    uri: str
    lock: Lock
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that the version needs exists, so that it can be read unchanged."""
        return self.status in _STILL_THERE

    def __bool__(self) -> bool:
        return self.ok

    @documented(CHECKS)
    def to_frame(self) -> pl.DataFrame:
        """Return what was checked, one row for each check.

        Examples
        --------
        >>> lx.verify(lx.lock(table.at(4))).to_frame().select("check", "found").rows()
        [('table', '...people.lance'), ('version', '4'), ('manifest', '... bytes, SHA-256 ...'), \
('files', '3 data files and 1 deletion file'), ('tag clean', 'version 4'), \
('later versions', '3, up to 7'), ('schema of the latest version', 'added: score; dropped: mood')]
        """
        return CHECKS.build(
            {
                "check": [check.what for check in self.checks],
                "expected": [check.expected for check in self.checks],
                "found": [check.found for check in self.checks],
                "is_same": [check.is_same for check in self.checks],
            }
        )

    @described
    def __repr__(self) -> str:
        return f"Verification of {self._what}: {self.status}. {self.sentence}"

    @property
    def answer(self) -> Answer:
        """Whether the version still exists, and what was checked."""
        facts = {"status": self.status, "ok": self.ok, "uri": self.uri}
        return Answer(
            f"Verification of {self._what}: {self.status}. {self.sentence}",
            (
                Section("facts", "", facts),
                Section("checks", "Checks", self.to_frame(), schema=CHECKS),
            ),
        )

    def _repr_html_(self) -> str:
        return self.answer.html()

    @property
    def _what(self) -> str:
        branch = f" (branch {self.lock.branch})" if self.lock.branch else ""
        return f"{PurePosixPath(self.uri).name}{branch} version {self.lock.version}"
