"""One table at one version, the same in the driver and in every task."""

from dataclasses import dataclass, field, replace
from functools import lru_cache

from lance_explorer.errors import TableNotFoundError, VersionNotFoundError
from lance_explorer.history.listing import VersionFile
from lance_explorer.history.live import LiveTable
from lance_explorer.history.source import TableSource
from lance_explorer.ledger.ledger import Ledger, recorded_table
from lance_explorer.spark.options import Options
from lance_explorer.storage import Options as StorageOptions

__all__ = ["PinnedTable", "TableRef"]

_TABLES_KEPT = 2
"""How many tables a worker keeps open from one task to the next."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """Which branch of which table, and how to get at it."""

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
        """Return a table, and all else that options say of it."""
        return cls(
            uri,
            options.text("branch"),
            options.storage,
            options.allow_bases,
            options.text("ledger"),
            options.ledger_storage,
        )

    def open(self) -> TableSource:
        """Return the metadata of the table as it is now; from its ledger alone if it is gone."""
        storage = StorageOptions(dict(self.storage))
        if self.ledger is None:
            return TableSource(self.uri, self.branch, storage, None, self.allow_bases)
        ledger = Ledger(self.ledger, StorageOptions(dict(self.ledger_storage)))
        try:
            live = TableSource(self.uri, None, storage, None, self.allow_bases)
        except TableNotFoundError as error:
            try:
                return ledger.open(self.uri, self.branch).source
            except TableNotFoundError:
                raise error from None
        return live.with_recorded(recorded_table(ledger, live.uri), self.branch)


@dataclass(frozen=True, slots=True)
class PinnedTable:
    """A table at a version: later versions are not there.

    ``file`` is its manifest file, so that a table that was written anew under the same URI is not
    taken for it.
    """

    ref: TableRef
    file: VersionFile

    @classmethod
    def at(cls, source: TableSource, version: int, ref: TableRef) -> "PinnedTable":
        """Return a table at a version of one of its branches, which ``source`` is."""
        branch = replace(ref, uri=source.uri, branch=source.branch)
        for file in source.listing.versions:
            if file.version == version:
                return cls(branch, file)
        raise source.missing_version(version)

    @property
    def version(self) -> int:
        """The version."""
        return self.file.version

    def open(self) -> TableSource:
        """Return the metadata up to the version; a worker keeps it for its next task.

        Raises
        ------
        VersionNotFoundError
            If the version went away, or the table is another one now.
        """
        return _open(self)


def _open(table: PinnedTable) -> TableSource:
    live = _opened(table.ref)
    if live.source.listing.versions[-1:] == (table.file,):
        return live.source
    live.refresh(last_version=table.version)
    last = live.source.listing.versions[-1:]
    if not last or last[0].version != table.version:
        live.refresh()
        raise live.source.missing_version(table.version)
    if last[0] != table.file:
        raise VersionNotFoundError(f"{table.ref.uri} was replaced while it was read; load it again")
    return live.source


@lru_cache(maxsize=_TABLES_KEPT)
def _opened(ref: TableRef) -> LiveTable:
    return LiveTable(ref.open())
