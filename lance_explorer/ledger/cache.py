"""The cache: histories that took long to read are kept as a ledger in the user's cache folder.

It saves reading, and never changes an answer: a version counts only while the table lists the same
file. What else a ledger is for, outliving a cleanup, it does not do.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version as release_of
from pathlib import Path

from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.listing import VersionFile, VersionListing
from lance_explorer.history.recorded import Note, is_long
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.cache_files import bound_cache, cache_folder, touch
from lance_explorer.ledger.ledger import merge_branch
from lance_explorer.ledger.places import Place, folder_of
from lance_explorer.ledger.recorded_history import recorded_history
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.ledger.recorder import Recorder
from lance_explorer.ledger.recording import base_of, now
from lance_explorer.ledger.segments import About, write_segment
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage import Storage

__all__ = ["CachedTable", "use_cache"]


def use_cache(view: HistoryView) -> HistoryView:
    """Return a view that keeps its history, and finds it again, unless that is turned off."""
    folder = cache_folder()
    return view if folder is None else view.noted_by(CachedTable(folder, view.uri))


class CachedTable:
    """A :class:`~lance_explorer.history.recorded.Recorded` that only saves time."""

    def __init__(self, folder: Path, uri: str) -> None:
        self._folder = folder / folder_of(uri)
        place = Place(folder, is_private=True)
        self._table = RecordedTable(place, folder_of(uri), uri)
        self._place = place

    def over(self, storage: Storage) -> Storage:
        """Return the storage itself."""
        return storage

    def joined(self, storage: Storage, branch: str | None, live: VersionListing) -> VersionListing:
        """Return what is kept, and nothing else."""
        return live

    def history(self, storage: Storage, branch: str | None, listing: VersionListing) -> History:
        """Return what was read of these versions before."""
        if not self._folder.is_dir():
            return EMPTY_HISTORY
        try:
            life = self._table.known(storage, branch, listing)
            if life is None:
                return EMPTY_HISTORY
            touch(self._folder)
            return recorded_history(life.log, listing.versions, _etags(storage, listing.versions))
        except (LanceExplorerError, FileNotFoundError):
            return EMPTY_HISTORY

    @contextmanager
    def noting(
        self, storage: Storage, branch: str | None, files: Sequence[VersionFile]
    ) -> Iterator[Note | None]:
        """Note the manifests that are read within this context, if that pays."""
        if not is_long(storage, files):
            yield None
            return
        recorder = Recorder(storage, base_of(self._table, branch, files[0].version))
        etags = dict(zip(files, _etags(storage, files), strict=True))
        yield lambda file, data: recorder.add(file._replace(etag=etags[file]), data)
        with suppress(LanceExplorerError, OSError):
            self._write(recorder, branch)

    def findings(self, branch: str | None) -> list[Finding]:
        """Return nothing: what is wrong here is read anew."""
        return []

    def digests(self) -> dict[tuple[str, str], dict[int, str]]:
        """Return nothing: none are kept here."""
        return {}

    def kept_cells(
        self, branch: str | None, version: int, before: int, column: str, addresses: Uint64Array
    ) -> None:
        """Return nothing: no values are kept here."""

    def _write(self, recorder: Recorder, branch: str | None) -> None:
        frames, _ = recorder.take()
        release = release_of("lance-explorer")
        about = About(self._table.uri, branch, now(), release, left_out=["files"])
        write_segment(self._place, self._table.folder(branch), frames, about)
        touch(self._folder)
        self._table.forget(branch)
        merge_branch(self._table, branch)
        bound_cache(self._folder.parent)


def _etags(storage: Storage, files: Sequence[VersionFile]) -> list[str | None]:
    """Return what tells files from others of the same size and time, on a local disk, too."""
    if storage.in_flight > 1:
        return [file.etag for file in files]
    return [_etag(f"{storage.uri}/{file.path}") for file in files]


def _etag(path: str) -> str | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return f"{facts.st_ino:x}-{facts.st_ctime_ns:x}"
