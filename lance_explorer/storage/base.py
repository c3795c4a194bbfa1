"""One small interface for all kinds of storage."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.shown import described
from lance_explorer.storage.bases import Bases
from lance_explorer.storage.budget import Budget
from lance_explorer.storage.commit_store import CommitStore
from lance_explorer.storage.namespace_commits import NamespaceCommits
from lance_explorer.storage.read_sessions import ReadSessions
from lance_explorer.storage.secrets import Options

__all__ = ["Contents", "FileInfo", "FilePart", "IoCounts", "Storage", "given"]

Contents = bytes | FormatError | None
"""The result for one of many files: its bytes, why it is unreadable, or None if missing."""

MOST_BYTES = 8 << 30
"""No metadata file is larger: it has at most three messages, of at most 2 GiB each."""


@dataclass(slots=True)
class IoCounts:
    """What was requested from storage so far.

    Attributes
    ----------
    requests : int
        Listings and reads.
    bytes_read : int
        Bytes that reads returned.
    budget : Budget
        How much may be asked of an object store.
    values_apart : bool
        Whether another process reads values, because the table is not trusted or is damaged.
    whole_manifests : bool
        Whether each manifest is read whole, also in an object store.
    sessions : ReadSessions
        The questions being answered, which record what is missing.
    """

    requests: int = 0
    bytes_read: int = 0
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
    values_apart: bool = field(default=False, repr=False, compare=False)
    whole_manifests: bool = field(default=False, repr=False, compare=False)
    sessions: ReadSessions = field(default_factory=ReadSessions, repr=False, compare=False)


class FileInfo(NamedTuple):
    """A file in a listing.

    ``modified_ns`` counts nanoseconds since 1970; ``etag`` is None where storage has none.
    """

    name: str
    size_bytes: int
    modified_ns: int
    etag: str | None = None


class FilePart(NamedTuple):
    """A part of a file; all of it without a length."""

    path: str
    offset: int = 0
    length: int | None = None


def check_size(path: str, num_bytes: int) -> None:
    """Refuse to read more than a metadata file can have.

    Raises
    ------
    CorruptFileError
        If it is more.
    """
    if num_bytes > MOST_BYTES:
        raise CorruptFileError(
            f"{num_bytes:,} bytes are more than a metadata file can have; it is not read", path
        )


def given(contents: bytes | FormatError) -> bytes:
    """Return the bytes of a file that must exist.

    Examples
    --------
    >>> given(b"abc")
    b'abc'
    """
    if isinstance(contents, FormatError):
        raise contents
    return contents


class Storage(ABC):
    """Read-only access to the files below one root.

    Paths start at the root and use ``/``. A missing file raises the builtin FileNotFoundError, so
    that each caller can say what it means. Something that is not a file, or is larger than a file
    can be, raises CorruptFileError; a link out of the table to a location that is not allowed
    raises UnsupportedFeatureError; and any other failure raises StorageError.

    Attributes
    ----------
    uri : str
        The root.
    options : mapping of str to str
        Address and credentials of an object store; they never show in what is printed.
    io : IoCounts
        What was requested so far; shared by all storage of one table.
    bases : Bases
        Other roots that the table may use, and those in use; shared by all of them.
    commits : CommitStore or NamespaceCommits, optional
        The external manifest store that says which versions there are, if the table has one.
    in_flight : int
        How many files are best read at a time.
    """

    in_flight = 1
    commits: CommitStore | NamespaceCommits | None = None

    def __init__(
        self, uri: str, options: Mapping[str, str] | None = None, io: IoCounts | None = None
    ) -> None:
        self.uri = uri
        self.options = options if isinstance(options, Options) else Options(options)
        self.io = io or IoCounts()
        self.bases: Bases[Storage] = Bases(uri, self.options)

    @described
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.uri!r})"

    @property
    def sessions(self) -> ReadSessions:
        """The questions about the table that are being answered."""
        return self.io.sessions

    def missing(self, path: str) -> FileNotFoundError:
        """Return the error for a missing file, and let open sessions record it."""
        self.sessions.note(f"{self.uri}/{path}")
        return FileNotFoundError(path)

    @property
    def live(self) -> "Storage":
        """The same without what a ledger may have put in front of it: only files that exist now."""
        return self

    @abstractmethod
    def list_files(self, folder: str) -> list[FileInfo]:
        """Return the files directly in ``folder``, in any order; [] if there is no such folder.

        Entries that are neither files nor folders are listed too, so that reading them gives an
        error. Files and folders whose names are not text are left out: nobody can request them.
        """

    @abstractmethod
    def list_folders(self, folder: str) -> list[str]:
        """Return the names of the folders directly in ``folder``, in any order."""

    def list_all(self) -> Iterator[FileInfo]:
        """Yield every file below the root, in any order; its name is its path from the root."""
        folders = [""]
        while folders:
            folder = folders.pop()
            yield from [info._replace(name=folder + info.name) for info in self.list_files(folder)]
            folders += [f"{folder}{name}/" for name in self.list_folders(folder)]

    def folder_ns(self, folder: str) -> int | None:
        """Return the time at which a name in a folder was last added, removed or changed.

        None where that is not known, or so short ago that a later change may have the same time.
        """
        return None

    @abstractmethod
    def find(self, path: str) -> FileInfo | None:
        """Return the present facts of a file, None if it is missing."""

    @abstractmethod
    def get(self, path: str) -> bytes:
        """Return a whole file."""

    @abstractmethod
    def get_range(self, path: str, offset: int, length: int) -> bytes:
        """Return ``length`` bytes from ``offset`` on, or fewer if the file ends earlier."""

    def check_files(self, paths: Iterable[str]) -> None:
        """Raise UnsupportedFeatureError if the file must not be read.

        For files that other libraries will read.
        """
        return

    def check_folder(self, folder: str) -> None:
        """Raise UnsupportedFeatureError if a file below a folder must not be read."""
        return

    def reading_ahead(self, parts: Iterable[FilePart]) -> AbstractContextManager[None]:
        """Return a context manager in which files will be needed, best in this order.

        Where requests are slow, they are read ahead.
        """
        return nullcontext()

    def get_many(self, paths: Iterable[str], sizes: Sequence[int] = ()) -> Iterator[Contents]:
        """Yield whole files in the order of ``paths``; None for a missing one.

        For a file that must not or cannot be read, it yields the error.

        Where several are read at once, ``sizes`` limit how many; files of unknown size count as
        small.
        """
        for path in paths:
            try:
                yield self.get(path)
            except FileNotFoundError:
                yield None
            except FormatError as error:
                yield error
