"""One branch of one table: where it lies, and everything its metadata says, read when asked for."""

import copy
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from lance_explorer.errors import (
    CorruptFileError,
    FormatError,
    LanceExplorerError,
    NotFoundError,
    RefNotFoundError,
    TableNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.findings import Finding
from lance_explorer.format.refs import Branch, Tag
from lance_explorer.format.transactions import Transaction, decode_transaction
from lance_explorer.history.external_listing import lister_of
from lance_explorer.history.history import EMPTY_HISTORY, History, VersionRecord
from lance_explorer.history.listing import VersionFile, VersionListing
from lance_explorer.history.loading import extend, with_unreadable
from lance_explorer.history.recorded import Recorded
from lance_explorer.history.refs import (
    UnreadableRef,
    branch_root,
    branches_in_circles,
    load_branches,
    load_tags,
)
from lance_explorer.history.states import States
from lance_explorer.storage import (
    FilePart,
    IoCounts,
    Storage,
    check_not_forked,
    leads_elsewhere,
    open_beside,
    open_storage,
    uri_to_open,
)

__all__ = ["HistoryView"]

_TREE = "/tree/"

_MOST_SINGLE = 8
"""Single versions that are kept: each has all of its fragments decoded."""

_PART_OF = 4
"""A part is read by itself if it is not more than one of so many parts of all versions."""

_MOST_PARTS = 4

_FIRST_PART, _PART_GROWS = 16, 8
"""How many versions are read first when one is looked for from the end on, and how that grows."""


class HistoryView:
    """The metadata of one branch.

    Everything is read on first use and then kept. Which versions there are is as it was at one
    time: to look again makes another view, and those who hold this one are not disturbed. Tags
    and branches may have been read later; each version is always one version. What is read of a
    table that somebody may clean up or drop meanwhile is to be trusted within
    :func:`~lance_explorer.history.live.unbroken`.

    Parameters
    ----------
    uri : str or Storage
        Root of the table; as storage, one that another table leads to.
    branch : str, optional
        A branch of it; the main branch by default. A branch's own root may be given as ``uri``.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store, as pylance takes them.
    io : IoCounts, optional
        What counts requests and bytes.
    allow_bases : iterable of str or os.PathLike
        Where the table may lead to, beside what is near.
    recorded : Recorded, optional
        Where versions were recorded before.
    """

    def __init__(
        self,
        uri: str | Storage,
        branch: str | None = None,
        storage_options: Mapping[str, str] | None = None,
        io: IoCounts | None = None,
        allow_bases: Iterable[str | os.PathLike[str]] = (),
        recorded: Recorded | None = None,
    ) -> None:
        self._branches: dict[str | None, HistoryView] = {}
        self._earlier_branches: dict[str | None, HistoryView] = {}
        self._history: History | None = None
        self._earlier = EMPTY_HISTORY
        self._part_of: HistoryView | None = None
        self._listing_read: VersionListing | None = None
        self._parts: list[HistoryView] = []
        self._some_of: tuple[HistoryView, range] | None = None
        self._is_whole = True
        self._removed: frozenset[int] = frozenset()
        self._single: dict[int, History] = {}
        self.kept: dict[str, Any] = {}
        """What other modules made of this view, kept as long as it is."""
        self._is_own = not isinstance(uri, Storage)
        self.main_storage = (
            uri if isinstance(uri, Storage) else open_storage(uri, storage_options, io, allow_bases)
        )
        self.recorded = recorded
        if recorded is not None and self.main_storage.bases.over != recorded.over:
            self.main_storage = recorded.over(self.main_storage)
            self.main_storage.bases.over = recorded.over
        self.storage = self.main_storage
        self.branch = branch
        if branch is not None:
            if leads_elsewhere(branch) or not branch.isprintable():
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
    def name(self) -> str:
        """The last part of :attr:`uri`."""
        return self.uri.rstrip("/").rpartition("/")[2]

    @property
    def uri_to_open(self) -> str:
        """What opens the table anew: its root, with the external manifest store if it has one."""
        return uri_to_open(self.main_storage)

    @property
    def latest_version(self) -> int:
        """The highest version that is kept."""
        return self.listing.versions[-1].version

    @property
    def recorded_versions(self) -> list[int]:
        """The versions that only a ledger still has, ascending, detached ones last."""
        if self.recorded is None:
            return []
        files = (*self.listing.versions, *self.listing.detached)
        return [file.version for file in files if file.is_recorded]

    @property
    def recorded_findings(self) -> list[Finding]:
        """What is wrong with what a ledger has of this branch."""
        return [] if self.recorded is None else self.recorded.findings(self.branch)

    @property
    def history(self) -> History:
        """All kept versions of this branch; of a :meth:`part` only those in it.

        Those that were removed before they were read are left out, of :attr:`listing` too.
        """
        check_not_forked()
        if self._history is None and self._some_of is not None:
            view, fragments = self._some_of
            self._history = view.history.of_fragments(fragments)
        if self._history is None and self._listing_read is not None:
            self._history = extend(EMPTY_HISTORY, self.storage, self._listing_read)
        if self._history is None:
            if self.recorded is not None and not self._earlier.records:
                self._earlier = self.recorded.history(self.storage, self.branch, self.listing)
            history = extend(self._earlier, self.storage, self.listing, self.recorded, self.branch)
            if len(history.versions_read) < len(self.listing.versions):
                history = self._without_unread(history)
            self._history, self._earlier = history, EMPTY_HISTORY
        return self._history

    @property
    def read_so_far(self) -> History:
        """What was read of the history; an empty one if nothing was."""
        return self._history or self._earlier

    def part(self, versions: Container[int]) -> "HistoryView | None":
        """Return the same branch, of whose kept versions only some are read.

        Such a part says nothing about other versions: not that they are gone, nor what was there
        before. None if it saves little, or one of them cannot be read.
        """
        if self._history is not None:
            return None
        listing = self.listing.only(versions)
        if len(listing.versions) * _PART_OF > len(self.listing.versions):
            return None
        part = next((part for part in self._parts if part._listing_read == listing), None)
        if part is None:
            part = copy.copy(self)
            part._part_of, part._listing_read = self, listing
            part._earlier, part._parts, part.kept = EMPTY_HISTORY, [], {}
            self._parts[:] = [part, *self._parts[: _MOST_PARTS - 1]]
        return part if len(part.history) == len(listing.versions) else None

    def of_fragments(self, fragments: range) -> "HistoryView":
        """Return the same branch as if its versions had only some fragments.

        What is asked of it must be told by each fragment alone.

        Parameters
        ----------
        fragments : range
            Their IDs.
        """
        some = copy.copy(self)
        some._some_of = self, fragments
        some._history, some._single, some._parts, some.kept = None, {}, [], {}
        return some

    @property
    def whole(self) -> "HistoryView":
        """The branch that this is a part of (:meth:`part`); itself if it is none."""
        return self._part_of or self

    @cached_property
    def _unreadable_refs(self) -> list[UnreadableRef]:
        return []

    @property
    def unreadable_refs(self) -> list[UnreadableRef]:
        """The tags and branches that are listed, but cannot be read."""
        _ = self.tags, self.branches  # reading them tells
        return self._unreadable_refs

    @property
    def ref_findings(self) -> list[Finding]:
        """What is wrong with the files of tags and branches."""
        return [
            *(ref.finding for ref in self.unreadable_refs),
            *branches_in_circles(self.branches),
        ]

    @cached_property
    def tags(self) -> Mapping[str, Tag]:
        """The tags of the whole table, of versions on any branch."""
        return load_tags(self.main_storage, self._unreadable_refs)

    @cached_property
    def branches(self) -> Mapping[str, Branch]:
        """The branches of the table; the main branch is not among them."""
        return load_branches(self.main_storage, self._unreadable_refs)

    @property
    def branch_names(self) -> list[str]:
        """The names of all branches, with those whose references cannot be read."""
        hidden = [ref.name for ref in self.unreadable_refs if ref.kind == "branch" and ref.name]
        return sorted([*self.branches, *hidden])

    def refreshed(self, last_version: int | None = None) -> "HistoryView":
        """Return the same branch as it is now: new versions, removed ones, changed refs.

        Only what is new will be read. If another table stands there now, nothing is taken over.
        Versions after ``last_version``, if it is given, are as if they were not there.
        """
        return self._with(self._list_versions().up_to(last_version))

    def without_vanished(self) -> "HistoryView | None":
        """Return the same branch without the versions that were removed since they were listed.

        Later versions are not there, unless the latest one was removed. None if none was removed,
        on other branches that were looked at neither.
        """
        now = self._look()
        gone = {*self.listing.versions, *self.listing.detached}.difference(
            now.versions, now.detached
        )
        if not gone and not any(branch._lost_versions() for branch in self._branches.values()):
            return None
        is_there = self.listing.versions[-1] not in gone
        later = self._with(now.up_to(self.latest_version if is_there else None))
        later._removed = self._removed.union([file.version for file in gone])
        return later

    def expect_there(self) -> None:
        """Raise TableNotFoundError if the table is gone, or another one stands in its place.

        If not, all that was read so far was of this table.
        """
        latest = self.listing.versions[-1]
        found = self.storage.find(latest.path)
        if found is not None and (found.size_bytes, found.etag or found.modified_ns) == (
            latest.size_bytes,
            latest.etag or latest.modified_ns,
        ):
            return
        if latest in self._look().versions and found is None:
            raise TableNotFoundError(
                f"no Lance table at {self.uri}: it lists {latest.path}, but that is missing"
            )

    def on_branch(self, branch: str | None) -> "HistoryView":
        """Return another branch of the same table; None is the main branch."""
        if branch == self.branch:
            return self
        if branch not in self._branches:
            earlier = self._earlier_branches.pop(branch, None)
            self._branches[branch] = (
                earlier.refreshed()
                if earlier
                else HistoryView(self.main_storage, branch, recorded=self.recorded)
            )
        return self._branches[branch]

    def with_recorded(self, recorded: Recorded, branch: str | None = None) -> "HistoryView":
        """Return this branch, or another one, with the versions that were recorded before."""
        self.main_storage.bases.opened.clear()
        return HistoryView(self.main_storage, branch or self.branch, recorded=recorded)

    def only(self, first: int, last: int) -> "HistoryView":
        """Return this branch as if it had no versions but those from one to another."""
        files = self.listing.only(range(first, last + 1)).versions
        return self._with(VersionListing(files, ()))

    def led_to(self, uri: str) -> "HistoryView":
        """Return another table, to which this one leads; what that leads to is judged as if it did.

        Raises
        ------
        UnsupportedFeatureError
            If this table may not lead there.
        """
        return HistoryView(open_beside(self.main_storage, uri))

    def tag(self, name: str) -> Tag:
        """Return a tag."""
        if name not in self.tags:
            for ref in self.unreadable_refs:
                if (ref.kind, ref.name) == ("tag", name):
                    raise RefNotFoundError(f"tag {name!r} cannot be read: {ref.problem}")
            names = ", ".join(self.tags) or "none"
            raise RefNotFoundError(f"no tag {name!r} in {self.uri}; there are: {names}")
        return self.tags[name]

    def version_as_of(self, time: datetime) -> int:
        """Return the highest version with a timestamp up to ``time``; UTC if it has no zone."""
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        for history in self._from_the_end():
            for record in reversed(history.records):
                timestamp = record.manifest.timestamp
                if timestamp is not None and timestamp <= time:
                    return record.version
        raise VersionNotFoundError(f"no kept version is as old as {time.isoformat()}")

    def _from_the_end(self) -> Iterator[History]:
        """Yield histories of ever more of the last versions, and that of all at the end."""
        kept, number = self.listing.versions, _FIRST_PART
        while number < len(kept):
            part = self.part(range(kept[-number].version, kept[-1].version + 1))
            if part is None:
                break
            yield part.history
            number *= _PART_GROWS
        yield self.history

    def version(self, version: int) -> History:
        """Return the history of one version alone, detached ones too, from its file."""
        check_not_forked()
        history = self._single.pop(version, None)
        if history is None and self._some_of is not None:
            view, fragments = self._some_of
            history = view.version(version).of_fragments(fragments)
        if history is None:
            history = self._load(self.file(version))
        self._single[version] = history
        if len(self._single) > _MOST_SINGLE:
            self._single.pop(next(iter(self._single)), None)  # asked for longest ago
        if self._history is not None and (doubted := self._history.states.contradicted):
            # Other versions contradict it, which a version alone cannot tell.
            return replace(history, states=States(history.states.parts, doubted))
        return history

    def found(self, version: int) -> tuple[History, int]:
        """Return a history that has a version, and its position; the whole one if it is read."""
        history = self._history
        if history is None or version not in history:
            history = self.version(version)
        return history, history.position(version)

    def transaction(self, record: VersionRecord) -> Transaction | None:
        """Return the whole transaction of a version; None if none is left."""
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
        if version in kept or version in self._removed:
            return VersionNotFoundError(
                f"version {version}{where} was removed since the table was last read; refresh() it"
            )
        if self.branch and version < kept[0] and self.branch in self.branches:
            fork = self.branches[self.branch]
            if version < fork.parent_version:
                parent = fork.parent_branch or "the main branch"
                return VersionNotFoundError(
                    f"version {version} is before the fork: {self.branch} was created from "
                    f"version {fork.parent_version} of {parent}; open {parent} for it"
                )
        if 0 < version < kept[-1]:
            return VersionNotFoundError(f"version {version}{where} was cleaned up; {there}")
        return VersionNotFoundError(f"version {version}{where} never existed; {there}")

    def file(self, version: int) -> VersionFile:
        """Return the file of a version, detached ones too."""
        for file in (*self.listing.versions, *self.listing.detached):
            if file.version == version:
                return file
        raise self.missing_version(version)

    def _load(self, file: VersionFile) -> History:
        history = extend(EMPTY_HISTORY, self.storage, VersionListing((file,), ()))
        if history.unreadable:
            raise history.unreadable[0].error
        if not history.records:
            now = self._look()
            if file in (*now.versions, *now.detached):
                self.expect_there()
                raise _listed_but_missing(file)
            raise self.missing_version(file.version)
        return history

    def _without_unread(self, history: History) -> History:
        """Tell versions that were removed from those whose files cannot be had, of a history."""
        read, now = set(history.versions_read), set(self._look().versions)
        unread = [file for file in self.listing.versions if file.version not in read]
        if self.listing.versions[-1] in unread and self.listing.versions[-1] not in now:
            raise self.missing_version(self.latest_version)
        damaged = [file for file in unread if file in now]
        if len(damaged) == len(self.listing.versions):
            raise TableNotFoundError(
                f"no Lance table at {self.uri}: it lists {len(damaged)} versions, but their files "
                "are missing"
            )
        self._is_whole = not damaged
        removed = set(unread).difference(damaged)
        kept = [file for file in self.listing.versions if file not in removed]
        self.listing = VersionListing(tuple(kept), self.listing.detached)
        self._removed = self._removed.union([file.version for file in removed])
        return with_unreadable(history, [(file, _listed_but_missing(file)) for file in damaged])

    def _look(self) -> VersionListing:
        """Return what is listed now, of the table that was listed before."""
        now = self._list_versions()
        is_known = not set(self.listing.versions).isdisjoint(now.versions)
        if not is_known and now.versions[0].version <= self.latest_version:
            raise TableNotFoundError(
                f"the table that was opened at {self.uri} no longer exists, and another one is in "
                "its place: it was dropped and recreated, or copied; refresh() to use that one"
            )
        return now

    def _lost_versions(self) -> bool:
        try:
            return self.without_vanished() is not None
        except NotFoundError:
            return True

    def _with(self, listing: VersionListing) -> "HistoryView":
        """Return the same branch with other versions, and what was read of those that stay."""
        later = copy.copy(self)
        is_same = not set(self.listing.versions).isdisjoint(listing.versions)
        later.listing = listing
        later._history = None
        is_known = is_same and self._is_whole and self._part_of is None
        later._earlier = (self._history or self._earlier) if is_known else EMPTY_HISTORY
        later._is_whole = True
        later._part_of = later._listing_read = None
        later._parts = []
        later._single = {}
        later._branches = {}
        later._earlier_branches = {**self._earlier_branches, **self._branches} if is_same else {}
        later._removed = frozenset()
        later.kept = dict(self.kept) if is_same else {}
        for name in ("_unreadable_refs", "tags", "branches"):
            later.__dict__.pop(name, None)
        return later

    def _list_versions(self) -> VersionListing:
        listing = lister_of(self.storage).list_versions()
        if self.recorded is not None:
            listing = self.recorded.joined(self.storage, self.branch, listing)
        if listing.versions:
            return listing
        if self.branch is not None and not lister_of(self.main_storage).list_versions().versions:
            raise _no_table(self.main_storage)
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
            uri = self.storage.uri.removesuffix(suffix)
            if self._is_own:
                self.storage.bases.own_root(uri)
            self.main_storage = open_beside(self.storage, uri)


def _listed_but_missing(file: VersionFile) -> CorruptFileError:
    return CorruptFileError("the file is listed, but it is missing", file.path)


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
