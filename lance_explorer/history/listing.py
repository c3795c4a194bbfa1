"""The versions that a table keeps, and their places (docs/FORMAT.md 1 and 10)."""

import re
from bisect import bisect_left
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from lance_explorer.errors import CorruptFileError
from lance_explorer.findings import Finding
from lance_explorer.history.collector import collector_paused
from lance_explorer.storage import Storage

__all__ = [
    "FIRST_DETACHED",
    "VERSIONS_FOLDER",
    "DirectoryLister",
    "VersionFile",
    "VersionLister",
    "VersionListing",
]

VERSIONS_FOLDER = "_versions"

FIRST_DETACHED = 1 << 63
"""Versions from this number on are detached: they are on no branch."""

_LARGEST = (1 << 64) - 1
_NAME = re.compile(r"(d?)(0|[1-9][0-9]{0,18}|[0-9]{20})\.manifest")
_V2_DIGITS = 20


class VersionFile(NamedTuple):
    """The manifest file of one version. ``path`` starts at the root of the table.

    ``is_recorded`` tells that it is kept no more: a ledger has it.
    """

    version: int
    path: str
    size_bytes: int
    modified_ns: int
    etag: str | None = None
    is_recorded: bool = False


@dataclass(frozen=True, slots=True)
class VersionListing:
    """The kept versions of a table, ascending; detached ones are separate and unordered.

    ``findings`` tell where what says which versions there are contradicts itself. ``folder_ns`` is
    the time of the folder from which all of these were listed; None where that tells nothing.
    """

    versions: tuple[VersionFile, ...]
    detached: tuple[VersionFile, ...]
    findings: tuple[Finding, ...] = ()
    folder_ns: int | None = None

    def up_to(self, version: int | None) -> "VersionListing":
        """Return the listing without later versions; None excludes none."""
        if version is None:
            return self
        return self.only(range(version + 1))

    def only(self, versions: Container[int]) -> "VersionListing":
        """Return the listing with only some of the versions."""
        if isinstance(versions, range) and versions.step == 1:  # few of very many, perhaps
            ends = versions.start, versions.stop
            first, stop = (bisect_left(self.versions, end, key=_version) for end in ends)
            return replace(self, versions=self.versions[first:stop], folder_ns=None)
        some = tuple([file for file in self.versions if file.version in versions])
        return replace(self, versions=some, folder_ns=None)


class VersionLister(Protocol):
    """The source of versions: a folder listing, or some other record of commits."""

    def list_versions(self) -> VersionListing:
        """Return the current versions."""


class DirectoryLister:
    """Lists the ``_versions`` folder. Hints and staged files in it are ignored."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @collector_paused()
    def list_versions(self) -> VersionListing:
        """Return the versions that are kept now.

        Raises
        ------
        CorruptFileError
            If the folder mixes both schemes of file names.
        """
        folder_ns = self._storage.folder_ns(VERSIONS_FOLDER)
        versions: list[VersionFile] = []
        detached: list[VersionFile] = []
        schemes: dict[bool, str] = {}
        for info in self._storage.list_files(VERSIONS_FOLDER):
            match = _NAME.fullmatch(info.name)
            if match is None:
                continue
            is_v2 = len(match[2]) == _V2_DIGITS
            number = int(match[2])
            path = f"{VERSIONS_FOLDER}/{info.name}"
            if match[1]:
                if FIRST_DETACHED <= number <= _LARGEST:
                    detached.append(
                        VersionFile(number, path, info.size_bytes, info.modified_ns, info.etag)
                    )
                continue
            version = _LARGEST - number if is_v2 else number
            if not 0 <= version < FIRST_DETACHED:
                continue
            schemes[is_v2] = info.name
            versions.append(
                VersionFile(version, path, info.size_bytes, info.modified_ns, info.etag)
            )
        if len(schemes) > 1:
            raise CorruptFileError(
                f"manifests are named by both schemes ({schemes[False]} and {schemes[True]}): a "
                "migration of names was interrupted, finish it with the library that began it",
                VERSIONS_FOLDER,
            )
        versions.sort(key=_version)
        detached.sort(key=_version)
        return VersionListing(tuple(versions), tuple(detached), folder_ns=folder_ns)

    def is_current(self, listing: VersionListing) -> bool:
        """Return whether a listing of the folder is known to be the present one, without listing.

        No file was added, removed or renamed since, and the first and last are the same.
        """
        if listing.folder_ns is None or not listing.versions:
            return False
        if self._storage.folder_ns(VERSIONS_FOLDER) != listing.folder_ns:
            return False
        ends = listing.versions[0], listing.versions[-1]
        found = [self._storage.find(file.path) for file in ends]
        return all(
            info is not None
            and (info.size_bytes, info.modified_ns) == (file.size_bytes, file.modified_ns)
            for file, info in zip(ends, found, strict=True)
        )


def _version(file: VersionFile) -> int:
    return file.version
