"""The cache: histories that took long to read are kept as a ledger in the user's cache folder.

It saves reading, and never changes an answer: a version counts only while the table lists the same
file. It does not replace a ledger, since it does not survive a cleanup. Modules of the ledger are
imported only when a history is found or kept: few tables need them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from propcache.api import cached_property

from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.listing import VersionFile, VersionListing
from lance_explorer.history.recorded import Note, is_long
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.cache_files import cache_folder, etag_of, touch
from lance_explorer.ledger.cache_later import Unwritten, write_later
from lance_explorer.ledger.places import folder_of
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage import Storage

if TYPE_CHECKING:
    from lance_explorer.ledger.cache_writing import CachedHistory

__all__ = ["CachedTable", "use_cache"]

_LONG_SECONDS = 0.25
"""What is read from a disk in less time is read again: the cache would not be much faster."""


def use_cache(view: HistoryView) -> HistoryView:
    """Return a view that keeps its history, and finds it again, unless that is turned off."""
    folder = cache_folder()
    return view if folder is None else view.noted_by(CachedTable(folder, view.uri))


class CachedTable:
    """A :class:`~lance_explorer.history.recorded.Recorded` that only saves time."""

    def __init__(self, folder: Path, uri: str) -> None:
        self._folder = folder / folder_of(uri)
        self._uri = uri

    @cached_property
    def _kept(self) -> "CachedHistory":
        from lance_explorer.ledger.cache_writing import CachedHistory

        return CachedHistory(self._folder, self._uri)

    def over(self, storage: Storage) -> Storage:
        """Return the storage itself."""
        return storage

    def joined(self, storage: Storage, branch: str | None, live: VersionListing) -> VersionListing:
        """Return what is kept, and nothing else."""
        return live

    def history(self, storage: Storage, branch: str | None, listing: VersionListing) -> History:
        """Return the kept versions."""
        if not self._folder.is_dir():
            return EMPTY_HISTORY
        try:
            log = self._kept.log(storage, branch, listing)
            if log is None:
                return EMPTY_HISTORY
            from lance_explorer.ledger.recorded_history import recorded_history

            touch(self._folder)
            return recorded_history(log, listing.versions, _etags(storage, listing.versions))
        except (LanceExplorerError, FileNotFoundError):
            return EMPTY_HISTORY

    @contextmanager
    def noting(
        self, storage: Storage, branch: str | None, files: Sequence[VersionFile]
    ) -> Iterator[Note | None]:
        """Record the manifests that are read in this context, if that is worth it.

        Manifests on a disk are read again after the answer. Those in a store are recorded now:
        reading them again would take longer.
        """
        if not is_long(storage, files):
            yield None
        elif storage.in_flight > 1:
            recorder = self._kept.recorder(storage, branch, files[0].version)
            etags = dict(zip(files, _etags(storage, files), strict=True))
            yield lambda file, data, is_derived: recorder.add(
                file._replace(etag=etags[file]), data, is_derived
            )
            with suppress(LanceExplorerError, OSError):
                self._kept.write(storage, recorder, branch)
        else:
            begin = perf_counter()
            yield None
            if perf_counter() - begin >= _LONG_SECONDS:
                write_later(Unwritten(self._folder, self._uri, storage.uri, branch))

    def findings(self, branch: str | None) -> list[Finding]:
        """Return no findings: problems are read again."""
        return []

    def digests(self) -> dict[tuple[str, str], dict[int, str]]:
        """Return no digests: none are kept here."""
        return {}

    def kept_cells(
        self, branch: str | None, version: int, before: int, column: str, addresses: Uint64Array
    ) -> None:
        """Return no values: none are kept here."""


def _etags(storage: Storage, files: Sequence[VersionFile]) -> list[str | None]:
    """Return what distinguishes files of the same size and time, also on a local disk."""
    if storage.in_flight > 1:
        return [file.etag for file in files]
    return [etag_of(f"{storage.uri}/{file.path}") for file in files]
