"""What is on disk, and the files of a version."""

from lance_explorer.widgets.messages.answer import Answer
from lance_explorer.widgets.messages.base import BigUint64Array, Digits, Float64Array, Message
from lance_explorer.widgets.messages.versions import VersionData

__all__ = [
    "DiskData",
    "DiskKind",
    "DiskPart",
    "DiskStatus",
    "DiskUsage",
    "FileTotals",
    "FilesShown",
    "FilesSummary",
    "ManifestPart",
    "Plan",
    "Plans",
    "SizeBin",
    "SizeBins",
]


class ManifestPart(Message):
    """A part of manifests, with its bytes in each version."""

    name: str
    color: str
    values: Float64Array


class DiskData(VersionData):
    """All versions, and what their manifests consist of."""

    parts: list[ManifestPart]


class FileTotals(Message):
    """How many files of a kind there are, their bytes, and how many have no known size."""

    kind: str
    num_files: Digits
    size_bytes: Digits
    num_unknown: int


class Plan(Answer, kw_only=True):
    """A cleanup or compaction that would save space; without code if it breaks something."""

    title: str
    lines: str
    """The code with the lines that it needs before it."""


class Plans(Message):
    """What a cleanup and a compaction would do; none if that is unknown."""

    plans: list[Plan]


class DiskStatus(Message):
    """The owner of objects, and their bytes."""

    name: str
    words: str
    color: str
    bytes: Digits


class DiskKind(Message):
    """A kind of object, and its bytes by status."""

    words: str
    bytes: dict[str, Digits]


class DiskPart(Message):
    """A kind of file, with the bytes that were written up to each version."""

    name: str
    words: str
    color: str
    values: Float64Array


class DiskUsage(Message):
    """What is on disk, and since when."""

    sentence: str
    statuses: list[DiskStatus]
    kinds: list[DiskKind]
    parts: list[DiskPart]
    versions: BigUint64Array
    rest_bytes: Digits


class SizeBin(Message):
    """Objects from ``begin`` up to ``end``: how many, and how many of these are small."""

    begin: int
    end: int
    total: int
    small: int
    words: str


class SizeBins(Message):
    """A histogram of sizes; ``aim`` is counted in bins."""

    bins: list[SizeBin]
    edges: list[str]
    ticks: list[tuple[int, str]]
    aim: float | None
    beyond: str
    note: str


class FilesSummary(Message):
    """The files of one version in numbers; unknown numbers of rows are NaN."""

    version: Digits
    file_bins: SizeBins
    row_bins: SizeBins
    small_words: str
    large_words: str
    threshold: float
    totals: list[FileTotals]
    fragment: BigUint64Array
    fragment_rows: Float64Array
    fragment_deleted: Float64Array


class FilesShown(Message):
    """Whether the table shows the files, or why not."""

    problem: str | None = None
