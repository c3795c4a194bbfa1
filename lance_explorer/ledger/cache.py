"""The cache: histories that took long to read are kept as a ledger in the user's cache folder.

It saves reading, and never changes an answer: a version counts only while the table lists the same
file. What else a ledger is for, outliving a cleanup, it does not do.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version as release_of
from pathlib import Path

import platformdirs

from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.listing import VersionFile, VersionListing
from lance_explorer.history.recorded import Note, is_long
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.ledger import folder_of, merge_branch
from lance_explorer.ledger.places import Place
from lance_explorer.ledger.recorded_history import recorded_history
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.ledger.recorder import Recorder
from lance_explorer.ledger.recording import base_of, now
from lance_explorer.ledger.segments import About, write_segment
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage import Storage

__all__ = [
    "CachedTable",
    "cache_folder",
    "clear_cache",
    "file_names",
    "read_file",
    "remove_file",
    "use_cache",
    "write_file",
]

SETTING = "LANCE_EXPLORER_CACHE"
"""The environment variable: ``off``, or another folder."""

MOST_BYTES = 1 << 30
"""Tables that were not used for longest are deleted beyond this."""

_USED = ".used"


def cache_folder() -> Path | None:
    """Return where the cache is; None if it is turned off."""
    setting = os.environ.get(SETTING, "")
    if setting.lower() in ("off", "0", "no", "false"):
        return None
    return Path(setting) if setting else platformdirs.user_cache_path("lance_explorer") / "history"


def clear_cache() -> int:
    """Delete the histories and profiles that were kept to be read faster, of all tables.

    Nothing but time is lost. Set ``LANCE_EXPLORER_CACHE=off`` to keep none, or to another folder.

    Returns
    -------
    int
        How many bytes were deleted.

    Examples
    --------
    >>> lx.clear_cache()
    0
    """
    folder = cache_folder()
    if folder is None or not folder.is_dir():
        return 0
    size = sum(_bytes(one) for one in _tables(folder))
    for one in _tables(folder):
        shutil.rmtree(one, ignore_errors=True)
    return size


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
            _touch(self._folder)
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
        _touch(self._folder)
        self._table.forget(branch)
        merge_branch(self._table, branch)
        _bound(self._folder.parent)


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


def _touch(folder: Path) -> None:
    with suppress(OSError):
        (folder / _USED).touch()


def write_file(name: str, file: str, data: bytes) -> None:
    """Write a file of some other kind into a folder of the cache, if that is turned on."""
    top = cache_folder()
    if top is None:
        return
    folder = top / name
    with suppress(OSError):  # then what it saves is done again
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = folder / f"{file}.{os.getpid()}"
        new.write_bytes(data)
        new.replace(folder / file)
        _touch(folder)
        _bound(top)


def read_file(name: str, file: str) -> bytes | None:
    """Return a file of the cache; None if there is none, or the cache is turned off."""
    top = cache_folder()
    if top is None:
        return None
    try:
        data = (top / name / file).read_bytes()
    except OSError:
        return None
    _touch(top / name)
    return data


def file_names(name: str, begin: str) -> list[str]:
    """Return the files in a folder of the cache whose names begin so."""
    top = cache_folder()
    if top is None:
        return []
    return sorted([one.name for one in (top / name).glob(f"{begin}*.parquet")])


def remove_file(name: str, file: str) -> None:
    """Remove a file of the cache, if it is there."""
    top = cache_folder()
    if top is not None:
        with suppress(OSError):
            (top / name / file).unlink()


def _bound(folder: Path) -> None:
    """Delete what was not used for longest, until the rest is small enough."""
    tables = sorted(_tables(folder), key=_last_used)
    sizes = {one: _bytes(one) for one in tables}
    while tables and sum(sizes[one] for one in tables) > MOST_BYTES:
        shutil.rmtree(tables.pop(0), ignore_errors=True)


def _tables(folder: Path) -> list[Path]:
    return [one for one in folder.iterdir() if (one / _USED).exists()]


def _last_used(folder: Path) -> float:
    try:
        return (folder / _USED).stat().st_mtime
    except OSError:
        return 0.0


def _bytes(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
