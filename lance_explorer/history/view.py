"""A view of one branch of a table: its versions as they were listed, read on request."""

import os
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lance_explorer.errors import (
    CorruptFileError,
    FormatError,
    LanceExplorerError,
    NotFoundError,
    TableNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.findings import Finding
from lance_explorer.format.transactions import Transaction, decode_transaction
from lance_explorer.history.branch import TableBranch
from lance_explorer.history.history import EMPTY_HISTORY, History, VersionRecord
from lance_explorer.history.listing import VersionFile, VersionListing
from lance_explorer.history.loading import extend, with_unreadable
from lance_explorer.history.memories import Memories, carried_of
from lance_explorer.history.recorded import Recorded
from lance_explorer.history.refs import Refs
from lance_explorer.history.states import States
from lance_explorer.storage import FilePart, IoCounts, Storage, check_not_forked, open_beside

__all__ = ["HistoryView"]

_MOST_SINGLE = 8
"""The most single versions that are kept: each has all of its fragments decoded."""

_PART_OF = 4
"""A part is read alone if it is at most this fraction of all versions."""

_MOST_PARTS = 4

_FIRST_PART, _PART_GROWS = 16, 8
"""How many versions are read first when searching from the end, and how that grows."""


class HistoryView:
    """The versions of one branch, as they were listed at one time.

    A view does not change: a new look makes another one, and holders of this one are not disturbed.
    Everything is read on first use and then kept; only versions that were removed before their
    first use are left out, also from :attr:`listing`. Data of a table that somebody may clean up or
    drop meanwhile can be trusted within :meth:`~lance_explorer.history.live.LiveTable.answer`.

    Parameters
    ----------
    at : TableBranch
        The branch.
    listing : VersionListing
        Its versions.
    refs : Refs
        The tags and branches of the table.

    Attributes
    ----------
    branch : str, optional
        The name of the branch; None is the main branch.
    storage, main_storage : Storage
        The root of the branch, and that of the table.
    recorded : Recorded, optional
        Earlier recordings of versions.
    memories : Memories
        What other modules computed from this view (:mod:`lance_explorer.history.memories`).
    """

    def __init__(self, at: TableBranch, listing: VersionListing, refs: Refs) -> None:
        self.at, self.listing, self.refs = at, listing, refs
        self.branch, self.recorded = at.name, at.recorded
        self.storage, self.main_storage = at.storage, at.root
        self.memories: Memories = {}
        self._history: History | None = None
        self._earlier = EMPTY_HISTORY
        self._is_whole = True
        self._removed = frozenset[int]()
        self._single: dict[int, History] = {}
        self._parts: list[_Part] = []
        self._branches: dict[str | None, HistoryView] = {}
        self._earlier_branches: dict[str | None, HistoryView] = {}

    @classmethod
    def open(
        cls,
        uri: str | Storage,
        branch: str | None = None,
        storage_options: Mapping[str, str] | None = None,
        io: IoCounts | None = None,
        allow_bases: Iterable[str | os.PathLike[str]] = (),
        recorded: Recorded | None = None,
    ) -> "HistoryView":
        """Return the current view of a branch.

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
        at = TableBranch.at(uri, branch, storage_options, io, allow_bases, recorded)
        view = cls(at, at.list_versions(), Refs(at.root))
        if at.may_be_below_table:
            return view._below_table(is_own=not isinstance(uri, Storage))
        return view

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process: without memories."""
        return {**self.__dict__, "memories": {}}

    @property
    def uri(self) -> str:
        """The root of the table, which is not the branch's own."""
        return self.at.uri

    @property
    def name(self) -> str:
        """The last part of :attr:`uri`."""
        return self.uri.rstrip("/").rpartition("/")[2]

    @property
    def uri_to_open(self) -> str:
        """What opens the table anew: its root, with the external manifest store if it has one."""
        return self.at.uri_to_open

    @property
    def latest_version(self) -> int:
        """The highest version that is kept."""
        return self.listing.versions[-1].version

    @property
    def recorded_versions(self) -> list[int]:
        """The versions that only a ledger has, ascending, detached ones last."""
        if self.recorded is None:
            return []
        files = (*self.listing.versions, *self.listing.detached)
        return [file.version for file in files if file.is_recorded]

    @property
    def derived_versions(self) -> list[int]:
        """The versions read so far whose manifests were not read whole, ascending."""
        return [record.version for record in self.read_so_far.records if record.is_derived]

    @property
    def recorded_findings(self) -> list[Finding]:
        """Problems of the recordings of this branch."""
        return [] if self.recorded is None else self.recorded.findings(self.branch)

    @property
    def whole(self) -> "HistoryView":
        """The branch that this is a part of (:meth:`part`); itself if it is whole."""
        return self

    @property
    def history(self) -> History:
        """All kept versions of this branch; of a :meth:`part` only those in it."""
        check_not_forked()
        if self._history is None:
            self._history = self._read()
            self._earlier = EMPTY_HISTORY
            if self._is_whole:
                self._single.clear()  # parts of it will do, without more memory
        return self._history

    @property
    def read_so_far(self) -> History:
        """The part of the history that was read; empty at first."""
        return self._history or self._earlier

    def part(self, versions: Container[int]) -> "HistoryView | None":
        """Return the same branch, of which only some kept versions are read.

        Such a part says nothing about other versions: not that they are gone, nor what they
        contained. None if it saves little, or one of them cannot be read.
        """
        if self._history is not None:
            return None
        listing = self.listing.only(versions)
        if len(listing.versions) * _PART_OF > len(self.listing.versions):
            return None
        part = next((part for part in self._parts if part.of_versions == listing), None)
        if part is None:
            part = _Part(self, listing)
            self._parts[:] = [part, *self._parts[: _MOST_PARTS - 1]]
        return part if len(part.history) == len(listing.versions) else None

    def of_fragments(self, fragments: range) -> "HistoryView":
        """Return the same branch with only the fragments of some IDs.

        Ask it only about things that depend on each fragment alone.
        """
        return _OfFragments(self, fragments)

    def refreshed(self, last_version: int | None = None) -> "HistoryView":
        """Return the current view of the same branch: new versions, removed ones, changed refs.

        Only new versions will be read. If another table replaced it, nothing is reused. Versions
        after ``last_version`` are ignored.
        """
        self.storage.sessions.forget()
        is_same = self.at.is_current(self.listing)
        listing = self.listing if is_same else self.at.list_versions()
        return self._later(listing.up_to(last_version))

    def without_vanished(self) -> "HistoryView | None":
        """Return the same branch without the versions that were removed since they were listed.

        Later versions are not included, unless the latest one was removed. None if none was
        removed, nor on other branches that were used.
        """
        now = self._look()
        gone = {*self.listing.versions, *self.listing.detached}.difference(
            now.versions, now.detached
        )
        if not gone and not any(branch._lost_versions() for branch in self._branches.values()):
            return None
        is_there = self.listing.versions[-1] not in gone
        later = self._later(now.up_to(self.latest_version if is_there else None))
        later._removed = self._removed.union([file.version for file in gone])
        return later

    def expect_there(self) -> None:
        """Raise TableNotFoundError if the table is gone, or another one replaced it.

        Otherwise, everything read so far was of this table.
        """
        latest = self.listing.versions[-1]
        info = self.storage.find(latest.path)
        if info is not None and (info.size_bytes, info.etag or info.modified_ns) == (
            latest.size_bytes,
            latest.etag or latest.modified_ns,
        ):
            return
        if latest in self._look().versions and info is None:
            raise TableNotFoundError(
                f"no Lance table at {self.uri}: it lists {latest.path}, but that is missing"
            )

    def values_missing(self, version: int) -> None:
        """Record that pylance cannot read values of a version: a cleanup may be removing it."""
        self.storage.sessions.note(f"{self.storage.uri}@{version}")

    def on_branch(self, branch: str | None) -> "HistoryView":
        """Return another branch of the same table; None is the main branch."""
        if branch == self.branch:
            return self
        if branch not in self._branches:
            earlier = self._earlier_branches.pop(branch, None)
            at = earlier.at if earlier else self.at.on(branch)
            listing = at.list_versions()
            self._branches[branch] = (
                earlier._later(listing, self.refs)
                if earlier
                else HistoryView(at, listing, self.refs)
            )
        return self._branches[branch]

    def with_recorded(self, recorded: Recorded, branch: str | None = None) -> "HistoryView":
        """Return this branch, or another one, with the recorded versions."""
        self.main_storage.bases.opened.clear()
        return HistoryView.open(self.main_storage, branch or self.branch, recorded=recorded)

    def noted_by(self, recorded: Recorded) -> "HistoryView":
        """Return the same versions, unread, with ``recorded`` as the receiver of what is read."""
        return HistoryView(replace(self.at, recorded=recorded), self.listing, self.refs)

    def only(self, first: int, last: int) -> "HistoryView":
        """Return this branch with only the versions of a range."""
        files = self.listing.only(range(first, last + 1)).versions
        return self._later(VersionListing(files, ()))

    def moved_to(self, listing: VersionListing) -> "HistoryView":
        """Return this branch with other versions, without reading known ones again."""
        return self._later(listing)

    def led_to(self, uri: str) -> "HistoryView":
        """Return another table that this one refers to, with the same allowed places.

        Raises
        ------
        UnsupportedFeatureError
            If this table may not refer to it.
        """
        return HistoryView.open(open_beside(self.main_storage, uri))

    def version_as_of(self, time: datetime) -> int:
        """Return the highest version with a timestamp up to ``time``; UTC if it has no zone."""
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        for history in self._from_the_end():
            for record in reversed(history.records):
                timestamp = record.manifest.timestamp
                if timestamp is not None and timestamp <= time:
                    _warn_of_clock(history, record, time)
                    return record.version
        raise VersionNotFoundError(f"no kept version is as old as {time.isoformat()}")

    def _from_the_end(self) -> Iterator[History]:
        """Yield histories of growing numbers of the last versions, and of all at the end."""
        kept, number = self.listing.versions, _FIRST_PART
        while number < len(kept):
            part = self.part(range(kept[-number].version, kept[-1].version + 1))
            if part is None:
                break
            yield part.history
            number *= _PART_GROWS
        yield self.history

    def version(self, version: int) -> History:
        """Return the history of one version alone, also a detached one.

        It is a part of the whole one if that is known, else it is read.
        """
        check_not_forked()
        history = self._single.pop(version, None)
        if history is None:
            history = self._read_version(version)
        self._single[version] = history
        if len(self._single) > _MOST_SINGLE:
            self._single.pop(next(iter(self._single)), None)  # asked for longest ago
        if self._history is not None and (doubted := self._history.states.contradicted):
            # Other versions contradict it, which one version alone cannot show.
            return replace(history, states=States(history.states.parts, doubted))
        return history

    def found(self, version: int) -> tuple[History, int]:
        """Return a history that contains a version, and its position; the whole one if read."""
        history = self._history
        if history is None or version not in history:
            history = self.version(version)
        return history, history.position(version)

    def transaction(self, record: VersionRecord) -> Transaction | None:
        """Return the whole transaction of a version; None if it is lost."""
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
        """Return a context in which transactions will be read, best in this order."""
        stored = [record.transaction for record in records if record.transaction is not None]
        parts = [FilePart(s.path, s.offset, s.num_bytes) for s in stored if s.data is None]
        return self.storage.reading_ahead(parts)

    def missing_version(self, version: int) -> VersionNotFoundError:
        """Return the error that explains why a version is missing, and which ones exist."""
        kept = [file.version for file in self.listing.versions]
        remain = "1 version remains" if len(kept) == 1 else f"{len(kept)} versions remain"
        there = f"{remain}, {kept[0]} to {kept[-1]}"
        where = f" of branch {self.branch}" if self.branch else ""
        if version in kept or version in self._removed:
            return VersionNotFoundError(
                f"version {version}{where} was removed since the table was last read; refresh() it"
            )
        if self.branch and version < kept[0] and self.branch in self.refs.branches:
            fork = self.refs.branches[self.branch]
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

    def _read(self) -> History:
        """Return the history, reading what is missing."""
        if self.recorded is not None and not self._earlier.records:
            self._earlier = self.recorded.history(self.storage, self.branch, self.listing)
        given = self.storage, self.listing, self.recorded, self.branch
        history = extend(self._earlier, *given, keep=self._keep)
        if len(history.versions_read) < len(self.listing.versions):
            history = self._without_unread(history)
        return history

    def _keep(self, part: History) -> None:
        """Keep the versions read before an interrupt, so that the next read continues there."""
        self._earlier = part

    def _read_version(self, version: int) -> History:
        """Return the history of one version alone, from its file unless that was read whole."""
        known = self._history or EMPTY_HISTORY
        if version in known and not known.records[known.position(version)].is_derived:
            return known.alone(version)
        file = self.file(version)
        history = extend(EMPTY_HISTORY, self.storage, VersionListing((file,), ()))
        if history.unreadable:
            error = history.unreadable[0].error
            if isinstance(error, CorruptFileError):
                words = f"{error.message}; table.damage() tells which version is whole"
                raise CorruptFileError(words, error.path, error.offset)
            raise error
        if not history.records:
            now = self._look()
            if file in (*now.versions, *now.detached):
                self.expect_there()
                raise _listed_but_missing(file)
            raise self.missing_version(version)
        return history

    def _without_unread(self, history: History) -> History:
        """Separate removed versions from those whose files cannot be read."""
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
        """Return the current listing of the same table."""
        self.storage.sessions.forget()
        now = self.at.list_versions()
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

    def _later(self, listing: VersionListing, refs: Refs | None = None) -> "HistoryView":
        """Return the same branch with other versions, keeping what was read of common ones."""
        later = HistoryView(self.at, listing, refs or Refs(self.main_storage))
        if listing is self.listing and self._is_whole:
            later._history = self._history
        if not set(self.listing.versions).isdisjoint(listing.versions):
            later._earlier = self.read_so_far if self._is_whole else EMPTY_HISTORY
            later._earlier_branches = {**self._earlier_branches, **self._branches}
            later._single = {
                version: history
                for version, history in list(self._single.items())
                if history.records[0].file in listing.only(range(version, version + 1)).versions
            }
            later.memories = carried_of(self.memories)
        return later

    def _below_table(self, *, is_own: bool) -> "HistoryView":
        """Return the same as a branch of its table, if the URI is the root of one."""
        try:
            name = self.version(self.latest_version).records[0].manifest.branch
        except LanceExplorerError:
            return self
        at = self.at.below_table(name, is_own=is_own)
        if at is self.at:
            return self
        view = HistoryView(at, self.listing, Refs(at.root))
        view._single = self._single
        return view


class _Part(HistoryView):
    """A branch of which only the versions ``of_versions`` are read."""

    def __init__(self, whole: HistoryView, of_versions: VersionListing) -> None:
        super().__init__(whole.at, whole.listing, whole.refs)
        self._whole, self.of_versions = whole, of_versions
        self._is_whole, self._removed, self._single = False, whole._removed, whole._single
        self._branches, self._earlier_branches = whole._branches, whole._earlier_branches

    @property
    def whole(self) -> HistoryView:
        """The branch that this is a part of."""
        return self._whole

    def _read(self) -> History:
        return extend(EMPTY_HISTORY, self.storage, self.of_versions)


class _OfFragments(HistoryView):
    """A branch whose versions have only some fragments."""

    def __init__(self, every: HistoryView, fragments: range) -> None:
        super().__init__(every.at, every.listing, every.refs)
        self._every, self._fragments = every, fragments

    def part(self, versions: Container[int]) -> HistoryView | None:
        """Return None: the whole history is read for it."""
        return None

    def _read(self) -> History:
        return self._every.history.of_fragments(self._fragments)

    def _read_version(self, version: int) -> History:
        return self._every.version(version).of_fragments(self._fragments)

    def _later(self, listing: VersionListing, refs: Refs | None = None) -> HistoryView:
        return _OfFragments(self._every._later(listing, refs), self._fragments)


def _listed_but_missing(file: VersionFile) -> CorruptFileError:
    return CorruptFileError("the file is listed, but it is missing", file.path)


def _warn_of_clock(history: History, chosen: VersionRecord, time: datetime) -> None:
    """Warn where a version that was committed before the chosen one has a later time."""
    times = [(one.manifest.timestamp, one.version) for one in history.records]
    later = [v for t, v in times if v < chosen.version and t is not None and t > time]
    if later:
        warnings.warn(
            f"version {chosen.version} was committed after version {later[-1]}, whose time is "
            f"later: a clock ran back, so which was the latest at {time.isoformat()} is not "
            "certain; better give the number of a version, or a tag",
            stacklevel=3,
        )
