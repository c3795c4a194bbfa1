"""One branch of one table: where it lies, and everything its metadata says, read when asked for."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from lance_explorer.errors import (
    FormatError,
    LanceExplorerError,
    RefNotFoundError,
    TableNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.findings import Finding
from lance_explorer.format.refs import Branch, Tag
from lance_explorer.format.transactions import Transaction, decode_transaction
from lance_explorer.history.history import EMPTY_HISTORY, History, VersionRecord
from lance_explorer.history.listing import DirectoryLister, VersionFile, VersionListing
from lance_explorer.history.loading import extend
from lance_explorer.history.refs import branch_root, load_branches, load_tags
from lance_explorer.storage import (
    FilePart,
    IoCounts,
    Storage,
    check_not_forked,
    leads_elsewhere,
    open_beside,
    open_storage,
)

__all__ = ["TableSource"]

_TREE = "/tree/"

_MOST_SINGLE = 8
"""Single versions that are kept: each has all of its fragments decoded."""


class TableSource:
    """The metadata of one branch.

    Everything is read on first use and then kept. Parts that were read at different times may show
    a table that is being written to at different times; each version is always one version.

    Parameters
    ----------
    uri : str
        Root of the table.
    branch : str, optional
        A branch of it; the main branch by default. A branch's own root may be given as ``uri``.
    storage_options : mapping of str to str, optional
        For object stores: where they are and how to be let in, as pylance takes them.
    io : IoCounts, optional
        What counts requests and bytes.

    Raises
    ------
    TableNotFoundError
        If there is no Lance table.
    RefNotFoundError
        If the table has no such branch.
    """

    def __init__(
        self,
        uri: str,
        branch: str | None = None,
        storage_options: Mapping[str, str] | None = None,
        io: IoCounts | None = None,
    ) -> None:
        self._branches: dict[str | None, TableSource] = {}
        self._history: History | None = None
        self._single: dict[int, History] = {}
        self.kept: dict[str, Any] = {}
        """What other modules made of this source, kept as long as it is."""
        self.main_storage = open_storage(uri, storage_options, io)
        self.storage = self.main_storage
        self.branch = branch
        if branch is not None:
            if leads_elsewhere(branch):
                raise RefNotFoundError(f"no branch can have the name {branch!r}")
            self.storage = _below(self.main_storage, branch_root(branch))
        self.listing = self._list_versions()
        if branch is None and _TREE in self.storage.uri:
            self._adopt_branch()

    @property
    def uri(self) -> str:
        """The root of the table, which is not the branch's own."""
        return self.main_storage.uri

    @property
    def latest_version(self) -> int:
        """The highest version that is kept."""
        return self.listing.versions[-1].version

    @property
    def history(self) -> History:
        """All kept versions of this branch."""
        check_not_forked()
        if self._history is None:
            self._history = extend(EMPTY_HISTORY, self.storage, self.listing)
        return self._history

    @cached_property
    def ref_findings(self) -> list[Finding]:
        """What was wrong with the files of tags and branches; filled when those are loaded."""
        return []

    @cached_property
    def tags(self) -> Mapping[str, Tag]:
        """The tags of the whole table, of versions on any branch."""
        return load_tags(self.main_storage, self.ref_findings)

    @cached_property
    def branches(self) -> Mapping[str, Branch]:
        """The branches of the table; the main branch is not among them."""
        return load_branches(self.main_storage, self.ref_findings)

    def refresh(self, last_version: int | None = None) -> None:
        """Look for new versions, removed ones, and changed refs; read only what is new.

        Versions after ``last_version``, if it is given, are as if they were not there.
        """
        self.listing = self._list_versions().up_to(last_version)
        if self._history is not None:
            self._history = extend(self._history, self.storage, self.listing)
        self._single.clear()
        self._branches.clear()
        for name in ("ref_findings", "tags", "branches"):
            self.__dict__.pop(name, None)

    def on_branch(self, branch: str | None) -> "TableSource":
        """Return another branch of the same table; None is the main branch.

        Raises
        ------
        RefNotFoundError
            If there is none of that name.
        """
        if branch == self.branch:
            return self
        if branch not in self._branches:
            storage = self.main_storage
            self._branches[branch] = TableSource(self.uri, branch, storage.options, storage.io)
        return self._branches[branch]

    def tag(self, name: str) -> Tag:
        """Return a tag.

        Raises
        ------
        RefNotFoundError
            If there is none of that name.
        """
        if name not in self.tags:
            names = ", ".join(self.tags) or "none"
            raise RefNotFoundError(f"no tag {name!r} in {self.uri}; there are: {names}")
        return self.tags[name]

    def version_as_of(self, time: datetime) -> int:
        """Return the highest version with a timestamp of at most ``time``; UTC if it has no zone.

        Raises
        ------
        VersionNotFoundError
            If all kept versions are later.
        """
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        for record in reversed(self.history.records):
            timestamp = record.manifest.timestamp
            if timestamp is not None and timestamp <= time:
                return record.version
        raise VersionNotFoundError(f"no kept version is as old as {time.isoformat()}")

    def version(self, version: int) -> History:
        """Return the history that consists of one version, detached ones too, from its file alone.

        Raises
        ------
        VersionNotFoundError
            If the version is not kept.
        FormatError
            If its manifest cannot be understood.
        """
        check_not_forked()
        history = self._single.pop(version, None)
        if history is None:
            history = self._load(self._file(version))
        self._single[version] = history
        if len(self._single) > _MOST_SINGLE:
            self._single.pop(next(iter(self._single)), None)  # asked for longest ago
        return history

    def transaction(self, record: VersionRecord) -> Transaction | None:
        """Return the whole transaction of a version; None if none is left.

        Raises
        ------
        FormatError
            If it cannot be understood.
        """
        stored = record.transaction
        if stored is None:
            return None
        data = stored.data
        if data is None:
            try:
                data = self.storage.get_range(stored.path, stored.offset, stored.num_bytes)
            except FileNotFoundError:
                return None
        try:
            return decode_transaction(data)
        except FormatError as error:
            raise error.located(stored.path, stored.offset) from error

    def reading_transactions(
        self, records: Iterable[VersionRecord]
    ) -> AbstractContextManager[None]:
        """Return a context in which transactions will be asked for, best in this order."""
        stored = [record.transaction for record in records if record.transaction is not None]
        parts = [FilePart(s.path, s.offset, s.num_bytes) for s in stored if s.data is None]
        return self.storage.reading_ahead(parts)

    def missing_version(self, version: int) -> VersionNotFoundError:
        """Return the error that says why a version is not there, and which ones are."""
        kept = [file.version for file in self.listing.versions]
        remain = "1 version remains" if len(kept) == 1 else f"{len(kept)} versions remain"
        there = f"{remain}, {kept[0]} to {kept[-1]}"
        where = f" of branch {self.branch}" if self.branch else ""
        if version in kept:
            return VersionNotFoundError(
                f"version {version}{where} was removed since the table was looked at; refresh() it"
            )
        if self.branch and version < kept[0] and self.branch in self.branches:
            fork = self.branches[self.branch]
            if version < fork.parent_version:
                parent = fork.parent_branch or "the main branch"
                return VersionNotFoundError(
                    f"version {version} lies before the fork: {self.branch} left {parent} at "
                    f"version {fork.parent_version}; open {parent} for it"
                )
        if 0 < version < kept[-1]:
            return VersionNotFoundError(f"version {version}{where} was cleaned away; {there}")
        return VersionNotFoundError(f"version {version}{where} never was; {there}")

    def _file(self, version: int) -> VersionFile:
        for file in (*self.listing.versions, *self.listing.detached):
            if file.version == version:
                return file
        raise self.missing_version(version)

    def _load(self, file: VersionFile) -> History:
        history = extend(EMPTY_HISTORY, self.storage, VersionListing((file,), ()))
        if history.unreadable:
            raise history.unreadable[0].error
        if not history.records:
            raise VersionNotFoundError(f"version {file.version} was removed while it was read")
        return history

    def _list_versions(self) -> VersionListing:
        listing = DirectoryLister(self.storage).list_versions()
        if listing.versions:
            return listing
        if self.branch is not None:
            names = ", ".join(load_branches(self.main_storage, [])) or "none"
            raise RefNotFoundError(f"no branch {self.branch!r} in {self.uri}; there are: {names}")
        raise _no_table(self.storage)

    def _adopt_branch(self) -> None:
        """Recognise that the URI is the root of a branch, and find the root of its table."""
        try:
            name = self.version(self.latest_version).records[0].manifest.branch
        except LanceExplorerError:
            return
        suffix = f"{_TREE}{name}"
        if name is not None and self.storage.uri.endswith(suffix):
            self.branch = name
            self.main_storage = open_beside(self.storage, self.storage.uri.removesuffix(suffix))


def _below(storage: Storage, folder: str) -> Storage:
    return open_beside(storage, f"{storage.uri}/{folder}")


def _no_table(storage: Storage) -> TableNotFoundError:
    folders = storage.list_folders("")
    tables = sorted(name for name in folders if name.endswith(".lance"))
    if tables:
        shown = ", ".join(tables[:5]) + (", ..." if len(tables) > 5 else "")
        return TableNotFoundError(
            f"{storage.uri} is no Lance table but holds {len(tables)}: {shown}"
        )
    reason = "it has no versions" if "_versions" in folders else "it has no _versions folder"
    return TableNotFoundError(f"no Lance table at {storage.uri}: {reason}")
