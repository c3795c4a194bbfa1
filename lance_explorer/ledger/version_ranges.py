"""A branch recorded in ranges of versions, each by a worker of its own.

Each range is encoded relative to the last version of the previous range, which a worker reads
again: together they are one history without seams. If that version vanished meanwhile, the range
cannot be rebuilt, and the next recording records it again.
"""

from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version as release_of

from lance_explorer.errors import FormatError
from lance_explorer.history.listing import FIRST_DETACHED, VersionFile
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.ledger import Ledger, place_of, recorded_table
from lance_explorer.ledger.recorder import Base
from lance_explorer.ledger.recording import Added, base_of, new_files, now, record_files
from lance_explorer.ledger.segments import About
from lance_explorer.storage import Storage

__all__ = ["VersionsToRecord", "ranges_to_record", "record_range"]

_FEWEST_VERSIONS = 16
"""Each range costs reading one more manifest."""


@dataclass(frozen=True, slots=True)
class VersionsToRecord:
    """Versions for one worker, and their predecessor, read or still to be read."""

    files: tuple[VersionFile, ...]
    before: Base | VersionFile | None = None


def ranges_to_record(
    view: HistoryView, ledger: Ledger, num_bytes: int, known: tuple[int, str] | None = None
) -> list[VersionsToRecord]:
    """Return the new versions of a branch in ranges of about this many bytes of manifests.

    Parameters
    ----------
    view : HistoryView
        The branch.
    ledger : Ledger
        What has its earlier versions.
    num_bytes : int
        How many bytes a worker is to read.
    known : tuple of int and str, optional
        A recorded version that is of this table for certain, and its digest: saves to look.
    """
    table = recorded_table(ledger, view.uri)
    files = new_files(view, table, known)
    line = [file for file in files if file.version < FIRST_DETACHED]
    groups, size = list[list[VersionFile]](), 0
    for file in line:
        if not groups or (size >= num_bytes and len(groups[-1]) >= _FEWEST_VERSIONS):
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += file.size_bytes
    if not groups:
        return []
    base = base_of(table, view.branch, groups[0][0].version)
    befores: list[Base | VersionFile | None] = [base, *[group[-1] for group in groups]]
    return [VersionsToRecord(tuple(g), b) for g, b in zip(groups, befores, strict=False)]


def record_range(
    storage: Storage,
    ledger: Ledger,
    uri: str,
    branch: str | None,
    versions: VersionsToRecord,
    *,
    words: bool = True,
) -> Added:
    """Record some versions of a branch, independently of earlier ones.

    Parameters
    ----------
    storage : Storage
        Root of the branch.
    ledger : Ledger
        Where to.
    uri : str
        Root of the table.
    branch : str, optional
        The branch.
    versions : VersionsToRecord
        Which of them.
    words : bool
        Whether to keep predicates, messages and other properties of transactions.
    """
    before = versions.before
    base = _read(storage, before) if isinstance(before, VersionFile) else before
    left_out = [] if words else ["words"]
    about = About(uri, branch, now(), release_of("lance-explorer"), left_out=left_out)
    table = recorded_table(ledger, uri)
    return record_files(storage, place_of(ledger), table, versions.files, about, base)


def _read(storage: Storage, file: VersionFile) -> Base | None:
    try:
        data = storage.get(file.path)
    except (FileNotFoundError, FormatError):
        return None
    return Base(file.version, sha256(data).hexdigest(), data)
