"""A finding: its subject, what was seen, possible causes, and what to do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, cast, get_args

from lance_explorer.findings.catalogue import KINDS
from lance_explorer.findings.kinds import Severity, Topic
from lance_explorer.shown import visible

__all__ = [
    "SUBJECT_KINDS",
    "Cause",
    "Finding",
    "Remedy",
    "Subject",
    "SubjectKind",
    "of_branch",
]

SubjectKind = Literal[
    "table",
    "version",
    "branch",
    "tag",
    "fragment",
    "column",
    "index",
    "files",
    "base_path",
    "ledger",
    "check",
]

SUBJECT_KINDS: tuple[SubjectKind, ...] = get_args(SubjectKind)
"""The possible subjects of a finding; a ``check`` is one that could not be made."""

_TOPICS: dict[SubjectKind, Topic] = {"index": "indices", "fragment": "files"}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a finding is about.

    Attributes
    ----------
    kind : str
        One of :data:`SUBJECT_KINDS`.
    name : str
        Its name or number; empty if there is one only.
    path : str
        The file or folder concerned, if there is one.
    """

    kind: SubjectKind = "table"
    name: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """A possible cause, and the evidence for it."""

    statement: str
    evidence: str = ""

    @property
    def words(self) -> str:
        """Both in words."""
        return f"{self.statement} ({self.evidence})" if self.evidence else self.statement


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do.

    Attributes
    ----------
    statement : str
        It in sentences.
    code : str
        The call that does it, where ``dataset`` is that of pylance; a test has followed it and seen
        the finding go.
    undone_by : str
        The call that undoes it.
    """

    statement: str
    code: str = ""
    undone_by: str = ""

    @property
    def words(self) -> str:
        """It in sentences, with the call."""
        return f"{self.statement.rstrip('.')}: `{self.code}`." if self.code else self.statement


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a table, or one fact worth knowing.

    Attributes
    ----------
    code : str
        Its kind, for programs: a key of :data:`~lance_explorer.findings.KINDS`.
    statement : str
        What was seen, without a full stop.
    subject : Subject
        What it is about.
    versions : tuple of int or None
        The first and the last version concerned; None if it is about none.
    branch : str or None
        The branch of these; None is the main branch.
    since : int or None
        The version since which it is so, if that is known.
    causes : tuple of Cause
        What could have done it; one only where it is certain.
    consequence, remedy
        What follows, and what to do: by default as the catalogue says.
    readers : str
        Which releases answer wrongly because of it.
    known_bug : str or None
        The bug of the writer, if it is known to do this.
    rows : int or None
        How many rows are concerned.
    columns : tuple of str
        Which columns are.
    is_mild : bool
        Whether it has the lesser severity of its kind.

    Examples
    --------
    >>> from lance_explorer.findings import Finding, Subject
    >>> found = Finding("not_opened", "pylance cannot open version 3", versions=(3, 3))
    >>> found.severity, found.topic
    ('error', 'metadata')
    >>> found.sentence.partition(". ")[0]
    'Pylance cannot open version 3'
    """

    code: str
    statement: str
    subject: Subject = field(default=Subject(), kw_only=True)
    versions: tuple[int, int] | None = field(default=None, kw_only=True)
    branch: str | None = field(default=None, kw_only=True)
    since: int | None = field(default=None, kw_only=True)
    causes: tuple[Cause, ...] = field(default=(), kw_only=True)
    consequence: str = field(default="", kw_only=True)
    remedy: Remedy | None = field(default=None, kw_only=True)
    readers: str = field(default="", kw_only=True)
    known_bug: str | None = field(default=None, kw_only=True)
    rows: int | None = field(default=None, kw_only=True)
    columns: tuple[str, ...] = field(default=(), kw_only=True)
    is_mild: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        kind = KINDS[self.code]
        if self.remedy is None and kind.remedy:
            object.__setattr__(self, "remedy", Remedy(kind.remedy))
        for name in ("statement", "consequence"):  # they contain names of the table
            object.__setattr__(self, name, visible(getattr(self, name) or getattr(kind, name, "")))

    @property
    def severity(self) -> Severity:
        """How serious it is."""
        kind = KINDS[self.code]
        return kind.milder[0] if self.is_mild and kind.milder else kind.severity

    @property
    def topic(self) -> Topic:
        """The part of the table concerned."""
        kind = KINDS[self.code].topic
        if kind is None and self.subject.kind == "check":
            return cast(Topic, self.subject.name)
        return kind or _TOPICS.get(self.subject.kind, "metadata")

    @property
    def first_version(self) -> int | None:
        """The first version concerned."""
        return self.versions[0] if self.versions else None

    @property
    def last_version(self) -> int | None:
        """The last version concerned."""
        return self.versions[1] if self.versions else None

    @property
    def why(self) -> str:
        """Its consequence and possible causes, in sentences."""
        causes = "; or ".join([cause.words for cause in self.causes])
        begin = "Cause" if len(self.causes) == 1 else "Possible causes"
        bug = f"Known bug: {self.known_bug}." if self.known_bug else ""
        readers = f"Releases that answer wrongly because of it: {self.readers}."
        parts = (
            self.consequence,
            f"{begin}: {causes}." if causes else "",
            bug,
            readers if self.readers else "",
        )
        return visible(" ".join(filter(None, parts)))

    @property
    def to_do(self) -> str:
        """What to do, in sentences."""
        return visible(self.remedy.words) if self.remedy else ""

    @property
    def sentence(self) -> str:
        """All of it, in sentences."""
        seen = f"{self.statement[:1].upper()}{self.statement[1:]}"
        end = "" if seen.endswith((".", "!", "?")) else "."
        return " ".join(filter(None, (seen + end, self.why, self.to_do)))


def of_branch(branch: str | None, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings as those of a branch."""
    return (replace(one, branch=branch) for one in findings)
