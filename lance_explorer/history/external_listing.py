"""The versions of a table whose commits are in an external manifest store, or a namespace.

The store names the latest version, and the place of its manifest; the folder has the earlier
manifests (docs/FORMAT.md 10.1). Readers of Lance move a staged manifest to its place; here it is
read where it is.
"""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from lance_explorer.findings import Cause, Finding, Subject
from lance_explorer.history.listing import (
    FIRST_DETACHED,
    DirectoryLister,
    VersionFile,
    VersionLister,
    VersionListing,
)
from lance_explorer.storage import CommitStore, CommittedVersion, NamespaceCommits, Storage

__all__ = ["ExternalLister", "lister_of"]

_COMPARED = 1000
"""The newest versions in the store that are compared with the folder."""

_MANIFEST = ".manifest"


def lister_of(storage: Storage) -> VersionLister:
    """Return the source of versions at a root."""
    commits = storage.commits
    return DirectoryLister(storage) if commits is None else ExternalLister(storage, commits)


class ExternalLister:
    """Lists the versions that an external manifest store and the ``_versions`` folder have."""

    def __init__(self, storage: Storage, commits: CommitStore | NamespaceCommits) -> None:
        self._storage = storage
        self._commits = commits

    def list_versions(self) -> VersionListing:
        """Return the versions that a reader of Lance would see now.

        A table that is unknown to the store has the versions of its folder.

        Raises
        ------
        CorruptFileError
            If the folder mixes both schemes of file names.
        """
        listing = DirectoryLister(self._storage).list_versions()
        newest = self._newest()  # later: commits in between are no contradiction
        if not newest:
            return listing
        versions = {file.version: file for file in listing.versions}
        in_folder = max(versions, default=-1)
        findings: list[Finding] = []
        latest = newest[0].version
        for one in newest:
            file = versions.get(one.version)
            if file is not None:
                if one.size_bytes not in (None, file.size_bytes):
                    findings.append(_other_size(one, file))
                continue
            if one.version < in_folder and one.path.endswith(_MANIFEST):
                continue  # cleaned up: Lance leaves it in the store
            file = self._file_of(one)
            if file is None:
                findings += [_missing(one)] if one.version == latest else []
                continue
            versions[one.version] = file
            if not file.path.endswith(_MANIFEST):
                findings.append(_not_copied(one))
        findings += _unknown(latest, listing.versions)
        kept = sorted([file for file in versions.values() if file.version <= latest])
        return replace(listing, versions=tuple(kept), findings=tuple(findings))

    def _newest(self) -> list[CommittedVersion]:
        self._storage.io.requests += 1
        newest = self._commits.newest(self._storage.uri, _COMPARED)
        return [one for one in newest if one.version < FIRST_DETACHED]

    def _file_of(self, one: CommittedVersion) -> VersionFile | None:
        """Return the file of a version, staged or in its place since the listing; None if gone."""
        staged = _below(self._storage.uri, one.path)
        if staged is None:
            return None
        for path in dict.fromkeys([staged, staged.partition(_MANIFEST)[0] + _MANIFEST]):
            info = self._storage.find(path)
            if info is not None:
                facts = (info.size_bytes, info.modified_ns, info.etag)
                return VersionFile(one.version, path, *facts)
        return None


def _below(uri: str, path: str) -> str | None:
    """Return a path in the bucket as one below the root; None if it is elsewhere."""
    root = urlsplit(uri).path.strip("/") + "/"
    return path.removeprefix(root) if path.startswith(root) else None


def _not_copied(one: CommittedVersion) -> Finding:
    return _finding(
        "commit_not_copied",
        "the external manifest store has this version, and its manifest is still staged at "
        f"{one.path}: readers without the store do not see it",
        one,
    )


def _missing(one: CommittedVersion) -> Finding:
    return _finding(
        "latest_manifest_missing",
        "the external manifest store says that this version is the latest, and its manifest "
        f"{one.path} is missing: pylance does not open the table",
        one,
    )


def _other_size(one: CommittedVersion, file: VersionFile) -> Finding:
    return _finding(
        "manifest_of_other_size",
        f"the external manifest store says that the manifest has {one.size_bytes:,} bytes, and it "
        f"has {file.size_bytes:,}",
        one,
        Cause("it was written without the store"),
    )


def _finding(code: str, statement: str, one: CommittedVersion, *causes: Cause) -> Finding:
    subject = Subject("version", str(one.version), one.path)
    versions = one.version, one.version
    return Finding(code, statement, subject=subject, versions=versions, causes=causes)


def _unknown(latest: int, files: tuple[VersionFile, ...]) -> Iterator[Finding]:
    later = [file.version for file in files if file.version > latest]
    if later:
        count = f"{len(later):,} {'version' if len(later) == 1 else 'versions'}"
        yield Finding(
            "versions_not_in_store",
            f"the folder has {count} after {latest}, the latest in the external manifest store",
            versions=(min(later), max(later)),
            causes=(Cause("a writer committed without the store"),),
        )
