"""The cached manifests of a table, and how more are added."""

from collections.abc import Callable
from importlib.metadata import version as release_of
from pathlib import Path

from lance_explorer.errors import LanceExplorerError
from lance_explorer.history.listing import DirectoryLister, VersionFile, VersionListing
from lance_explorer.ledger.branch_log import BranchLog
from lance_explorer.ledger.cache_files import bound_cache, etag_of, touch
from lance_explorer.ledger.cache_later import Unwritten
from lance_explorer.ledger.merging import merge_branch
from lance_explorer.ledger.places import Place, folder_of
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.ledger.recorder import Recorder
from lance_explorer.ledger.recording import base_of, now, with_transactions
from lance_explorer.ledger.segments import About, write_segment
from lance_explorer.storage import Storage, open_storage

__all__ = ["CachedHistory", "write_history"]

_PIECE_BYTES, _PIECE_VERSIONS = 512 << 20, 10_000
"""The most manifests of one piece: a process that is killed loses no more."""


class CachedHistory:
    """What the cache has of the manifests of a table.

    Parameters
    ----------
    folder : Path
        The folder of the table in the cache.
    uri : str
        Root of the table.
    """

    def __init__(self, folder: Path, uri: str) -> None:
        self._folder = folder
        self._place = Place(folder, is_private=True)
        self._table = RecordedTable(self._place, folder_of(uri), uri)

    def log(
        self, storage: Storage, branch: str | None, listing: VersionListing
    ) -> BranchLog | None:
        """Return the cached part of a branch with this listing; None if there is none."""
        life = self._table.known(storage, branch, listing)
        return None if life is None else life.log

    def recorder(self, storage: Storage, branch: str | None, version: int) -> Recorder:
        """Return the recorder of the manifests from a version on."""
        return Recorder(storage, base_of(self._table, branch, version))

    def write(self, storage: Storage, recorder: Recorder, branch: str | None) -> None:
        """Write what was recorded since the last call."""
        frames, _ = recorder.take()
        frames["versions"] = with_transactions(frames["versions"], storage, words=True)
        release = release_of("lance-explorer")
        about = About(self._table.uri, branch, now(), release, left_out=["files"])
        write_segment(self._place, self._table.folder(branch), frames, about)
        touch(self._folder)
        self._table.forget(branch)
        merge_branch(self._table, branch)
        bound_cache(self._folder.parent)


def write_history(history: Unwritten, continues: Callable[[], bool]) -> None:
    """Keep the versions that the cache lacks; ``continues`` is asked after each of them."""
    storage = open_storage(history.root)
    listing = DirectoryLister(storage).list_versions()
    kept = CachedHistory(history.folder, history.uri)
    log = kept.log(storage, history.branch, listing)
    known = set() if log is None else {*log.versions["version"].to_list()}
    files = [file for file in listing.versions if file.version not in known]
    if not files:
        return
    recorder = kept.recorder(storage, history.branch, files[0].version)
    num_bytes = 0
    for file in files:
        etag = etag_of(f"{storage.uri}/{file.path}")  # before reading: it may be replaced
        data = _manifest(storage, file)
        if data is None:
            break
        recorder.add(file._replace(etag=etag), data)
        num_bytes += len(data)
        if not continues():
            break
        if num_bytes >= _PIECE_BYTES or len(recorder) >= _PIECE_VERSIONS:
            kept.write(storage, recorder, history.branch)
            num_bytes = 0
    if len(recorder):
        kept.write(storage, recorder, history.branch)


def _manifest(storage: Storage, file: VersionFile) -> bytes | None:
    """Return a manifest file; None if it is no longer the listed one."""
    try:
        data = storage.get(file.path)
    except (FileNotFoundError, LanceExplorerError):
        return None
    return data if len(data) == file.size_bytes else None
