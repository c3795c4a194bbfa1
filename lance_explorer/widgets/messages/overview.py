"""The overview: facts of the latest version, and what made the table big."""

from lance_explorer.widgets.messages.base import Digits, Message
from lance_explorer.widgets.messages.versions import VersionData

__all__ = [
    "Headline",
    "LargestCommits",
    "LateCommit",
    "Lately",
    "Latest",
    "LatestFacts",
    "Listed",
    "RestOfCommits",
    "SizedCommit",
    "Sizes",
    "Story",
    "TableFacts",
]


class Listed(Message):
    """How many there are, and the first names."""

    count: int
    names: list[str]


class LatestFacts(Message):
    """What the manifest of the latest version says."""

    version: Digits
    latest_version: Digits
    num_rows: Digits | None
    num_deleted_rows: Digits | None
    num_fragments: Digits
    num_data_files: Digits
    data_bytes: Digits | None
    manifest_bytes: Digits
    writer: str
    flags: list[str]
    indices: Listed
    tags: Listed
    branches: Listed
    time: float | None
    """When it was committed, in ms."""


class TableFacts(LatestFacts):
    """The same, with what only all versions together say."""

    num_lost: Digits


class Latest(Message):
    """What is known before all versions are read; no facts if the latest version cannot be read."""

    name: str
    branch: str | None
    num_listed: int
    facts: LatestFacts | None


class Story(VersionData):
    """All versions, and facts of the latest."""

    facts: TableFacts | None


class LateCommit(Message):
    """One of the newest commits."""

    version: Digits
    kind: str
    time: float | None
    """In ms."""
    words: str
    message: str | None
    who: str | None
    """The author or the job, if it was recorded."""


class Lately(Message):
    """The newest commits, the latest first."""

    commits: list[LateCommit]


class SizedCommit(Message):
    """A version that wrote a large part of the current data."""

    version: Digits
    position: int
    amount: Digits
    share: float
    note: str | None


class RestOfCommits(Message):
    """All others."""

    count: int
    amount: Digits
    share: float


class LargestCommits(Message):
    """The versions that wrote most of the current data."""

    versions: list[SizedCommit]
    rest: RestOfCommits


class Headline(Message):
    """A sentence with a link to a version in its middle."""

    before: str
    link: str
    version: Digits
    after: str


class Sizes(Message):
    """What made the latest version big."""

    headline: Headline | None
    bytes: LargestCommits
    rows: LargestCommits
