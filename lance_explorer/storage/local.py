"""Local files: one thread and plain reads, which are faster here than threads and memory maps.

If many files are read, the system is asked to fetch the next ones ahead, so that decoding does not
wait for a slow disk.
"""

import errno
import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, repeat
from typing import NoReturn

from lance_explorer.errors import (
    CorruptFileError,
    FormatError,
    StorageError,
    UnreachableError,
    UnsupportedFeatureError,
)
from lance_explorer.storage.ahead import UNKNOWN_BYTES, has_room
from lance_explorer.storage.base import Contents, FileInfo, IoCounts, Storage, check_size

__all__ = ["LocalStorage", "is_link", "names_of_no_files"]

_MISSING = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}
_LEADS_NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}

_UNREACHABLE = {
    getattr(errno, name)
    for name in (
        *("EACCES", "EPERM", "EMFILE", "ENFILE", "ENOMEM", "ETIMEDOUT", "ESTALE", "ENOTCONN"),
        *("ENETDOWN", "ENETUNREACH", "EHOSTDOWN", "EHOSTUNREACH"),
    )
}
"""Errors that say nothing about the file; an error of the disk (EIO) does."""

_AT_ONCE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
"""A pipe is opened without waiting for a writer."""

_COARSEST_NS = 3_000_000_000
"""Some file systems count the times of folders in steps of two seconds."""

_OPEN_AHEAD = 32
"""The number of files that the system is asked to fetch ahead."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


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

    def follow_root(self) -> str | None:
        """Use the resolved path as the root; return the former root if it was another.

        Lance compares roots as text: a cleanup through a link does not notice that branches read
        files.
        """
        given, self.uri = self.uri, self._real_root
        return given if given != self.uri else None

    def list_files(self, folder: str) -> list[FileInfo]:
        return [
            FileInfo(name, facts.st_size, facts.st_mtime_ns) if facts else FileInfo(name, 0, 0)
            for name, facts in self._scan(folder)
            if facts is None or not stat.S_ISDIR(facts.st_mode)
        ]

    def list_folders(self, folder: str) -> list[str]:
        return [name for name, facts in self._scan(folder) if facts and stat.S_ISDIR(facts.st_mode)]

    def list_all(self) -> Iterator[FileInfo]:
        folders, seen = [""], set[tuple[int, int]]()
        while folders:
            folder = folders.pop()
            for name, facts in self._scan(folder.rstrip("/")):
                path = f"{folder}{name}"
                if facts is None:
                    yield FileInfo(path, 0, 0)
                elif not stat.S_ISDIR(facts.st_mode):
                    yield FileInfo(path, facts.st_size, facts.st_mtime_ns)
                elif (place := (facts.st_dev, facts.st_ino)) not in seen:  # a link may lead back
                    seen.add(place)
                    folders.append(f"{path}/")

    def folder_ns(self, folder: str) -> int | None:
        try:
            modified = os.stat(self._place(f"{folder}/")).st_mtime_ns
        except (OSError, FormatError):
            return None
        return modified if time.time_ns() - modified > _COARSEST_NS else None

    def find(self, path: str) -> FileInfo | None:
        self.io.requests += 1
        try:
            facts = os.lstat(self._place(path))
            if stat.S_ISLNK(facts.st_mode):
                facts = os.stat(self._follow(path))
        except FormatError:  # which is a ValueError, too
            raise
        except ValueError:  # no file can have such a name
            return None
        except OSError as error:
            if error.errno in _MISSING:
                return None
            _refuse("find", path, error)
        name = path.rpartition("/")[2]
        return FileInfo(name, facts.st_size, facts.st_mtime_ns)

    def get(self, path: str) -> bytes:
        return self._read(path, 0, None)

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        return self._read(path, offset, length)

    def get_many(self, paths: Iterable[str], sizes: Sequence[int] = ()) -> Iterator[Contents]:
        """Yield whole files in the order of ``paths``, as any storage does.

        Up to 32 files are open ahead, fewer if they are large.
        """
        rest = zip(paths, chain(sizes, repeat(UNKNOWN_BYTES)), strict=False)
        opened: deque[tuple[str, int | None]] = deque()
        claimed: deque[int] = deque()
        try:
            while True:
                while has_room(claimed, _OPEN_AHEAD) and (file := next(rest, None)) is not None:
                    opened.append((file[0], self._open_ahead(file[0])))
                    claimed.append(file[1])
                if not opened:
                    return
                path, handle = opened.popleft()
                claimed.popleft()
                try:
                    yield self._read(path, 0, None, handle)
                except FileNotFoundError:
                    yield None
                except FormatError as error:
                    yield error
        finally:
            for _, handle in opened:
                if handle is not None:
                    os.close(handle)

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
        """Return the path of a file below the root; any other is missing, as in other storage."""
        if not {".", ".."}.isdisjoint(path.split("/")):
            raise FileNotFoundError(errno.ENOENT, "not below the root", path)
        folder = path.rpartition("/")[0]
        if folder not in self._followed:
            self._follow(folder)
            self._followed.add(folder)
        return f"{self.uri}/{path}"

    def _follow(self, path: str) -> str:
        """Return the resolved path, which the table must be allowed to use."""
        try:
            place = os.path.realpath(f"{self.uri}/{path}")
        except ValueError as error:  # no file can have such a name
            raise FileNotFoundError(errno.ENOENT, "no such name", path) from error
        if not f"{place}/".startswith(f"{self._real_root}/") and not self.bases.may_follow(place):
            raise UnsupportedFeatureError(
                "it is a link to a place outside the table; open_table(..., allow_bases=[...]) "
                "with that folder allows it",
                path,
            )
        return place

    def _open(self, path: str) -> int:
        """Return a handle of a file; a link is followed if its target is allowed."""
        place = self._place(path)
        try:
            return os.open(place, _AT_ONCE | os.O_NOFOLLOW)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
        return os.open(self._follow(path), _AT_ONCE | os.O_NOFOLLOW)

    def _scan(self, folder: str) -> list[tuple[str, os.stat_result | None]]:
        """Return the entries of a folder; of links that must not be followed, only the names."""
        self.io.requests += 1
        try:
            place = self._place(f"{folder}/" if folder else "")
            with os.scandir(place) as entries:
                named = [entry for entry in entries if _is_text(entry.name)]
            listed = list[tuple[str, os.stat_result | None]]()
            for entry in named:
                if entry.is_symlink() and not self._may_follow(f"{folder}/{entry.name}"):
                    listed.append((entry.name, None))
                elif facts := _facts(entry):
                    listed.append((entry.name, facts))
            return listed
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

    def _open_ahead(self, path: str) -> int | None:
        """Return a handle of a file that the system starts to fetch; None if it does not open."""
        try:
            handle = self._open(path)
        except (OSError, ValueError):  # which reading it will tell
            return None
        if hasattr(os, "posix_fadvise"):  # not on macOS
            with suppress(OSError):  # a pipe
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_WILLNEED)
        return handle

    def _read(self, path: str, offset: int, length: int | None, handle: int | None = None) -> bytes:
        """Return bytes of a file, which may be open already; it is closed at the end."""
        self.io.requests += 1
        try:
            handle = self._open(path) if handle is None else handle
            try:
                facts = os.fstat(handle)
                _check_is_file(path, facts)
                there = max(facts.st_size - offset, 0)
                wanted = there if length is None else min(length, there)
                check_size(path, wanted)
                data = _read_fully(handle, offset, wanted)
            finally:
                os.close(handle)
        except FormatError:  # which is a ValueError, too
            raise
        except MemoryError as error:
            raise StorageError(f"{path!r} does not fit into memory: {wanted:,} bytes") from error
        except ValueError as error:  # no file can have such a name
            raise self.missing(path) from error
        except OSError as error:
            if error.errno in _MISSING:
                raise self.missing(path) from error
            if error.errno == errno.ENXIO:  # what a socket answers
                _check_is_file(path, os.stat(self._place(path)))
            _refuse("read", path, error)
        self.io.bytes_read += len(data)
        return data


def is_link(path: str) -> bool:
    """Tell whether a local path leads through a symbolic link."""
    place = os.path.abspath(os.path.expanduser(path))
    return "://" not in path and os.path.realpath(place) != place


def names_of_no_files(folder: str) -> frozenset[str]:
    """Return the names in a local folder of what is neither file nor folder: pipes, for example.

    Opening one may block for ever. The folder is listed again only if it has changed; a link is not
    followed.
    """
    if os.path.islink(folder):
        return frozenset()
    try:
        return _names_of_no_files(folder, os.stat(folder).st_mtime_ns)
    except OSError:
        return frozenset()


@lru_cache(maxsize=256)
def _names_of_no_files(folder: str, _modified_ns: int) -> frozenset[str]:
    with os.scandir(folder) as entries:
        odd = [entry for entry in entries if not entry.is_file() and not entry.is_dir()]
    return frozenset([entry.name for entry in odd if _facts(entry)])


def _check_is_file(path: str, facts: os.stat_result) -> None:
    if not stat.S_ISREG(facts.st_mode):
        kind = _KINDS.get(stat.S_IFMT(facts.st_mode), "something else")
        raise CorruptFileError(f"expected a file, found {kind}; it is not read", path)


def _read_fully(handle: int, offset: int, length: int) -> bytes:
    """Read ``length`` bytes, or up to the end: one system call reads at most 2 GiB."""
    if not length:  # the range may start further behind the end than the system can count
        return b""
    data = os.pread(handle, length, offset)
    while len(data) < length and (more := os.pread(handle, length - len(data), offset + len(data))):
        data += more
    return data


def _is_text(name: str) -> bool:
    """Tell whether a name is UTF-8 on the disk, as all names of Lance are."""
    return name.isascii() or name.encode(errors="replace").decode() == name


def _facts(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return an entry's facts, or None if it is a broken link or was removed since the listing."""
    try:
        return entry.stat()
    except OSError as error:
        if error.errno in _LEADS_NOWHERE:
            return None
        raise


def _refuse(verb: str, path: str, error: OSError) -> NoReturn:
    kind = UnreachableError if error.errno in _UNREACHABLE else StorageError
    raise kind(f"cannot {verb} {path!r}: {error.strerror or error}") from error
