"""One table at one version, the same in the driver and in all tasks."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

from lance_explorer.changes.needed_versions import is_self_contained
from lance_explorer.errors import TableNotFoundError, VersionNotFoundError
from lance_explorer.history.listing import VersionFile
from lance_explorer.history.live import LiveTable
from lance_explorer.history.refs import branch_root
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.handed import Handed, HandedTable, Handing
from lance_explorer.ledger.ledger import Ledger, recorded_table
from lance_explorer.spark.options import Options
from lance_explorer.spark.unread import warn_of_many_bytes
from lance_explorer.storage import Options as StorageOptions
from lance_explorer.storage import Storage, open_beside, open_storage

__all__ = ["PinnedTable", "ReadVersions", "TableRef", "handed", "range_of"]

_TABLES_KEPT = 2
"""The number of tables that a worker keeps open between tasks."""

_MOST_BYTES_HANDED = 32 << 20
"""A larger manifest is read by each worker that needs it."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """A branch of a table, and how to read it."""

    uri: str
    branch: str | None = None
    storage: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    allow_bases: tuple[str, ...] = ()
    ledger: str | None = None
    ledger_storage: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, options: Options) -> "TableRef":
        """Return the table that options name."""
        uri = options.required("path", ".load('trips.lance')")
        return cls.at(uri, options)

    @classmethod
    def at(cls, uri: str, options: Options) -> "TableRef":
        """Return a table, and everything else that options say about it."""
        return cls(
            uri,
            options.text("branch"),
            options.storage,
            options.allow_bases,
            options.text("ledger"),
            options.ledger_storage,
        )

    def open(self) -> HistoryView:
        """Return the present metadata of the table; only from its ledger if it is gone."""
        storage = StorageOptions(dict(self.storage))
        if self.ledger is None:
            return HistoryView.open(self.uri, self.branch, storage, None, self.allow_bases)
        ledger = Ledger(self.ledger, StorageOptions(dict(self.ledger_storage)))
        try:
            live = HistoryView.open(self.uri, None, storage, None, self.allow_bases)
        except TableNotFoundError as error:
            try:
                return ledger.open(self.uri, self.branch)._view
            except TableNotFoundError:
                raise error from None
        return live.with_recorded(recorded_table(ledger, live.uri), self.branch)

    def storages(self) -> tuple[str, Storage]:
        """Return the root of the table, and the storage of the branch; nothing is read."""
        options = StorageOptions(dict(self.storage))
        root = open_storage(self.uri, options, None, self.allow_bases)
        if self.branch is None:
            return root.uri, root
        return root.uri, open_beside(root, f"{root.uri}/{branch_root(self.branch)}")


@dataclass(frozen=True, slots=True)
class PinnedTable:
    """A table at a version, without later versions.

    ``file`` is its manifest file, so that a table that was written anew under the same URI is not
    taken for it. ``handed`` are versions that the driver has read, so that tasks need not.
    """

    ref: TableRef
    file: VersionFile
    handed: Handed | None = None

    @classmethod
    def at(cls, view: HistoryView, version: int, ref: TableRef) -> "PinnedTable":
        """Return a table at a version of one of its branches, which ``view`` is."""
        branch = replace(ref, uri=view.uri_to_open, branch=view.branch)
        for file in view.listing.versions:
            if file.version == version:
                return cls(branch, file)
        raise view.missing_version(version)

    @property
    def version(self) -> int:
        """The version."""
        return self.file.version

    def open(self) -> HistoryView:
        """Return the metadata up to the version; a worker keeps it for its next task.

        Raises
        ------
        VersionNotFoundError
            If the version is gone, or the table was replaced.
        """
        if self.handed is None:
            return _as_it_was(_opened(self.ref), self)
        view = _opened_by_hand(self.ref, self.handed)
        if not self.file.is_recorded:
            _check_there(view, self.file)
        return view

    def with_versions(self) -> "PinnedTable":
        """Return the same with all of its versions read."""
        return handed(_as_it_was(_handing(self.ref), self), self)

    def with_range(self, begin_version: int) -> "PinnedTable":
        """Return the same with the versions read that changes since a version need; perhaps all.

        Raises
        ------
        VersionNotFoundError
            If the table was replaced.
        """
        view, table = ReadVersions(self.ref).since(begin_version, self.version)
        if table.file != self.file:
            raise _replaced(self)
        return handed(view, table)

    def with_version(self) -> "PinnedTable":
        """Return the same with its one version read, if it is not large."""
        if self.file.size_bytes > _MOST_BYTES_HANDED:
            return self
        view = self.ref.open().only(self.version, self.version)
        handing = Handing(view)
        if view.listing.versions[-1:] != (self.file,):
            raise _replaced(self)
        return handed(view.noted_by(handing), self)


class ReadVersions:
    """The versions of a branch that one process reads, each once, however often it is needed."""

    def __init__(self, ref: TableRef) -> None:
        self._ref = ref
        self._live = LiveTable(ref.open())
        self._some: HistoryView | None = None
        self._needs_all = False

    @property
    def now(self) -> HistoryView:
        """The branch as it was when it was last read."""
        return self._live.view

    def refresh(self) -> HistoryView:
        """Return the present state of the branch."""
        self._live.refresh()
        return self.now

    def since(self, begin_version: int, last_version: int) -> tuple[HistoryView, PinnedTable]:
        """Return what tells the changes between two versions: if necessary, all versions before.

        It includes later versions that were read already. The table is that of the last one;
        nothing was passed to it yet.
        """
        some = None if self._needs_all else self._range(begin_version, last_version)
        if some is not None:
            self._some = some
            if is_self_contained(some, self.now):
                return some, PinnedTable.at(self.now, some.latest_version, self._ref)
            self._needs_all = True
        table = PinnedTable.at(self.now, last_version, self._ref)
        view = _as_it_was(_handing(table.ref), table)
        assert view.history.versions_read, "read as a whole, so that no part is read by itself"
        return view, table

    def _range(self, begin_version: int, last_version: int) -> HistoryView | None:
        """Return some versions that record what is read of them; None unless all are there.

        Versions that were read are not read again. A ledger lists all of them again.
        """
        before = self._some
        if before is not None and before.listing.versions[0].version <= begin_version:
            last = max(last_version, before.latest_version)
            some = range_of(self.now, begin_version, last)
            is_known = (
                before.file(before.latest_version) in some.listing.versions if some else False
            )
            if some is not None and is_known and some.recorded is None:
                return before.moved_to(some.listing)
        some = range_of(self.now, begin_version, last_version)
        if some is None:
            return None
        warn_of_many_bytes(some)
        return some.noted_by(Handing(some))


def handed(view: HistoryView, table: PinnedTable) -> PinnedTable:
    """Return a table with its metadata already read, so that tasks open no manifest."""
    assert isinstance(view.recorded, Handing)
    return replace(table, handed=view.recorded.handed(view))


def range_of(view: HistoryView, begin_version: int, end_version: int) -> HistoryView | None:
    """Return a branch with only the versions of a range; None unless all are there."""
    some = view.only(begin_version, end_version)
    is_kept = len(some.listing.versions) == end_version - begin_version + 1
    return some if 0 < begin_version <= end_version and is_kept else None


def _as_it_was(live: LiveTable, table: PinnedTable) -> HistoryView:
    """Return a table up to a version, ignoring later commits."""
    if live.view.listing.versions[-1:] == (table.file,):
        return live.view
    live.refresh(last_version=table.version)
    last = live.view.listing.versions[-1:]
    if not last or last[0].version != table.version:
        live.refresh()
        raise live.view.missing_version(table.version)
    if last[0] != table.file:
        raise _replaced(table)
    return live.view


def _check_there(view: HistoryView, file: VersionFile) -> None:
    """Check that a version was not removed, and the table was not replaced, since it was pinned."""
    info = view.storage.live.find(file.path)
    if info is None:
        raise view.missing_version(file.version)
    if (info.size_bytes, info.modified_ns, info.etag) != file[2:5]:
        raise VersionNotFoundError(f"{view.uri} was replaced while it was read; load it again")


def _replaced(table: PinnedTable) -> VersionNotFoundError:
    return VersionNotFoundError(f"{table.ref.uri} was replaced while it was read; load it again")


@lru_cache(maxsize=_TABLES_KEPT)
def _opened(ref: TableRef) -> LiveTable:
    return LiveTable(ref.open())


@lru_cache(maxsize=_TABLES_KEPT)
def _handing(ref: TableRef) -> LiveTable:
    view = ref.open()
    warn_of_many_bytes(view)
    return LiveTable(view.noted_by(Handing(view)))


@lru_cache(maxsize=_TABLES_KEPT)
def _opened_by_hand(ref: TableRef, handed: Handed) -> HistoryView:
    options = StorageOptions(dict(ref.storage))
    table = HandedTable(handed)
    return HistoryView.open(ref.uri, ref.branch, options, None, ref.allow_bases, table)
