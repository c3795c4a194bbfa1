"""The one small interface over every kind of storage."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["FileInfo", "Storage"]


class FileInfo(NamedTuple):
    """A file as a listing shows it.

    ``modified_ns`` counts nanoseconds since 1970; ``etag`` is None where storage has none.
    """

    name: str
    size_bytes: int
    modified_ns: int
    etag: str | None = None


class Storage(ABC):
    """Read-only access to the files below one root.

    Paths start at the root and use ``/``. What is missing raises the builtin FileNotFoundError, so
    that each caller can say what that means; any other failure raises StorageError.

    Attributes
    ----------
    uri : str
        The root.
    requests : int
        Listings and reads so far.
    bytes_read : int
        Bytes that reads returned so far.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.requests = 0
        self.bytes_read = 0

    @abstractmethod
    def list_files(self, folder: str) -> list[FileInfo]:
        """Return the files directly in ``folder``, in any order; [] if there is no such folder.

        Those whose names are no text are left out, here and of folders: nobody can ask for them.
        """

    @abstractmethod
    def list_folders(self, folder: str) -> list[str]:
        """Return the names of the folders directly in ``folder``, in any order."""

    @abstractmethod
    def get(self, path: str) -> bytes:
        """Return a whole file."""

    @abstractmethod
    def get_range(self, path: str, offset: int, length: int) -> bytes:
        """Return ``length`` bytes from ``offset`` on, fewer where the file ends before."""

    def get_many(self, paths: Iterable[str]) -> Iterator[bytes | None]:
        """Yield whole files in the order of ``paths``; None for one that is missing."""
        for path in paths:
            try:
                yield self.get(path)
            except FileNotFoundError:
                yield None
