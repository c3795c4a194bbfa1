"""Local files: one thread and plain reads, which beat threads and memory maps here."""

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NoReturn

from lance_explorer.errors import StorageError, UnsupportedFeatureError
from lance_explorer.storage.base import FileInfo, IoCounts, Storage

__all__ = ["LocalStorage"]

_MISSING = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}
_LEADS_NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


class LocalStorage(Storage):
    """Files below a local folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "greeting.txt").write_bytes(b"hello")
    ...     storage = LocalStorage(folder)
    ...     storage.get_range("greeting.txt", 1, 3), storage.io
    (b'ell', IoCounts(requests=1, bytes_read=3))
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        options: Mapping[str, str] | None = None,
        io: IoCounts | None = None,
    ) -> None:
        super().__init__(os.path.abspath(os.path.expanduser(root)), options, io)
        self._real_root = os.path.realpath(self.uri)
        self._followed: set[str] = {""}

    def list_files(self, folder: str) -> list[FileInfo]:
        return [
            FileInfo(name, facts.st_size, facts.st_mtime_ns) if facts else FileInfo(name, 0, 0)
            for name, facts in self._scan(folder)
            if facts is None or stat.S_ISREG(facts.st_mode)
        ]

    def list_folders(self, folder: str) -> list[str]:
        return [name for name, facts in self._scan(folder) if facts and stat.S_ISDIR(facts.st_mode)]

    def get(self, path: str) -> bytes:
        return self._read(path, 0, None)

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        return self._read(path, offset, length)

    def check_files(self, paths: Iterable[str]) -> None:
        for path in paths:
            with suppress(FileNotFoundError):
                if os.path.islink(self._place(path)):
                    self._follow(path)

    def check_folder(self, folder: str) -> None:
        with suppress(FileNotFoundError):
            for place, folders, files in os.walk(self._place(f"{folder}/")):
                inner = os.path.relpath(place, self.uri)
                self.check_files([f"{inner}/{name}" for name in (*folders, *files)])

    def _place(self, path: str) -> str:
        """Return the place of what is below the root; all else is missing, as in other storage."""
        if not {".", ".."}.isdisjoint(path.split("/")):
            raise FileNotFoundError(errno.ENOENT, "not below the root", path)
        folder = path.rpartition("/")[0]
        if folder not in self._followed:
            self._follow(folder)
            self._followed.add(folder)
        return f"{self.uri}/{path}"

    def _follow(self, path: str) -> str:
        """Return the place that links lead to, which the table must be allowed to lead to."""
        try:
            place = os.path.realpath(f"{self.uri}/{path}")
        except ValueError as error:  # no file can have such a name
            raise FileNotFoundError(errno.ENOENT, "no such name", path) from error
        if not f"{place}/".startswith(f"{self._real_root}/") and not self.bases.may_follow(place):
            raise UnsupportedFeatureError(
                "it is a link that leads out of the table; open_table(..., allow_bases=[...]) with "
                "the folder that it leads to allows that",
                path,
            )
        return place

    def _open(self, path: str) -> int:
        """Return a handle of a file; a link is followed as far as it may lead."""
        place = self._place(path)
        try:
            return os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
        return os.open(self._follow(path), os.O_RDONLY | os.O_NOFOLLOW)

    def _scan(self, folder: str) -> list[tuple[str, os.stat_result | None]]:
        """Return what is in a folder; of links that may not be followed, nothing but the name."""
        self.io.requests += 1
        try:
            place = self._place(f"{folder}/" if folder else "")
            with os.scandir(place) as entries:
                named = [entry for entry in entries if _is_text(entry.name)]
            found = list[tuple[str, os.stat_result | None]]()
            for entry in named:
                if entry.is_symlink() and not self._may_follow(f"{folder}/{entry.name}"):
                    found.append((entry.name, None))
                elif facts := _facts(entry):
                    found.append((entry.name, facts))
            return found
        except UnsupportedFeatureError:  # which is a ValueError, too
            raise
        except ValueError:  # no folder can have such a name
            return []
        except OSError as error:
            if error.errno in _MISSING:
                return []
            _refuse("list", folder, error)

    def _may_follow(self, path: str) -> bool:
        try:
            self._follow(path)
        except UnsupportedFeatureError:
            return False
        return True

    def _read(self, path: str, offset: int, length: int | None) -> bytes:
        self.io.requests += 1
        try:
            handle = self._open(path)
            try:
                there = max(os.fstat(handle).st_size - offset, 0)
                data = _read_fully(handle, offset, there if length is None else min(length, there))
            finally:
                os.close(handle)
        except UnsupportedFeatureError:  # which is a ValueError, too
            raise
        except ValueError as error:  # no file can have such a name
            raise FileNotFoundError(path) from error
        except OSError as error:
            if error.errno in _MISSING:
                raise FileNotFoundError(path) from error
            _refuse("read", path, error)
        self.io.bytes_read += len(data)
        return data


def _read_fully(handle: int, offset: int, length: int) -> bytes:
    """Read ``length`` bytes, or up to the end: one call of the system reads 2 GiB at most."""
    data = os.pread(handle, length, offset)
    while len(data) < length and (more := os.pread(handle, length - len(data), offset + len(data))):
        data += more
    return data


def _is_text(name: str) -> bool:
    """Tell whether a name is UTF-8 on the disk, as all that Lance gives."""
    return name.isascii() or name.encode(errors="replace").decode() == name


def _facts(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return an entry's facts, or None if it leads nowhere or went away since it was listed."""
    try:
        return entry.stat()
    except OSError as error:
        if error.errno in _LEADS_NOWHERE:
            return None
        raise


def _refuse(verb: str, path: str, error: OSError) -> NoReturn:
    raise StorageError(f"cannot {verb} {path!r}: {error.strerror or error}") from error
