"""A known bug of a release of Lance that leaves damage in tables."""

from collections.abc import Callable, Container
from dataclasses import dataclass

from lance_explorer.findings import Finding
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.index_details import index_type
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["KnownBug", "Release", "record_at", "release_of", "updated_index", "words_of"]

Release = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class KnownBug:
    """A bug of some releases.

    Attributes
    ----------
    name : str
        Its number among the issues of Lance, or the release that did it.
    what : str
        What it did, in a sentence.
    releases : str
        The releases known to do it.
    codes : tuple of str
        The findings that show its damage.
    did : callable
        Given the branch and such a finding, returns the version whose commit did it; None if this
        bug did not.
    readers : str
        Which releases answer wrongly because of it.
    remedy : str
        What mends it.
    """

    name: str
    what: str
    releases: str
    codes: tuple[str, ...]
    did: Callable[[HistoryView, Finding], VersionRecord | None]
    readers: str
    remedy: str


def words_of(bug: KnownBug, record: VersionRecord) -> str:
    """Return the words on a bug, and on the commit that caused it."""
    release = release_of(record)
    by = "" if release is None else f", by Lance {'.'.join(map(str, release))}"
    return f"{bug.name}: {bug.what} (version {record.version}{by})"


def release_of(record: VersionRecord) -> Release | None:
    """Return the release of Lance that wrote a version; None if it is not recorded."""
    writer = record.manifest.writer
    if writer is None or writer.library != "lance":
        return None
    parts = writer.version.split(".")
    if len(parts) < 3 or not all(part.isdecimal() for part in parts[:3]):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])


def record_at(view: HistoryView, finding: Finding) -> VersionRecord | None:
    """Return the first version that a finding is about; None if it is not kept."""
    history, version = view.history, finding.first_version
    if version is None or version not in history:
        return None
    return history.records[history.position(version)]


def updated_index(
    view: HistoryView, finding: Finding, kinds: Container[str], first: Release, before: Release
) -> VersionRecord | None:
    """Return the commit since which an index is wrong, if such a release built it by row IDs.

    None if the index is of another kind, or if the release is not from ``first`` up to ``before``.
    """
    record = record_at(view, finding)
    if record is None or record.operation != OperationName.CREATE_INDEX:
        return None
    release = release_of(record)
    is_stable = bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)
    if release is None or not first <= release < before or not is_stable:
        return None
    indices = [one for one in record.indices if one.name == finding.subject.name]
    return record if indices and index_type(indices[0]) in kinds else None
