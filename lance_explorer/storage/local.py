"""Local files: one thread and plain reads, which beat threads and memory maps here."""

import os
from typing import NoReturn

from lance_explorer.errors import StorageError
from lance_explorer.storage.base import FileInfo, Storage

__all__ = ["LocalStorage"]

_MISSING = (FileNotFoundError, NotADirectoryError)


class LocalStorage(Storage):
    """Files below a local folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "greeting.txt").write_bytes(b"hello")
    ...     storage = LocalStorage(folder)
    ...     storage.get_range("greeting.txt", 1, 3), storage.requests, storage.bytes_read
    (b'ell', 1, 3)
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        super().__init__(os.path.abspath(os.path.expanduser(root)))

    def list_files(self, folder: str) -> list[FileInfo]:
        return [
            FileInfo(entry.name, stat.st_size, stat.st_mtime_ns)
            for entry in self._scan(folder)
            if entry.is_file() and (stat := _stat(entry)) is not None
        ]

    def list_folders(self, folder: str) -> list[str]:
        return [entry.name for entry in self._scan(folder) if entry.is_dir()]

    def get(self, path: str) -> bytes:
        return self._read(path, 0, None)

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        return self._read(path, offset, length)

    def _scan(self, folder: str) -> list[os.DirEntry[str]]:
        self.requests += 1
        try:
            with os.scandir(os.path.join(self.uri, folder)) as entries:
                return list(entries)
        except _MISSING:
            return []
        except OSError as error:
            _refuse("list", folder, error)

    def _read(self, path: str, offset: int, length: int | None) -> bytes:
        self.requests += 1
        try:
            handle = os.open(os.path.join(self.uri, path), os.O_RDONLY)
            try:
                data = _read_fully(
                    handle, offset, os.fstat(handle).st_size if length is None else length
                )
            finally:
                os.close(handle)
        except _MISSING as error:
            raise FileNotFoundError(path) from error
        except OSError as error:
            _refuse("read", path, error)
        self.bytes_read += len(data)
        return data


def _read_fully(handle: int, offset: int, length: int) -> bytes:
    """Read ``length`` bytes, or up to the end: one call of the system reads 2 GiB at most."""
    data = os.pread(handle, length, offset)
    while len(data) < length and (more := os.pread(handle, length - len(data), offset + len(data))):
        data += more
    return data


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the entry's facts, or None if it went away since it was listed."""
    try:
        return entry.stat()
    except FileNotFoundError:
        return None


def _refuse(verb: str, path: str, error: OSError) -> NoReturn:
    raise StorageError(f"cannot {verb} {path!r}: {error.strerror or error}") from error
